"""The value types a parsed lab report is made of.

Plain frozen dataclasses, field names as on the wire (contract 7.4). Nothing here
reads a file or decides anything. A field is None where the report does not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class SampleType(StrEnum):
    """What was examined (contract 7.4, open set)."""

    URINE = "urine"
    BLOOD = "serum_plasma_blood"
    CAPILLARY_BLOOD = "capillary_blood"
    STOOL = "stool"
    SALIVA = "saliva"
    OTHER = "other"
    UNKNOWN = "unknown"


class MeasurementKind(StrEnum):
    """How the value came to be (contract 7.4, open set)."""

    DIRECT = "direct"
    CALCULATED = "calculated"
    RATIO = "ratio"
    UNKNOWN = "unknown"


class ResultType(StrEnum):
    """The form of the value text (contract 7.4, open set)."""

    NUMERIC = "numeric"
    RANGE = "range"
    COMMENT = "comment"
    BOOLEAN = "boolean"
    DURATION = "duration"
    PERCENTAGE = "percentage"
    RATIO = "ratio"


class LoincMatchStatus(StrEnum):
    """Whether the first candidate may be used without a person (contract 7.4)."""

    AUTO_MATCH = "auto_match"
    NEEDS_REVIEW = "needs_review"
    NO_MATCH = "no_match"


class Sensitivity(StrEnum):
    """Of a microbe to a drug (contract 7.4, open set)."""

    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    UNKNOWN = "unknown"


class Interpretation(StrEnum):
    """The value against its own printed range (contract 7.4, open set)."""

    NORMAL = "normal"
    ABNORMAL = "abnormal"
    CRITICAL = "critical"
    UNKNOWN = "unknown"


class LoincReason(StrEnum):
    """Why a LOINC candidate stands where it does; what speaks against it last."""

    NAME = "name"
    NAME_RESPELT = "name_respelt"
    NAME_LIKE = "name_like"
    UNIT_AGREES = "unit_agrees"
    SPECIMEN_AGREES = "specimen_agrees"
    PANEL_AGREES = "panel_agrees"
    METHOD_AGREES = "method_agrees"
    TEAM_ALIAS = "team_alias"
    UNIT_MISSING = "unit_missing"
    UNIT_CONTRADICTS = "unit_contradicts"
    SPECIMEN_CONTRADICTS = "specimen_contradicts"
    SHARE_CONTRADICTS = "share_contradicts"
    SCALE_CONTRADICTS = "scale_contradicts"
    METHOD_NOT_PRINTED = "method_not_printed"


class NoteCode(StrEnum):
    """What a check found (Ours; an open set)."""

    FLAG_DISAGREES = "flag_disagrees"
    ARITHMETIC = "arithmetic"
    IMPLAUSIBLE = "implausible"
    UNIT_SUSPECT = "unit_suspect"
    UNIT_MISSING = "unit_missing"
    DECIMAL_SUSPECT = "decimal_suspect"
    DUPLICATE = "duplicate"
    SECOND_PERSON = "second_person"
    DATE_IN_FUTURE = "date_in_future"
    DATES_OUT_OF_ORDER = "dates_out_of_order"
    HIDDEN_TEXT = "hidden_text"


class RowState(StrEnum):
    """What a reviewer has to do with a row, the least first."""

    AUTO = "auto"
    LOOK = "look"
    CONTRADICTION = "contradiction"


class FailureReason(StrEnum):
    """Why a report could not be parsed (contract 7.2, open set)."""

    INVALID_INPUT = "invalid_input"
    LOW_QUALITY = "low_quality"
    NOT_ENGLISH = "not_english"
    TOO_MANY_PAGES = "too_many_pages"
    PROCESSING_ERROR = "processing_error"


class Script(StrEnum):
    """A script that the OCR models can't read (Ours); `other` where it has no name."""

    CYRILLIC = "cyrillic"
    GREEK = "greek"
    ARABIC = "arabic"
    DEVANAGARI = "devanagari"
    HEBREW = "hebrew"
    THAI = "thai"
    HANGUL = "hangul"
    BENGALI = "bengali"
    TAMIL = "tamil"
    OTHER = "other"


class Point(NamedTuple):
    """A place on a page, in points (1/72 inch) from the page's top left corner."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands: 1-based page, and a polygon around it."""

    page: int
    polygon: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where each part of a row was read; None where the part is not printed."""

    name: Place | None = None
    value: Place | None = None
    units: Place | None = None
    reference_range: Place | None = None


@dataclass(frozen=True, slots=True)
class Confidence:
    """Confidence of each part, 0 to 1; None if the row has no such part.

    overall: that name, value, unit and range are all right.
    """

    text: float | None = None
    row: float | None = None
    loinc: float | None = None
    unit: float | None = None
    range: float | None = None
    overall: float | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One number or text that a note's sentence names."""

    name: str
    number: float | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """What a check found, with what a sentence about it needs.

    rows: positions in ParsedReport.results from 0, empty where the whole report is
    meant. severity is never AUTO.
    """

    code: NoteCode
    severity: RowState
    rows: tuple[int, ...] = ()
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class PageSize:
    """A page's number from 1 and its size as shown, in points."""

    page: int
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class LoincMatch:
    """One LOINC candidate: the code with LOINC's own long common name beside it.

    confidence_score runs from 0 to 1. display_name and aliases are Assay's own.
    reasons say what speaks for the candidate and what against it.
    """

    loinc_code: str
    loinc_name: str
    display_name: str | None
    aliases: tuple[str, ...]
    confidence_score: float
    reasons: tuple[LoincReason, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedResult:
    """One biomarker row, every text as printed.

    min_reference_range and max_reference_range are in the unit of the row, and None
    on a side the printed range does not bound. ucum is the unit in UCUM, None where it
    is not known; flag the laboratory's own mark.
    """

    test_name: str
    value: str
    type: ResultType | None = None
    units: str | None = None
    min_reference_range: float | None = None
    max_reference_range: float | None = None
    reference_range: str | None = None
    source_panel_name: str | None = None
    sample_type: SampleType | None = None
    measurement_kind: MeasurementKind | None = None
    sensitivity: Sensitivity | None = None
    loinc_matches: tuple[LoincMatch, ...] = ()
    loinc_match_status: LoincMatchStatus = LoincMatchStatus.NO_MATCH
    interpretation: Interpretation = Interpretation.UNKNOWN
    is_above_max_range: bool | None = None
    is_below_min_range: bool | None = None
    provenance: Provenance = Provenance()
    confidence: Confidence = Confidence()
    ucum: str | None = None
    flag: str | None = None


@dataclass(frozen=True, slots=True)
class Metadata:
    """Who and what the report is about, as printed; dates as YYYY-MM-DD.

    possible_dobs: both readings of a birth date whose day and month can't be told
    apart; age: as printed, in years, where no birth date is; printed_numbers: what may
    be the number of a sample, wherever it is printed. None of them is on the wire.
    """

    patient_first_name: str | None = None
    patient_last_name: str | None = None
    dob: str | None = None
    gender: str | None = None
    lab_name: str | None = None
    date_reported: str | None = None
    date_collected: str | None = None
    specimen_number: str | None = None
    possible_dobs: tuple[str, ...] = ()
    age: float | None = None
    printed_numbers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedReport:
    """A whole report: header and rows in reading order.

    unread: where text stands that looks like results and is in no row.
    """

    metadata: Metadata
    results: tuple[ParsedResult, ...]
    pages: int
    notes: tuple[Note, ...] = ()
    unread: tuple[Place, ...] = ()
    page_sizes: tuple[PageSize, ...] = ()

    def state_of(self, position: int) -> RowState:
        """What the notes ask of a reviewer for one row."""
        names = {note.severity for note in self.notes if position in note.rows}
        return next(
            (s for s in (RowState.CONTRADICTION, RowState.LOOK) if s in names),
            RowState.AUTO,
        )


class UnreadableReport(Exception):
    """The file can't be turned into results; `reason` goes to the wire.

    `script` is the one that can't be read, where that is the reason. Never carries text
    of the report.
    """

    def __init__(self, reason: FailureReason, *, script: Script | None = None) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.script = script
