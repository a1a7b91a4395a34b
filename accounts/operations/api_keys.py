"""API keys: make, find, revoke. The key text is shown once and never stored."""

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
    from accounts.models import Tenant

# How far behind `last_used_at` may lag, so that a busy key is not a hot row.
LAST_USED_STEP = timedelta(minutes=1)
_LETTERS = {Environment.SANDBOX: "sk", Environment.PRODUCTION: "pk"}


@dataclass(frozen=True, slots=True)
class KeyGrant:
    """What a valid key gives: a tenant, and the actor its calls are made by."""

    tenant: Tenant
    actor: Actor

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
    letters = _LETTERS[Environment(tenant.environment)]
    secret = secrets.token_urlsafe(32)
    text = f"{letters}_{tenant.team.region}_{secret}"
    key = ApiKey(
        tenant=tenant,
        label=label,
        prefix=text[: len(text) - len(secret) + 4],
        last_four=text[-4:],
        digest=digest_of(text),
    )
    key.save(force_insert=True)
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
    if key is None:
        return None
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at >= LAST_USED_STEP:
        ApiKey.unscoped.filter(pk=key.pk).update(last_used_at=now)
    return KeyGrant(
        tenant=key.tenant,
        actor=Actor(ActorKind.API_KEY, str(key.id), key.label),
    )
