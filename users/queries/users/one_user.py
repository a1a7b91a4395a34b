"""One user by either ID, with the live connections, and the columns of such rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portal.lib.database.prepared import PreparedStatement, Read
from users.queries.sources.sources import SourceRow

if TYPE_CHECKING:
    from datetime import date, datetime
    from uuid import UUID

    from accounts.models import Tenant

USER_COLUMNS = (
    "person.id, uuid, client_user_id, person.created_on,"
    " fallback_time_zone, fallback_time_zone_source, fallback_time_zone_updated_at,"
    " fallback_birth_date, fallback_birth_date_source, fallback_birth_date_updated_at,"
    " ingestion_start, ingestion_end"
)

# One statement for both tables: on so small a read statements are what costs.
_FIND = {
    column: PreparedStatement(
        f"find_user_by_{column}",
        f"SELECT {USER_COLUMNS}, provider, status, source.created_on"  # noqa: S608 - columns are ours
        " FROM users_user person LEFT JOIN users_connection source"
        " ON user_id = person.id AND disconnected_at IS NULL"
        f" WHERE person.tenant_id = $1 AND {column} = $2 AND deleted_at IS NULL"
        " ORDER BY source.id",
    )
    for column in ("uuid", "client_user_id")
}


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


USER_WIDTH = len(UserRow._fields)


class UserWithSources(NamedTuple):
    """A live user and the live connections, oldest first."""

    user: UserRow
    sources: list[SourceRow]


def find_user(*, tenant: Tenant, user_id: UUID) -> UserWithSources | None:
    """Return the live user with this user_id, or None."""
    return _find("uuid", tenant, user_id)


def read_of_user(*, tenant: Tenant, user_id: UUID) -> Read:
    """Return what `find_user` reads, for the round trip before it."""
    return _read("uuid", tenant, user_id)


def find_user_by_client_user_id(
    *, tenant: Tenant, client_user_id: str
) -> UserWithSources | None:
    """Return the live user with exactly this client_user_id, or None."""
    if "\0" in client_user_id:  # PostgreSQL takes no text with it
        return None
    return _find("client_user_id", tenant, client_user_id)


def _find(column: str, tenant: Tenant, value: object) -> UserWithSources | None:
    statement, values = _read(column, tenant, value)
    found = statement.fetch_rows(values)
    if not found:
        return None
    sources = [
        SourceRow(*row[USER_WIDTH:]) for row in found if row[USER_WIDTH] is not None
    ]
    return UserWithSources(UserRow(*found[0][:USER_WIDTH]), sources)


def _read(column: str, tenant: Tenant, value: object) -> Read:
    return Read(_FIND[column], (str(tenant.pk), str(value)))
