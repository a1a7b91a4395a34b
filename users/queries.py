"""Reads of users: one, a page of them, and what the dashboard's list shows.

Every reader of what these give audits the read (accounts.operations.audit.record_read).
Must not be here: writes, or the shape of an answer.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import orjson
from django.db.models import Count, Exists, F, Lookup, Min, OuterRef, Q
from django.db.models.functions import TruncDate

from portal.lib import rows
from portal.lib.errors import NotFound
from portal.lib.ids import id_bounds
from users.models import Connection, User, UserInfo
from users.states import ConnectionStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date, datetime

    from django.db.models import QuerySet

    from accounts.models import Tenant

# A filtered list is counted up to here: counting on would cost more than the page.
COUNTED_UP_TO = 10_000
# The index is of runs of three letters.
INDEXED_LETTERS = 3
SORTS = ("created_on", "-created_on", "client_user_id", "-client_user_id")
_COLUMNS = (
    "person.id, uuid, client_user_id, person.created_on,"
    " fallback_time_zone, fallback_time_zone_source, fallback_time_zone_updated_at,"
    " fallback_birth_date, fallback_birth_date_source, fallback_birth_date_updated_at,"
    " ingestion_start, ingestion_end"
)


class UserRow(NamedTuple):
    """A live user as read by rows: the columns of User that answers show."""

    id: int
    uuid: UUID
    client_user_id: str
    created_on: datetime
    fallback_time_zone: str
    fallback_time_zone_source: str
    fallback_time_zone_updated_at: datetime | None
    fallback_birth_date: date | None
    fallback_birth_date_source: str
    fallback_birth_date_updated_at: datetime | None
    ingestion_start: date | None
    ingestion_end: date | None


class SourceRow(NamedTuple):
    """A live connection of a user, by slug."""

    provider: str
    status: str
    created_on: datetime


class SummaryRow(NamedTuple):
    """A stored summary: the columns of Summary that answers and pages show."""

    id: UUID
    provider: str
    source_type: str
    app_id: str | None
    device_id: UUID | None
    body: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class UserWithSources(NamedTuple):
    """A live user and the live connections, oldest first."""

    user: UserRow
    sources: list[SourceRow]


@dataclass(frozen=True, slots=True)
class UserPage:
    """Part of a list. `sources` holds those of each user by `id`, oldest first.

    `total` is exact up to COUNTED_UP_TO, and past it when nothing was filtered;
    `is_total_exact` says whether it is.
    """

    users: Sequence[UserRow]
    sources: dict[int, list[SourceRow]]
    total: int
    is_total_exact: bool = True


class ProviderUse(NamedTuple):
    """How many live connections a source has, how many in error, and since when."""

    provider: str
    connections: int
    broken: int
    broken_since: datetime | None


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """A summary, those before it (newest first), and the one after it."""

    shown: SummaryRow
    earlier: Sequence[SummaryRow]
    later: SummaryRow | None


@dataclass(frozen=True, slots=True)
class UserOverview:
    """A user with the live connections, oldest first."""

    user: User
    connections: list[Connection]


def lock_user(user: User) -> User:
    """The live user's row, locked until the transaction ends. Raises: not_found."""
    locked: User | None = (
        User.objects.for_tenant(user.tenant)
        .live()
        .select_for_update()
        .filter(pk=user.pk)
        .first()
    )
    if locked is None:
        raise NotFound("not_found", "User not found.")
    locked.tenant = user.tenant
    return locked


def user_page(*, tenant: Tenant, offset: int, limit: int) -> UserPage:
    """Live users by created_on, then user_id.

    Ids come first out of an index that holds all it needs, so skipping rows reads no
    table; the total is a counter (performance.md 2c).
    """
    found = rows.fetch_rows(
        f"SELECT {_COLUMNS} FROM users_user person"  # noqa: S608 - columns are ours
        " JOIN (SELECT id FROM users_user"
        " WHERE tenant_id = %s AND deleted_at IS NULL"
        " ORDER BY created_on, uuid LIMIT %s OFFSET %s) page ON page.id = person.id"
        " ORDER BY created_on, uuid",
        [tenant.pk, limit, offset],
    )
    users = [UserRow(*row) for row in found]
    return UserPage(
        users=users,
        sources=sources_of(tenant=tenant, user_ids=[user.id for user in users]),
        total=user_count(tenant=tenant),
    )


def user_count(*, tenant: Tenant) -> int:
    """How many live users a tenant has, from the counter."""
    found = rows.fetch_rows(
        "SELECT live FROM users_usercount WHERE tenant_id = %s", [tenant.pk]
    )
    return int(found[0][0]) if found else 0


def find_user(*, tenant: Tenant, user_id: UUID) -> UserWithSources | None:
    """The live user with this user_id."""
    return _find("uuid", tenant, user_id)


def resolve_user(*, tenant: Tenant, client_user_id: str) -> UserWithSources | None:
    """The live user with this client_user_id, letter for letter."""
    if "\0" in client_user_id:  # PostgreSQL takes no text with it
        return None
    return _find("client_user_id", tenant, client_user_id)


def sources_of(
    *, tenant: Tenant, user_ids: Iterable[int]
) -> dict[int, list[SourceRow]]:
    """Live connections of these users, by user key, oldest first; one query."""
    keys = list(user_ids)
    sources: dict[int, list[SourceRow]] = {key: [] for key in keys}
    if keys:
        found = rows.fetch_rows(
            "SELECT user_id, provider, status, created_on FROM users_connection"
            " WHERE tenant_id = %s AND user_id = ANY(%s) AND disconnected_at IS NULL"
            " ORDER BY id",
            [tenant.pk, keys],
        )
        for key, *source in found:
            sources[key].append(SourceRow(*source))
    return sources


def find_users(
    *,
    tenant: Tenant,
    text: str = "",
    provider: str = "",
    status: str = "",
    sort: str = "-created_on",
    offset: int = 0,
    limit: int = 50,
) -> UserPage:
    """Live users for the dashboard's list.

    `text` is part of a client_user_id in any case (one or two letters: its beginning,
    which the index can find), or a whole user_id. `provider` (a slug) and `status` ask
    for a live connection that has both. `sort` is one of SORTS.
    """
    text = text.strip()
    if "\0" in text + provider + status:  # PostgreSQL takes no text with it
        return UserPage(users=[], sources={}, total=0)
    live = _live_connections(tenant, provider, status)
    users = _users_with(tenant, text)
    if provider or status:
        users = users.filter(Exists(live.filter(user=OuterRef("pk"))))
    is_exact = True
    if text:
        total = users.order_by()[: COUNTED_UP_TO + 1].count()
    elif provider or status:
        # Of live users only: deleting one ends the connections.
        total = live.values("user").distinct()[: COUNTED_UP_TO + 1].count()
    else:
        total = user_count(tenant=tenant)
    if (text or provider or status) and total > COUNTED_UP_TO:
        total, is_exact = COUNTED_UP_TO, False
    order = [sort, "-uuid" if sort.startswith("-") else "uuid"]
    columns = users.order_by(*order).values_list(*UserRow._fields)
    found = [UserRow(*row) for row in columns[offset : offset + limit]]
    return UserPage(
        users=found,
        sources=sources_of(tenant=tenant, user_ids=[user.id for user in found]),
        total=total,
        is_total_exact=is_exact,
    )


def users_by_id(*, tenant: Tenant, text: str, limit: int) -> UserPage:
    """Live users whose client_user_id is or begins with `text`, or whose user_id does.

    The whole id comes first, then the newest. A client_user_id is compared in any case
    (trigram index), a user_id from eight letters on (its unique index). At most three
    queries; nothing is counted.
    """
    if "\0" in text or not text:
        return UserPage(users=[], sources={}, total=0)
    live: QuerySet[User] = User.objects.for_tenant(tenant).live()
    wanted = Q(client_user_id=text)
    bounds = id_bounds(text)
    if bounds is not None:
        wanted |= Q(uuid__range=bounds)
    columns = live.values_list(*UserRow._fields)
    found = {row[0]: UserRow(*row) for row in columns.filter(wanted)[:limit]}
    if len(found) < limit and (bounds is None or bounds[0] != bounds[1]):
        alike = columns.filter(_ILike(F("client_user_id"), f"{_literal(text)}%"))
        for row in alike.order_by("-created_on", "-uuid")[:limit]:
            found.setdefault(row[0], UserRow(*row))
    users = list(found.values())[:limit]
    return UserPage(
        users=users,
        sources=sources_of(tenant=tenant, user_ids=[user.id for user in users]),
        total=len(users),
    )


def new_users_per_day(*, tenant: Tenant, since: datetime) -> dict[date, int]:
    """How many of today's live users were created on each UTC day that has any."""
    new = User.objects.for_tenant(tenant).live().filter(created_on__gte=since)
    by_day = new.values_list(TruncDate("created_on", tzinfo=UTC))
    return dict(by_day.annotate(Count("id")).order_by())


def users_with_source(*, tenant: Tenant, status: str) -> int:
    """How many live users have a connection in `status`, up to COUNTED_UP_TO + 1.

    The number that the users list gives for the same filter.
    """
    has_source = Exists(
        _live_connections(tenant, "", status).filter(user=OuterRef("pk"))
    )
    users = User.objects.for_tenant(tenant).live().filter(has_source)
    return int(users.order_by()[: COUNTED_UP_TO + 1].count())


def provider_uses(*, tenant: Tenant) -> list[ProviderUse]:
    """The sources that live users have connected, the most used first."""
    live = Connection.objects.for_tenant(tenant).live()
    is_broken = Q(status=ConnectionStatus.ERROR)
    grouped = live.values_list("provider").annotate(
        connections=Count("id"),
        broken=Count("id", filter=is_broken),
        broken_since=Min("errored_at", filter=is_broken),
    )
    found = [ProviderUse(*row) for row in grouped.order_by()]
    return sorted(found, key=lambda use: (-use.connections, use.provider))


def user_overview(*, tenant: Tenant, user_id: UUID) -> UserOverview:
    """A live user and the live connections. Raises: not_found."""
    user = User.objects.for_tenant(tenant).live().filter(uuid=user_id).first()
    if user is None:
        raise NotFound("not_found", "User not found.")
    user.tenant = tenant
    return UserOverview(user=user, connections=connections_of(user=user))


def connections_of(*, user: User) -> list[Connection]:
    """Live connections of a user, oldest first."""
    live = Connection.objects.for_tenant(user.tenant).live()
    return list(live.filter(user=user).order_by("id"))


def summary_page(
    *, user: User, kind: str, wanted: UUID | None, until: date, earlier: int
) -> SummaryPage | None:
    """One summary of a user with its neighbours, for a page; three queries, or four.

    The `wanted` one, else the last whose calendar_date is not after `until`, else the
    first of all. None: there is no such summary.
    """
    scope = [user.tenant_id, user.pk, kind]
    if wanted is not None:
        found = _summary_rows("AND id = %s", [*scope, wanted])
    else:
        latest = "AND calendar_date <= %s ORDER BY starts_at DESC, id DESC LIMIT 1"
        found = _summary_rows(latest, [*scope, until]) or _summary_rows(
            "ORDER BY starts_at, id LIMIT 1", scope
        )
    if not found:
        return None
    (shown,) = found
    beside = (
        "AND (starts_at, id) {} (SELECT starts_at, id FROM users_summary WHERE id = %s)"
    )
    return SummaryPage(
        shown=shown,
        earlier=_summary_rows(
            beside.format("<") + " ORDER BY starts_at DESC, id DESC LIMIT %s",
            [*scope, shown.id, earlier],
        ),
        later=next(
            iter(
                _summary_rows(
                    beside.format(">") + " ORDER BY starts_at, id LIMIT 1",
                    [*scope, shown.id],
                )
            ),
            None,
        ),
    )


def summaries_of(
    *,
    user: User,
    kind: str,
    start: date,
    end: date,
    provider: str | None = None,
    is_span: bool = False,
) -> list[SummaryRow]:
    """A user's summaries of a kind dated `start` to `end`, both included; one query.

    Ascending by start. With `is_span` those whose days overlap the range. `provider` is
    a slug, None for all.
    """
    first = "last_date" if is_span else "calendar_date"
    return _summary_rows(
        f"AND calendar_date <= %s AND {first} >= %s"
        " AND provider = coalesce(%s, provider) ORDER BY starts_at, id",
        [user.tenant_id, user.pk, kind, end, start, provider],
    )


def latest_summary(
    *, user: User, kind: str, provider: str | None = None
) -> SummaryRow | None:
    """The summary of a kind that was stored or changed last; one query.

    `provider` is a slug, None for all.
    """
    latest = (
        "AND provider = coalesce(%s, provider) ORDER BY updated_at DESC, id LIMIT 1"
    )
    found = _summary_rows(latest, [user.tenant_id, user.pk, kind, provider])
    return found[0] if found else None


def _summary_rows(condition: str, inputs: Sequence[object]) -> list[SummaryRow]:
    found = rows.fetch_rows(
        "SELECT id, provider, source_type, app_id, device_id, body::text,"  # noqa: S608 - text of ours
        " created_at, updated_at FROM users_summary"
        f" WHERE tenant_id = %s AND user_id = %s AND kind = %s {condition}",
        inputs,
    )
    return [
        SummaryRow(*row[:5], orjson.loads(row[5]), *row[6:])  # type: ignore[call-arg]  # eight columns
        for row in found
    ]


def arrivals_by_hour(
    *, tenant: Tenant, since: datetime
) -> dict[str, dict[datetime, int]]:
    """Elements received per provider and hour, from `since` on; one query.

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


def latest_info(*, user: User) -> UserInfo | None:
    """The user's demographics, if any were given."""
    info: UserInfo | None = (
        UserInfo.objects.for_tenant(user.tenant).filter(user=user).first()
    )
    return info


def _find(column: str, tenant: Tenant, value: object) -> UserWithSources | None:
    # One statement for both tables: on so small a read statements are what costs.
    found = rows.fetch_rows(
        f"SELECT {_COLUMNS}, provider, status, source.created_on FROM users_user person"  # noqa: S608 - columns are ours
        " LEFT JOIN users_connection source"
        " ON user_id = person.id AND disconnected_at IS NULL"
        f" WHERE person.tenant_id = %s AND {column} = %s AND deleted_at IS NULL"
        " ORDER BY source.id",
        [tenant.pk, value],
    )
    if not found:
        return None
    width = len(UserRow._fields)
    sources = [SourceRow(*row[width:]) for row in found if row[width] is not None]
    return UserWithSources(UserRow(*found[0][:width]), sources)


class _ILike(Lookup):
    """`ILIKE`, which the trigram index and the column's statistics both serve.

    Django's icontains compares upper-case forms: the planner knows nothing of those,
    and a search that fits most users took a second.
    """

    lookup_name = "ilike"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        left, left_inputs = self.process_lhs(compiler, connection)
        right, right_inputs = self.process_rhs(compiler, connection)
        return f"{left} ILIKE {right}", (*left_inputs, *right_inputs)


def _users_with(tenant: Tenant, text: str) -> QuerySet[User]:
    users: QuerySet[User] = User.objects.for_tenant(tenant).live()
    if not text:
        return users
    before = "%" if len(text) >= INDEXED_LETTERS else ""
    wanted = Q(_ILike(F("client_user_id"), f"{before}{_literal(text)}%"))
    with suppress(ValueError):
        wanted |= Q(uuid=UUID(text))
    return users.filter(wanted)


def _literal(text: str) -> str:
    """`text` for ILIKE, where none of its characters stands for another."""
    return re.sub(r"([%_\\])", r"\\\1", text)


def _live_connections(
    tenant: Tenant, provider: str, status: str
) -> QuerySet[Connection]:
    live: QuerySet[Connection] = Connection.objects.for_tenant(tenant).live()
    if provider:
        live = live.filter(provider=provider)
    if status:
        live = live.filter(status=status)
    return live
