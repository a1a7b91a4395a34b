"""Searches LOINC codes for a typed text, with reasons.

Looks through the project's own catalogue, and through the imported release where a
folder with one is given. What contradicts the unit or the specimen is shown last,
never left out: a person decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from portal.lib.units import can_printed_unit_express_loinc_property
from reports.parser.report import LoincReason, SampleType

from .catalogue import Entry, load_loinc_catalogue, normalize_name_text
from .evidence import SPECIMENS_OF
from .hints import Hints, split_name_and_hints
from .names import look_up_name_in_catalogue
from .release import ReleaseRow, search_loinc_release

_WORD = re.compile(r"[a-z0-9]+")
_AGAINST = frozenset({LoincReason.UNIT_CONTRADICTS, LoincReason.SPECIMEN_CONTRADICTS})

# How much of the score the name, the unit and the specimen give.
_NAME = 0.7
_UNIT = 0.2
_SPECIMEN = 0.1
# A code of the release that is not in our catalogue is the rarer answer.
_UNUSUAL = 0.9
# What is left where a word of the text says another specimen, share or method.
_MISSED = 0.8


@dataclass(frozen=True, slots=True)
class LoincHit:
    """One code found by a text. units are usual ones in UCUM, score is 0 to 1.

    specimen is finer than the wire's sample type ("urine24"); display_name is Assay's
    own, None for a code of the release alone.
    """

    loinc_code: str
    loinc_name: str
    display_name: str | None
    property: str
    specimen: str
    units: tuple[str, ...]
    score: float
    reasons: tuple[LoincReason, ...]


def search_loinc_codes(
    text: str,
    *,
    unit: str | None = None,
    specimen: SampleType | None = None,
    limit: int = 10,
    release: Path | None = None,
) -> tuple[LoincHit, ...]:
    """Return LOINC codes for a text, best first, contradicted ones last.

    text: a name, its beginnings ("vit d 25"), or a code. unit: as printed on the row.
    release: the folder of an imported release. Source: Ours; the review desk's picker.
    """
    words = _WORD.findall(normalize_name_text(text))
    if not words:
        return ()
    reading = look_up_name_in_catalogue(text)
    said = reading.hints if reading.senses else split_name_and_hints(text)[1]
    named = {
        (sense.analyte, code)
        for sense in reading.senses
        for code in sense.codes or _codes_of(sense.analyte)
    }
    hits: dict[str, LoincHit] = {}
    for row, about in _own_rows():
        name = _likeness(
            words, text, row, about=about, is_named=(row.analyte, row.code) in named
        )
        if name:
            name *= _MISSED ** _count_missed(row, said)
            _keep(hits, _hit(row, name, unit, specimen))
    for found in search_loinc_release(release, text) if release else ():
        if found.code not in hits:
            _keep(hits, _hit_of_release(found, words, unit, specimen))
    ranked = sorted(
        hits.values(),
        key=lambda hit: (is_loinc_hit_contradicted(hit), -hit.score, hit.loinc_code),
    )
    return tuple(ranked[:limit])


def is_loinc_hit_contradicted(hit: LoincHit) -> bool:
    """Return whether the row's unit or specimen contradicts a hit."""
    return not _AGAINST.isdisjoint(hit.reasons)


def _keep(hits: dict[str, LoincHit], hit: LoincHit) -> None:
    known = hits.get(hit.loinc_code)
    if known is None or known.score < hit.score:
        hits[hit.loinc_code] = hit


@lru_cache(maxsize=1)
def _own_rows() -> tuple[tuple[Entry, frozenset[str]], ...]:
    """Each row with the words of its specimen and panels."""
    return tuple(
        (row, frozenset((row.specimen, *_WORD.findall(" ".join(row.panels)))))
        for rows in load_loinc_catalogue().entries.values()
        for row in rows
    )


def _codes_of(analyte: str) -> tuple[str, ...]:
    return tuple(row.code for row in load_loinc_catalogue().entries[analyte])


def _count_missed(row: Entry, said: Hints) -> int:
    """How much of what the text says a row is not: "urine", "absolute", "direct"."""
    missed = said.specimen is not None and not (
        row.specimen == said.specimen
        # "Blood" is said of serum too, and a day's urine is urine.
        or {row.specimen, said.specimen} <= {"serum", "blood"}
        or (row.specimen, said.specimen) == ("urine24", "urine")
    )
    is_count = row.property == "NCnc"
    return (
        missed
        + (said.share is not None and is_count is (said.share == "percent"))
        + bool(said.methods and row.method not in said.methods)
    )


@lru_cache(maxsize=2048)
def _words_of(code: str, analyte: str) -> tuple[frozenset[str], ...]:
    """The words of each name that a row goes by."""
    catalogue = load_loinc_catalogue()
    names = list(catalogue.aliases[analyte])
    for row in catalogue.entries[analyte]:
        if row.code == code:
            names += [row.display_name, row.long_common_name]
    return tuple(frozenset(_WORD.findall(normalize_name_text(name))) for name in names)


def _begins(word: str, others: frozenset[str]) -> bool:
    return any(other.startswith(word) for other in others)


def _likeness(
    words: list[str], text: str, row: Entry, *, about: frozenset[str], is_named: bool
) -> float:
    """How well one of the row's names answers the words; 0 where none holds all."""
    if text.strip() == row.code:
        return 1.0
    best = 1.0 if is_named else 0.0
    of_name = [word for word in words if not _begins(word, about)] or words
    for known in _words_of(row.code, row.analyte):
        if known and all(_begins(word, known) for word in of_name):
            exact = sum(word in known for word in words)
            best = max(best, 0.4 + 0.3 * exact / len(words) + 0.3 * exact / len(known))
    return best


def _weigh(
    name: float,
    *,
    prop: str,
    specimen_of: str,
    unit: str | None,
    specimen: SampleType | None,
) -> tuple[float, tuple[LoincReason, ...]]:
    score, reasons = _NAME * name, [LoincReason.NAME]
    agrees = (
        can_printed_unit_express_loinc_property(property=prop, units=unit)
        if unit
        else None
    )
    if agrees is not False:
        score += _UNIT if agrees else _UNIT / 2
    if agrees is not None:
        reasons.append(
            LoincReason.UNIT_AGREES if agrees else LoincReason.UNIT_CONTRADICTS
        )
    wanted = SPECIMENS_OF.get(specimen) if specimen else None
    if wanted is None:
        score += _SPECIMEN / 2
    elif specimen_of in wanted:
        score += _SPECIMEN
        reasons.append(LoincReason.SPECIMEN_AGREES)
    else:
        reasons.append(LoincReason.SPECIMEN_CONTRADICTS)
    return score, tuple(reasons)


def _hit(
    row: Entry, name: float, unit: str | None, specimen: SampleType | None
) -> LoincHit:
    score, reasons = _weigh(
        name, prop=row.property, specimen_of=row.specimen, unit=unit, specimen=specimen
    )
    # Of rows that nothing tells apart the earlier one is the usual one.
    usual = load_loinc_catalogue().entries[row.analyte].index(row)
    return LoincHit(
        loinc_code=row.code,
        loinc_name=row.long_common_name,
        display_name=row.display_name,
        property=row.property,
        specimen=row.specimen,
        units=row.units,
        score=round(max(score - 0.005 * usual, 0.0), 3),
        reasons=reasons,
    )


def _hit_of_release(
    row: ReleaseRow, words: list[str], unit: str | None, specimen: SampleType | None
) -> LoincHit:
    known = _WORD.findall(normalize_name_text(row.long_common_name))
    exact = sum(word in known for word in words)
    name = 0.4 + 0.3 * exact / len(words) + 0.3 * exact / max(len(known), 1)
    score, reasons = _weigh(
        1.0 if row.code in words else name,
        prop=row.property,
        specimen_of=row.specimen,
        unit=unit,
        specimen=specimen,
    )
    return LoincHit(
        loinc_code=row.code,
        loinc_name=row.long_common_name,
        display_name=None,
        property=row.property,
        specimen=row.specimen,
        units=row.units,
        score=round(_UNUSUAL * score, 3),
        reasons=reasons,
    )
