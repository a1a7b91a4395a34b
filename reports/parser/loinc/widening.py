"""Matches names against the imported LOINC table.

The same evidence decides as in matching.py: name, unit, specimen, method. A name has to
be the table's own component before its code counts without a person.
"""

from __future__ import annotations

import re
from pathlib import Path

from reports.parser.report import LoincMatchStatus, LoincReason, SampleType

from .catalogue import Entry, Sense, build_name_key, normalize_name_text
from .evidence import collect_loinc_evidence
from .hints import split_name_and_hints
from .matching import (
    LoincMatches,
    build_loinc_match,
    judge_loinc_match_certainty,
    rank_catalogue_entries,
)
from .names import NameReading
from .release import ReleaseRow, search_loinc_release

_COMPONENT = 0.95
_WORDS = 0.75
_SHORTEST = 4
_MOST = 5
_WORD = re.compile(r"[a-z0-9]+")


def match_name_in_loinc_release(
    release: Path,
    *,
    name: str,
    units: str | None,
    value: str,
    panel: str | None,
    sample_type: SampleType | None,
) -> LoincMatches | None:
    """Return the imported table's matches for a name; None if there are none.

    release: the folder of an imported table. Source: Ours; contract 7.4 has the form.
    """
    texts, hints = split_name_and_hints(name)
    if not texts or len(build_name_key(texts[-1])) < _SHORTEST:
        return None
    names = frozenset(_WORD.findall(normalize_name_text(texts[-1])))
    found = [
        (row, quality)
        for row in search_loinc_release(release, texts[-1])
        if (quality := _quality(names, row))
    ]
    if not found:
        return None
    evidence = collect_loinc_evidence(
        hints=hints, units=units, value=value, panel=panel, sample_type=sample_type
    )
    best = max(quality for _, quality in found)
    entries = tuple(
        _entry(row, order) for order, (row, q) in enumerate(found) if q == best
    )
    reading = NameReading(
        tuple(Sense(entry.analyte, None) for entry in entries),
        best,
        hints,
        is_fuzzy=best < _COMPONENT,
    )
    candidates = rank_catalogue_entries(entries, reading, evidence)
    status = judge_loinc_match_certainty(candidates, reading, evidence)
    if LoincReason.UNIT_AGREES not in candidates[0].reasons:
        status = LoincMatchStatus.NEEDS_REVIEW
    return LoincMatches(
        matches=tuple(
            build_loinc_match(c, display_name=None) for c in candidates[:_MOST]
        ),
        status=status,
        measurement_kind=None,
        sample_type=sample_type,
    )


def _quality(wanted: frozenset[str], row: ReleaseRow) -> float:
    """How well a code's own names answer the words; 0 where one is missing."""
    component = _words(row.component)
    if wanted == component:
        return _COMPONENT
    return _WORDS if wanted <= component | _words(row.long_common_name) else 0.0


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(normalize_name_text(text)))


def _entry(row: ReleaseRow, order: int) -> Entry:
    return Entry(
        code=row.code,
        analyte=row.component,
        display_name="",
        property=row.property,
        specimen=row.specimen,
        scale=row.scale,
        method=row.method.casefold(),
        kind="direct",
        units=row.units,
        panels=(),
        source="release",
        long_common_name=row.long_common_name,
        order=order,
    )
