"""Tokens of phones: create, renew, find, and revoke them."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError, NotFound
from portal.lib.tenancy import acting_for
from users.models import Phone
from users.queries import find_live_user, lock_user
from users.states.phones import PhoneApp

if TYPE_CHECKING:
    from datetime import datetime

    from users.models import User

TOKEN_TTL = timedelta(hours=1)
# Ours: who needs more has old ones to disconnect.
PHONES_MAX = 20
# How often the time of the last call is written.
_SEEN_EVERY = timedelta(minutes=1)
_BYTES = 32
# Apps that cannot renew a token: theirs lasts until it is revoked.
_LASTING = frozenset({PhoneApp.HEALTH_AUTO_EXPORT, PhoneApp.HCGATEWAY})
_NAME_MAX, _VERSION_MAX = 100, 50


@dataclass(frozen=True, slots=True)
class PhoneDetails:
    """What an app says of itself when it is paired; a person's name is none of it."""

    app: PhoneApp
    name: str = ""
    app_version: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """New tokens, shown once; `refresh` is empty where the first one lasts."""

    access: str
    refresh: str
    expires_at: datetime | None

    @property
    def expires_in(self) -> int | None:
        """Return how many seconds the access token lasts."""
        return None if self.expires_at is None else int(TOKEN_TTL.total_seconds())


@transaction.atomic
def create_phone(
    *, user: User, actor: Actor, details: PhoneDetails
) -> tuple[Phone, Tokens]:
    """Create a phone of a live user with its first tokens.

    Raises: not_found; too_many_phones. Source: Ours.
    """
    user = lock_user(user)
    mine = Phone.objects.for_tenant(user.tenant).filter(user=user, revoked_at=None)
    if mine.count() >= PHONES_MAX:
        raise DomainError(
            "too_many_phones", _("Disconnect a phone that you no longer use first.")
        )
    tokens = _new_tokens(details.app)
    phone = Phone(
        tenant=user.tenant,
        user=user,
        app=details.app,
        name=_clean(details.name, _NAME_MAX),
        app_version=_clean(details.app_version, _VERSION_MAX),
        token_hash=hash_token(tokens.access),
        token_expires_at=tokens.expires_at,
        refresh_hash=hash_token(tokens.refresh) if tokens.refresh else None,
    )
    phone.save(force_insert=True)
    _record(phone, actor, "pair_phone", app=str(details.app))
    return phone, tokens


def find_phone_by_token(token: str) -> Phone:
    """Return the phone of an access token, with its user and tenant.

    Raises: token_unknown, for one that is wrong, has expired or was revoked, and for a
    deleted user's.
    """
    phone = _find(token_hash=hash_token(token)) if token else None
    now = timezone.now()
    if phone is None or (
        phone.token_expires_at is not None and phone.token_expires_at <= now
    ):
        raise token_unknown()
    return phone


def record_phone_seen(phone: Phone) -> None:
    """Record that a phone called, once a minute and first after a renewal."""
    now = timezone.now()
    seen = phone.seen_at
    if seen is None or seen <= phone.renewed_at or now - seen >= _SEEN_EVERY:
        phone.seen_at = now
        phone.save(update_fields=["seen_at"])


def renew_phone_tokens(*, refresh: str) -> tuple[Phone, Tokens]:
    """Exchange a refresh token for new tokens; the old ones end.

    The one before works again while the new ones were never used: their answer may not
    have arrived. After that it is a copy that somebody else has, and the phone is
    disconnected. Raises: token_unknown. Source: RFC 9700 4.14.2 (rotation, replay);
    Ours: the answer that was lost.
    """
    hashed = hash_token(refresh)
    phone = refresh and (_find(refresh_hash=hashed) or _find(former_hash=hashed))
    if not phone:
        raise token_unknown()
    is_replay = False
    with acting_for(phone.tenant), transaction.atomic():
        held = Phone.objects.for_tenant(phone.tenant).select_for_update()
        row = held.filter(pk=phone.pk, revoked_at=None).first()
        if row is None or hashed not in (row.refresh_hash, row.former_hash):
            raise token_unknown()
        row.tenant, row.user = phone.tenant, phone.user
        was_used = row.seen_at is not None and row.seen_at > row.renewed_at
        if hashed == row.former_hash and was_used:
            is_replay = True
            _revoke(row)
            _record(row, _PHONE, "revoke_phone", cause="refresh_token_replayed")
        else:
            tokens = _new_tokens(PhoneApp(row.app))
            row.former_hash = hashed
            row.token_hash = hash_token(tokens.access)
            row.token_expires_at = tokens.expires_at
            row.refresh_hash = hash_token(tokens.refresh) if tokens.refresh else None
            row.renewed_at = timezone.now()
            row.save(
                update_fields=[
                    *("former_hash", "token_hash", "token_expires_at"),
                    *("refresh_hash", "renewed_at"),
                ]
            )
    if is_replay:
        raise token_unknown()
    return row, tokens


@transaction.atomic
def revoke_phone(*, phone: Phone, actor: Actor) -> None:
    """Disconnect a phone: its tokens end at once, its data is kept.

    Raises: phone_not_connected (404). Source: Ours.
    """
    held = Phone.objects.for_tenant(phone.tenant).select_for_update()
    row = held.filter(pk=phone.pk, revoked_at=None).first()
    if row is None:
        raise NotFound("phone_not_connected", _("This phone is not connected."))
    row.tenant, row.user = phone.tenant, phone.user
    _revoke(row)
    _record(row, actor, "revoke_phone")
    phone.revoked_at = row.revoked_at


def revoke_phone_by_token(*, token: str) -> bool:
    """Disconnect the phone of an access or refresh token; whether there was one."""
    phone = _find(token_hash=hash_token(token)) or _find(refresh_hash=hash_token(token))
    if phone is None:
        return False
    with acting_for(phone.tenant):
        revoke_phone(phone=phone, actor=build_phone_actor(phone, None))
    return True


def build_phone_actor(phone: Phone, address: str | None) -> Actor:
    """Return the audit actor of a phone that calls."""
    return Actor(ActorKind.SYSTEM, f"phone:{phone.uuid}", "phone", address)


def hash_token(token: str) -> str:
    """Return what is kept of a token: 256 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()


def token_unknown() -> DomainError:
    """Return the refusal of a token, the same for all causes."""
    return DomainError("token_unknown", _("This token is not valid."))


_PHONE = Actor.system("phone")


def _find(**by: str) -> Phone | None:
    # The tenant is what the token says; only then a user can be read.
    found = Phone.unscoped.select_related("tenant__team").filter(
        revoked_at=None, tenant__team__deleted_at=None, **by
    )
    phone: Phone | None = found.first()
    if phone is None:
        return None
    with acting_for(phone.tenant):
        user = find_live_user(tenant=phone.tenant, pk=phone.user_id)
    if user is None:
        return None
    phone.user = user
    return phone


def _new_tokens(app: PhoneApp) -> Tokens:
    lasts = app in _LASTING
    return Tokens(
        access=secrets.token_urlsafe(_BYTES),
        refresh="" if lasts else secrets.token_urlsafe(_BYTES),
        expires_at=None if lasts else timezone.now() + TOKEN_TTL,
    )


def _revoke(phone: Phone) -> None:
    phone.revoked_at = timezone.now()
    phone.save(update_fields=["revoked_at"])


def _record(phone: Phone, actor: Actor, verb: str, **changes: Any) -> None:
    record_change(
        tenant=phone.tenant,
        actor=actor,
        verb=verb,
        subject="phone",
        subject_id=phone.uuid,
        user_uuid=phone.user.uuid,
        changes=changes,
    )


def _clean(text: str, length: int) -> str:
    return " ".join(text.replace("\0", "").split())[:length]
