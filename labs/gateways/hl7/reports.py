"""Plain values of a result message: reports, tests, observations and doubts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

    from labs.gateways.hl7.documents import AttachedDocument
    from labs.gateways.hl7.values import Moment


class ObservationStatus(StrEnum):
    """The status of an observation (OBX-11, table 0085)."""

    FINAL = "final"
    CORRECTED = "corrected"
    PRELIMINARY = "preliminary"
    IMPOSSIBLE = "impossible"  # the lab can't give it
    WITHDRAWN = "withdrawn"  # it was given in error
    AWAITED = "awaited"
    UNCLEAR = "unclear"


# Ours: a segment before each OBX that was held, so that it stays so.
HELD_MARK = "ZHD"
# What has a value, the later standing first.
GIVEN_STANDINGS = (
    ObservationStatus.CORRECTED,
    ObservationStatus.FINAL,
    ObservationStatus.PRELIMINARY,
)
_SETTLED = {
    ObservationStatus.FINAL,
    ObservationStatus.CORRECTED,
    ObservationStatus.IMPOSSIBLE,
    ObservationStatus.WITHDRAWN,
}
# OBR-25, table 0123: nothing more is to come of this test.
_DONE = {"F", "C", "X"}


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a segment is held for a person.

    `code` is of table 0357, `place` a segment with its field (`OBX-11`), `number`
    counts the message's segments of that name from 1, `says` is one sentence without
    health data.
    """

    code: str
    place: str
    number: int
    says: str

    def write(self, separator: str) -> str:
        """Return it as a segment of its own, HELD_MARK."""
        return separator.join(
            (HELD_MARK, self.code, self.place, str(self.number), self.says)
        )

    @classmethod
    def parse(cls, line: str, separator: str) -> Doubt:
        """Return the doubt of a HELD_MARK, whoever wrote it."""
        _, code, place, number, says = [*line.split(separator, 4), *[""] * 4][:5]
        return cls(code, place, int(number) if number.isdecimal() else 0, says)


@dataclass(frozen=True, slots=True)
class Patient:
    """The patient of a report; `given` includes middle names.

    `sex` is of table 0001, empty where unknown.
    """

    family: str = ""
    given: str = ""
    birth_date: date | None = None
    sex: str = ""


@dataclass(slots=True)
class Observation:
    """One OBX; `notes` are the NTE that follow.

    `type` is the ResultType that OBX-2 declares, `value_type` OBX-2 itself, `flags` are
    as the lab wrote them. One with a `doubt` is read as well as can be, for a person's
    eye alone. `lines` are its segments.
    """

    code: str
    name: str
    loinc: str
    sub_id: str
    text: str
    type: str
    value_type: str
    unit: str
    reference_range: str
    flags: tuple[str, ...]
    standing: ObservationStatus
    observed_at: Moment | None
    laboratory: str
    number: int
    doubt: Doubt | None = None
    notes: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def identity(self) -> tuple[str, str]:
        """Return the key of its result within the order."""
        return self.code or self.name, self.sub_id

    @property
    def content(self) -> tuple[object, ...]:
        """Return what two reports of one result have in common."""
        return (
            self.text,
            self.unit,
            self.reference_range,
            self.flags,
            self.standing,
            self.observed_at,
        )


@dataclass(slots=True)
class Specimen:
    """One SPM; `notes` are the NTE that follow."""

    sample_id: str
    collected_at: Moment | None = None
    received_at: Moment | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Test:
    """One OBR with its observations; `held` are those in doubt.

    `status` is OBR-25. `documents` are no results: the lab's PDF, say. A `doubt` about
    the OBR holds all of its observations. `opening` are its segments up to the OBR,
    `trailing` those behind it that no OBR follows, `lines` all of them.
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
    doubt: Doubt | None = None
    observations: list[Observation] = field(default_factory=list)
    held: list[Observation] = field(default_factory=list)
    specimens: list[Specimen] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    documents: list[AttachedDocument] = field(default_factory=list)
    opening: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    trailing: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """Return its segments as they came."""
        return [*self.opening, *self.body, *self.trailing]

    def list_held_lines(self, separator: str) -> list[str]:
        """Return the segments of what is held, with those that say of what test.

        A HELD_MARK before each says why. One before its OBR stands among the first.
        """
        held = [
            line
            for one in self.held
            if one.lines and one.doubt
            for line in (one.doubt.write(separator), *one.lines)
        ]
        return [*self.opening, *held, *self.trailing]

    @property
    def doubts(self) -> list[Doubt]:
        """Return why it is held, or parts of it."""
        found = [self.doubt, *(one.doubt for one in self.held)]
        return list(dict.fromkeys(doubt for doubt in found if doubt is not None))

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
    message of its own; `held_text` that of what is held. `notes` are of the patient.
    """

    patient: Patient
    tests: list[Test]
    header: list[str]
    notes: list[str] = field(default_factory=list)

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
    def codes(self) -> frozenset[str]:
        """Return the lab's codes of the tests; one known by name only has none."""
        return frozenset(test.code for test in self.tests) - {""}

    def list_done_codes(self, *, accepts_held: bool = False) -> frozenset[str]:
        """Return the codes of the tests of which nothing more is to come.

        Not of one that is held in parts, unless a person accepts those.
        """
        done = (
            test.code
            for test in self.tests
            if test.is_done and (accepts_held or not test.doubts)
        )
        return frozenset(done) - {""}

    @property
    def doubts(self) -> list[Doubt]:
        """Return why parts of it are held, in the order of the message."""
        return [doubt for test in self.tests for doubt in test.doubts]

    @property
    def reported_at(self) -> Moment | None:
        """Return the latest OBR-22."""
        moments = [test.reported_at for test in self.tests if test.reported_at]
        return max(moments, key=lambda moment: moment.at, default=None)

    @property
    def text(self) -> str:
        """Return header, patient and tests, segment by segment."""
        return _join_lines(self.header, *(test.lines for test in self.tests))

    @property
    def held_text(self) -> str:
        """Return header, patient, OBRs and what is held, segment by segment."""
        separator = self.header[0][3]
        held = (test.list_held_lines(separator) for test in self.tests)
        return _join_lines(self.header, *held)

    def keep_held(self) -> Report:
        """Return the report with nothing but what is held."""
        tests = [
            replace(test, observations=[], documents=[], notes=[])
            for test in self.tests
            if test.doubts
        ]
        return replace(self, tests=tests)


def _join_lines(*parts: list[str]) -> str:
    return "".join(f"{line}\r" for lines in parts for line in lines)
