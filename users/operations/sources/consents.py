"""Consents that users changed at a source: ask it what is still granted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from portal.lib.jobs import jobs
from users.gateways.base import AccessExpired, Grant, SourceRefused
from users.models import Connection, SourceGrant
from users.operations.sources.cloud_sources import schedule_cloud_source_refresh
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.credentials import find_connection_gateway
from users.operations.sources.grants import (
    get_valid_connection_tokens,
    renew_connection_tokens,
)
from users.queries import lock_user
from users.states import ConnectionFault, ConnectionStatus

if TYPE_CHECKING:
    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.gateways.base import SourceGateway

CONSENT_JOB = "users.check_consent"


def enqueue_consent_check(*, connection: Connection) -> None:
    """Enqueue asking a source what is still granted; it locks no user."""
    jobs.enqueue_job(
        CONSENT_JOB,
        tenant=connection.tenant,
        lock=f"{CONSENT_JOB}:{connection.pk}",
        connection_pk=connection.pk,
    )


def check_connection_consent(
    *, tenant: Tenant, actor: Actor, connection_pk: int
) -> None:
    """Ask a source what is still granted, and record it.

    Where nothing is, the connection fails until its user signs in again. What was
    granted anew is read. Asks the source, so never call it inside a transaction.
    Raises: SourceUnavailable. Source: Contract 2.4; Ours: a message alone ends nothing,
    as anybody may have sent it.
    """
    live = Connection.objects.for_tenant(tenant).live().select_related("user")
    connection: Connection | None = live.filter(
        pk=connection_pk, status=ConnectionStatus.CONNECTED
    ).first()
    gateway = find_connection_gateway(connection) if connection else None
    if connection is None or gateway is None:
        return
    connection.tenant = connection.user.tenant = tenant
    try:
        scopes = _ask(connection, gateway)
    except SourceRefused:
        fault = ConnectionFault.DEREGISTERED_PER_PROVIDER
        mark_connection_failed(connection=connection, actor=actor, fault=fault)
        return
    granted = gateway.granted_resources(Grant("", scopes=scopes)) if scopes else ()
    if not granted:
        fault = ConnectionFault.REQUIRED_SCOPES_NOT_GRANTED
        mark_connection_failed(connection=connection, actor=actor, fault=fault)
        return
    _record(connection, gateway, scopes, frozenset(granted))
    schedule_cloud_source_refresh(connection=connection)


def _ask(connection: Connection, gateway: SourceGateway) -> tuple[str, ...]:
    kept = get_valid_connection_tokens(connection=connection, gateway=gateway)
    try:
        return gateway.find_granted_scopes(kept.grant)
    except AccessExpired:
        kept = renew_connection_tokens(
            connection=connection, gateway=gateway, spent=kept.rotation
        )
    try:
        return gateway.find_granted_scopes(kept.grant)
    except AccessExpired:
        raise SourceRefused(ConnectionFault.DEREGISTERED_PER_PROVIDER) from None


@transaction.atomic
def _record(
    connection: Connection,
    gateway: SourceGateway,
    scopes: tuple[str, ...],
    granted: frozenset[str],
) -> None:
    lock_user(connection.user)
    connection.refresh_from_db(fields=["resource_availability"])
    connection.resource_availability = {
        resource: {"status": "available" if resource in granted else "unavailable"}
        for resource in gateway.resources
    }
    connection.save(update_fields=["resource_availability"])
    SourceGrant.objects.for_tenant(connection.tenant).filter(
        connection=connection
    ).update(scopes=list(scopes))
