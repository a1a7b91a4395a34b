"""From pages to a parsed report: puts the stages together.

Each stage is its own module; this one holds only their order and the making of the
result values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import pypdfium2 as pdfium

from .fields import text_of, unit_in_range
from .intake import FileKind, RefusalCode, RefusedFile, file_kind
from .interpretation import interpret
from .lines import read_lines
from .loinc import LoincVerdict, match_loinc
from .metadata import read_metadata
from .pages import Page, TooManyPages, Word, read_pages
from .ranges import Bounds, looks_like_range, read_bounds
from .report import (
    Confidence,
    FailureReason,
    LoincMatchStatus,
    Metadata,
    ParsedReport,
    ParsedResult,
    Place,
    Provenance,
    SampleType,
    Sensitivity,
    UnreadableReport,
)
from .rows import Row, find_rows
from .screening import is_believable, unread_reason, wrong_language
from .titles import Role
from .units import looks_like_units, normalise_units
from .values import infer_type, is_numeric_value

MAX_PAGES = 30

_DECIMAL_COMMA = re.compile(r"(?<![\d.,])\d{1,3},(?:\d{1,2}|\d{4,})(?![\d.,])")
_COUNTED_IN = re.compile(r"(?i)\d\s*(lakh|lac|mill|thou|bin)\w*")
_DECIMAL_POINT = re.compile(r"(?<![\d.,])\d+\.\d+(?![\d.,])")


def parse_report(path: Path) -> ParsedReport:
    """Read a lab report into its header and its result rows.

    Same bytes, same answer. Raises: UnreadableReport by too_many_pages (over 30),
    processing_error (a picture, no text layer, a PDF that does not open), low_quality
    (a text layer without meaning), not_english, invalid_input (no lab report, or no
    PDF or picture at all).
    Source: Contract 7.2, 7.4.
    """
    try:
        if file_kind(path) is not FileKind.PDF:
            raise UnreadableReport(FailureReason.PROCESSING_ERROR)
        pages = read_pages(path, at_most=MAX_PAGES)
    except RefusedFile as refusal:
        foreign = refusal.code in {RefusalCode.EMPTY, RefusalCode.UNSUPPORTED}
        raise UnreadableReport(
            FailureReason.INVALID_INPUT if foreign else FailureReason.PROCESSING_ERROR
        ) from None
    except pdfium.PdfiumError:
        raise UnreadableReport(FailureReason.PROCESSING_ERROR) from None
    except TooManyPages:
        raise UnreadableReport(FailureReason.TOO_MANY_PAGES) from None
    return read_report(pages)


def read_report(pages: Sequence[Page]) -> ParsedReport:
    """Read pages of words, wherever the words come from.

    Raises: UnreadableReport by processing_error, low_quality, not_english and
    invalid_input.
    """
    legible = [page for page in pages if page.legible]
    lines = [read_lines(page.words, page=page.number) for page in legible]
    rows = find_rows(legible, lines, is_known=_is_known)
    if not rows:
        raise UnreadableReport(unread_reason(pages))
    metadata = read_metadata(lines)
    comma = _uses_decimal_comma(rows)
    by_number = {page.number: page for page in pages}
    results = tuple(
        _result(row, by_number[row.page], metadata, decimal_comma=comma)
        for row in _without_repeats(rows)
    )
    titled = any(row.titled for row in rows)
    if not is_believable(results, pages, titled=titled):
        raise UnreadableReport(
            FailureReason.NOT_ENGLISH
            if wrong_language(pages)
            else FailureReason.INVALID_INPUT
        )
    return ParsedReport(metadata=metadata, results=results, pages=len(pages))


@lru_cache(maxsize=4096)
def _match(
    name: str,
    units: str | None,
    value: str,
    panel: str | None,
    sample_type: SampleType | None,
) -> LoincVerdict:
    return match_loinc(
        name=name, units=units, value=value, panel=panel, sample_type=sample_type
    )


def _is_known(
    name: str,
    units: str | None,
    value: str,
    panel: str | None,
    sample_type: SampleType | None,
) -> bool:
    verdict = _match(name, units, value, panel, sample_type)
    return verdict.status is not LoincMatchStatus.NO_MATCH


def _uses_decimal_comma(rows: Iterable[Row]) -> bool:
    """Whether the report's numbers have decimal commas and no decimal points."""
    commas = points = 0
    for row in rows:
        text = f"{row.fields.value} {row.fields.range or ''}"
        commas += len(_DECIMAL_COMMA.findall(text))
        points += len(_DECIMAL_POINT.findall(text))
    return commas > points


def _without_repeats(rows: Iterable[Row]) -> list[Row]:
    """Leave out a row that a later page quotes again, equal in every part."""
    kept: dict[tuple[str, str, str | None, SampleType | None], Row] = {}
    for row in rows:
        key = (
            row.test_name.casefold(),
            row.fields.value,
            row.fields.units,
            row.specimen,
        )
        first = kept.get(key)
        if first is None:
            kept[key] = row
        elif first.page == row.page:
            kept[(*key[:3], None) if key[3] else (f"{key[0]} ", *key[1:])] = row
    return sorted(kept.values(), key=lambda row: (row.page,))


def _result(
    row: Row, page: Page, metadata: Metadata, *, decimal_comma: bool
) -> ParsedResult:
    fields = row.fields
    name = row.test_name
    verdict = _match(name, fields.units, fields.value, row.panel, row.specimen)
    printed = fields.range or None
    bounds = read_bounds(
        printed or "", sex=metadata.gender, decimal_comma=decimal_comma
    )
    if printed and not _same_scale(printed, fields.units):
        bounds = Bounds()
    judged = interpret(
        value=fields.value,
        bounds=bounds,
        has_range=printed is not None,
        flag=fields.flag,
        decimal_comma=decimal_comma,
    )
    matches = verdict.matches
    return ParsedResult(
        test_name=name,
        value=fields.value,
        type=infer_type(fields.value),
        units=fields.units,
        min_reference_range=bounds.low,
        max_reference_range=bounds.high,
        reference_range=printed,
        source_panel_name=row.panel,
        sample_type=verdict.sample_type or row.specimen,
        measurement_kind=verdict.measurement_kind,
        sensitivity=_sensitivity(row),
        loinc_matches=matches,
        loinc_match_status=verdict.status,
        interpretation=judged.interpretation,
        is_above_max_range=judged.above,
        is_below_min_range=judged.below,
        provenance=Provenance(
            name=_place(page, row.name),
            value=_place(page, fields.value_words),
            units=_place(page, fields.units_words),
            reference_range=_place(page, fields.range_words),
        ),
        confidence=_confidence(row, verdict),
    )


def _sensitivity(row: Row) -> Sensitivity | None:
    """What a culture says of a drug, in its value or in the column beside it."""
    texts = [row.fields.value, text_of(row.columns.get(Role.FLAG, []))]
    for text in texts:
        match text.strip().lower():
            case "sensitive" | "susceptible":
                return Sensitivity.SENSITIVE
            case "resistant" | "intermediate" | "insensitive":
                return Sensitivity.INSENSITIVE
    return None


def _same_scale(printed: str, units: str | None) -> bool:
    """Whether a unit printed in the range, if any, is that of the row."""
    own = unit_in_range(printed)
    if own is not None and units is not None:
        first, second = normalise_units(own), normalise_units(units)
        return first is None or second is None or first == second
    counted = _COUNTED_IN.search(printed)
    return counted is None or counted[1].lower() in (units or "").lower()


def _place(page: Page, words: Sequence[Word]) -> Place | None:
    """The rectangle around words, corner by corner from the top left."""
    if not words:
        return None
    x0, x1 = min(w.x0 for w in words), max(w.x1 for w in words)
    top, bottom = min(w.top for w in words), max(w.bottom for w in words)
    corners = ((x0, top), (x1, top), (x1, bottom), (x0, bottom))
    return Place(page.number, tuple(page.shown(x, y) for x, y in corners))


def _confidence(row: Row, verdict: LoincVerdict) -> Confidence:
    """How sure each part is: the text of a text layer is as good as printed."""
    fields = row.fields
    unit = None
    if fields.units:
        unit = 0.98 if normalise_units(fields.units) else 0.6
        if not looks_like_units(fields.units):
            unit = 0.3
    spread = None
    if fields.range:
        spread = 0.95 if looks_like_range(fields.range) else 0.6
    best = verdict.matches[0].confidence_score if verdict.matches else None
    sure = 0.5 + 0.06 * row.score + (0.05 if is_numeric_value(fields.value) else 0)
    return Confidence(
        text=0.99,
        row=round(min(sure if row.titled else sure - 0.1, 0.99), 2),
        loinc=best,
        unit=unit,
        range=spread,
    )
