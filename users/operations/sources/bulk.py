"""Bulk operations on the connections of many users: import, export, pause, history."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError, NotFound
from portal.lib.secrets.encryption import UnreadableSecret, decrypt_secret
from users.gateways.base import Grant
from users.models import BulkOperation, Connection, SourceCredentials, SourceGrant
from users.models.sources.arrival import ARRIVAL_RETENTION
from users.operations.sources.cloud_sources import (
    connect_cloud_source,
    schedule_source_history,
)
from users.operations.sources.connections import record_source_audit_entry
from users.operations.sources.consents import enqueue_consent_check
from users.operations.sources.credentials import find_team_source_gateway
from users.operations.sources.pausing import pause_source
from users.queries import live_user
from users.states.bulk import BulkOperationKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.gateways.base import SourceGateway

T = TypeVar("T")
# Ours: what one call does within the time that a proxy waits for it.
BULK_MAX = 500
# Tokens that do not end are sent with this (typed client: ConnectionRecipe).
NEVER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class ConnectionRecipe:
    """Tokens of a user's account at a source, as another server had them.

    `expires_at` is Unix time in seconds, NEVER for tokens that do not end. Without
    `oauth_scopes` all that the source offers is asked for, until it says otherwise.
    """

    user_id: UUID
    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)
    provider_id: str
    expires_at: int
    oauth_scopes: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class BulkOutcome:
    """The users who are done, and those who were refused, as sent."""

    done: tuple[UUID, ...]
    failed: tuple[UUID, ...]


def import_connections(
    *,
    tenant: Tenant,
    actor: Actor,
    provider: str,
    recipes: Sequence[ConnectionRecipe],
) -> BulkOutcome:
    """Connect a source to many users with the tokens of another server.

    The tokens must be of the application that the team uses here: no other can renew
    them. Each user is committed alone, so that a call that was cut off can be sent
    again. Refused are users who do not exist, an account that another user has, and
    scopes that allow nothing. Raises: source_not_offered (404). Source: Typed client,
    link.bulk_import; Ours: at most BULK_MAX, and done before the call returns.
    """
    gateway = _find_gateway(tenant, provider)

    def connect(recipe: ConnectionRecipe) -> UUID:
        user = live_user(tenant=tenant, user_id=recipe.user_id)
        scopes = recipe.oauth_scopes
        connection = connect_cloud_source(
            user=user,
            actor=actor,
            provider=provider,
            grant=Grant(
                access_token=recipe.access_token,
                refresh_token=recipe.refresh_token,
                expires_at=_read_end(recipe.expires_at),
                scopes=gateway.all_scopes if scopes is None else scopes,
                external_user_id=recipe.provider_id,
            ),
        )
        if scopes is None:
            enqueue_consent_check(connection=connection)
        return recipe.user_id

    operation = _start(tenant, BulkOperationKind.IMPORT, provider, len(recipes))
    return _run(operation, recipes, connect, lambda recipe: recipe.user_id)


def export_connections(
    *,
    tenant: Tenant,
    actor: Actor,
    provider: str,
    user_ids: Sequence[UUID] | None,
    after: int,
    limit: int,
) -> tuple[list[ConnectionRecipe], int | None]:
    """Return tokens of a source's connections, and where the next page begins.

    Only those issued to the team's own application: tokens of the installation's are
    its operator's to give. Each export has an audit entry of its user. `after` is 0 at
    first. Raises: own_credentials_needed (400). Source: Typed client, link.bulk_export;
    Ours: what cannot be renewed elsewhere is not given away.
    """
    own = SourceCredentials.objects.for_tenant(tenant).filter(provider=provider).first()
    if own is None:
        raise DomainError(
            "own_credentials_needed",
            _("Only connections of your own application at the source are exported."),
        )
    grants = (
        SourceGrant.objects.for_tenant(tenant)
        .filter(
            connection__provider=provider,
            connection__disconnected_at=None,
            connection__user__deleted_at=None,
            client_id=own.client_id,
            pk__gt=after,
        )
        .select_related("connection__user")
        .order_by("pk")
    )
    if user_ids is not None:
        grants = grants.filter(connection__user__uuid__in=user_ids)
    page = list(grants[: limit + 1])
    recipes = []
    for grant in page[:limit]:
        user = grant.connection.user
        user.tenant = tenant
        try:
            recipes.append(_read_recipe(grant))
        except UnreadableSecret:
            continue
        record_source_audit_entry(
            user=user, actor=actor, verb="export_source_tokens", provider=provider
        )
    return recipes, page[limit - 1].pk if len(page) > limit else None


def pause_connections(
    *, tenant: Tenant, actor: Actor, provider: str, user_ids: Sequence[UUID]
) -> BulkOutcome:
    """Pause a source of many users; who has it not connected is named as failed.

    Source: Typed client, link.bulk_pause.
    """

    def pause(user_id: UUID) -> UUID:
        user = live_user(tenant=tenant, user_id=user_id)
        pause_source(user=user, actor=actor, provider=provider)
        return user_id

    return _run(None, user_ids, pause, lambda user_id: user_id)


def request_history_of_connections(
    *, tenant: Tenant, actor: Actor, provider: str, user_ids: Sequence[UUID]
) -> BulkOutcome:
    """Schedule a pull of all past data of a source for many users.

    Refused are users who do not exist or from whose source nothing is pulled. Raises:
    source_not_offered (404). Source: Typed client, link.bulk_trigger_historical_pull.
    """
    _find_gateway(tenant, provider)

    def request(user_id: UUID) -> UUID:
        user = live_user(tenant=tenant, user_id=user_id)
        live = Connection.objects.for_tenant(tenant).live()
        connection = live.filter(user=user, provider=provider).first()
        if connection is None:
            raise NotFound("source_not_connected", _("This source is not connected."))
        connection.user, connection.tenant = user, tenant
        schedule_source_history(connection=connection, actor=actor)
        return user_id

    operation = _start(tenant, BulkOperationKind.HISTORY, provider, len(user_ids))
    return _run(operation, user_ids, request, lambda user_id: user_id)


def delete_old_bulk_operations() -> int:
    """Delete bulk operations past their retention, of all tenants; return how many."""
    old = timezone.now() - ARRIVAL_RETENTION
    removed, _by_table = BulkOperation.unscoped.filter(started_at__lt=old).delete()
    return removed


def _find_gateway(tenant: Tenant, provider: str) -> SourceGateway:
    gateway = find_team_source_gateway(tenant=tenant, provider=provider)
    if gateway is None:
        raise NotFound("source_not_offered", _("This source is not available."))
    return gateway


def _start(
    tenant: Tenant, kind: BulkOperationKind, provider: str, total: int
) -> BulkOperation:
    operation = BulkOperation(tenant=tenant, kind=kind, provider=provider, total=total)
    operation.save(force_insert=True)
    return operation


def _run(
    operation: BulkOperation | None,
    items: Iterable[T],
    act: Callable[[T], UUID],
    name: Callable[[T], UUID],
) -> BulkOutcome:
    done, failed = [], []
    for item in items:
        try:
            done.append(act(item))
        except DomainError:
            failed.append(name(item))
    if operation is not None:
        operation.processed = len(done) + len(failed)
        operation.failed = len(failed)
        operation.ended_at = timezone.now()
        operation.save(update_fields=["processed", "failed", "ended_at"])
    return BulkOutcome(tuple(done), tuple(failed))


def _read_end(expires_at: int) -> datetime | None:
    return None if expires_at >= NEVER else datetime.fromtimestamp(expires_at, UTC)


def _read_recipe(grant: SourceGrant) -> ConnectionRecipe:
    ends = grant.expires_at
    return ConnectionRecipe(
        user_id=grant.connection.user.uuid,
        access_token=decrypt_secret(grant.access_token),
        refresh_token=decrypt_secret(grant.refresh_token),
        provider_id=grant.connection.external_user_id,
        expires_at=NEVER if ends is None else int(ends.timestamp()),
        oauth_scopes=tuple(grant.scopes) or None,
    )
