"""Results of an order as an ORU^R01 message to a team's own system.

Each message is whole: it has all results of one version. What a version changed is
marked as corrected (C), under the same OBR-3, OBX-3 and OBX-4. Source: HL7 v2.5.1,
7.3.1.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass, field
from datetime import UTC
from itertools import count
from typing import TYPE_CHECKING

from labs.gateways.hl7.acknowledgements import (
    APPLICATION,
    CHARACTER_SET,
    VERSION,
    format_hl7_timestamp,
)
from labs.gateways.hl7.escapes import escape_hl7_text
from labs.gateways.hl7.messages import (
    Repetitions,
    build_hl7_message,
    build_hl7_segment,
)
from labs.gateways.hl7.patient import build_hl7_patient_segment, format_hl7_physician
from labs.gateways.hl7.specimens import get_hl7_specimen
from labs.queries.results.results import get_result_identity_key
from labs.states.orders import Interpretation
from labs.states.results import FailureType, ResultStatus, interpret_lab_flag

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from labs.gateways.hl7.messages import FieldValue
    from labs.models import (
        Marker,
        MissingResult,
        Order,
        Result,
        ResultVersion,
        SampleData,
    )

# Table 0078 of v2.5.1.
_FLAGS = {*"LHNAUDBWSRI<>", "LL", "HH", "AA", "MS", "VS"}
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)", re.ASCII)
_STRUCTURED = re.compile(
    r"(?P<comparator>[<>]=?)(?P<bound>\d+(?:\.\d+)?)"
    r"|(?P<low>\d+(?:\.\d+)?)(?P<separator>[-/:])(?P<high>\d+(?:\.\d+)?)",
    re.ASCII,
)
_STRING_LENGTH = 199
_NAMESPACE_LENGTH = 20
# LOINC 11502-2.
_REPORT = ("11502-2", "Laboratory report", "LN")


@dataclass(frozen=True, slots=True)
class ResultsToSend:
    """Results of one version of an order, with what the version before had.

    `corrected` and `withdrawn` are the keys of rows that differ from the version
    before, or that it had as results, see get_result_identity_key. `markers` are by
    id; a marker that is no longer known has no sample type.
    """

    order: Order
    version: ResultVersion
    rows: Sequence[Result]
    gaps: Sequence[MissingResult]
    samples: Sequence[SampleData]
    corrected: frozenset[tuple[str, str]] = frozenset()
    withdrawn: frozenset[tuple[str, str]] = frozenset()
    markers: Mapping[int, Marker] = field(default_factory=dict)


def build_hl7_results_message(
    results: ResultsToSend, *, control_id: str, at: datetime
) -> bytes:
    """Write the ORU^R01 of a version of results.

    An ORC and OBR for each test that was ordered. ORC-2 and OBR-2 are our id of the
    order, OBR-3 the sample id with the test's. A value is NM or SN only where its text
    is exactly that. The order's lab, tenant and user are loaded.
    """
    order = results.order
    segments = [*_head(order, control_id, at)]
    for number, test in enumerate(_group_by_test(results), start=1):
        segments += _test_segments(results, test, number)
    return build_hl7_message(segments)


def build_hl7_document_message(
    order: Order,
    *,
    content: bytes,
    sub_id: str,
    is_correction: bool,
    control_id: str,
    at: datetime,
) -> bytes:
    """Write the ORU^R01 of a lab's PDF; `sub_id` is the same in each version of it."""
    status = "C" if is_correction else "F"
    return build_hl7_message(
        [
            *_head(order, control_id, at),
            build_hl7_segment(
                "ORC",
                {1: "RE", 2: _placer(order), 3: _filler(order, "REPORT"), 5: "CM"},
            ),
            build_hl7_segment(
                "OBR",
                {
                    1: "1",
                    2: _placer(order),
                    3: _filler(order, "REPORT"),
                    4: _REPORT,
                    16: format_hl7_physician(order),
                    22: format_hl7_timestamp(at),
                    25: status,
                },
            ),
            build_hl7_segment(
                "OBX",
                {
                    1: "1",
                    2: "ED",
                    3: _REPORT,
                    4: sub_id,
                    5: (
                        APPLICATION,
                        "AP",
                        "PDF",
                        "Base64",
                        b64encode(content).decode(),
                    ),
                    11: status,
                },
            ),
        ]
    )


@dataclass(frozen=True, slots=True)
class _Test:
    """A test that was ordered (`source_markers`), with its results."""

    marker_id: int
    code: str
    name: str
    rows: list[Result] = field(default_factory=list)
    gaps: list[MissingResult] = field(default_factory=list)


def _group_by_test(results: ResultsToSend) -> list[_Test]:
    """Group rows by the first test each came from, in the order of the results."""
    tests: dict[int, _Test] = {}

    def find(row: Result | MissingResult) -> _Test:
        source = row.source_markers[0]
        key = source["marker_id"]
        return tests.setdefault(
            key, _Test(key, str(source["provider_id"] or ""), str(source["name"]))
        )

    for row in results.rows:
        find(row).rows.append(row)
    for gap in results.gaps:
        find(gap).gaps.append(gap)
    return list(tests.values())


def _head(order: Order, control_id: str, at: datetime) -> Iterator[str]:
    team = order.tenant.team
    yield build_hl7_segment(
        "MSH",
        {
            3: APPLICATION,
            4: order.lab.slug[:_NAMESPACE_LENGTH],
            6: team.slug[:_NAMESPACE_LENGTH],
            7: format_hl7_timestamp(at.astimezone(UTC)),
            9: ("ORU", "R01", "ORU_R01"),
            10: control_id,
            11: "T" if order.tenant.is_sandbox else "P",
            12: VERSION,
            18: CHARACTER_SET,
        },
    )
    # The team's own id comes first: their system knows the patient by it.
    yield build_hl7_patient_segment(
        order, own_id=(order.user.client_user_id, team.slug[:_NAMESPACE_LENGTH])
    )
    yield build_hl7_segment("PV1", {1: "1", 2: "O"})


def _placer(order: Order) -> tuple[str, str]:
    return str(order.pk), APPLICATION


def _filler(order: Order, code: str) -> tuple[str, str]:
    return f"{order.sample_id or order.pk}.{code}", APPLICATION


def _test_segments(results: ResultsToSend, test: _Test, number: int) -> Iterator[str]:
    order, version = results.order, results.version
    filler = _filler(order, test.code or str(test.marker_id))
    is_final = version.status == ResultStatus.FINAL
    yield build_hl7_segment(
        "ORC",
        {1: "RE", 2: _placer(order), 3: filler, 5: "CM" if is_final else "A"},
    )
    yield build_hl7_segment(
        "OBR",
        {
            1: str(number),
            2: _placer(order),
            3: filler,
            4: (test.code, test.name, "L"),
            7: _timestamp(version.collected_at),
            14: _timestamp(version.received_at),
            16: format_hl7_physician(order),
            22: _timestamp(version.reported_at),
            25: _test_status(results, test),
        },
    )
    lines = count(1)
    for row in test.rows:
        yield from _result_segments(results, row, next(lines))
    for gap in test.gaps:
        yield from _gap_segments(results, gap, next(lines))
    yield from _specimen_segments(results, test)


def _test_status(results: ResultsToSend, test: _Test) -> str:
    """Return OBR-25 (table 0123)."""
    if any(row.is_preliminary for row in test.rows):
        return "P"
    if results.version.status != ResultStatus.FINAL:
        return "A"
    keys = {
        *map(get_result_identity_key, test.rows),
        *map(get_result_identity_key, test.gaps),
    }
    if keys & (results.corrected | results.withdrawn):
        return "C"
    return "F" if test.rows else "X"


def _identifier(row: Result | MissingResult) -> Sequence[str]:
    """Return OBX-3: LOINC and the lab's code, or the one that is known."""
    local = (row.provider_id or row.slug, row.name, "L")
    return (row.loinc, row.name, "LN", *local) if row.loinc else local


def _result_segments(results: ResultsToSend, row: Result, line: int) -> Iterator[str]:
    kind, value = _format_value(row.result)
    status = "C" if get_result_identity_key(row) in results.corrected else "F"
    limits = row.reference_range
    is_short = len(escape_hl7_text(limits)) <= _STRING_LENGTH and "\n" not in limits
    yield build_hl7_segment(
        "OBX",
        {
            1: str(line),
            2: kind,
            3: _identifier(row),
            4: row.sub_id,
            5: value,
            6: row.unit,
            7: limits if is_short else "",
            8: _flags(row),
            11: "P" if row.is_preliminary else status,
            14: _timestamp(row.observed_at),
            23: _laboratory(results.version, row),
        },
    )
    notes = row.notes if is_short else f"Reference range: {limits}\n{row.notes}"
    yield from _note_segments(notes.splitlines())


def _gap_segments(
    results: ResultsToSend, gap: MissingResult, line: int
) -> Iterator[str]:
    """Build OBX of a result that there is not: D if it was sent before, else X."""
    status = "D" if get_result_identity_key(gap) in results.withdrawn else "X"
    yield build_hl7_segment(
        "OBX", {1: str(line), 3: _identifier(gap), 4: gap.sub_id, 11: status}
    )
    failure = FailureType.known(gap.failure_type)
    known = failure not in (None, FailureType.UNKNOWN)
    reasons = [str(failure.label)] if failure and known else []
    yield from _note_segments([*reasons, *gap.note.splitlines()])


def _note_segments(lines: Sequence[str]) -> Iterator[str]:
    texts = [line for line in lines if line.strip()]
    for number, text in enumerate(texts, start=1):
        yield build_hl7_segment("NTE", {1: str(number), 2: "L", 3: text})


def _format_value(text: str) -> tuple[str, FieldValue]:
    """Return OBX-2 and OBX-5 of a result's text; lines are repetitions of TX."""
    if _NUMBER.fullmatch(text):
        return "NM", text
    if found := _STRUCTURED.fullmatch(text):
        if found["comparator"]:
            return "SN", (found["comparator"], found["bound"])
        return "SN", ("", found["low"], found["separator"], found["high"])
    if "\n" in text or len(escape_hl7_text(text)) > _STRING_LENGTH:
        return "TX", Repetitions(text.split("\n"))
    return "ST", text


def _flags(row: Result) -> Repetitions | str:
    """Return the lab's own flags if they say the interpretation, else that."""
    own = [flag.strip() for flag in row.source_interpretation.split("~")]
    interpretation = row.interpretation or None
    if set(own) <= _FLAGS and interpret_lab_flag("~".join(own)) == interpretation:
        return Repetitions(own)
    match row.interpretation:
        case Interpretation.CRITICAL:
            return _direction(row, "HH", "LL") or "AA"
        case Interpretation.ABNORMAL:
            return _direction(row, "H", "L") or "A"
        case Interpretation.NORMAL:
            return "N"
        case _:
            return ""


def _direction(row: Result, above: str, below: str) -> str:
    if row.is_above_max_range:
        return above
    return below if row.is_below_min_range else ""


def _laboratory(version: ResultVersion, row: Result) -> Sequence[str]:
    """Return OBX-23: who performed it, with the CLIA number of the version's lab."""
    if row.performing_laboratory not in ("", version.laboratory):
        return row.performing_laboratory[:_STRING_LENGTH]
    name = version.laboratory[:_STRING_LENGTH]
    if not version.clia_number:
        return name
    return (name, *[""] * 4, "CLIA", "XX", "", "", version.clia_number)


def _specimen_segments(results: ResultsToSend, test: _Test) -> Iterator[str]:
    """Build SPM of the samples that a test's results came from."""
    named = {row.source_sample_id for row in test.rows} - {""}
    marker = results.markers.get(test.marker_id)
    found = [one for one in results.samples if not named or one.sample_id in named]
    for number, sample in enumerate(found, start=1):
        specimen = (*get_hl7_specimen(marker), "HL70487") if marker else '""'
        yield build_hl7_segment(
            "SPM",
            {
                1: str(number),
                2: sample.sample_id,
                4: specimen,
                17: _timestamp(sample.collected_at),
                18: _timestamp(sample.received_at),
            },
        )


def _timestamp(at: datetime | None) -> str:
    return format_hl7_timestamp(at.astimezone(UTC)) if at else ""
