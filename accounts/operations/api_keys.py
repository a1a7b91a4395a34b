"""API keys: make, find, rotate, revoke. The text is shown once and never stored."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from accounts.models import ApiKey
from accounts.models.api_key import LABEL_MAX_LENGTH
from accounts.operations.audit import record_change
from accounts.states import Environment
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import Tenant

# How long a rotated key may go on beside the key that takes its place.
OVERLAPS = (timedelta(0), timedelta(hours=24), timedelta(hours=72), timedelta(days=7))
# How far behind `last_used_at` may lag, so that a busy key is not a hot row.
LAST_USED_STEP = timedelta(minutes=1)
_LETTERS = {Environment.SANDBOX: "sk", Environment.PRODUCTION: "pk"}


@dataclass(frozen=True, slots=True)
class KeyGrant:
    """What a valid key gives: a tenant, and the actor its calls are made by.

    `expires_at` is when a rotated key ends, None for a key with no end.
    """

    tenant: Tenant
    actor: Actor
    expires_at: datetime | None = None

    def at(self, address: str | None) -> KeyGrant:
        """The same grant for a call from this IP address."""
        return replace(self, actor=replace(self.actor, address=address))


# Keys this process found lately: the key text to when it ends (monotonic), the grant.
known_grants: dict[str, tuple[float, KeyGrant]] = {}


def forget_keys() -> None:
    """Drop what this process remembers of keys, after a change to keys or settings."""
    known_grants.clear()


def digest_of(key: str) -> bytes:
    """SHA-256 of a key text. Keys hold 256 random bits: no salt or stretching helps."""
    return hashlib.sha256(key.encode()).digest()


@transaction.atomic
def create_api_key(*, tenant: Tenant, actor: Actor, label: str) -> tuple[ApiKey, str]:
    """Make a key of this tenant and return it with its text, the only time it is known.

    Raises: label_missing, label_too_long. Source: Contract 1.2 (key shape).
    """
    label = label.strip()
    if not label:
        raise DomainError("label_missing", "A key needs a label.", "label")
    if len(label) > LABEL_MAX_LENGTH:
        raise DomainError("label_too_long", "The label is too long.", "label")
    key, text = _make_key(tenant=tenant, actor=actor, label=label)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="create_api_key",
        subject="api_key",
        subject_id=key.id,
        changes={"label": [None, label]},
    )
    return key, text


@transaction.atomic
def rotate_api_key(
    *, key: ApiKey, actor: Actor, overlap: timedelta
) -> tuple[ApiKey, str]:
    """Make the key that takes this one's place; this one ends after the overlap.

    Gives the new key, of the same label, with its text, the only time it is known. A
    key is rotated once: after that its successor is. Raises: overlap_unknown,
    api_key_ended. Source: Ours (specification silent): servers change keys one by one.
    """
    if overlap not in OVERLAPS:
        raise DomainError("overlap_unknown", "Choose one of the times.", "overlap")
    tenant = key.tenant
    key = (
        ApiKey.objects.for_tenant(tenant)
        .select_for_update(of=("self",))
        .select_related("tenant__team")
        .get(pk=key.pk)
    )
    if key.revoked_at is not None or key.expires_at is not None:
        raise DomainError("api_key_ended", "This key is rotated or revoked already.")
    key.expires_at = timezone.now() + overlap
    key.save(update_fields=["expires_at"])
    new, text = _make_key(tenant=tenant, actor=actor, label=key.label, replaces=key)
    record_change(
        tenant=tenant,
        actor=actor,
        verb="rotate_api_key",
        subject="api_key",
        subject_id=key.id,
        changes={
            "expires_at": [None, key.expires_at.isoformat()],
            "replaced_by": [None, str(new.id)],
        },
    )
    transaction.on_commit(forget_keys)
    return new, text


@transaction.atomic
def revoke_api_key(*, key: ApiKey, actor: Actor) -> ApiKey:
    """End a key; other processes may take it for up to the cache's 5 seconds more.

    Raises: api_key_revoked.
    """
    now = timezone.now()
    rows = ApiKey.objects.for_tenant(key.tenant).filter(pk=key.pk, revoked_at=None)
    if not rows.update(revoked_at=now):
        raise DomainError("api_key_revoked", "This key is revoked already.")
    key.revoked_at = now
    record_change(
        tenant=key.tenant,
        actor=actor,
        verb="revoke_api_key",
        subject="api_key",
        subject_id=key.id,
    )
    transaction.on_commit(forget_keys)
    return key


def find_grant(text: str) -> KeyGrant | None:
    """The grant of a live key, noting its use; None for any other text.

    The look-up is by digest: its time tells nothing of a key's text.
    """
    key = (
        ApiKey.unscoped.select_related("tenant__team")
        .filter(digest=digest_of(text), revoked_at=None)
        .first()
    )
    now = timezone.now()
    if key is None or key.has_expired(now):
        return None
    if key.last_used_at is None or now - key.last_used_at >= LAST_USED_STEP:
        ApiKey.unscoped.filter(pk=key.pk).update(last_used_at=now)
    return KeyGrant(
        tenant=key.tenant,
        actor=Actor(ActorKind.API_KEY, str(key.id), key.label),
        expires_at=key.expires_at,
    )


def _make_key(
    *, tenant: Tenant, actor: Actor, label: str, replaces: ApiKey | None = None
) -> tuple[ApiKey, str]:
    letters = _LETTERS[Environment(tenant.environment)]
    secret = secrets.token_urlsafe(32)
    text = f"{letters}_{tenant.team.region}_{secret}"
    key = ApiKey(
        tenant=tenant,
        label=label,
        prefix=text[: len(text) - len(secret) + 4],
        last_four=text[-4:],
        digest=digest_of(text),
        created_by_id=actor.key if actor.kind == ActorKind.MEMBER else None,
        replaces=replaces,
    )
    key.save(force_insert=True)
    return key, text
