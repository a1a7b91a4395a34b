"""Checks the header for a second patient and for impossible dates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date

from rapidfuzz import fuzz

from reports.parser.report import Fact, Metadata, Note, NoteCode, ParsedResult, RowState

# Names more alike than this differ by a slip of print or of reading.
_SAME_NAME = 80.0
_DATES = ("dob", "date_collected", "date_reported")


def check_header_patient_and_dates(
    metadata: Metadata, by_page: Mapping[int, Metadata], results: Sequence[ParsedResult]
) -> tuple[Note, ...]:
    """Return notes on a second patient and on dates in an impossible order.

    by_page: the header of each page that has one, by number. No note tells a name.
    """
    return (*_second_person(metadata, by_page, results), *_order_of_dates(metadata))


def check_dates_not_after(metadata: Metadata, *, today: date) -> tuple[Note, ...]:
    """Return notes on dates after today."""
    return tuple(
        Note(NoteCode.DATE_IN_FUTURE, RowState.LOOK, (), (Fact("date", text=name),))
        for name in _DATES
        if (day := getattr(metadata, name)) and day > today.isoformat()
    )


def _second_person(
    metadata: Metadata, by_page: Mapping[int, Metadata], results: Sequence[ParsedResult]
) -> tuple[Note, ...]:
    strangers = _pages_of_others(metadata, by_page, results)
    rows = tuple(
        position
        for position, result in enumerate(results)
        if (place := result.provenance.name or result.provenance.value)
        and place.page in strangers
    )
    if not rows:
        return ()
    pages = (Fact(f"page_{n}", number=float(n)) for n in sorted(strangers))
    return (Note(NoteCode.SECOND_PERSON, RowState.CONTRADICTION, rows, tuple(pages)),)


def _pages_of_others(
    metadata: Metadata, by_page: Mapping[int, Metadata], results: Sequence[ParsedResult]
) -> set[int]:
    """Pages under another's name; one without a header goes on with the last."""
    places = (r.provenance.name or r.provenance.value for r in results)
    numbers = {place.page for place in places if place} | by_page.keys()
    strangers: set[int] = set()
    strange = False
    for number in sorted(numbers):
        if number in by_page:
            strange = _is_another(metadata, by_page[number])
        if strange:
            strangers.add(number)
    return strangers


def _is_another(first: Metadata, other: Metadata) -> bool:
    """Whether two headers name two persons: neither holds the other's name."""
    if first.dob and other.dob:
        return first.dob != other.dob
    names = [
        _words(f"{header.patient_first_name or ''} {header.patient_last_name or ''}")
        for header in (first, other)
    ]
    if not all(names) or names[0] <= names[1] or names[1] <= names[0]:
        return False
    texts = [" ".join(sorted(words)) for words in names]
    return fuzz.ratio(*texts) < _SAME_NAME


def _words(name: str) -> frozenset[str]:
    folded = unicodedata.normalize("NFKD", name.casefold())
    return frozenset(re.findall(r"[^\W\d_]{2,}", folded))


def _order_of_dates(metadata: Metadata) -> tuple[Note, ...]:
    """Birth, collection and report come in this order; ISO dates compare as texts."""
    known = [(name, day) for name in _DATES if (day := getattr(metadata, name))]
    return tuple(
        Note(
            NoteCode.DATES_OUT_OF_ORDER,
            RowState.LOOK,
            (),
            (Fact("earlier", text=first), Fact("later", text=second)),
        )
        for n, (first, day) in enumerate(known)
        for second, later in known[n + 1 :]
        if day > later
    )
