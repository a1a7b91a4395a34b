"""Reads of connections: by user, by source, and their arrivals."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.db.models import Count, Max, Min, Q

from portal.lib.database import rows
from portal.lib.database.prepared import PreparedStatement
from users.models import Arrival, Connection
from users.states import ConnectionStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from users.models import User

_STATUS = PreparedStatement(
    "connection_status",
    "SELECT status FROM users_connection WHERE tenant_id = $1 AND user_id = $2"
    " AND provider = $3 AND disconnected_at IS NULL",
)


class SourceRow(NamedTuple):
    """A live connection of a user, by slug.

    `error_type` is read for the dashboard's lists alone.
    """

    provider: str
    status: str
    created_on: datetime
    error_type: str = ""


class ProviderUse(NamedTuple):
    """Number of a source's live connections, those in error, and since when."""

    provider: str
    connections: int
    broken: int
    broken_since: datetime | None


def list_connections_by_user(
    *, tenant: Tenant, user_ids: Iterable[int]
) -> dict[int, list[SourceRow]]:
    """Return live connections of these users, by user key, oldest first; one query."""
    keys = list(user_ids)
    sources: dict[int, list[SourceRow]] = {key: [] for key in keys}
    if keys:
        found = rows.fetch_rows(
            "SELECT user_id, provider, status, created_on, error_type"
            " FROM users_connection"
            " WHERE tenant_id = %s AND user_id = ANY(%s) AND disconnected_at IS NULL"
            " ORDER BY id",
            [tenant.pk, keys],
        )
        for key, *source in found:
            sources[key].append(SourceRow(*source))
    return sources


def count_connections_by_user(
    *, tenant: Tenant, user_keys: Sequence[int]
) -> dict[int, int]:
    """Count the live connections of these users by user key, 0 absent; one query."""
    return dict(
        rows.fetch_rows(
            "SELECT user_id, count(*) FROM users_connection"
            " WHERE tenant_id = %s AND user_id = ANY(%s) AND disconnected_at IS NULL"
            " GROUP BY user_id",
            [tenant.pk, list(user_keys)],
        )
    )


def filter_live_connections(
    tenant: Tenant, provider: str, status: str
) -> QuerySet[Connection]:
    """Return live connections of a tenant, filtered by source and status."""
    live: QuerySet[Connection] = Connection.objects.for_tenant(tenant).live()
    if provider:
        live = live.filter(provider=provider)
    if status:
        live = live.filter(status=status)
    return live


def count_connected_users_by_source(*, tenant: Tenant) -> list[ProviderUse]:
    """Return the connected sources of live users, most used first."""
    live = Connection.objects.for_tenant(tenant).live()
    is_broken = Q(status=ConnectionStatus.ERROR)
    grouped = live.values_list("provider").annotate(
        connections=Count("id"),
        broken=Count("id", filter=is_broken),
        broken_since=Min("errored_at", filter=is_broken),
    )
    found = [ProviderUse(*row) for row in grouped.order_by()]
    return sorted(found, key=lambda use: (-use.connections, use.provider))


def get_connection_status(*, user: User, provider: str) -> str | None:
    """Return the status of a user's live connection to a source, or None."""
    found = _STATUS.fetch_rows((str(user.tenant_id), str(user.pk), provider))
    return str(found[0][0]) if found else None


def list_live_user_connections(*, user: User) -> list[Connection]:
    """Return the live connections of a user, oldest first."""
    live = Connection.objects.for_tenant(user.tenant).live()
    return list(live.filter(user=user).order_by("id"))


def find_last_data_time_by_user(
    *, tenant: Tenant, user_ids: Iterable[int]
) -> dict[int, datetime]:
    """Return when data last arrived for these users, by user key; one query.

    By the index on user and time. Who was silent for all of ARRIVAL_RETENTION is not
    there.
    """
    keys = list(user_ids)
    if not keys:
        return {}
    found = rows.fetch_rows(
        "SELECT asked.id, latest.at FROM unnest(%s::bigint[]) AS asked(id),"
        " LATERAL (SELECT at FROM users_arrival"
        " WHERE user_id = asked.id AND tenant_id = %s ORDER BY at DESC LIMIT 1) latest",
        [keys, tenant.pk],
    )
    return dict(found)


def find_last_data_time_by_source(*, user: User) -> dict[str, datetime]:
    """Return when each source of a user last sent data, by slug; one query.

    A source that was silent for all of ARRIVAL_RETENTION is not there.
    """
    sent = Arrival.objects.for_tenant(user.tenant).filter(user=user)
    return dict(sent.values_list("provider").annotate(Max("at")).order_by())


def count_received_elements_by_hour(
    *, tenant: Tenant, since: datetime
) -> dict[str, dict[datetime, int]]:
    """Return elements received per provider and hour since `since`; one query.

    Hours are named by their start, UTC; an hour without any is not there.
    """
    found = rows.fetch_rows(
        "SELECT provider, date_trunc('hour', at, 'UTC') AS hour, sum(received)::bigint"
        " FROM users_arrival WHERE tenant_id = %s AND at >= %s"
        " GROUP BY provider, hour ORDER BY provider, hour",
        [tenant.pk, since],
    )
    hours: dict[str, dict[datetime, int]] = {}
    for provider, hour, received in found:
        hours.setdefault(provider, {})[hour] = received
    return hours
