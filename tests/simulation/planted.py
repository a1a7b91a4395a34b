"""Faults to plant in the product, each of which a few seeds have to find."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

from accounts.api import auth
from accounts.operations.api_keys.api_keys import find_api_key_grant
from labs.api.v3.orders import views as order_views
from labs.operations.order_status import status
from portal.lib.api.idempotency import respond_once_after_repeatable_work
from portal.lib.api.views import json_response
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
}
