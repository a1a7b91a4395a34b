"""What a resource type is made of: sources of rows, search parameters, references.

A source pages through rows in the order of their key, so that the links of pages stay
good while rows come and go. Search parameters are matched against the finished resource
(exchange.resources.matching); a source narrows by what its table has an index for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from exchange.resources.matching import Json as Json
from exchange.resources.matching import Param

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from accounts.states import Area


@dataclass(frozen=True, slots=True)
class Query:
    """What a source narrows its rows by; None narrows nothing.

    `codes` are codes of any system, `start` and `end` the widest time that matches,
    `updated` the earliest change. What is left over is dropped by matching.
    """

    tenant: Tenant
    patients: Sequence[UUID] | None = None
    codes: frozenset[str] | None = None
    start: datetime | None = None
    end: datetime | None = None
    updated: datetime | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A resource and the key of its place in its source."""

    resource: Json
    key: str


class Source(Protocol):
    """A kind of rows that are resources of one type.

    `area` is what a caller must be able to read, `category` the code that its resources
    have as a category, empty without any.
    """

    @property
    def area(self) -> Area: ...

    @property
    def category(self) -> str: ...

    def list_after(
        self, query: Query, key: str, limit: int
    ) -> tuple[list[Found], bool]:
        """Return at most `limit` resources behind a key, and whether there are more."""
        ...

    def find(self, tenant: Tenant, ids: Sequence[str]) -> list[Json]:
        """Return those of these ids that are here."""
        ...


@dataclass(frozen=True, slots=True)
class TableSource:
    """Rows of a table, each of which is any number of resources.

    `build` makes those of a page of rows, a list for each. `by_ids` narrows rows to
    those that resources of these ids are made of; more may remain. `patient` is the
    lookup of the user's uuid, empty for rows about none; `updated` that of the last
    change.
    """

    area: Area
    rows: Callable[[Tenant], QuerySet[Any]]
    build: Callable[[Tenant, Sequence[Any]], list[list[Json]]]
    by_ids: Callable[[QuerySet[Any], Sequence[str]], QuerySet[Any]]
    category: str = ""
    patient: str = ""
    updated: str = ""

    def list_after(
        self, query: Query, key: str, limit: int
    ) -> tuple[list[Found], bool]:
        row_key, _, index = key.partition("~")
        rows = self._narrow(self.rows(query.tenant), query)
        if rows is None:
            return [], False
        if row_key:
            rows = rows.filter(pk__gte=row_key)
        page = list(rows.order_by("pk")[: limit + 1])
        found: list[Found] = []
        for row, resources in zip(page, self.build(query.tenant, page), strict=True):
            for position, resource in enumerate(resources):
                if str(row.pk) == row_key and position <= int(index):
                    continue
                found.append(Found(resource, f"{row.pk}~{position}"))
        return found[:limit], len(found) > limit or len(page) > limit

    def find(self, tenant: Tenant, ids: Sequence[str]) -> list[Json]:
        rows = list(self.by_ids(self.rows(tenant), ids).order_by("pk"))
        wanted = set(ids)
        return [
            resource
            for resources in self.build(tenant, rows)
            for resource in resources
            if resource["id"] in wanted
        ]

    def _narrow(self, rows: QuerySet[Any], query: Query) -> QuerySet[Any] | None:
        """Return the rows that may match; None: none can."""
        if query.patients is not None:
            if not self.patient:
                return None
            rows = rows.filter(**{f"{self.patient}__in": query.patients})
        if query.updated is not None and self.updated:
            rows = rows.filter(**{f"{self.updated}__gte": query.updated})
        return rows


@dataclass(frozen=True, slots=True)
class ResourceType:
    """A type of FHIR resource that is served.

    `params` are its search parameters besides those that all have. `references` are
    what `_include` may follow: the name of a parameter and the types it leads to.
    `needs_patient`: a search has to name whose they are, as rows are stored by user.
    `also_reads` are areas that a caller needs besides that of a source. `profiles` are
    the profiles that every resource of it meets.
    """

    name: str
    sources: Sequence[Source]
    params: tuple[Param, ...] = ()
    references: dict[str, str] = field(default_factory=dict)
    needs_patient: bool = False
    also_reads: tuple[Area, ...] = ()
    profiles: tuple[str, ...] = ()
    is_searchable: bool = True
    documentation: str = ""

    @property
    def areas(self) -> list[Area]:
        """Return the areas of its sources, each once."""
        return list(dict.fromkeys(source.area for source in self.sources))

    def find(self, tenant: Tenant, ids: Sequence[str], areas: set[Area]) -> list[Json]:
        """Return the resources of these ids that are in these areas."""
        return [
            resource
            for source in self.sources
            if source.area in areas
            for resource in source.find(tenant, ids)
        ]


def parse_uuid(text: str) -> UUID | None:
    """Return the UUID that a part of an id is, in either form; None for none."""
    try:
        return UUID(text)
    except ValueError:
        return None


def list_uuids(ids: Sequence[str], *, part: int | None = None) -> list[UUID]:
    """Return the UUIDs that ids are, or hold as one of their parts."""
    texts = (
        list(ids)
        if part is None
        else [pieces[part] for one in ids if len(pieces := one.split("-")) > abs(part)]
    )
    return [found for text in texts if (found := parse_uuid(text)) is not None]
