"""Dictionaries of the codes in samples: feeds, open types and origins.

Numbers belong to their tenant or user, so no team can use up another's. They are given
in the caller's transaction, after the user's row is locked, and never change: what is
committed is kept in the process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Tenant
from portal.lib.database import rows
from portal.lib.errors import DomainError
from users.models import Feed, Origin, Series, User

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable
    from uuid import UUID

# Series below are of resources and closed types, fixed in code.
OPEN_SERIES_FIRST = 10_000
# Ours: many times what honest sources send, far below what a smallint holds.
FEEDS_MAX = 2_000
OPEN_TYPES_MAX = 4_000
_KEPT_MAX = 10_000


class FeedKey(NamedTuple):
    """The key of a feed: slug of the provider, source type."""

    provider: str
    source_type: str


class OriginKey(NamedTuple):
    """The key of an origin, beyond the feed."""

    app_id: str | None = None
    device_id: UUID | None = None
    workout_id: UUID | None = None
    sport: str | None = None


NO_ORIGIN = OriginKey()


class _Kept:
    """A cache of committed entries in this process, cleared when full."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}

    def get(self, key: Hashable) -> Any:
        return self._values.get(key)

    def add(self, values: dict[Any, Any]) -> None:
        """Cache `values` when the current transaction commits."""
        transaction.on_commit(lambda: self._add(values))

    def _add(self, values: dict[Any, Any]) -> None:
        if len(self._values) + len(values) > _KEPT_MAX:
            self._values.clear()
        self._values.update(values)


_feed_numbers, _feed_words = _Kept(), _Kept()


def get_or_create_feed_number(
    *, tenant: Tenant, provider: str, source_type: str
) -> int:
    """Return the number of a feed of the tenant, creating it if new.

    Needs a transaction. Raises: too_many_source_types.
    """
    words = FeedKey(provider, source_type)
    key = (tenant.pk, words)
    number: int | None = _feed_numbers.get(key)
    if number is None:
        number = _find_feed(tenant, words) or _add_feed(tenant, words)
        _feed_numbers.add({key: number})
    return number


def get_or_create_series_numbers(
    *, tenant: Tenant, resource: str, types: Collection[str]
) -> dict[str, int]:
    """Return the number of each type of an open resource, creating new ones.

    Needs a transaction. Raises: too_many_types.
    """
    found = _find_types(tenant, resource, types)
    new = sorted(set(types) - found.keys())
    if not new:
        return found
    _lock_tenant(tenant)
    found = _find_types(tenant, resource, types)
    new = sorted(set(types) - found.keys())
    mine = Series.objects.for_tenant(tenant)
    latest = mine.order_by("-number").values_list("number", flat=True).first()
    first = OPEN_SERIES_FIRST if latest is None else latest + 1
    if first + len(new) > OPEN_SERIES_FIRST + OPEN_TYPES_MAX:
        raise DomainError(
            "too_many_types",
            _("Limit reached: %(limit)d custom types per team.")
            % {"limit": OPEN_TYPES_MAX},
            "type",
        )
    added = {word: first + index for index, word in enumerate(new)}
    Series.objects.for_tenant(tenant).bulk_create(
        Series(tenant=tenant, number=number, resource=resource, type=word)
        for word, number in added.items()
    )
    return found | added


def get_or_create_origin_numbers(
    *, user: User, origins: Iterable[OriginKey]
) -> dict[OriginKey, int]:
    """Return the number of each origin of the user, creating new ones; NO_ORIGIN is 0.

    Needs a transaction; locks the user's row. An app, device or sport has no bound but
    its user's: whoever sends many fills nothing but the own account.
    """
    requested = set(origins) - {NO_ORIGIN}
    numbers = {NO_ORIGIN: 0}
    if not requested:
        return numbers
    numbers |= _find_origins(user, requested)
    if requested <= numbers.keys():
        return numbers
    _lock_user(user)
    numbers |= _find_origins(user, requested)
    new = sorted(requested - numbers.keys(), key=str)
    mine = Origin.objects.for_tenant(user.tenant).filter(user=user)
    latest = mine.order_by("-number").values_list("number", flat=True).first() or 0
    added = {words: latest + 1 + index for index, words in enumerate(new)}
    Origin.objects.for_tenant(user.tenant).bulk_create(
        Origin(tenant_id=user.tenant_id, user=user, number=number, **words._asdict())
        for words, number in added.items()
    )
    return numbers | added


def find_feeds_by_number(
    *, tenant: Tenant, numbers: Collection[int]
) -> dict[int, FeedKey]:
    """Return the keys of feeds by number."""
    known: dict[int, FeedKey] = {}
    for number in numbers:
        words = _feed_words.get((tenant.pk, number))
        if words is not None:
            known[number] = words
    items = [number for number in numbers if number not in known]
    if items:
        found = rows.fetch_rows(
            "SELECT number, provider, source_type FROM users_feed"
            " WHERE tenant_id = %s AND number = ANY(%s)",
            [tenant.pk, items],
        )
        new = {number: FeedKey(*words) for number, *words in found}
        _feed_words.add({(tenant.pk, number): words for number, words in new.items()})
        known |= new
    return known


def find_feed_numbers_of_provider(*, tenant: Tenant, provider: str) -> list[int]:
    """Return the numbers of all feeds of one provider, in order."""
    found = rows.fetch_rows(
        "SELECT number FROM users_feed WHERE tenant_id = %s AND provider = %s"
        " ORDER BY number",
        [tenant.pk, provider],
    )
    return [number for (number,) in found]


def find_series_types_of_resource(*, tenant: Tenant, resource: str) -> dict[int, str]:
    """Return the types of an open resource by the series' number."""
    found = rows.fetch_rows(
        "SELECT number, type FROM users_series WHERE tenant_id = %s AND resource = %s"
        " ORDER BY number",
        [tenant.pk, resource],
    )
    return dict(found)


def find_series_by_number(
    *, tenant: Tenant, numbers: Collection[int]
) -> dict[int, tuple[str, str]]:
    """Return resource and type of open series by number."""
    if not numbers:
        return {}
    found = rows.fetch_rows(
        "SELECT number, resource, type FROM users_series"
        " WHERE tenant_id = %s AND number = ANY(%s)",
        [tenant.pk, list(numbers)],
    )
    return {number: (resource, type_) for number, resource, type_ in found}


def find_origins_by_number(
    *, user_id: int, numbers: Collection[int]
) -> dict[int, OriginKey]:
    """Return the keys of origins by number; 0 is NO_ORIGIN."""
    known = {0: NO_ORIGIN}
    items = [number for number in numbers if number]
    if items:
        found = rows.fetch_rows(
            "SELECT number, app_id, device_id, workout_id, sport FROM users_origin"
            " WHERE user_id = %s AND number = ANY(%s)",
            [user_id, items],
        )
        known |= {number: OriginKey(*words) for number, *words in found}
    return known


def _find_feed(tenant: Tenant, words: FeedKey) -> int | None:
    found: int | None = (
        Feed.objects.for_tenant(tenant)
        .filter(provider=words.provider, source_type=words.source_type)
        .values_list("number", flat=True)
        .first()
    )
    return found


def _add_feed(tenant: Tenant, words: FeedKey) -> int:
    _lock_tenant(tenant)
    found = _find_feed(tenant, words)
    if found is not None:
        return found
    mine = Feed.objects.for_tenant(tenant)
    latest = mine.order_by("-number").values_list("number", flat=True).first() or 0
    if latest >= FEEDS_MAX:
        raise DomainError(
            "too_many_source_types",
            _("Limit reached: %(limit)d pairs of provider and source type per team.")
            % {"limit": FEEDS_MAX},
            "source_type",
        )
    number: int = latest + 1
    Feed(tenant=tenant, number=number, **words._asdict()).save(force_insert=True)
    return number


def _find_types(
    tenant: Tenant, resource: str, types: Collection[str]
) -> dict[str, int]:
    found = (
        Series.objects.for_tenant(tenant)
        .filter(resource=resource, type__in=types)
        .values_list("type", "number")
    )
    return dict(found)


def _find_origins(user: User, requested: Collection[OriginKey]) -> dict[OriginKey, int]:
    found = rows.fetch_rows(
        "SELECT kept.number, kept.app_id, kept.device_id, kept.workout_id, kept.sport"
        " FROM unnest(%s::text[], %s::uuid[], %s::uuid[], %s::text[])"
        " AS asked (app_id, device_id, workout_id, sport)"
        " JOIN users_origin kept ON kept.user_id = %s"
        " AND kept.app_id IS NOT DISTINCT FROM asked.app_id"
        " AND kept.device_id IS NOT DISTINCT FROM asked.device_id"
        " AND kept.workout_id IS NOT DISTINCT FROM asked.workout_id"
        " AND kept.sport IS NOT DISTINCT FROM asked.sport",
        [*map(list, zip(*requested, strict=True)), user.pk],
    )
    return {OriginKey(*words): number for number, *words in found}


def _lock_tenant(tenant: Tenant) -> None:
    """Lock a tenant for creating numbers, without blocking foreign keys to it."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)


def _lock_user(user: User) -> None:
    mine = User.objects.for_tenant(user.tenant)
    mine.select_for_update(no_key=True).get(pk=user.pk)
