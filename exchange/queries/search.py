"""Search a resource type: its matches page by page, and what they refer to.

A page begins behind a place: the number of a source and the key of a row in it. Rows
that come or go meanwhile move no page.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import UUID

from exchange.resources.base import Json, Query, ResourceType, Source, parse_uuid
from exchange.resources.matching import LAST_UPDATED, Kind, Wanted
from exchange.resources.registry import RESOURCE_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from accounts.models import Tenant
    from accounts.states import Area

# Rows that are looked at for one page, where few of them match.
SCANNED_MAX = 5000
Place = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Search:
    """A search that was read: what is wanted, how much of it, from where on.

    `areas` and `types` are what the caller may read; sources of other areas are left
    out. `ids` is None where none are named. `include` is (parameter, type) of
    references to follow, `with_provenance` whether Provenances of the matches come too.
    """

    tenant: Tenant
    resource: ResourceType
    areas: frozenset[Area]
    types: frozenset[str] = frozenset(RESOURCE_TYPES)
    wanted: tuple[Wanted, ...] = ()
    ids: tuple[str, ...] | None = None
    count: int = 50
    place: Place = (0, "")
    include: tuple[tuple[str, str], ...] = ()
    with_provenance: bool = False


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Matches, what was included besides, and where the next page begins.

    `left_out` are areas that the caller may not read although matches may be there.
    """

    matches: list[Json] = field(default_factory=list)
    included: list[Json] = field(default_factory=list)
    next: Place | None = None
    left_out: frozenset[Area] = frozenset()


def run_search(search: Search) -> SearchPage:
    """Return a page of a search."""
    if search.ids is not None:
        found = search.resource.find(search.tenant, search.ids, set(search.areas))
        matches, place = [one for one in found if _matches(search, one)], None
    else:
        matches, place = _read_page(search)
    return SearchPage(
        matches=matches,
        included=_list_included(search, matches),
        next=place,
        left_out=frozenset(
            source.area
            for source in search.resource.sources
            if source.area not in search.areas and _may_match(search, source)
        ),
    )


def iterate_resources(search: Search) -> Iterator[Json]:
    """Yield all matches of a search, page by page."""
    while True:
        page = run_search(search)
        yield from page.matches
        if page.next is None:
            return
        search = replace(search, place=page.next)


def _read_page(search: Search) -> tuple[list[Json], Place | None]:
    query = _build_query(search)
    if query is None:
        return [], None
    matches: list[Json] = []
    first, key = search.place
    scanned = 0
    for number, source in enumerate(search.resource.sources):
        if number < first or source.area not in search.areas:
            continue
        if not _may_match(search, source):
            continue
        key = key if number == first else ""
        while True:
            found, more = source.list_after(query, key, search.count)
            for position, one in enumerate(found):
                key = one.key
                if _matches(search, one.resource):
                    matches.append(one.resource)
                if len(matches) == search.count:
                    if more or position + 1 < len(found):
                        return matches, (number, key)
                    return matches, _find_next(search, number)
            scanned += len(found)
            if not more:
                break
            if scanned >= SCANNED_MAX:
                return matches, (number, key)
    return matches, None


def _find_next(search: Search, number: int) -> Place | None:
    later = search.resource.sources[number + 1 :]
    if any(one.area in search.areas and _may_match(search, one) for one in later):
        return number + 1, ""
    return None


def _may_match(search: Search, source: Source) -> bool:
    """Return whether a source has resources of a category that is asked for."""
    return all(
        any(
            text.rpartition("|")[2] in {source.category, ""} for text in one.texts or []
        )
        for one in search.wanted
        if one.param.name == "category" and source.category
    )


def _matches(search: Search, resource: Json) -> bool:
    return all(one.matches(resource) for one in search.wanted)


def _build_query(search: Search) -> Query | None:
    """Return what rows are narrowed by; None where nothing can match."""
    patients: set[UUID] | None = None
    codes: frozenset[str] | None = None
    start: datetime | None = None
    end: datetime | None = None
    updated: datetime | None = None
    for one in search.wanted:
        if one.param.name == "patient":
            named = {
                uuid
                for text in one.texts or []
                if (uuid := parse_uuid(text.rpartition("/")[2])) is not None
            }
            patients = named if patients is None else patients & named
        elif one.param.name == "code":
            given = frozenset(text.rpartition("|")[2] for text in one.texts or [])
            codes = given if codes is None else codes & given
        elif one.param.kind == Kind.DATE and one.dates:
            lows = [date.bounds[0] for date in one.dates]
            highs = [date.bounds[1] for date in one.dates]
            low = min((x for x in lows if x), default=None) if all(lows) else None
            high = max((x for x in highs if x), default=None) if all(highs) else None
            if one.param is LAST_UPDATED:
                updated = max(filter(None, (updated, low)), default=None)
            elif one.param.name == "date":
                start = max(filter(None, (start, low)), default=None)
                end = min(filter(None, (end, high)), default=None)
    if patients is not None and not patients:
        return None
    return Query(
        tenant=search.tenant,
        patients=sorted(patients) if patients is not None else None,
        codes=codes,
        start=start,
        end=end,
        updated=updated,
    )


def _list_included(search: Search, matches: Sequence[Json]) -> list[Json]:
    """Return what the matches refer to, and their Provenances, each once."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for name, only in search.include:
        path = search.resource.references[name]
        for resource in matches:
            for type_, id_ in _list_references(resource, path):
                if only in {"", type_}:
                    wanted[type_].add(id_)
    known = {(one["resourceType"], one["id"]) for one in matches}
    included = [
        resource
        for type_, ids in sorted(wanted.items())
        if type_ in search.types
        and search.areas.issuperset(RESOURCE_TYPES[type_].also_reads)
        for resource in RESOURCE_TYPES[type_].find(
            search.tenant, sorted(ids), set(search.areas)
        )
        if (type_, resource["id"]) not in known
    ]
    if search.with_provenance and "Provenance" in search.types:
        included += _list_provenances(search, matches)
    return included


def _list_references(resource: Json, path: str) -> Iterable[tuple[str, str]]:
    values = [resource]
    for name in path.split("."):
        values = [
            inner
            for value in values
            if (found := value.get(name)) is not None
            for inner in (found if isinstance(found, list) else [found])
        ]
    for value in values:
        type_, _, id_ = value.get("reference", "").partition("/")
        if id_:
            yield type_, id_


def _list_provenances(search: Search, matches: Sequence[Json]) -> list[Json]:
    targets = {f"{one['resourceType']}/{one['id']}" for one in matches}
    patients = {
        uuid
        for one in matches
        if (reference := one.get("subject", {}).get("reference"))
        and (uuid := parse_uuid(reference.rpartition("/")[2])) is not None
    }
    if not patients:
        return []
    provenance = RESOURCE_TYPES["Provenance"]
    query = Query(tenant=search.tenant, patients=sorted(patients))
    found: list[Json] = []
    for source in provenance.sources:
        if source.area not in search.areas:
            continue
        key, more = "", True
        while more:
            page, more = source.list_after(query, key, SCANNED_MAX)
            found += [
                one.resource
                for one in page
                if any(
                    target["reference"] in targets for target in one.resource["target"]
                )
            ]
            key = page[-1].key if page else key
            more = more and bool(page)
    return found
