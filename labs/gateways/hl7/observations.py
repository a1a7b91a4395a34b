"""Parsing of OBX segments, and the rules by which one is held for a person.

A value is taken if its status, unit, test and form are certain. All else is read as
well as can be and held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.gateways.hl7.messages import (
    DATA_TYPE_ERROR,
    REQUIRED_MISSING,
    SEQUENCE_ERROR,
    UNKNOWN_VALUE,
)
from labs.gateways.hl7.reports import Doubt, Observation, ObservationStatus
from labs.gateways.hl7.values import (
    is_structured_number,
    parse_hl7_coded_identifier,
    parse_hl7_observation_value,
    parse_hl7_timestamp,
    split_hl7_field_repetitions,
)
from labs.states.result_texts import parse_result_value

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo

    from labs.gateways.hl7.messages import Segment

# Table 0085; A, B and V are of version 2.8.
STANDINGS = {
    "A": ObservationStatus.CORRECTED,  # amended by the placer's facts of the patient
    "B": ObservationStatus.FINAL,  # appended: the value as it was, more said of it
    "C": ObservationStatus.CORRECTED,
    "D": ObservationStatus.WITHDRAWN,
    "F": ObservationStatus.FINAL,
    "I": ObservationStatus.AWAITED,
    "N": ObservationStatus.AWAITED,
    "O": ObservationStatus.AWAITED,
    "P": ObservationStatus.PRELIMINARY,
    "R": ObservationStatus.PRELIMINARY,
    "S": ObservationStatus.PRELIMINARY,
    "U": ObservationStatus.FINAL,  # the preliminary value became final as it was
    "V": ObservationStatus.FINAL,
    "W": ObservationStatus.WITHDRAWN,
    "X": ObservationStatus.IMPOSSIBLE,
}
# OBR-25, table 0123, which holds for an OBX without a status. That of others says
# nothing of a single value.
STANDINGS_BY_TEST = {
    "C": ObservationStatus.CORRECTED,
    "F": ObservationStatus.FINAL,
    "P": ObservationStatus.PRELIMINARY,
    "R": ObservationStatus.PRELIMINARY,
}
_PENDING = "I"
_STATUS = 11


def parse_hl7_observation(
    segment: Segment, *, zone: tzinfo, test_status: str
) -> Observation:
    """Return an OBX, with a doubt if it must be held.

    zone: of times without an offset. test_status: OBR-25, of an OBX without a status.
    """
    code, name, loinc = parse_hl7_coded_identifier(segment, 3)
    text, declared = parse_hl7_observation_value(segment)
    doubt = _find_doubt(segment, test_status)
    return Observation(
        code=code or loinc,
        name=name or code or loinc,
        loinc=loinc,
        sub_id=".".join(filter(None, segment.components(4))),
        text=text,
        type=declared,
        value_type=segment.text(2),
        unit=_read_unit(segment),
        reference_range=segment.whole(7),
        flags=tuple(filter(None, split_hl7_field_repetitions(segment, 8))),
        standing=ObservationStatus.UNCLEAR
        if doubt
        else _read_standing(segment, test_status) or ObservationStatus.UNCLEAR,
        observed_at=parse_hl7_timestamp(segment.text(14), zone),
        laboratory=segment.text(23) or segment.text(15, 2),
        number=segment.number,
        doubt=doubt,
        lines=[segment.line],
    )


def hold_observation(
    observation: Observation, code: str, place: str, says: str
) -> None:
    """Hold an observation that was certain by itself; an earlier doubt stays."""
    share_doubt(observation, Doubt(code, place, observation.number, says))


def share_doubt(observation: Observation, doubt: Doubt) -> None:
    """Hold an observation for the doubt about another segment."""
    if observation.doubt is None:
        observation.doubt = doubt
        observation.standing = ObservationStatus.UNCLEAR


def _find_doubt(segment: Segment, test_status: str) -> Doubt | None:
    for applies, code, place, says in _RULES:
        if applies(segment):
            return Doubt(code, place, segment.number, says)
    if _read_standing(segment, test_status) is None:
        return Doubt(
            REQUIRED_MISSING,
            "OBX-11",
            segment.number,
            "OBX-11 has no status, and OBR-25 does not give it.",
        )
    return None


def _read_standing(segment: Segment, test_status: str) -> ObservationStatus | None:
    status = segment.text(11).upper()
    if not status:
        return STANDINGS_BY_TEST.get(test_status)
    return STANDINGS.get(status)


def _read_unit(segment: Segment) -> str:
    """Return the unit's code, else its text, else those of the other system."""
    return next(filter(None, (segment.text(6, part) for part in (1, 2, 4, 5))), "")


def _has_no_test(segment: Segment) -> bool:
    return not any(parse_hl7_coded_identifier(segment, 3))


def _has_unknown_status(segment: Segment) -> bool:
    return segment.text(11).upper() not in {"", *STANDINGS}


def _ends_before_status(segment: Segment) -> bool:
    """Return whether the segment, and with it the value, may be cut off."""
    return len(segment.held) <= _STATUS


def _has_value_while_pending(segment: Segment) -> bool:
    return segment.text(11).upper() == _PENDING and bool(segment.whole(5))


def _has_parts_without_type(segment: Segment) -> bool:
    return not segment.text(2) and segment.has_parts(5)


def _is_number_of_parts(segment: Segment) -> bool:
    return segment.text(2) == "NM" and any(
        segment.whole(5, repeat=repeat) != segment.text(5, repeat=repeat)
        for repeat in range(1, segment.repeats(5) + 1)
    )


def _is_structured_wrongly(segment: Segment) -> bool:
    return segment.text(2) == "SN" and not is_structured_number(segment)


def _has_number_for_unit(segment: Segment) -> bool:
    """Return whether fields are shifted; `1` is the unit of what has none (UCUM)."""
    unit = _read_unit(segment)
    return unit != "1" and parse_result_value(unit).amount is not None


def _has_several_units(segment: Segment) -> bool:
    return len(set(split_hl7_field_repetitions(segment, 6))) > 1


_RULES: tuple[tuple[Callable[[Segment], bool], str, str, str], ...] = (
    (
        lambda segment: segment.is_damaged,
        DATA_TYPE_ERROR,
        "OBX",
        "The segment has characters that can't be read.",
    ),
    (
        lambda segment: segment.is_broken,
        SEQUENCE_ERROR,
        "OBX",
        "A line break splits the segment.",
    ),
    (_has_no_test, REQUIRED_MISSING, "OBX-3", "OBX-3 names no test."),
    (
        _ends_before_status,
        REQUIRED_MISSING,
        "OBX-11",
        "The segment ends before OBX-11. It may be cut off.",
    ),
    (
        _has_unknown_status,
        UNKNOWN_VALUE,
        "OBX-11",
        "OBX-11 is not in HL7 table 0085.",
    ),
    (
        _has_value_while_pending,
        UNKNOWN_VALUE,
        "OBX-11",
        "OBX-11 says that the result is pending, but OBX-5 has a value.",
    ),
    (
        _has_parts_without_type,
        REQUIRED_MISSING,
        "OBX-2",
        "OBX-5 has several parts but OBX-2 has no type.",
    ),
    (
        _is_number_of_parts,
        DATA_TYPE_ERROR,
        "OBX-5",
        "OBX-5 has several parts but its type is NM.",
    ),
    (
        _is_structured_wrongly,
        DATA_TYPE_ERROR,
        "OBX-5",
        "OBX-5 is no structured number (SN).",
    ),
    (_has_number_for_unit, DATA_TYPE_ERROR, "OBX-6", "OBX-6 is a number, not a unit."),
    (_has_several_units, DATA_TYPE_ERROR, "OBX-6", "OBX-6 has several units."),
)
