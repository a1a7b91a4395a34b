"""Create and check short-lived tokens that act for a team's key or for one user.

Nothing is stored: a token is signed, names the key that it was made by, and is worth
what that key is worth when it is used.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core import signing
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import ApiKey, ManagementKey, Tenant
from accounts.operations.api_keys.api_keys import KeyGrant, build_api_key_grant
from accounts.operations.audit.entries import record_change
from accounts.states import ManagementRole
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "at_"
# Ours: contract 9.1 says minutes, and 2.2 names no time.
TEAM_TOKEN_TTL = timedelta(minutes=15)
SIGN_IN_TOKEN_TTL = timedelta(hours=1)
# SMART Backend Services: five minutes at most.
BACKEND_TOKEN_TTL = timedelta(minutes=5)
_SALT = "accounts.access-token"


def create_team_access_token(*, tenant: Tenant, actor: Actor) -> str:
    """Create a token with the access of an API key of this tenant.

    It ends after TEAM_TOKEN_TTL, or with the management key that made it. Raises:
    not_allowed, of any other actor. Source: Contract 9.1.
    """
    if actor.kind != ActorKind.MANAGEMENT_KEY:
        raise NotAllowed("not_allowed", _("This call requires a management key."))
    record_change(
        tenant=tenant,
        actor=actor,
        verb="create_access_token",
        subject="tenant",
        subject_id=tenant.pk,
    )
    return _sign({"tenant": tenant.pk, "manager": actor.key}, TEAM_TOKEN_TTL)


def create_user_sign_in_token(*, tenant: Tenant, actor: Actor, user_uuid: UUID) -> str:
    """Create a token for one user's own app, limited to that user's data.

    It ends after SIGN_IN_TOKEN_TTL, or with the API key that made it. Raises:
    not_allowed, of any other actor. Source: Contract 2.2; Ours: what it may do.
    """
    if actor.kind != ActorKind.API_KEY:
        raise NotAllowed("not_allowed", _("This call requires an API key."))
    record_change(
        tenant=tenant,
        actor=actor,
        verb="create_sign_in_token",
        subject="user",
        subject_id=user_uuid,
        user_uuid=user_uuid,
    )
    return _sign({"key": actor.key, "user": str(user_uuid)}, SIGN_IN_TOKEN_TTL)


def create_backend_access_token(
    *, key: ApiKey, resource_types: frozenset[str] | None
) -> tuple[str, timedelta]:
    """Create a token of a backend service; return it with its lifetime.

    It reads FHIR resources of these types, None for all, as far as its API key may, and
    ends with that key. Source: SMART App Launch 2.2, Backend Services.
    """
    record_change(
        tenant=key.tenant,
        actor=Actor(ActorKind.API_KEY, str(key.pk), key.label),
        verb="sign_in_backend_service",
        subject="api_key",
        subject_id=key.pk,
    )
    types = sorted(resource_types or {"*"})
    token = _sign({"key": str(key.pk), "types": types}, BACKEND_TOKEN_TTL)
    return token, BACKEND_TOKEN_TTL


def find_access_token_grant(text: str) -> KeyGrant | None:
    """Return the grant of a valid token; None for any other text."""
    try:
        payload = signing.loads(text.removeprefix(PREFIX), salt=_SALT)
    except signing.BadSignature:
        return None
    ends_at = datetime.fromtimestamp(payload["until"], UTC)
    if ends_at <= timezone.now():
        return None
    if "types" in payload:
        grant = _backend_grant(payload)
    else:
        grant = _user_grant(payload) if "user" in payload else _team_grant(payload)
    if grant is None:
        return None
    return replace(grant, expires_at=min(grant.expires_at or ends_at, ends_at))


def _team_grant(payload: Mapping[str, str]) -> KeyGrant | None:
    tenant = (
        Tenant.objects.select_related("team")
        .filter(pk=payload["tenant"], team__deleted_at=None)
        .first()
    )
    key = ManagementKey.objects.filter(pk=payload["manager"], revoked_at=None).first()
    if tenant is None or key is None:
        return None
    manages = key.organisation_id == tenant.team.organisation_id and (
        key.role == ManagementRole.ORG_ADMIN
        or key.teams.filter(pk=tenant.team_id).exists()
    )
    if not manages:
        return None
    actor = Actor(ActorKind.MANAGEMENT_KEY, str(key.pk), key.label)
    return KeyGrant(tenant=tenant, actor=actor, key_id=key.pk)


def _backend_grant(payload: Mapping[str, Any]) -> KeyGrant | None:
    key = _find_live_key(payload["key"])
    if key is None:
        return None
    return replace(build_api_key_grant(key), fhir_types=frozenset(payload["types"]))


def _find_live_key(key_id: str) -> ApiKey | None:
    key: ApiKey | None = (
        ApiKey.unscoped.select_related("tenant__team")
        .filter(pk=key_id, revoked_at=None, tenant__team__deleted_at=None)
        .first()
    )
    return None if key is None or key.has_expired(timezone.now()) else key


def _user_grant(payload: Mapping[str, str]) -> KeyGrant | None:
    key = _find_live_key(payload["key"])
    if key is None:
        return None
    # The networks are those of the customer's servers: the user's app is elsewhere.
    return replace(
        build_api_key_grant(key), networks=(), user_uuid=UUID(payload["user"])
    )


def _sign(payload: dict[str, object], lifetime: timedelta) -> str:
    until = (timezone.now() + lifetime).timestamp()
    return PREFIX + signing.dumps({**payload, "until": until}, salt=_SALT)
