"""Calibrates the confidence of each part of a row from the evidence for it.

The evidence of a part is a plain product; the tables turn it into the share of rows
with that much evidence that were right on the project's own corpus, text and pictures
together. `tests/bench/reports/parser_confidence.py` prints them anew. Nothing here
reads.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from portal.lib.units import looks_like_unit, normalize_unit
from reports.parser.pages import Word
from reports.parser.readers import Row
from reports.parser.report import Confidence, LoincMatch, Note, ParsedResult, RowState
from reports.parser.text.ranges import looks_like_range
from reports.parser.text.values import is_numeric_value, is_worded_value

Table = tuple[tuple[float, float], ...]

# Evidence to share right, rising in both; between two points on the line. Fitted on
# 1193 rows of text PDFs and 24 pictures (--pictures 8 --seed 3); on 391 rows of layouts
# held out the expected error is 0.002 (row) to 0.021 (overall).
TABLES: dict[str, Table] = {
    "text": ((0.0, 0.0), (0.957, 0.962), (1.0, 0.996)),
    "row": ((0.0, 0.0), (0.9, 0.996), (1.0, 0.999)),
    "loinc": ((0.0, 0.0), (0.885, 0.985), (0.988, 0.993), (0.99, 0.999)),
    "unit": ((0.0, 0.0), (0.886, 0.951), (0.998, 0.988), (1.0, 0.999)),
    "range": ((0.0, 0.0), (0.849, 0.903), (0.995, 0.97), (1.0, 0.985)),
    "overall": ((0.0, 0.0), (0.59, 0.918), (0.843, 0.974), (1.0, 0.976)),
}
PARTS = tuple(TABLES)

# What a note leaves of the evidence for the whole row.
_LEFT_BY = {RowState.LOOK: 0.9, RowState.CONTRADICTION: 0.7}


def get_uncalibrated_confidence(row: Row, matches: Sequence[LoincMatch]) -> Confidence:
    """Return the uncalibrated evidence for each part of a row, 0 to 1."""
    fields = row.fields
    text = min(_word_confidence(row.name), _word_confidence(fields.value_words))
    is_plain = is_numeric_value(fields.value) or is_worded_value(fields.value)
    structure = min(max(row.score, 0.0), 10.0) / 10
    unit = None
    if fields.units:
        reads = looks_like_unit(fields.units) and normalize_unit(fields.units)
        unit = _word_confidence(fields.units_words) * (1.0 if reads else 0.6)
    spread = None
    if fields.range:
        reads_so = looks_like_range(fields.range)
        spread = _word_confidence(fields.range_words) * (1.0 if reads_so else 0.7)
    return Confidence(
        text=text,
        row=(0.7 + 0.3 * structure)
        * (1.0 if row.titled else 0.9)
        * (1.0 if is_plain else 0.85),
        loinc=matches[0].confidence_score if matches else None,
        unit=unit,
        range=spread,
    )


def calibrate_row_confidences(
    results: Sequence[ParsedResult],
    notes: Sequence[Note],
    tables: dict[str, Table] | None = None,
) -> tuple[ParsedResult, ...]:
    """Return the rows with calibrated confidences, notes included.

    Of rows with confidence p about p in 1 are right. tables: others than the
    project's own, for who fits them.
    """
    used = TABLES if tables is None else tables
    severities: dict[int, set[RowState]] = {}
    for note in notes:
        for position in note.rows:
            severities.setdefault(position, set()).add(note.severity)
    return tuple(
        replace(
            result,
            confidence=_settle(
                result.confidence, severities.get(position, set()), used
            ),
        )
        for position, result in enumerate(results)
    )


def _settle(
    evidence: Confidence, severities: set[RowState], tables: dict[str, Table]
) -> Confidence:
    overall = 1.0
    for part in (evidence.text, evidence.row, evidence.unit, evidence.range):
        overall *= 1.0 if part is None else part
    for severity in severities:
        overall *= _LEFT_BY[severity]
    return Confidence(
        text=_claimed(tables["text"], evidence.text),
        row=_claimed(tables["row"], evidence.row),
        loinc=_claimed(tables["loinc"], evidence.loinc),
        unit=_claimed(tables["unit"], evidence.unit),
        range=_claimed(tables["range"], evidence.range),
        overall=_claimed(tables["overall"], overall),
    )


def interpolate_calibration_table(table: Table, evidence: float) -> float:
    """Interpolate a calibration table at this evidence."""
    place = bisect_right([x for x, _ in table], evidence)
    if place == 0:
        share = table[0][1]
    elif place == len(table):
        share = table[-1][1]
    else:
        (x0, y0), (x1, y1) = table[place - 1], table[place]
        share = y0 + (y1 - y0) * (evidence - x0) / (x1 - x0)
    return round(share, 3)


def _claimed(table: Table, evidence: float | None) -> float | None:
    return None if evidence is None else interpolate_calibration_table(table, evidence)


def _word_confidence(words: Sequence[Word]) -> float:
    """Return the confidence of the worst word; a text without words is inferred."""
    return min((word.sure for word in words), default=1.0)
