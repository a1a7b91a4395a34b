"""Faults to plant in the product, each of which a few seeds have to find."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BytesIO
from typing import Any
from unittest import mock

from accounts.api import auth
from accounts.models import Tenant
from accounts.operations.api_keys.api_keys import find_api_key_grant
from labs.api.v3.orders import views as order_views
from labs.operations.appointments import changes, upkeep
from labs.operations.order_status import status
from portal.http import error_pages
from portal.lib import idempotency
from portal.lib.api.idempotency import respond_once_after_repeatable_work
from portal.lib.api.views import json_response
from portal.lib.storage.answers import StorageAway
from portal.lib.storage.folder import FolderStorage
from reports.operations.jobs import parsing
from tests.reports import desk
from users.api.v2.views import users as user_views
from users.operations.users import users
from users.store import sums
from users.store.packed import packing
from users.store.samples import get_sample_store

Planted = Callable[[], Any]


def _without_key(view: Any, request: Any, *, work: Any, **_: Any) -> Any:
    return json_response(work())


def _drop_some_events(emit: Any, order: Any, what: str) -> None:
    if not order.status.endswith(("requisition_created", "cancelled")):
        emit(order, what)


def _skip_deletions(record: Any, *, verb: str, **fields: Any) -> None:
    if verb != "delete_user":
        record(verb=verb, **fields)


def _cut_days(find: Any, read: Any) -> list[slice]:
    return [slice(day.start, max(day.stop - 1, day.start + 1)) for day in find(read)]


class _FirstGrant:
    """One cache entry for all keys."""

    def __init__(self) -> None:
        self.found: Any = None

    def __call__(self, text: str, **more: Any) -> Any:
        self.found = self.found or find_api_key_grant(text, **more)
        return self.found


def _one_team(claim: Any, tenant: Any, *rest: Any) -> Any:
    """The first team's claim for all."""
    return claim(Tenant.objects.order_by("pk").first(), *rest)


def _swallow_full_disk(new_file: Any) -> Any:
    @contextmanager
    def new_file_or_none(store: Any, name: str, **more: Any) -> Any:
        with ExitStack() as stack:
            try:
                opened = stack.enter_context(new_file(store, name, **more))
            except StorageAway:
                opened = BytesIO()
            yield opened

    return new_file_or_none


_REPEATABLE = respond_once_after_repeatable_work
_ONCE = "respond_once_per_idempotency_key"

PLANTED: dict[str, Planted] = {
    "a key makes an order each time": lambda: mock.patch.object(
        order_views, _ONCE, _without_key
    ),
    "an order and its key's answer are two commits": lambda: mock.patch.object(
        order_views, _ONCE, _REPEATABLE
    ),
    "a user is created in several commits": lambda: mock.patch.object(
        user_views, "create_user", user_views.create_user.__wrapped__
    ),
    "some steps are not sent": lambda: mock.patch.object(
        status, "emit_order_event", partial(_drop_some_events, status.emit_order_event)
    ),
    "an erasure leaves samples": lambda: mock.patch.object(
        type(get_sample_store()), "delete_user", return_value=0
    ),
    "a deletion is not in the audit": lambda: mock.patch.object(
        users, "record_change", partial(_skip_deletions, users.record_change)
    ),
    "packing loses the last sample of a day": lambda: mock.patch.object(
        packing, "_find_days", partial(_cut_days, packing._find_days)
    ),
    "sums leave packed days out": lambda: mock.patch.object(
        sums, "_POINTS", sums._POINTS.partition("UNION ALL")[0]
    ),
    "keys share a cache entry": lambda: mock.patch.object(
        auth, "find_api_key_grant", _FirstGrant()
    ),
    "teams share idempotency keys": lambda: mock.patch.object(
        idempotency, "_claim", partial(_one_team, idempotency._claim)
    ),
    "a report is signed in several commits": lambda: mock.patch.object(
        desk, "sign_and_approve_report", desk.sign_and_approve_report.__wrapped__
    ),
    "two workers both store what they read": lambda: mock.patch.object(
        parsing, "_is_open", return_value=True
    ),
    "a cancelled visit stays booked at the provider": lambda: mock.patch.object(
        changes, "enqueue_booking_cancellation"
    ),
    "a place is claimed by a dead process for ever": lambda: mock.patch.object(
        upkeep, "release_expired_slot_claim"
    ),
    "a full disk is a fault of ours": lambda: mock.patch.object(
        error_pages, "is_database_full", return_value=False
    ),
    "a file that found no room is said to be stored": lambda: mock.patch.object(
        FolderStorage, "new_file", _swallow_full_disk(FolderStorage.new_file)
    ),
}
