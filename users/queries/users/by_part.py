"""Find users by their IDs as people type and paste them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import F, Q

from portal.lib.ids import find_uuid_range_of_prefix
from users.models import User
from users.queries.sources.sources import list_connections_by_user
from users.queries.users.filters import (
    ILike,
    escape_like_wildcards,
    matches_part_of_id,
)
from users.queries.users.one_user import UserRow
from users.queries.users.users import UserPage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from django.db.models import QuerySet

    from accounts.models import Tenant


def find_users_by_id_prefix(*, tenant: Tenant, text: str, limit: int) -> UserPage:
    """Return live users whose client_user_id or user_id starts with `text`.

    The whole id comes first, then the newest. A client_user_id is compared in any case,
    a user_id from eight letters on (its unique index). At most three queries; nothing
    is counted.
    """
    return _find(tenant, text, _begins_with(text), limit)


def find_users_by_part_of_id(*, tenant: Tenant, text: str, limit: int) -> UserPage:
    """Return live users with `text` in either ID; see `search_users`.

    The whole id comes first, then client_user_ids that begin with it, then the newest.
    """
    return _find(tenant, text, matches_part_of_id(text), limit)


def list_keys_by_part_of_id(*, tenant: Tenant, text: str) -> QuerySet[User, Any]:
    """Return the keys of all live users with `text` in either ID, for a condition."""
    live: QuerySet[User] = User.objects.for_tenant(tenant).live()
    return live.filter(matches_part_of_id(text)).values("pk")


def _find(tenant: Tenant, text: str, alike: Any, limit: int) -> UserPage:
    if "\0" in text or not text:
        return UserPage(users=[], sources={}, total=0)
    live: QuerySet[User] = User.objects.for_tenant(tenant).live()
    condition = Q(client_user_id=text)
    bounds = find_uuid_range_of_prefix(text)
    if bounds is not None:
        condition |= Q(uuid__range=bounds)
    columns = live.values_list(*UserRow._fields)
    found = {row[0]: UserRow(*row) for row in columns.filter(condition)[:limit]}
    if len(found) < limit and (bounds is None or bounds[0] != bounds[1]):
        order = (_begins_with(text).desc(), "-created_on", "-uuid")
        # Keys first, by an index that has all it takes: rows are wide.
        keys = live.filter(alike).order_by(*order).values("pk")[:limit]
        for row in columns.filter(pk__in=keys).order_by(*order):
            found.setdefault(row[0], UserRow(*row))
    users = list(found.values())[:limit]
    return UserPage(
        users=users,
        sources=list_connections_by_user(
            tenant=tenant, user_ids=[user.id for user in users]
        ),
        total=len(users),
    )


def _begins_with(text: str) -> ILike:
    return ILike(F("client_user_id"), f"{escape_like_wildcards(text)}%")


def list_users_by_uuid(*, tenant: Tenant, uuids: Sequence[UUID]) -> list[UserRow]:
    """Return those of these users that are live, in no order; one query."""
    live: QuerySet[User] = User.objects.for_tenant(tenant).live()
    columns = live.filter(uuid__in=uuids).values_list(*UserRow._fields)
    return [UserRow(*row) for row in columns]
