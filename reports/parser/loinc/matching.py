"""Matches a row to LOINC codes by name, unit and specimen.

Contract 7.4. A name alone decides little: percent and absolute counts, serum and
urine, mass and moles share it. Each candidate starts with how surely the name was
read and loses by every piece of evidence against it; a unit or a specimen that
contradicts a candidate also bars it from being matched without a person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from portal.lib.units import (
    Dimension,
    can_printed_unit_express_loinc_property,
    find_unit_dimension,
    normalize_unit,
)
from reports.parser.report import (
    LoincMatch,
    LoincMatchStatus,
    LoincReason,
    MeasurementKind,
    SampleType,
)

from .catalogue import Entry, Sense, load_loinc_catalogue
from .evidence import Evidence, collect_loinc_evidence
from .hints import split_name_and_hints
from .names import NameReading, look_up_name_in_catalogue

_MOST = 5
_AUTO = 0.8
_MARGIN = 0.03
_ALIASES_SHOWN = 8

# What evidence against a candidate leaves of its score.
_UNIT_CONTRADICTS = 0.35
_UNIT_MISSING = 0.97
_SPECIMEN_CONTRADICTS = 0.3
_SPECIMEN_NEAR = 0.98
_SPECIMEN_UNUSUAL = 0.94
_SHARE_CONTRADICTS = 0.3
_SCALE_CONTRADICTS = 0.75
_METHOD_MISSING = 0.94
_METHOD_IGNORED = 0.95
# Below what is certain: "Blood Ketones" is no code of urine, whatever its unit.
_OTHER_ROW = 0.79
_COUNTERPART = 0.99
_PANEL_SPEAKS = 1.02
# From here on the name stands in the catalogue as printed, furniture aside.
_NAMED = 0.93

_SAMPLE_TYPES: dict[str, SampleType] = {
    "serum": SampleType.BLOOD,
    "blood": SampleType.BLOOD,
    "arterial": SampleType.BLOOD,
    "venous": SampleType.BLOOD,
    "capillary": SampleType.CAPILLARY_BLOOD,
    "urine": SampleType.URINE,
    "urine24": SampleType.URINE,
    "stool": SampleType.STOOL,
    "saliva": SampleType.SALIVA,
}
_CONCENTRATIONS = frozenset(
    {
        Dimension.MASS_CONCENTRATION,
        Dimension.SUBSTANCE_CONCENTRATION,
        Dimension.UNIT_CONCENTRATION,
    }
)
_VESSELS = frozenset({"arterial", "venous", "capillary"})
_WHOLE_BLOOD = _VESSELS | {"blood"}
_SHARES = frozenset({"NFr", "MFr", "VFr", "SFr", "Ratio"})
_COUNTS = frozenset({"NCnc"})


@dataclass(frozen=True, slots=True)
class LoincMatches:
    """What a row measures.

    matches are best first, at most five. measurement_kind and sample_type are None
    where neither the row nor the best candidate tells.
    """

    matches: tuple[LoincMatch, ...]
    status: LoincMatchStatus
    measurement_kind: MeasurementKind | None
    sample_type: SampleType | None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A code with what is left of its score; barred where something contradicts."""

    entry: Entry
    score: float
    barred: bool
    reasons: tuple[LoincReason, ...]


def rank_loinc_matches(
    *,
    name: str,
    units: str | None,
    value: str,
    panel: str | None,
    sample_type: SampleType | None,
) -> LoincMatches:
    """Rank the LOINC codes a row may have and say whether the first is certain.

    name, units, value and panel are as printed; sample_type is what the report said,
    or None. Scores run from 0 to 1: 0.8 and above with nothing contradicting and no
    rival of another analyte within 0.03 is an automatic match (Contract 7.4; the
    thresholds are ours).
    """

    reading = look_up_name_in_catalogue(name)
    evidence = collect_loinc_evidence(
        hints=reading.hints if reading.senses else split_name_and_hints(name)[1],
        units=units,
        value=value,
        panel=panel,
        sample_type=sample_type,
    )
    if not reading.senses:
        return LoincMatches(
            matches=(),
            status=LoincMatchStatus.NO_MATCH,
            measurement_kind=_kind_of_stranger(name, evidence),
            sample_type=sample_type or _sample_type(evidence.exact_specimen),
        )
    found = _match(reading, evidence)
    if sample_type in (None, SampleType.UNKNOWN):
        return found
    return replace(found, sample_type=sample_type)


@lru_cache(maxsize=4096)
def _match(reading: NameReading, evidence: Evidence) -> LoincMatches:
    """What a row measures whose sample type the report does not say."""
    catalogue = load_loinc_catalogue()
    candidates = _weigh(reading, evidence)
    best = candidates[0]
    return LoincMatches(
        matches=tuple(
            build_loinc_match(
                found,
                display_name=found.entry.display_name,
                aliases=catalogue.aliases[found.entry.analyte],
            )
            for found in candidates[:_MOST]
        ),
        status=judge_loinc_match_certainty(candidates, reading, evidence),
        measurement_kind=_kind(best.entry, evidence),
        sample_type=_sample_type(evidence.exact_specimen or best.entry.specimen),
    )


def _weigh(reading: NameReading, evidence: Evidence) -> tuple[Candidate, ...]:
    """Every row of every sense, best first; barred ones behind the others."""
    catalogue = load_loinc_catalogue()
    best: dict[tuple[str, str], Candidate] = {}
    for sense in reading.senses:
        rows = catalogue.entries[sense.analyte]
        named = catalogue.entries_of(sense)
        for place, entry in enumerate(rows):
            scale = _score(entry, rows, evidence)
            score = scale.score * reading.quality * _name_factor(entry, sense, named)
            score = min(score, 0.99) - 0.001 * place
            reasons = (_reason_of(reading), *scale.spoken_for, *scale.spoken_against)
            key = (entry.code, entry.analyte)
            if key not in best or best[key].score < score:
                best[key] = Candidate(entry, score, scale.barred, reasons)
    ranked = sorted(best.values(), key=lambda c: (c.barred, -c.score, c.entry.order))
    first: dict[str, Candidate] = {}
    for candidate in ranked:
        first.setdefault(candidate.entry.code, candidate)
    return tuple(first.values())


def rank_catalogue_entries(
    entries: tuple[Entry, ...], reading: NameReading, evidence: Evidence
) -> list[Candidate]:
    """Return the entries that a name may mean, best first; contradicted ones last."""
    candidates = []
    for entry in entries:
        scale = _score(entry, entries, evidence)
        reasons = (_reason_of(reading), *scale.spoken_for, *scale.spoken_against)
        score = min(scale.score * reading.quality, 0.99) - 0.001 * entry.order
        candidates.append(Candidate(entry, score, scale.barred, reasons))
    return sorted(candidates, key=lambda c: (c.barred, -c.score, c.entry.order))


def _name_factor(entry: Entry, sense: Sense, named: tuple[Entry, ...]) -> float:
    if sense.codes is None or entry.code in sense.codes:
        return 1.0
    # "LDL calculated" names the mass row; in mmol/L its molar twin is meant.
    is_twin = any(
        entry.method == other.method
        and entry.specimen == other.specimen
        and {entry.property, other.property} == {"MCnc", "SCnc"}
        for other in named
    )
    return _COUNTERPART if is_twin else _OTHER_ROW


@dataclass(slots=True)
class _Scale:
    """A candidate on the scale: what is left of its score, and why."""

    score: float = 1.0
    barred: bool = False
    spoken_for: list[LoincReason] = field(default_factory=list)
    spoken_against: list[LoincReason] = field(default_factory=list)

    def add(self, reason: LoincReason, factor: float = 1.0) -> None:
        self.score *= factor
        self.spoken_for.append(reason)

    def take(self, reason: LoincReason, factor: float, *, bar: bool = False) -> None:
        self.score *= factor
        self.barred = self.barred or bar
        self.spoken_against.append(reason)


def _score(entry: Entry, rows: tuple[Entry, ...], evidence: Evidence) -> _Scale:
    scale = _Scale()
    agrees = _unit_agrees(entry, evidence)
    if agrees is False:
        scale.take(LoincReason.UNIT_CONTRADICTS, _UNIT_CONTRADICTS, bar=True)
    elif agrees:
        scale.add(LoincReason.UNIT_AGREES)
    elif not evidence.units and entry.units:
        scale.take(LoincReason.UNIT_MISSING, _UNIT_MISSING)
    if _is_of_another_scale(entry, rows, evidence):
        scale.take(LoincReason.SCALE_CONTRADICTS, _SCALE_CONTRADICTS)
    if evidence.specimens is None:
        is_named = entry.method and entry.method in evidence.methods
        if entry.specimen != rows[0].specimen and not is_named:
            scale.score *= _SPECIMEN_UNUSUAL
    elif entry.specimen not in evidence.specimens or _is_of_another_blood(
        entry, evidence
    ):
        scale.take(LoincReason.SPECIMEN_CONTRADICTS, _SPECIMEN_CONTRADICTS, bar=True)
    else:
        is_near = entry.specimen != evidence.exact_specimen and (
            evidence.exact_specimen not in (None, "blood", "serum")
            or entry.specimen not in ("blood", "serum")
        )
        scale.add(LoincReason.SPECIMEN_AGREES, _SPECIMEN_NEAR if is_near else 1.0)
    if evidence.share and {row.property for row in rows} & _COUNTS:
        wanted = _SHARES if evidence.share == "percent" else _COUNTS
        if entry.property not in wanted:
            scale.take(LoincReason.SHARE_CONTRADICTS, _SHARE_CONTRADICTS, bar=True)
    if entry.method and entry.method not in evidence.methods:
        scale.take(LoincReason.METHOD_NOT_PRINTED, _METHOD_MISSING)
    elif entry.method:
        scale.add(LoincReason.METHOD_AGREES)
    elif evidence.methods and evidence.methods & {row.method for row in rows}:
        scale.score *= _METHOD_IGNORED
    if evidence.panel and any(word in evidence.panel for word in entry.panels):
        scale.add(LoincReason.PANEL_AGREES, _PANEL_SPEAKS)
    return scale


def _unit_agrees(entry: Entry, evidence: Evidence) -> bool | None:
    """Whether the row's unit is one that the entry's test is given in; None unknown."""
    if not evidence.units:
        return None
    unit = normalize_unit(evidence.units)
    if entry.scale in ("Ord", "Nom"):
        # 'HBsAg 0.02 IU/mL' was measured: no code of mere presence says that.
        is_amount = unit and find_unit_dimension(unit) in _CONCENTRATIONS
        return False if is_amount and evidence.is_number else None
    usual = {find_unit_dimension(each) for each in entry.units}
    if unit and usual == {Dimension.RENIN_ACTIVITY}:
        return find_unit_dimension(unit) in usual
    return can_printed_unit_express_loinc_property(
        property=entry.property, units=evidence.units
    )


def _is_of_another_blood(entry: Entry, evidence: Evidence) -> bool:
    """Whether venous gases meet arterial ones, or a test of plasma whole blood."""
    vessels = {entry.specimen, evidence.exact_specimen}
    if len(vessels) == 2 and vessels <= _VESSELS:
        return True
    named = evidence.named_specimen
    if entry.specimen == "serum":
        return named in ("arterial", "capillary", "whole blood")
    return named == "serum" and entry.specimen in _WHOLE_BLOOD


def _is_of_another_scale(
    entry: Entry, rows: tuple[Entry, ...], evidence: Evidence
) -> bool:
    """Whether a number, titre or word is what another row's code is counted in."""
    is_measured = entry.scale == "Qn"
    if (
        evidence.is_number is (not is_measured)
        and not (evidence.is_sighting and entry.property == "Naric")
        and any((row.scale == "Qn") is not is_measured for row in rows)
    ):
        return True
    return (
        evidence.is_titre
        and entry.property != "Titr"
        and any(row.property == "Titr" for row in rows)
    )


def _reason_of(reading: NameReading) -> LoincReason:
    if reading.is_fuzzy:
        return LoincReason.NAME_LIKE
    return LoincReason.NAME if reading.quality >= _NAMED else LoincReason.NAME_RESPELT


def judge_loinc_match_certainty(
    candidates: Sequence[Candidate], reading: NameReading, evidence: Evidence
) -> LoincMatchStatus:
    """Return the match status: whether the first of the candidates is certain."""
    best = candidates[0]
    if best.barred or best.score < _AUTO:
        return LoincMatchStatus.NEEDS_REVIEW
    # A unit that can't be read, "K/ut" on a photo, tells no more than none.
    is_told = bool(evidence.units and normalize_unit(evidence.units))
    for rival in candidates[1:]:
        if rival.barred or best.score - rival.score > _MARGIN:
            continue
        if rival.entry.analyte != best.entry.analyte:
            return LoincMatchStatus.NEEDS_REVIEW
        # Mass or moles, percent or count: only a unit tells, and there is none.
        if not is_told and any(
            can_printed_unit_express_loinc_property(
                property=rival.entry.property, units=unit
            )
            is False
            for unit in best.entry.units
        ):
            return LoincMatchStatus.NEEDS_REVIEW
    if reading.is_fuzzy:
        agrees = evidence.units and can_printed_unit_express_loinc_property(
            property=best.entry.property, units=evidence.units
        )
        if not agrees or reading.quality < _AUTO:
            return LoincMatchStatus.NEEDS_REVIEW
    return LoincMatchStatus.AUTO_MATCH


def build_loinc_match(
    candidate: Candidate, *, display_name: str | None, aliases: tuple[str, ...] = ()
) -> LoincMatch:
    """Return a candidate as the report has it."""
    return LoincMatch(
        loinc_code=candidate.entry.code,
        loinc_name=candidate.entry.long_common_name,
        display_name=display_name,
        aliases=aliases[:_ALIASES_SHOWN],
        confidence_score=round(max(candidate.score, 0.0), 3),
        reasons=candidate.reasons,
    )


def _kind(entry: Entry, evidence: Evidence) -> MeasurementKind:
    if entry.kind == "ratio":
        return MeasurementKind.RATIO
    if entry.kind == "calculated" or "calculated" in evidence.methods:
        return MeasurementKind.CALCULATED
    return MeasurementKind.DIRECT


def _kind_of_stranger(name: str, evidence: Evidence) -> MeasurementKind | None:
    if re.search(r"\bratio\b", name, re.IGNORECASE):
        return MeasurementKind.RATIO
    unit = normalize_unit(evidence.units) if evidence.units else None
    if unit and find_unit_dimension(unit) is Dimension.RATIO:
        return MeasurementKind.RATIO
    return MeasurementKind.CALCULATED if "calculated" in evidence.methods else None


def _sample_type(specimen: str | None) -> SampleType | None:
    return _SAMPLE_TYPES.get(specimen, SampleType.OTHER) if specimen else None
