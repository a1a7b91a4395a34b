"""Read a search from its parameters: strictly or leniently (FHIR R4, 3.1.1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exchange.queries.search import Search
from exchange.resources.matching import ID, LAST_UPDATED, SearchInvalid, Wanted
from portal.lib.api.errors import RequestInvalid
from portal.lib.api.pagination import decode_page_cursor, encode_page_cursor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from accounts.models import Tenant
    from accounts.states import Area
    from exchange.queries.search import Place
    from exchange.resources.base import ResourceType

COUNT_USUAL = 50
COUNT_MAX = 500
CURSOR = "_cursor"
_IDS_MAX = 500
_VALUES_MAX = 1000
# Of the answer, not of what is looked for.
_IGNORED = frozenset({"_format", "_pretty"})


@dataclass(frozen=True, slots=True)
class ReadSearch:
    """A search, the parameters it was made of, and the names that were ignored."""

    search: Search
    used: list[tuple[str, str]]
    ignored: list[str]


def read_search(
    *,
    tenant: Tenant,
    resource: ResourceType,
    areas: frozenset[Area],
    types: frozenset[str],
    given: Iterable[tuple[str, str]],
    strict: bool,
) -> ReadSearch:
    """Return the search that parameters ask for.

    What is not known is ignored and named, unless `strict`. `_count` is at most
    COUNT_MAX, whatever is asked for. Raises: SearchInvalid (400).
    """
    params = {param.name: param for param in (*resource.params, ID, LAST_UPDATED)}
    if "patient" in params:
        params["subject"] = params["patient"]
    used: list[tuple[str, str]] = []
    ignored: list[str] = []
    wanted: list[Wanted] = []
    options: dict[str, Any] = {}
    include: list[tuple[str, str]] = []
    for name, text in given:
        if "\x00" in text or len(text) > 10 * _VALUES_MAX:
            raise SearchInvalid("value_invalid", "The value can't be read.", name)
        if name in _IGNORED:
            continue
        if name == "_id":
            ids = tuple(text.split(","))
            if len(ids) > _IDS_MAX:
                raise SearchInvalid("too_many_ids", "At most 500 ids.", name)
            options["ids"] = ids
        elif name == "_count":
            options["count"] = _read_count(text)
        elif name == CURSOR:
            options["place"] = decode_place(text)
        elif name in {"_include", "_revinclude"}:
            if not _read_include(resource, name, text, include, options):
                ignored.append(f"{name}={text}")
                continue
        elif name in params:
            wanted.append(params[name].read(_strip_type(name, text)))
        else:
            ignored.append(name)
            continue
        used.append((name, text))
    if ignored and strict:
        names = ", ".join(sorted(set(ignored)))
        raise SearchInvalid(
            "parameter_unknown",
            f"Not supported here: {names}.",
            ignored[0],
        )
    known = {one.param.name for one in wanted}
    if resource.needs_patient and "patient" not in known and "ids" not in options:
        raise SearchInvalid(
            "patient_missing",
            f"Say whose {resource.name} you look for, with patient or _id.",
            "patient",
        )
    search = Search(
        tenant=tenant,
        resource=resource,
        areas=areas,
        types=types,
        wanted=tuple(wanted),
        include=tuple(include),
        **{"count": COUNT_USUAL, **options},
    )
    return ReadSearch(search, used, ignored)


def encode_place(place: Place) -> str:
    """Return the opaque cursor of a place."""
    return encode_page_cursor([str(place[0]), place[1]])


def decode_place(text: str) -> Place:
    """Return the place of a cursor. Raises: SearchInvalid."""
    try:
        number, key = decode_page_cursor(text, length=2, name=CURSOR)
    except RequestInvalid:
        raise _invalid_cursor() from None
    parts = key.split("~")
    if not (number.isascii() and number.isdecimal() and len(number) < 3):
        raise _invalid_cursor()
    for part in parts:
        is_number = part.removeprefix("-").isdecimal() and len(part) < 19
        if key and not (part.isascii() and (is_number or _is_uuid(part))):
            raise _invalid_cursor()
    return int(number), key


def _is_uuid(text: str) -> bool:
    return len(text) == 36 and set(text) <= set("0123456789abcdef-")


def _invalid_cursor() -> SearchInvalid:
    return SearchInvalid(
        "cursor_invalid", "Use a link of an earlier response, unchanged.", CURSOR
    )


def _read_count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text[:9]) == 0:
        raise SearchInvalid("count_invalid", "Use a whole number from 1.", "_count")
    return min(int(text[:9]), COUNT_MAX)


def _strip_type(name: str, text: str) -> str:
    """Return references to patients without their type, which is always the same."""
    if name not in {"patient", "subject"}:
        return text
    return ",".join(one.rpartition("Patient/")[2] for one in text.split(","))


def _read_include(
    resource: ResourceType,
    name: str,
    text: str,
    include: list[tuple[str, str]],
    options: dict[str, Any],
) -> bool:
    """Note a reference to follow; return whether it is supported."""
    parts: Sequence[str] = text.split(":")
    if name == "_revinclude":
        options["with_provenance"] = text == "Provenance:target"
        return text == "Provenance:target" and resource.name != "Provenance"
    if len(parts) < 2 or parts[0] != resource.name:
        return False
    reference = "patient" if parts[1] == "subject" else parts[1]
    if reference not in resource.references:
        return False
    include.append((reference, parts[2] if len(parts) > 2 else ""))
    return True
