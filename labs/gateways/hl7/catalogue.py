"""A lab's tests as MFN^M08 (tests of one result) and MFN^M10 (batteries) messages.

A stated subset: codes, names, LOINC, unit, range, sample, tube, fasting, turnaround and
whether a test can be ordered. Prices, order questions and stability have no place in
these messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.gateways.hl7.acknowledgements import (
    APPLICATION,
    CHARACTER_SET,
    VERSION,
    format_hl7_timestamp,
)
from labs.gateways.hl7.messages import (
    Repetitions,
    Subcomponents,
    build_hl7_message,
    build_hl7_segment,
)
from labs.gateways.hl7.specimens import get_hl7_specimen
from labs.states.catalogue import MarkerType, ResultType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from labs.gateways.hl7.messages import FieldValue
    from labs.models import ExpectedResult, Lab, Marker

# Below the parts that a message may have (messages.MAX_PARTS).
_TESTS_A_MESSAGE = 500
# Table 0175: the master file, by event.
MASTER_FILES = {
    "M08": ("OMA", "Numerical observation master file"),
    "M10": ("OMC", "Observation batteries master file"),
}
# Table 0180: the record is added or changed, or retired.
UPDATE, DEACTIVATE = "MUP", "MDC"
# Table 0125, by our types of results.
VALUE_TYPES = {
    ResultType.NUMERIC: "NM",
    ResultType.RANGE: "SN",
    ResultType.COMMENT: "TX",
    ResultType.CODED_VALUE: "CE",
}
MINUTES_A_DAY = 24 * 60
FASTING, NO_FASTING = "Fasting", "No fasting"


def build_hl7_catalogue_messages(
    *, lab: Lab, markers: Iterable[Marker], at: datetime
) -> list[bytes]:
    """Return a lab's tests as messages; their expected results are loaded.

    The same tests and moment make the same bytes. Source: HL7 v2.5.1, 8.8.
    """
    tests = sorted(markers, key=lambda marker: marker.provider_id)
    parts = {
        "M08": [one for one in tests if is_single_test(one)],
        "M10": [one for one in tests if not is_single_test(one)],
    }
    return [
        build_hl7_message(
            [
                _header_segment(lab, event, number, at),
                build_hl7_segment(
                    "MFI",
                    {
                        1: (*MASTER_FILES[event], "HL70175"),
                        3: "UPD",
                        5: format_hl7_timestamp(at),
                        6: "NE",
                    },
                ),
                *_test_segments(lab, event, part),
            ]
        )
        for event, found in parts.items()
        for number, part in enumerate(_split(found), 1)
    ]


def is_single_test(marker: Marker) -> bool:
    """Return whether a test is sent as one observation, not as a battery."""
    results = marker.expected_results.all()
    return marker.type == MarkerType.BIOMARKER and len(results) == 1


def _split(markers: Sequence[Marker]) -> Iterator[Sequence[Marker]]:
    for start in range(0, len(markers), _TESTS_A_MESSAGE):
        yield markers[start : start + _TESTS_A_MESSAGE]


def _header_segment(lab: Lab, event: str, number: int, at: datetime) -> str:
    stamp = at.strftime("%Y%m%d%H%M%S")
    return build_hl7_segment(
        "MSH",
        {
            3: APPLICATION,
            4: lab.slug,
            7: format_hl7_timestamp(at),
            9: ("MFN", event, f"MFN_{event}"),
            10: f"{event}{stamp}{number}",
            11: "P" if lab.environment == "production" else "T",
            12: VERSION,
            18: CHARACTER_SET,
        },
    )


def _test_segments(lab: Lab, event: str, markers: Sequence[Marker]) -> Iterator[str]:
    for number, marker in enumerate(markers, 1):
        results = sorted(marker.expected_results.all(), key=lambda one: one.provider_id)
        yield build_hl7_segment(
            "MFE",
            {
                1: UPDATE if marker.retired_at is None else DEACTIVATE,
                2: str(number),
                4: (marker.provider_id, marker.name, "L"),
                5: "CE",
            },
        )
        yield build_hl7_segment(
            "OM1", _observation(lab, marker, results, event, number)
        )
        if event == "M08":
            yield build_hl7_segment("OM2", _numeric(results[0], number))
        else:
            battery = Repetitions(_identify(one) for one in results)
            yield build_hl7_segment("OM5", {1: str(number), 2: battery})
        code, words = get_hl7_specimen(marker)
        yield build_hl7_segment(
            "OM4",
            {1: str(number), 3: marker.container, 6: (code, words, "HL70487")},
        )


def _observation(
    lab: Lab,
    marker: Marker,
    results: Sequence[ExpectedResult],
    event: str,
    number: int,
) -> dict[int, FieldValue]:
    fields: dict[int, FieldValue] = {
        1: str(number),
        2: (marker.provider_id, marker.name, "L"),
        4: "Y",
        5: (lab.slug, lab.name, "L"),
        6: marker.description,
        8: marker.name,
        12: "Y" if marker.is_orderable else "N",
        18: "A" if event == "M08" else "P",
        37: FASTING if marker.fasting else NO_FASTING,
    }
    if marker.common_tat_days is not None:
        fields[23] = str(marker.common_tat_days * MINUTES_A_DAY)
    if event == "M08":
        kind = ResultType.known(results[0].result_type)
        fields[3] = VALUE_TYPES[kind] if kind else ""
        fields[7] = _identify(results[0])
    return fields


def _numeric(result: ExpectedResult, number: int) -> dict[int, FieldValue]:
    fields: dict[int, FieldValue] = {1: str(number)}
    if result.unit:
        fields[2] = (result.unit, result.unit, "L")
    if result.low is not None or result.high is not None:
        bounds = (
            "" if one is None else f"{one:.15g}" for one in (result.low, result.high)
        )
        fields[6] = (Subcomponents(bounds),)
    return fields


def _identify(result: ExpectedResult) -> tuple[str, ...]:
    """Return the lab's code and name of a result, and its LOINC code."""
    own = (result.provider_id, result.name, "L")
    if not result.loinc_code:
        return own
    return (*own, result.loinc_code, result.loinc_name, "LN")
