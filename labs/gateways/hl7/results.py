"""Parsing of ORU^R01 messages into reports.

Accepts what laboratories write in practice: segments outside the standard's structure
are kept but not read, and order numbers are read from either of their fields. A segment
in doubt is held, with its reason, beside what is certain: nothing is guessed, and no
line is dropped.
"""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from typing import TYPE_CHECKING

from labs.gateways.hl7.documents import DOCUMENT_TYPES, parse_hl7_attached_documents
from labs.gateways.hl7.messages import (
    DATA_TYPE_ERROR,
    REQUIRED_MISSING,
    SEQUENCE_ERROR,
    UNSUPPORTED_EVENT,
    UNSUPPORTED_TYPE,
    UNSUPPORTED_VERSION,
    MalformedMessage,
)
from labs.gateways.hl7.observations import (
    hold_observation,
    parse_hl7_observation,
    share_doubt,
)
from labs.gateways.hl7.repeats import LINE_TYPES, settle_repeats
from labs.gateways.hl7.reports import (
    HELD_MARK,
    Doubt,
    Observation,
    Patient,
    Report,
    Specimen,
    Test,
)
from labs.gateways.hl7.values import (
    parse_hl7_coded_identifier,
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
_RESULT = "RSLT"  # OBX-29, of version 2.7


def parse_hl7_result_reports(message: Message, *, zone: tzinfo = UTC) -> list[Report]:
    """Return the reports of a message, one for each order.

    Times without an offset are in that of MSH-7, else in `zone`. Raises:
    MalformedMessage, for no results at all, or results without a test or patient.
    Source: HL7 v2.5.1, 7.3.1 and 7.4; Ours: every version 2 is read alike.
    """
    require_hl7_result_header(message)
    reader = _ReportReader(message, zone)
    for segment in message.segments[1:]:
        reader.read_segment(segment)
    return reader.build_reports()


def require_hl7_result_header(message: Message) -> None:
    """Refuse all but ORU^R01 v2 with a control id. Raises: MalformedMessage.

    Old versions write no event, and no other version has these delimiters.
    """
    header = message.header
    if not header.text(10):
        raise MalformedMessage(REQUIRED_MISSING, "MSH-10", "MSH-10 has no control ID.")
    if header.text(9) != RESULTS:
        raise MalformedMessage(UNSUPPORTED_TYPE, "MSH-9", "Only ORU^R01 is accepted.")
    if header.text(9, 2) not in {"R01", ""}:
        raise MalformedMessage(UNSUPPORTED_EVENT, "MSH-9", "Only ORU^R01 is accepted.")
    if header.text(12) and not header.text(12).startswith("2"):
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
        self.header = self.before
        self.patient_notes: list[str] = []
        self.reports: list[Report] = []
        self.latest: Report  # of the test before
        # What an ORC announces, or what stands before an OBR:
        self.order: Segment | None = None
        self.announced: list[str] = []
        self.order_notes: list[str] = []
        self.strays: list[Observation] = []
        # Of the test in hand:
        self.test: Test | None = None
        self.observation: Observation | None = None
        self.mark: Doubt | None = None
        self.notes: list[str] = self.patient_notes  # where the next NTE goes
        self.observes_specimen = False

    def read_segment(self, segment: Segment) -> None:
        """Read the next segment."""
        match segment.name:
            case "PID":
                self._begin_patient(segment)
            case "ORC":
                self.order, self.test, self.observation = segment, None, None
                self.announced.append(segment.line)
                self.notes = self.order_notes
            case "OBR":
                self._begin_test(segment)
            case _ if self.test is not None:
                self._read_into_test(self.test, segment)
            case "OBX":
                self._hold_stray(segment)
            case _:
                self._read_other(segment)

    def build_reports(self) -> list[Report]:
        """Return the reports read so far."""
        self._close_patient()
        if not self.done:
            raise MalformedMessage(REQUIRED_MISSING, "OBR", "The message has no test.")
        for report in self.done:
            settle_repeats(report)
            for test in report.tests:
                test.held = [one for one in test.observations if one.doubt]
                test.observations = [one for one in test.observations if not one.doubt]
        return self.done

    def _begin_patient(self, segment: Segment) -> None:
        patient = _read_patient(segment)
        is_bare = not (self.reports or self.announced)
        if is_bare and patient == self.patient:  # a PID that is written twice
            self.header.append(segment.line)
            return
        self._close_patient()
        self.patient = patient
        self.header = [*self.before, segment.line]
        self.patient_notes = self.notes = []

    def _close_patient(self) -> None:
        """Close the patient in hand; what no OBR follows stays with the last test.

        Raises: MalformedMessage, for results of a patient without a test: nothing says
        what they are results of.
        """
        if self.announced and self.reports:
            last = self.latest.tests[-1]
            last.trailing += self.announced
            last.observations += self.strays
        elif self.strays:
            raise MalformedMessage(
                SEQUENCE_ERROR, "OBX", "An OBX comes before its OBR."
            )
        elif self.patient is not None and not self.reports:
            raise MalformedMessage(REQUIRED_MISSING, "OBR", "A patient has no test.")
        elif self.announced:
            self.before += self.announced
        self.done += self.reports
        self.reports, self.order, self.test, self.observation = [], None, None, None
        self.announced, self.strays, self.order_notes = [], [], []

    def _read_other(self, segment: Segment) -> None:
        if self.order is not None or self.announced:
            self.announced.append(segment.line)
        else:
            self.header.append(segment.line)
        if segment.name == "NTE":
            self.notes += _read_note(segment)

    def _hold_stray(self, segment: Segment) -> None:
        """Hold an OBX that stands before its OBR, in the lines of the next test."""
        stray = parse_hl7_observation(segment, zone=self.zone, test_status="")
        hold_observation(stray, SEQUENCE_ERROR, "OBX", "An OBX comes before its OBR.")
        stray.lines = []  # they open the test
        self.announced.append(segment.line)
        self.strays.append(stray)
        self.notes = stray.notes

    def _begin_test(self, segment: Segment) -> None:
        order, announced = self.order, self.announced
        code, name, loinc = parse_hl7_coded_identifier(segment, 4)
        test = Test(
            code=code or loinc,
            name=name or code or loinc,
            placers=_read_identifiers(segment, 2) | _read_identifiers(order, 2, 4),
            fillers=_read_identifiers(segment, 3) | _read_identifiers(order, 3),
            # A test that the lab added names the one that it follows from.
            parents=_read_identifiers(segment, 29) | _read_identifiers(order, 8),
            status=segment.text(25).upper(),
            collected_at=self._read_timestamp(segment, 7),
            received_at=self._read_timestamp(segment, 14),
            reported_at=self._read_timestamp(segment, 22),
            information=segment.text(13),
            doubt=_find_doubt_of_test(segment),
            observations=self.strays,
            notes=self.order_notes,
            opening=[*announced, segment.line],
        )
        self.order, self.announced = None, []
        self.order_notes, self.strays = [], []
        self._add_test_to_report(self.patient or Patient(), test)
        self.test, self.notes, self.observation = test, test.notes, None
        self.observes_specimen = False

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
            mine = [Report(patient, [], self.header, self.patient_notes)]
            self.reports += mine
        self.latest, *others = mine
        for other in others:
            self.latest.tests += other.tests
            self.reports.remove(other)
        self.latest.tests.append(test)

    def _read_into_test(self, test: Test, segment: Segment) -> None:
        test.body.append(segment.line)
        match segment.name:
            case "NTE":
                self._read_note_of_test(segment)
            case _ if segment.name == HELD_MARK:
                self.mark = Doubt.parse(segment.line, segment.delimiters.field)
            case "SPM":
                # What labs write after a specimen is of it, unless it comes first.
                self.observes_specimen = bool(test.observations)
                specimen = self._read_specimen(segment)
                test.specimens.append(specimen)
                self.notes, self.observation = specimen.notes, None
            case "OBX" if segment.text(2) in DOCUMENT_TYPES and not segment.is_damaged:
                test.documents += parse_hl7_attached_documents(segment)
                self.notes, self.observation = test.notes, None
            case "OBX" if self._is_of_specimen(segment):
                # Its notes stay with it, in the lines of the test.
                self.notes, self.observation = [], None
            case "OBX":
                self._read_observation(test, segment)
            case _ if self.observation is not None:
                self.observation.lines.append(segment.line)

    def _is_of_specimen(self, segment: Segment) -> bool:
        is_marked = self.mark is not None
        return (
            self.observes_specimen and not is_marked and not _looks_like_result(segment)
        )

    def _read_note_of_test(self, segment: Segment) -> None:
        self.notes += _read_note(segment)
        if self.observation is None:
            return
        self.observation.lines.append(segment.line)
        if segment.is_damaged:
            says = "A note has characters that can't be read."
            share_doubt(
                self.observation, Doubt(DATA_TYPE_ERROR, "NTE", segment.number, says)
            )

    def _read_observation(self, test: Test, segment: Segment) -> None:
        one = parse_hl7_observation(
            segment, zone=self.zone, test_status="" if test.doubt else test.status
        )
        if test.doubt is not None:
            one.doubt = None
            share_doubt(one, test.doubt)
        elif self.observes_specimen and segment.text(29) != _RESULT:
            hold_observation(
                one, SEQUENCE_ERROR, "OBX", "A result comes after its specimen (SPM)."
            )
        if self.mark is not None:
            one.doubt = None
            share_doubt(one, self.mark)
            self.mark = None
        before = self.observation
        if one.doubt and not one.code and before and before.value_type in LINE_TYPES:
            # It may be a line of the text before, which is half without it.
            share_doubt(before, one.doubt)
        test.observations.append(one)
        self.observation, self.notes = one, one.notes

    def _read_specimen(self, segment: Segment) -> Specimen:
        # SPM-2 pairs the placer's number with the filler's.
        return Specimen(
            sample_id=segment.text(2, 1) or segment.text(2, 2),
            collected_at=self._read_timestamp(segment, 17),
            received_at=self._read_timestamp(segment, 18),
        )

    def _read_timestamp(self, segment: Segment, number: int) -> Moment | None:
        return parse_hl7_timestamp(segment.text(number), self.zone)


def _find_doubt_of_test(segment: Segment) -> Doubt | None:
    """Return why an OBR doesn't say of what test its results are."""
    if segment.is_damaged or segment.is_broken:
        return Doubt(
            DATA_TYPE_ERROR, "OBR", segment.number, "The OBR can't be read whole."
        )
    if not any(parse_hl7_coded_identifier(segment, 4)):
        return Doubt(REQUIRED_MISSING, "OBR-4", segment.number, "OBR-4 names no test.")
    return None


def _looks_like_result(segment: Segment) -> bool:
    """Return whether an OBX after a specimen has what its observations have not."""
    return segment.text(29) == _RESULT or bool(segment.text(7) or segment.text(8))


def _read_note(segment: Segment) -> list[str]:
    return list(filter(None, split_hl7_field_repetitions(segment, 3)))


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
