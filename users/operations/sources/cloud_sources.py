"""Connect cloud sources with a user's grant, and schedule their pulls."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError, NotFound
from users.gateways.base import Grant
from users.models import Connection, Pull, SourceGrant
from users.operations.sources.connections import record_source_audit_entry
from users.operations.sources.credentials import (
    find_connection_gateway,
    find_team_source_gateway,
)
from users.operations.sources.grants import store_connection_tokens
from users.operations.sources.pulls import schedule_source_pulls
from users.operations.sources.sources import (
    connect_source,
    disconnect_source,
    refuse_account_of_another_user,
)
from users.queries import lock_user
from users.states import ConnectionStatus, PullStatus

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from portal.lib.actor import Actor
    from users.gateways.base import SourceGateway
    from users.models import User

# How far a pull reaches back before the end of the last one: sources mend what they
# told of the days before, and rings sync late.
OVERLAP = timedelta(days=3)
# How far it reaches back once a day: for what users edited or deleted since.
RECHECKED = timedelta(days=30)
_RECHECK_EVERY = timedelta(days=1)
# After how long a resource that the source refused is asked for again.
ASK_AGAIN = timedelta(days=1)


@transaction.atomic
def connect_cloud_source(
    *, user: User, actor: Actor, provider: str, grant: Grant
) -> Connection:
    """Connect a cloud source with a grant and schedule the pulls of its past data.

    A connection that is live is mended and gets the new tokens; one of another account
    at the source is ended first, as its data is of somebody else. Raises:
    source_not_offered, not_found (404); required_scopes_not_granted;
    duplicate_connection (another user of the tenant has the account). Source: Contract
    2.4, 5.5; Ours: whoever signs in with the account of another gets nobody's data, and
    a source gives an account's tokens to one connection at a time.
    """
    gateway = find_team_source_gateway(tenant=user.tenant, provider=provider)
    if gateway is None:
        raise NotFound("source_not_offered", _("This source is not available."))
    granted = gateway.granted_resources(grant)
    if not granted:
        raise DomainError(
            "required_scopes_not_granted",
            _("No permission was granted. Allow at least one kind of data."),
        )
    user = lock_user(user)
    live = Connection.objects.for_tenant(user.tenant).live()
    known: Connection | None = live.filter(user=user, provider=provider).first()
    if grant.external_user_id:
        refuse_account_of_another_user(
            user=user, provider=provider, external_user_id=grant.external_user_id
        )
    if known and _belongs_to_other_user(known.external_user_id, grant.external_user_id):
        disconnect_source(user=user, actor=actor, provider=provider)
    connection = connect_source(
        user=user,
        actor=actor,
        provider=provider,
        external_user_id=grant.external_user_id,
    )
    connection.user = user
    connection.external_user_id = grant.external_user_id or connection.external_user_id
    connection.resource_availability = {
        resource: {
            "status": "available" if resource in granted else "unavailable",
        }
        for resource in gateway.resources
    }
    connection.save(update_fields=["external_user_id", "resource_availability"])
    store_connection_tokens(
        connection=connection, grant=grant, client_id=gateway.credentials.client_id
    )
    schedule_cloud_source_refresh(connection=connection)
    return connection


@transaction.atomic
def is_data_pulled_from_source(connection: Connection) -> bool:
    """Return whether data is fetched from this source, as its user granted it.

    One that was connected by what it pushed has no grant, and one that is made up none
    either.
    """
    kept = SourceGrant.objects.for_tenant(connection.tenant)
    return (
        find_connection_gateway(connection) is not None
        and kept.filter(connection=connection).exists()
    )


def schedule_cloud_source_refresh(*, connection: Connection) -> list[Pull]:
    """Schedule a pull of new data for each resource of a cloud source.

    From OVERLAP before the end of the last pull that went well, of the resource that is
    the furthest behind, once a day from RECHECKED ago; for all of the past of a
    resource of which none did. What the source refused is asked for again once a day.
    Empty for a source that is not pulled. Raises: not_found. Source: Contract 2.2
    (refresh), 5.5; Ours: the overlap; memberships lapse and are renewed. One that is
    push-only is asked for its past alone.
    """
    gateway = find_connection_gateway(connection)
    if gateway is None or not is_data_pulled_from_source(connection):
        return []
    reached = _last_pulled_by_resource(connection)
    available = _available(connection, gateway)
    refused = _find_refused_resources(connection, gateway, available)
    first = timezone.now() - gateway.history
    is_rechecked = _is_rechecked(connection)
    scheduled = _schedule(
        connection,
        gateway,
        [each for each in [*available, *refused] if each not in reached],
        since=first,
        is_history=True,
    )
    if gateway.is_push_only:
        return scheduled
    for resources in (available, refused):
        known = [each for each in resources if each in reached]
        since = min((reached[each] for each in known), default=first) - OVERLAP
        if not is_rechecked:
            since = min(since, timezone.now() - RECHECKED)
        scheduled += _schedule(
            connection, gateway, known, since=max(since, first), is_history=False
        )
    return scheduled


@transaction.atomic
def schedule_source_history(*, connection: Connection, actor: Actor) -> list[Pull]:
    """Schedule a pull of all past data of each available resource of a cloud source.

    What is stored already changes nothing when it comes again. Raises:
    source_not_pulled, source_not_connected (paused or in error); not_found. Source:
    Typed client, link.bulk_trigger_historical_pull.
    """
    user = lock_user(connection.user)
    gateway = find_connection_gateway(connection)
    if gateway is None or not is_data_pulled_from_source(connection):
        raise DomainError("source_not_pulled", _("This source sends its data itself."))
    if connection.status != ConnectionStatus.CONNECTED:
        raise DomainError(
            "source_not_connected", _("This source is paused or has to be reconnected.")
        )
    connection.user = user
    record_source_audit_entry(
        user=user,
        actor=actor,
        verb="request_source_history",
        provider=connection.provider,
    )
    return _schedule(
        connection,
        gateway,
        _available(connection, gateway),
        since=timezone.now() - gateway.history,
        is_history=True,
    )


def _schedule(
    connection: Connection,
    gateway: SourceGateway,
    resources: list[str],
    *,
    since: datetime,
    is_history: bool,
) -> list[Pull]:
    """Schedule a pull of each resource, from no earlier than its source has it."""
    by_start: dict[datetime, list[str]] = {}
    now = timezone.now()
    for resource in resources:
        reached = max(since, now - gateway.find_reach(resource))
        by_start.setdefault(reached, []).append(resource)
    scheduled: list[Pull] = []
    for first, alike in by_start.items():
        start, end = _pull_range(connection.user, first)
        if start <= end:
            scheduled += schedule_source_pulls(
                connection=connection,
                resources=alike,
                is_history=is_history,
                range_start=start,
                range_end=end,
            )
    return scheduled


def _available(connection: Connection, gateway: SourceGateway) -> list[str]:
    availability = connection.resource_availability
    return [
        resource
        for resource in gateway.resources
        if availability.get(resource, {}).get("status") == "available"
    ]


def _find_refused_resources(
    connection: Connection, gateway: SourceGateway, available: list[str]
) -> list[str]:
    """Return granted resources that the source refused within the last day."""
    kept = SourceGrant.objects.for_tenant(connection.tenant).filter(
        connection=connection
    )
    scopes = kept.values_list("scopes", flat=True).first()
    granted = gateway.granted_resources(Grant("", scopes=tuple(scopes or ())))
    lately = _pulls(connection).filter(scheduled_at__gt=timezone.now() - ASK_AGAIN)
    lately_pulled = set(lately.values_list("resource", flat=True))
    return [
        resource
        for resource in gateway.resources
        if resource in granted and resource not in {*available, *lately_pulled}
    ]


def _last_pulled_by_resource(connection: Connection) -> dict[str, datetime]:
    """Return up to when each resource was pulled successfully."""
    went_well = _pulls(connection).filter(status=PullStatus.SUCCESS, is_announced=False)
    return dict(
        went_well.filter(range_end__isnull=False)
        .values_list("resource")
        .annotate(Max("range_end"))
        .order_by()
    )


def _is_rechecked(connection: Connection) -> bool:
    """Return whether a pull lately reached as far back as one does once a day."""
    now = timezone.now()
    far = _pulls(connection).filter(
        is_announced=False,
        scheduled_at__gt=now - _RECHECK_EVERY,
        range_start__lte=now - RECHECKED + _RECHECK_EVERY,
    )
    return bool(far.exclude(status=PullStatus.FAILURE).exists())


def _pulls(connection: Connection) -> QuerySet[Pull]:
    pulls: QuerySet[Pull] = Pull.objects.for_tenant(connection.tenant)
    return pulls.filter(connection=connection)


def _pull_range(user: User, since: datetime) -> tuple[datetime, datetime]:
    """Return the range to pull: the ingestion bounds, a day wider."""
    start, end = since, timezone.now()
    room = timedelta(days=1)
    if user.ingestion_start is not None:
        start = max(start, datetime.combine(user.ingestion_start, time(), UTC) - room)
    if user.ingestion_end is not None:
        end = min(end, datetime.combine(user.ingestion_end, time(), UTC) + 2 * room)
    return start, end


def _belongs_to_other_user(known: str, received: str) -> bool:
    return bool(known and received and known != received)
