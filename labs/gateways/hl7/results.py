"""Parsing of ORU^R01 messages into plain values.

Accepts what laboratories write in practice: segments outside the standard's structure
are skipped, and order numbers are read from either of their fields. Anything ambiguous
is refused, never guessed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, timedelta, timezone
from enum import StrEnum
from typing import TYPE_CHECKING

from labs.gateways.hl7.documents import (
    DOCUMENT_TYPES,
    AttachedDocument,
    parse_hl7_attached_documents,
)
from labs.gateways.hl7.messages import (
    REQUIRED_MISSING,
    SEQUENCE_ERROR,
    UNKNOWN_VALUE,
    UNSUPPORTED_EVENT,
    UNSUPPORTED_TYPE,
    UNSUPPORTED_VERSION,
    MalformedMessage,
)
from labs.gateways.hl7.values import (
    parse_hl7_coded_identifier,
    parse_hl7_observation_value,
    parse_hl7_timestamp,
    split_hl7_field_repetitions,
)

if TYPE_CHECKING:
    from datetime import tzinfo

    from labs.gateways.hl7.messages import Message, Segment
    from labs.gateways.hl7.values import Moment

RESULTS = "ORU"
# Fields whose components are a placer's and a filler's number.
_PAIRS = {"ORC": (8,), "OBR": (29,)}


class ObservationStatus(StrEnum):
    """The status of an observation (OBX-11, table 0085)."""

    FINAL = "final"
    CORRECTED = "corrected"
    PRELIMINARY = "preliminary"
    IMPOSSIBLE = "impossible"  # the lab can't give it
    WITHDRAWN = "withdrawn"  # it was given in error
    AWAITED = "awaited"


_STANDINGS = {
    "F": ObservationStatus.FINAL,
    "U": ObservationStatus.FINAL,  # the preliminary value became final as it was
    "C": ObservationStatus.CORRECTED,
    "P": ObservationStatus.PRELIMINARY,
    "R": ObservationStatus.PRELIMINARY,
    "S": ObservationStatus.PRELIMINARY,
    "X": ObservationStatus.IMPOSSIBLE,
    "D": ObservationStatus.WITHDRAWN,
    "W": ObservationStatus.WITHDRAWN,
    "I": ObservationStatus.AWAITED,
    "N": ObservationStatus.AWAITED,
    "O": ObservationStatus.AWAITED,
}
_SETTLED = {
    ObservationStatus.FINAL,
    ObservationStatus.CORRECTED,
    ObservationStatus.IMPOSSIBLE,
    ObservationStatus.WITHDRAWN,
}
# OBR-25, table 0123: nothing more is to come of this test.
_DONE = {"F", "C", "X"}


@dataclass(frozen=True, slots=True)
class Patient:
    """The patient of a report; `given` includes middle names.

    `sex` is of table 0001, empty where not told.
    """

    family: str = ""
    given: str = ""
    birth_date: date | None = None
    sex: str = ""


@dataclass(slots=True)
class Observation:
    """One OBX; `notes` are the NTE that follow.

    `type` is the ResultType that OBX-2 declares, `flags` are as the lab wrote them.
    """

    code: str
    name: str
    loinc: str
    sub_id: str
    text: str
    type: str
    unit: str
    reference_range: str
    flags: tuple[str, ...]
    standing: ObservationStatus
    observed_at: Moment | None
    laboratory: str
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Specimen:
    """One SPM, or the sample fields of an OBR."""

    sample_id: str
    collected_at: Moment | None = None
    received_at: Moment | None = None


@dataclass(slots=True)
class Test:
    """One OBR with its observations.

    `status` is OBR-25. `documents` are no results: the lab's PDF, say. `lines` are its
    segments.
    """

    code: str
    name: str
    placers: frozenset[str]
    fillers: frozenset[str]
    parents: frozenset[str]
    status: str
    collected_at: Moment | None
    received_at: Moment | None
    reported_at: Moment | None
    information: str
    observations: list[Observation] = field(default_factory=list)
    specimens: list[Specimen] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    documents: list[AttachedDocument] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def numbers(self) -> frozenset[str]:
        """Return all numbers that can identify the order."""
        return self.placers | self.fillers | self.parents

    @property
    def is_done(self) -> bool:
        """Return whether nothing more will follow; without a status by its results."""
        if self.status:
            return self.status in _DONE
        return bool(self.observations) and all(
            one.standing in _SETTLED for one in self.observations
        )

    @property
    def is_refused(self) -> bool:
        """Return whether the lab does not perform it."""
        return self.status == "X"


@dataclass(slots=True)
class Report:
    """The part of a message about one order of one patient.

    `tests` share a placer or filler number. `text` is its part of the message, a
    message of its own.
    """

    patient: Patient
    tests: list[Test]
    header: list[str]

    @property
    def placers(self) -> frozenset[str]:
        """Return the order's numbers: ORC-2, OBR-2, ORC-4."""
        return frozenset().union(*(test.placers for test in self.tests))

    @property
    def fillers(self) -> frozenset[str]:
        """Return the lab's numbers: ORC-3, OBR-3."""
        return frozenset().union(*(test.fillers for test in self.tests))

    @property
    def samples(self) -> frozenset[str]:
        """Return the sample numbers: SPM-2."""
        return frozenset(
            specimen.sample_id
            for test in self.tests
            for specimen in test.specimens
            if specimen.sample_id
        )

    @property
    def reported_at(self) -> Moment | None:
        """Return the latest OBR-22."""
        moments = [test.reported_at for test in self.tests if test.reported_at]
        return max(moments, key=lambda moment: moment.at, default=None)

    @property
    def text(self) -> str:
        """Return header, patient and tests, segment by segment."""
        lines = [*self.header, *(line for test in self.tests for line in test.lines)]
        return "".join(f"{line}\r" for line in lines)


def parse_hl7_result_reports(message: Message, *, zone: tzinfo = UTC) -> list[Report]:
    """Return the reports of a message, one for each order.

    Times without an offset are in that of MSH-7, else in `zone`. Raises: Malformed.
    Source: HL7 v2.5.1, 7.3.1 and 7.4; Ours: every version 2 is read alike.
    """
    require_hl7_result_header(message)
    reader = _ReportReader(message, zone)
    for segment in message.segments[1:]:
        reader.read_segment(segment)
    return reader.build_reports()


def require_hl7_result_header(message: Message) -> None:
    """Refuse all but ORU^R01 v2 with a control id. Raises: MalformedMessage."""
    header = message.header
    if not header.text(10):
        raise MalformedMessage(REQUIRED_MISSING, "MSH-10", "MSH-10 has no control ID.")
    if header.text(9) != RESULTS:
        raise MalformedMessage(UNSUPPORTED_TYPE, "MSH-9", "Only ORU^R01 is accepted.")
    if header.text(9, 2) != "R01":
        raise MalformedMessage(UNSUPPORTED_EVENT, "MSH-9", "Only ORU^R01 is accepted.")
    if not header.text(12).startswith("2."):
        raise MalformedMessage(
            UNSUPPORTED_VERSION, "MSH-12", "Only HL7 version 2 is accepted."
        )


class _ReportReader:
    """Reads the segments of a message and groups its tests into reports."""

    def __init__(self, message: Message, zone: tzinfo) -> None:
        self.zone = zone
        sent = parse_hl7_timestamp(message.header.text(7), zone)
        if sent and sent.offset is not None:
            self.zone = timezone(timedelta(seconds=sent.offset))
        self.done: list[Report] = []
        self.before = [message.header.line]  # what stands before the first patient
        # Of the patient in hand:
        self.patient: Patient | None = None
        self.header: list[str] = []
        self.reports: list[Report] = []
        self.latest: Report  # of the test before
        # Of the test in hand, or of the one that an ORC announces:
        self.order: Segment | None = None
        self.announced: list[str] = []
        self.test: Test | None = None
        self.notes: list[str] | None = None
        self.observes_specimen = False

    def read_segment(self, segment: Segment) -> None:
        """Read the next segment."""
        match segment.name:
            case "PID":
                self._close_patient()
                self.patient = _read_patient(segment)
                self.header = [*self.before, segment.line]
            case "ORC":
                self.order, self.announced = segment, [segment.line]
                self.test = None
            case "OBR":
                self._begin_test(segment)
            case _ if self.test is not None:
                self._read_into_test(self.test, segment)
            case "OBX":
                raise MalformedMessage(
                    SEQUENCE_ERROR, "OBX", "An OBX comes before its OBR."
                )
            case _:
                self._store_other_line(segment.line)

    def build_reports(self) -> list[Report]:
        """Return the reports read so far."""
        self._close_patient()
        if not self.done:
            raise MalformedMessage(REQUIRED_MISSING, "OBR", "The message has no test.")
        return self.done

    def _close_patient(self) -> None:
        self.done += self.reports
        self.reports, self.order, self.announced, self.test = [], None, [], None

    def _store_other_line(self, line: str) -> None:
        if self.order is not None:
            self.announced.append(line)
        elif self.patient is not None:
            self.header.append(line)
        else:
            self.before.append(line)

    def _begin_test(self, segment: Segment) -> None:
        if self.patient is None:
            raise MalformedMessage(
                SEQUENCE_ERROR, "OBR", "An OBR comes before its PID."
            )
        code, name, loinc = parse_hl7_coded_identifier(segment, 4)
        if not code and not loinc:
            raise MalformedMessage(REQUIRED_MISSING, "OBR-4", "OBR-4 has no test code.")
        order, announced = self.order, self.announced
        self.order, self.announced = None, []
        test = Test(
            code=code or loinc,
            name=name or code or loinc,
            placers=_read_identifiers(segment, 2) | _read_identifiers(order, 2, 4),
            fillers=_read_identifiers(segment, 3) | _read_identifiers(order, 3),
            # A test that the lab added names the one that it follows from.
            parents=_read_identifiers(segment, 29) | _read_identifiers(order, 8),
            status=segment.text(25),
            collected_at=self._read_timestamp(segment, 7),
            received_at=self._read_timestamp(segment, 14),
            reported_at=self._read_timestamp(segment, 22),
            information=segment.text(13),
            lines=[*announced, segment.line],
        )
        self._add_test_to_report(self.patient, test)
        self.test, self.notes, self.observes_specimen = test, test.notes, False

    def _add_test_to_report(self, patient: Patient, test: Test) -> None:
        """Add a test to the report that shares a number, else to the last."""
        mine = [
            report
            for report in self.reports
            if any(test.numbers & other.numbers for other in report.tests)
        ]
        if not test.numbers and self.reports:
            mine = [self.latest]
        if not mine:
            mine = [Report(patient, [], self.header)]
            self.reports += mine
        self.latest, *others = mine
        for other in others:
            self.latest.tests += other.tests
            self.reports.remove(other)
        self.latest.tests.append(test)

    def _read_into_test(self, test: Test, segment: Segment) -> None:
        test.lines.append(segment.line)
        match segment.name:
            case "NTE" if self.notes is not None:
                self.notes += filter(None, split_hl7_field_repetitions(segment, 3))
            case "SPM":
                # What labs write after a specimen is of it, unless it comes first.
                self.observes_specimen = bool(test.observations)
                self.notes = None
                test.specimens.append(self._read_specimen(segment))
            case "OBX" if segment.text(2) in DOCUMENT_TYPES:
                test.documents += parse_hl7_attached_documents(segment)
                self.notes = None
            case "OBX" if self.observes_specimen:
                self.notes = None
            case "OBX":
                observation = self._read_observation(segment)
                test.observations.append(observation)
                self.notes = observation.notes

    def _read_observation(self, segment: Segment) -> Observation:
        code, name, loinc = parse_hl7_coded_identifier(segment, 3)
        if not code and not loinc:
            raise MalformedMessage(
                REQUIRED_MISSING, "OBX-3", "OBX-3 has no observation code."
            )
        if not segment.text(11):
            raise MalformedMessage(REQUIRED_MISSING, "OBX-11", "OBX-11 has no status.")
        standing = _STANDINGS.get(segment.text(11))
        if standing is None:
            raise MalformedMessage(
                UNKNOWN_VALUE, "OBX-11", "OBX-11 is not in HL7 table 0085."
            )
        if segment.raw(5) and not segment.text(2):
            raise MalformedMessage(
                REQUIRED_MISSING, "OBX-2", "OBX-5 has a value but OBX-2 has no type."
            )
        text, declared = parse_hl7_observation_value(segment)
        return Observation(
            code=code or loinc,
            name=name or code or loinc,
            loinc=loinc,
            sub_id=segment.text(4),
            text=text,
            type=declared,
            unit=segment.text(6) or segment.text(6, 2),
            reference_range=segment.text(7),
            flags=tuple(filter(None, split_hl7_field_repetitions(segment, 8))),
            standing=standing,
            observed_at=self._read_timestamp(segment, 14),
            laboratory=segment.text(23) or segment.text(15, 2),
        )

    def _read_specimen(self, segment: Segment) -> Specimen:
        # SPM-2 pairs the placer's number with the filler's.
        return Specimen(
            sample_id=segment.text(2, 1) or segment.text(2, 2),
            collected_at=self._read_timestamp(segment, 17),
            received_at=self._read_timestamp(segment, 18),
        )

    def _read_timestamp(self, segment: Segment, number: int) -> Moment | None:
        return parse_hl7_timestamp(segment.text(number), self.zone)


def _read_patient(segment: Segment) -> Patient:
    # PID-5 repeats other names; the first is the legal one.
    born = parse_hl7_timestamp(segment.text(7)[:8], UTC)
    has_day = len(segment.text(7)) >= 8
    return Patient(
        family=segment.text(5, 1),
        given=f"{segment.text(5, 2)} {segment.text(5, 3)}".strip(),
        birth_date=born.at.date() if born and has_day else None,
        sex=segment.text(8).upper()[:1],
    )


def _read_identifiers(segment: Segment | None, *fields: int) -> frozenset[str]:
    """Return the entity identifiers of fields; of a pair (placer, filler) both."""
    if segment is None:
        return frozenset()
    identifiers: set[str] = set()
    for number in fields:
        identifiers.add(segment.text(number))
        if number in _PAIRS.get(segment.name, ()):
            identifiers.add(segment.text(number, 2))
    return frozenset(identifiers - {""})
