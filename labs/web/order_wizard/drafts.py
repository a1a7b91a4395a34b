"""Drafts of orders in the member's session, encrypted, between two pages.

Signing out deletes the drafts, and no other member can open one. Source: Ours: entered
values are health data, which must not be in a URL, and browser tabs are independent.
"""

from __future__ import annotations

import json
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.contrib.sessions.models import Session
from django.db import transaction
from django.utils import timezone

from portal.lib.secrets.encryption import (
    UnreadableSecret,
    decrypt_secret,
    encrypt_secret,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from accounts.web.requests import TenantRequest

DRAFT_TTL = timedelta(hours=12)
DRAFTS_KEPT = 5
_SESSION_KEY = "order_wizard_drafts"


@dataclass(frozen=True, slots=True)
class OrderDraft:
    """A draft of an order; `token` names it in the address.

    `key` is the idempotency key that it is placed with. `entries` holds the raw values
    of each form, `done` the steps whose forms were found good. `placed` is the id of
    the order it became.
    """

    token: str
    key: str
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    done: tuple[str, ...] = ()
    placed: str = ""

    def values(self, form: str) -> dict[str, Any]:
        """Return the values entered in a form."""
        return self.entries.get(form, {})

    def with_values(self, **values: dict[str, Any]) -> OrderDraft:
        """Return the draft with the values of some forms."""
        return replace(self, entries={**self.entries, **values})

    def without_values(self, *forms: str) -> OrderDraft:
        """Return the draft without the values of some forms."""
        kept = {k: v for k, v in self.entries.items() if k not in forms}
        return replace(self, entries=kept)

    def with_step_done(self, step: str, *, is_done: bool) -> OrderDraft:
        """Return the draft with a step marked as good, or as to be entered again."""
        others = tuple(one for one in self.done if one != step)
        return replace(self, done=(*others, step) if is_done else others)


def create_order_draft() -> OrderDraft:
    """Return an empty draft that is not stored yet."""
    return OrderDraft(token=secrets.token_urlsafe(12), key=secrets.token_urlsafe(24))


@contextmanager
def lock_order_drafts(request: TenantRequest) -> Iterator[None]:
    """Lock the drafts of a session for one request, read as the last one left them.

    Source: Ours: a session is stored whole, so of two requests at once the later one
    would store the draft as it was before the other.
    """
    with transaction.atomic():
        sessions = Session.objects.select_for_update()
        stored = sessions.filter(pk=request.session.session_key).first()
        if stored is None:  # signed out meanwhile
            yield
            return
        kept = stored.get_decoded().get(_SESSION_KEY, {})
        request.session[_SESSION_KEY] = kept
        yield
        request.session.save()
        # Else the middleware stores it again, after others have changed it.
        request.session.modified = False


def find_order_draft(request: TenantRequest, token: str) -> OrderDraft | None:
    """Return the member's draft of this tenant, or None once expired."""
    stored = request.session.get(_SESSION_KEY, {}).get(token)
    if (
        stored is None
        or not _is_unexpired(stored)
        or stored["tenant"] != request.tenant.pk
    ):
        return None
    try:
        content = json.loads(decrypt_secret(stored["sealed"]))
    except UnreadableSecret:
        return None
    return OrderDraft(token=token, **{**content, "done": tuple(content["done"])})


def is_order_draft_saved(request: TenantRequest, draft: OrderDraft) -> bool:
    """Return whether a draft is stored, so that its token may be in an address."""
    return draft.token in request.session.get(_SESSION_KEY, {})


def save_order_draft(request: TenantRequest, draft: OrderDraft) -> None:
    """Store a draft for 12 hours; only the newest five are kept."""
    content = {
        "key": draft.key,
        "entries": draft.entries,
        "done": draft.done,
        "placed": draft.placed,
    }
    drafts = {
        token: stored
        for token, stored in request.session.get(_SESSION_KEY, {}).items()
        if token != draft.token and _is_unexpired(stored)
    }
    newest = list(drafts.items())[-(DRAFTS_KEPT - 1) :]
    now = {
        "tenant": request.tenant.pk,
        "at": timezone.now().isoformat(),
        "sealed": encrypt_secret(json.dumps(content)),
    }
    request.session[_SESSION_KEY] = {**dict(newest), draft.token: now}


def mark_order_draft_placed(
    request: TenantRequest, draft: OrderDraft, order_id: object
) -> None:
    """Record the order of a placed draft, and delete what was entered."""
    save_order_draft(request, replace(draft, entries={}, done=(), placed=str(order_id)))


def _is_unexpired(stored: dict[str, Any]) -> bool:
    return timezone.now() - datetime.fromisoformat(stored["at"]) < DRAFT_TTL
