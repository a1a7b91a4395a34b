"""Reads of users: one user, pages, and the dashboard's list.

Every reader of these audits the read (accounts.operations.audit.entries).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Count, Exists, OuterRef
from django.db.models.functions import TruncDate
from django.utils.translation import gettext as _

from portal.lib.database import rows
from portal.lib.database.instances import Columns, keep_related
from portal.lib.database.prepared import PreparedStatement, Read
from portal.lib.database.sorting import SORTED_UP_TO, build_order
from portal.lib.errors import NotFound
from users.models import User, UserInfo
from users.queries.sources.sources import (
    SourceRow,
    count_connections_by_user,
    filter_live_connections,
    find_last_data_time_by_source,
    list_connections_by_user,
    list_live_user_connections,
)
from users.queries.users.filters import find_matching_users
from users.queries.users.last_data import LAST_DATA_SORTS, find_users_by_last_data
from users.queries.users.one_user import USER_COLUMNS, USER_WIDTH, UserRow
from users.states import Silence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date, datetime
    from typing import Any

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from users.models import Connection

# A filtered list is counted up to here: counting on would cost more than the page.
COUNTED_UP_TO = 10_000
SORTS = (
    *("created_on", "-created_on", "client_user_id", "-client_user_id"),
    *LAST_DATA_SORTS,
    *("uuid", "-uuid", "fallback_time_zone", "-fallback_time_zone"),
    *("number_of_sources", "-number_of_sources"),
)
_INDEXED = ("created_on", "client_user_id", "fallback_time_zone")
_COUNTED = "number_of_sources"
# So many that a search found are put in order by their keys.
_FEW = 1_000
# What puts a list in order where its own sort can't choose who is in it.
_NEWEST_FIRST = "-created_on"


_USER = Columns(User, "users_user")
# Each call of the API asks, a push asks twice.
_LIVE = {
    name: PreparedStatement(
        f"live_user_by_{name}",
        f"SELECT {_USER.sql} FROM users_user"  # noqa: S608 - columns are ours
        f" WHERE tenant_id = $1 AND deleted_at IS NULL AND {condition}",
    )
    for name, condition in (
        ("uuid", "uuid = $2"),
        ("id", "id = $2"),
        ("lock", "id = $2 FOR UPDATE"),
    )
}
_COUNT = PreparedStatement(
    "count_live_users", "SELECT live FROM users_usercount WHERE tenant_id = $1"
)
# An array, so that a plan for any limit looks up keys: it can't expect a tenth of all.
_PAGE = PreparedStatement(
    "list_users_page",
    f"SELECT {USER_COLUMNS}, provider, status, source.created_on,"  # noqa: S608 - columns are ours
    " (SELECT live FROM users_usercount WHERE tenant_id = $1)"
    " FROM users_user person LEFT JOIN users_connection source"
    " ON user_id = person.id AND disconnected_at IS NULL"
    " WHERE person.id = ANY(ARRAY(SELECT id FROM users_user"
    " WHERE tenant_id = $1 AND deleted_at IS NULL"
    " ORDER BY created_on, uuid LIMIT $2 OFFSET $3))"
    " ORDER BY person.created_on, uuid, source.id",
)


@dataclass(frozen=True, slots=True)
class UserPage:
    """A page of a list; `sources` by user `id`, oldest first.

    `total` is exact up to COUNTED_UP_TO, and past it when nothing was filtered;
    `is_total_exact` says whether it is. `among` is how many users were looked through
    where there are more of them than that, else None.
    """

    users: Sequence[UserRow]
    sources: dict[int, list[SourceRow]]
    total: int
    is_total_exact: bool = True
    among: int | None = None


@dataclass(frozen=True, slots=True)
class UserOverview:
    """A user with the live connections, oldest first, and when each source last sent.

    A source that sent nothing for ARRIVAL_RETENTION is not in `last_data_by_source`.
    """

    user: User
    connections: list[Connection]
    last_data_by_source: dict[str, datetime]

    @property
    def last_data(self) -> datetime | None:
        """Return when data last arrived from any source."""
        return max(self.last_data_by_source.values(), default=None)


def live_user(*, tenant: Tenant, user_id: UUID) -> User:
    """Return the live user with this user_id. Raises: not_found."""
    return _live_user("uuid", tenant, user_id)


def read_of_live_user(*, tenant: Tenant, user_id: UUID) -> Read:
    """Return what `live_user` reads, for the round trip before it."""
    return _read("uuid", tenant, user_id)


def deleted_users(*, tenant: Tenant) -> QuerySet[User]:
    """Return deleted users that are not erased yet, latest first."""
    rows: QuerySet[User] = User.objects.for_tenant(tenant)
    return rows.filter(deleted_at__isnull=False).order_by("-deleted_at", "-id")


def find_live_user(*, tenant: Tenant, pk: int) -> User | None:
    """Return the live user with this key, or None, for callers that a token named."""
    try:
        return _live_user("id", tenant, pk)
    except NotFound:
        return None


def lock_user(user: User) -> User:
    """Lock the live user's row until the transaction ends. Raises: not_found."""
    return _live_user("lock", user.tenant, user.pk)


def _live_user(by: str, tenant: Tenant, value: object) -> User:
    statement, values = _read(by, tenant, value)
    found = statement.fetch_rows(values)
    if not found:
        raise NotFound("not_found", _("User not found."))
    user = _USER.build(found[0])
    keep_related(user, "tenant", tenant)
    return user


def _read(by: str, tenant: Tenant, value: object) -> Read:
    return Read(_LIVE[by], (str(tenant.pk), str(value)))


def list_users_page(*, tenant: Tenant, offset: int, limit: int) -> UserPage:
    """Return a page of live users by created_on, then user_id.

    Ids come first out of an index that holds all it needs, so skipping rows reads no
    table; the total is a counter (performance.md 2c). One statement for a page that
    has users: as in `_find`.
    """
    statement, values = read_of_users_page(tenant=tenant, offset=offset, limit=limit)
    found = statement.fetch_rows(values)
    users: list[UserRow] = []
    sources: dict[int, list[SourceRow]] = {}
    for row in found:
        if row[0] not in sources:
            users.append(UserRow(*row[:USER_WIDTH]))
            sources[row[0]] = []
        if row[USER_WIDTH] is not None:
            sources[row[0]].append(SourceRow(*row[USER_WIDTH:-1]))
    total = int(found[0][-1] or 0) if found else count_live_users(tenant=tenant)
    return UserPage(users=users, sources=sources, total=total)


def read_of_users_page(*, tenant: Tenant, offset: int, limit: int) -> Read:
    """Return what `list_users_page` reads, for the round trip before it."""
    return Read(_PAGE, (str(tenant.pk), str(limit), str(offset)))


def count_live_users(*, tenant: Tenant) -> int:
    """Return the number of live users of a tenant, from the counter."""
    found = _COUNT.fetch_rows((str(tenant.pk),))
    return int(found[0][0]) if found else 0


def search_users(
    *,
    tenant: Tenant,
    text: str = "",
    provider: str = "",
    status: str = "",
    last_data: str = "",
    region: str = "",
    window: str = "",
    silence: str = "",
    sort: str = _NEWEST_FIRST,
    count: Callable[..., Mapping[int, int]] | None = None,
    offset: int = 0,
    limit: int = 50,
) -> UserPage:
    """Return live users for the dashboard's list.

    `text` is part of a client_user_id in any case (one or two letters: its beginning),
    or of a user_id, from six letters on. `provider` (a slug) and `status` ask for a
    live connection that has both. `region` (a ZoneRegion) is that of the fallback time
    zone, `window` (an IngestionWindow) where today in UTC stands to the bounds of
    ingestion, `silence` (a Silence) that data of a source, of `provider` if given, is
    overdue. `sort` is one of SORTS.

    `last_data` (a LastData) and a sort by it look through the first COUNTED_UP_TO users
    that fit the rest, in the order of `sort` or else the newest: no index has when the
    data of all came. Nor has one what the other SORTS are by: of those, the newest
    SORTED_UP_TO are sorted. `count` returns a number of each user by user key, of a
    `tenant` and `user_keys`; a `sort` that is none of SORTS is by it.
    """
    text = text.strip()
    if "\0" in text + provider + status:  # PostgreSQL takes no text with it
        return UserPage(users=[], sources={}, total=0)
    live = filter_live_connections(tenant, provider, status)
    users = find_matching_users(
        tenant=tenant,
        text=text,
        region=region,
        window=window,
        silence=silence,
        provider=provider,
    )
    # Who is silent of a source has it connected; asking twice costs three times that.
    if status or (provider and not Silence.known(silence)):
        users = users.filter(Exists(live.filter(user=OuterRef("pk"))))
    few = None
    if text:  # IDs are read through once, not to count and to sort
        keys = list(users.order_by().values_list("pk", flat=True)[: _FEW + 1])
        if len(keys) <= _FEW:
            few = len(keys)
            users = User.objects.for_tenant(tenant).live().filter(pk__in=keys)
    if sort.removeprefix("-") not in (*_INDEXED, "last_data"):
        return _page_of_newest(users, tenant, last_data, sort, count, offset, limit)
    if last_data or sort in LAST_DATA_SORTS:
        return _page_by_last_data(users, tenant, last_data, sort, offset, limit)
    is_exact = True
    if few is not None:
        total = few
    elif text or region or window or silence:
        total = users.order_by()[: COUNTED_UP_TO + 1].count()
    elif provider or status:
        # Of live users only: deleting one ends the connections.
        total = live.values("user").distinct()[: COUNTED_UP_TO + 1].count()
    else:
        total = count_live_users(tenant=tenant)
    is_narrowed = text or provider or status or region or window or silence
    if is_narrowed and total > COUNTED_UP_TO:
        total, is_exact = COUNTED_UP_TO, False
    ordered = users.order_by(*_order(sort))
    if text and few is None:  # keys first, by an index of both IDs: rows are wide
        page = ordered.values("pk")[offset : offset + limit]
        ordered = User.objects.for_tenant(tenant).filter(pk__in=page)
        ordered, offset = ordered.order_by(*_order(sort)), 0
    columns = ordered.values_list(*UserRow._fields)
    found = [UserRow(*row) for row in columns[offset : offset + limit]]
    return UserPage(
        users=found,
        sources=list_connections_by_user(
            tenant=tenant, user_ids=[user.id for user in found]
        ),
        total=total,
        is_total_exact=is_exact,
    )


def count_new_users_per_day(*, tenant: Tenant, since: datetime) -> dict[date, int]:
    """Return how many live users were created on each UTC day."""
    new = User.objects.for_tenant(tenant).live().filter(created_on__gte=since)
    by_day = new.values_list(TruncDate("created_on", tzinfo=UTC))
    return dict(by_day.annotate(Count("id")).order_by())


def count_users_by_connection_status(*, tenant: Tenant, status: str) -> int:
    """Count live users with a connection in `status`, up to COUNTED_UP_TO + 1.

    The number that the users list gives for the same filter.
    """
    # Of live users only: deleting one ends the connections.
    [(number,)] = rows.fetch_rows(
        "SELECT count(*) FROM (SELECT DISTINCT user_id FROM users_connection"
        " WHERE tenant_id = %s AND status = %s AND disconnected_at IS NULL"
        " LIMIT %s) connected",
        [tenant.pk, status, COUNTED_UP_TO + 1],
    )
    return int(number)


def user_overview(*, tenant: Tenant, user_id: UUID) -> UserOverview:
    """Return a live user, their live connections and last data. Raises: not_found."""
    user = User.objects.for_tenant(tenant).live().filter(uuid=user_id).first()
    if user is None:
        raise NotFound("not_found", _("User not found."))
    user.tenant = tenant
    return UserOverview(
        user=user,
        connections=list_live_user_connections(user=user),
        last_data_by_source=find_last_data_time_by_source(user=user),
    )


def latest_user_info(*, user: User) -> UserInfo | None:
    """Return the user's demographics, or None."""
    info: UserInfo | None = (
        UserInfo.objects.for_tenant(user.tenant).filter(user=user).first()
    )
    return info


def _page_by_last_data(
    users: QuerySet[User],
    tenant: Tenant,
    last_data: str,
    sort: str,
    offset: int,
    limit: int,
) -> UserPage:
    order = _order(_NEWEST_FIRST if sort in LAST_DATA_SORTS else sort)
    found = find_users_by_last_data(
        tenant=tenant,
        users=users.order_by(*order),
        at_most=COUNTED_UP_TO,
        last_data=last_data,
        sort=sort,
        offset=offset,
        limit=limit,
    )
    return _load_page(
        tenant,
        found.keys,
        total=found.total,
        among=None if found.is_whole else COUNTED_UP_TO,
    )


def _page_of_newest(
    users: QuerySet[User],
    tenant: Tenant,
    last_data: str,
    sort: str,
    count: Callable[..., Mapping[int, int]] | None,
    offset: int,
    limit: int,
) -> UserPage:
    newest = users.order_by(*_order(_NEWEST_FIRST))
    if last_data:
        keys, _total, is_whole = find_users_by_last_data(
            tenant=tenant,
            users=newest,
            at_most=SORTED_UP_TO,
            last_data=last_data,
            limit=SORTED_UP_TO,
        )
    else:
        keys = list(newest.values_list("id", flat=True)[: SORTED_UP_TO + 1])
        is_whole = len(keys) <= SORTED_UP_TO
        del keys[SORTED_UP_TO:]
    if sort in SORTS and sort.removeprefix("-") != _COUNTED:
        live: QuerySet[User, Any] = User.objects.for_tenant(tenant).live()
        found = live.filter(id__in=keys).order_by(
            build_order(sort), *_order(_NEWEST_FIRST)
        )
        shown = list(found.values_list("id", flat=True)[offset : offset + limit])
    else:
        numbers = (
            count(tenant=tenant, user_keys=keys)
            if count
            else count_connections_by_user(tenant=tenant, user_keys=keys)
        )
        ranked = sorted(
            keys, key=lambda key: numbers.get(key, 0), reverse=sort.startswith("-")
        )
        shown = ranked[offset : offset + limit]
    return _load_page(
        tenant, shown, total=len(keys), among=None if is_whole else SORTED_UP_TO
    )


def _load_page(
    tenant: Tenant, shown: list[int], *, total: int, among: int | None
) -> UserPage:
    live: QuerySet[User] = User.objects.for_tenant(tenant).live()
    columns = live.filter(id__in=shown).values_list(*UserRow._fields)
    by_key = {row[0]: UserRow(*row) for row in columns}
    return UserPage(
        users=[by_key[key] for key in shown if key in by_key],
        sources=list_connections_by_user(tenant=tenant, user_ids=shown),
        total=total,
        is_total_exact=among is None,
        among=among,
    )


def _order(sort: str) -> tuple[str, ...]:
    sign = "-" if sort.startswith("-") else ""
    # Many users share a zone; of each, those created first come first, or last.
    then = ("created_on",) if sort.removeprefix("-") == "fallback_time_zone" else ()
    return sort, *(f"{sign}{path}" for path in (*then, "uuid"))
