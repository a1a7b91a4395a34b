"""Evidence, the tables that turn it into confidence, and what notes take away."""

from __future__ import annotations

from itertools import pairwise

import pytest

from reports.parser.assembly.confidence import (
    PARTS,
    TABLES,
    calibrate_row_confidences,
    get_uncalibrated_confidence,
    interpolate_calibration_table,
)
from reports.parser.layout.lines import group_words_into_lines
from reports.parser.pages import Word
from reports.parser.readers import Row
from reports.parser.report import (
    Confidence,
    LoincMatch,
    Note,
    NoteCode,
    ParsedResult,
    RowState,
)
from reports.parser.text.fields import Fields

MATCH = LoincMatch("2951-2", "Sodium [Moles/volume] in Serum or Plasma", None, (), 0.9)
TABLE = ((0.2, 0.1), (0.6, 0.5), (0.8, 0.9))


def word(text: str, sure: float = 1.0) -> Word:
    return Word(text, 0, 0, 10, 10, 9, sure=sure)


def sodium(*, value: Word | None = None, **changes: object) -> Row:
    given = {
        "value": "140",
        "units": "mmol/L",
        "range": "135 - 145",
        "value_words": (value or word("140"),),
        "units_words": (word("mmol/L"),),
        "range_words": (word("135"), word("145")),
    }
    fields = Fields(**{**given, **changes})
    name = [word("Sodium")]
    return Row(
        page=1,
        name=name,
        fields=fields,
        line=group_words_into_lines(name, page=1)[0],
        score=10.0,
    )


def test_evidence_for_the_text_is_that_of_its_least_sure_word():
    assert get_uncalibrated_confidence(sodium(value=word("140", 0.7)), ()).text == 0.7
    assert get_uncalibrated_confidence(sodium(), ()).text == 1.0


def test_a_part_that_is_not_printed_has_no_confidence():
    bare = sodium(units=None, range=None, units_words=(), range_words=())

    found = get_uncalibrated_confidence(bare, ())

    assert (found.unit, found.range, found.loinc) == (None, None, None)


def test_a_unit_or_a_range_of_no_known_form_is_less_sure():
    odd = get_uncalibrated_confidence(
        sodium(units="furlongs", range="see overleaf, p. 2"), ()
    )
    plain = get_uncalibrated_confidence(sodium(), ())

    assert odd.unit is not None
    assert odd.range is not None
    assert plain.unit is not None
    assert plain.range is not None
    assert odd.unit < plain.unit
    assert odd.range < plain.range


def test_the_codes_own_score_is_the_evidence_for_it():
    assert get_uncalibrated_confidence(sodium(), (MATCH,)).loinc == 0.9


@pytest.mark.parametrize(
    ("evidence", "share"),
    [(0.0, 0.1), (0.2, 0.1), (0.4, 0.3), (0.6, 0.5), (0.7, 0.7), (0.9, 0.9)],
)
def test_a_table_is_read_between_its_points(evidence: float, share: float):
    assert interpolate_calibration_table(TABLE, evidence) == share


@pytest.mark.parametrize("part", PARTS)
def test_more_evidence_never_makes_less_sure_and_nothing_is_certain(part: str):
    points = TABLES[part]

    assert all(a[0] < b[0] and a[1] <= b[1] for a, b in pairwise(points))
    assert points[0][1] >= 0
    assert points[-1][1] < 1


def test_notes_lower_the_row_they_are_on_and_no_other():
    rows = tuple(
        ParsedResult("Sodium", "140", confidence=Confidence(text=1.0, row=1.0))
        for _ in range(3)
    )
    notes = (
        Note(NoteCode.ARITHMETIC, RowState.CONTRADICTION, (0,)),
        Note(NoteCode.FLAG_DISAGREES, RowState.LOOK, (1,)),
    )
    plain = dict.fromkeys(PARTS, ((0.0, 0.0), (1.0, 1.0)))

    settled = calibrate_row_confidences(rows, notes, plain)

    assert [r.confidence.overall for r in settled] == [0.7, 0.9, 1.0]
    assert [r.confidence.text for r in settled] == [1.0, 1.0, 1.0]
