"""Grants of cloud sources: store tokens, renew them once, revoke them."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import F, Q
from django.utils import timezone

from portal.lib.jobs import jobs
from portal.lib.secrets.encryption import (
    UnreadableSecret,
    decrypt_secret,
    encrypt_secret,
)
from users.gateways.base import (
    CALL_TIMEOUT,
    ClientRejected,
    Grant,
    SourceRefused,
    SourceUnavailable,
)
from users.models import SourceGrant
from users.operations.sources.budgets import LONGEST_HOLD
from users.operations.sources.credentials import (
    build_push_address,
    find_connection_gateway,
    record_credentials_state,
)
from users.states import ConnectionFault
from users.states.credentials import CredentialsState

if TYPE_CHECKING:
    from accounts.models import Tenant
    from users.gateways.base import SourceGateway
    from users.models import Connection

logger = logging.getLogger(__name__)

# Tokens that end within this are traded before they are used.
RENEW_BEFORE = timedelta(minutes=5)
# Longer than a trade can last, so that nobody else trades meanwhile: two calls where
# they are signed, and what each waits for its budget.
CLAIM_TTL = 2 * (CALL_TIMEOUT + LONGEST_HOLD) + timedelta(seconds=30)
# How long a source may be away when we give a permission back, and between attempts.
REVOKED_WITHIN = timedelta(days=3)
_REVOKE_WAIT = timedelta(minutes=30)
# When to ask again while somebody else trades the tokens.
_CLAIMED_WAIT = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class StoredGrant:
    """A grant, and the rotation of its stored tokens."""

    grant: Grant
    rotation: int


def store_connection_tokens(
    *, connection: Connection, grant: Grant, client_id: str = ""
) -> None:
    """Store the tokens of a connection, encrypted, replacing earlier ones.

    `client_id` is of the application that they were issued to.
    Source: Ours: a copy of the database opens no source.
    """
    SourceGrant.objects.for_tenant(connection.tenant).update_or_create(
        connection=connection,
        defaults={
            **_columns(grant),
            "client_id": client_id,
            "rotation": F("rotation") + 1,
        },
        create_defaults={
            **_columns(grant),
            "client_id": client_id,
            "tenant": connection.tenant,
            "connection": connection,
        },
    )


def get_valid_connection_tokens(
    *, connection: Connection, gateway: SourceGateway
) -> StoredGrant:
    """Return the tokens of a connection, renewed if they expire soon.

    Asks the source, so never call it inside a transaction. Raises: SourceUnavailable;
    SourceRefused (token_refresh_failed, also where there are no tokens).
    """
    kept = _read(connection)
    ends = kept.grant.expires_at
    if ends is not None and ends < timezone.now() + RENEW_BEFORE:
        return renew_connection_tokens(
            connection=connection, gateway=gateway, spent=kept.rotation
        )
    return kept


def renew_connection_tokens(
    *, connection: Connection, gateway: SourceGateway, spent: int
) -> StoredGrant:
    """Renew tokens that the source no longer accepts; `spent` is their rotation.

    Of two workers one trades: the other gets what the first stored, or
    SourceUnavailable while it is at it. Who never came back may have traded them: where
    refresh tokens work once they are not sent again, and the user has to connect anew.
    Never call it inside a transaction. Raises: SourceUnavailable; SourceRefused.
    Source: RFC 6749, 6; RFC 9700, 4.14.2 (a token sent twice is taken for stolen).
    """
    mine = SourceGrant.objects.for_tenant(connection.tenant).filter(
        connection=connection, rotation=spent
    )
    now = timezone.now()
    until = now + CLAIM_TTL
    is_abandoned = Q(claimed_until__lt=now)
    free = mine.filter(Q(claimed_until=None) | is_abandoned)
    if not gateway.reuses_refresh_tokens:
        if mine.filter(is_abandoned).exists():
            raise SourceRefused(ConnectionFault.TOKEN_REFRESH_FAILED)
        free = mine.filter(claimed_until=None)
    if not free.update(claimed_until=until):
        kept = _read(connection)
        if kept.rotation == spent:
            raise SourceUnavailable("tokens_claimed", retry_after=_CLAIMED_WAIT)
        return kept
    try:
        new = _exchange(gateway, _read(connection).grant)
    except (SourceUnavailable, SourceRefused) as refusal:
        mine.filter(claimed_until=until).update(claimed_until=None)
        if isinstance(refusal, ClientRejected):
            _record_state(connection, gateway, CredentialsState.REJECTED)
        raise
    is_stored = mine.update(**_columns(new), rotation=spent + 1)
    _record_state(connection, gateway, CredentialsState.WORKING)
    if not is_stored:  # the user connected anew meanwhile
        return _read(connection)
    return StoredGrant(new, spent + 1)


def enqueue_grant_revocation(*, connection: Connection) -> None:
    """Enqueue revoking the grant of an ended connection, if it has one.

    In the transaction that ends it. Source: Ours: who disconnects a source expects that
    we can't read it any more.
    """
    grants = SourceGrant.objects.for_tenant(connection.tenant)
    if grants.filter(connection=connection).exists():
        jobs.enqueue_job(
            "users.revoke", tenant=connection.tenant, connection_pk=connection.pk
        )


def revoke_grant_at_source(*, tenant: Tenant, connection_pk: int) -> timedelta | None:
    """Revoke the grant of an ended connection at its source, and delete its tokens.

    Returns when to try again, None when it is done: a source that is away has
    REVOKED_WITHIN to come back. Never call it inside a transaction. Source: RFC 7009.
    """
    kept = _ended(tenant, connection_pk)
    if kept is None:
        return None
    gateway = find_connection_gateway(kept.connection)
    if gateway is not None:
        try:
            known = kept.connection.external_user_id
            grant = replace(_decrypted(kept), external_user_id=known)
            if gateway.pushes is not None and _is_pushed(kept):
                url, _token = build_push_address(
                    tenant=tenant, provider=kept.connection.provider, gateway=gateway
                )
                gateway.pushes.unsubscribe(url=url, grant=grant)
            gateway.revoke(grant)
        except UnreadableSecret:
            pass  # nobody can use them any more
        except SourceUnavailable as away:
            ended = kept.connection.disconnected_at
            if ended is not None and timezone.now() - ended < REVOKED_WITHIN:
                return max(away.retry_after or _REVOKE_WAIT, _REVOKE_WAIT)
            logger.warning("a permission was not taken back: %s", away.reason)
    kept.delete()
    return None


def _is_pushed(kept: SourceGrant) -> bool:
    return kept.pushes_checked_at is not None and not kept.pushes_error


def delete_connection_tokens(*, tenant: Tenant, connection_pk: int) -> None:
    """Delete the tokens of an ended connection that could not be revoked."""
    kept = _ended(tenant, connection_pk)
    if kept is not None:
        kept.delete()


def _record_state(
    connection: Connection, gateway: SourceGateway, state: CredentialsState
) -> None:
    record_credentials_state(
        tenant=connection.tenant,
        provider=connection.provider,
        state=state,
        client_id=gateway.credentials.client_id,
    )


def _exchange(gateway: SourceGateway, old: Grant) -> Grant:
    if not old.refresh_token:
        raise SourceRefused(ConnectionFault.TOKEN_REFRESH_FAILED)
    return gateway.refresh_tokens(old)


def _ended(tenant: Tenant, connection_pk: int) -> SourceGrant | None:
    """Return the grant of an ended connection; None for a live one."""
    kept: SourceGrant | None = (
        SourceGrant.objects.for_tenant(tenant)
        .select_related("connection")
        .filter(connection=connection_pk, connection__disconnected_at__isnull=False)
        .first()
    )
    return kept


def _read(connection: Connection) -> StoredGrant:
    """Raises: SourceRefused: there are no tokens, or none that we can read."""
    kept: SourceGrant | None = (
        SourceGrant.objects.for_tenant(connection.tenant)
        .filter(connection=connection)
        .first()
    )
    if kept is None:
        raise SourceRefused(ConnectionFault.TOKEN_REFRESH_FAILED)
    try:
        grant = _decrypted(kept)
    except UnreadableSecret:
        raise SourceRefused(ConnectionFault.TOKEN_REFRESH_FAILED) from None
    known = replace(grant, external_user_id=connection.external_user_id or "")
    return StoredGrant(known, kept.rotation)


def _decrypted(kept: SourceGrant) -> Grant:
    return Grant(
        access_token=decrypt_secret(kept.access_token),
        refresh_token=decrypt_secret(kept.refresh_token),
        expires_at=kept.expires_at,
        scopes=tuple(kept.scopes),
    )


def _columns(grant: Grant) -> dict[str, object]:
    return {
        "access_token": encrypt_secret(grant.access_token),
        "refresh_token": encrypt_secret(grant.refresh_token),
        "expires_at": grant.expires_at,
        "scopes": list(grant.scopes),
        "claimed_until": None,
        "updated_at": timezone.now(),
    }
