"""Parses pages to a report by running all stages.

Each stage is its own module; this one holds only their order and the making of the
result values.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from reports.parser.assembly.confidence import calibrate_row_confidences
from reports.parser.assembly.header import (
    read_patient_age,
    read_patient_on_each_page,
    read_report_header,
)
from reports.parser.assembly.results import build_parsed_result
from reports.parser.assembly.sample_numbers import find_possible_sample_numbers
from reports.parser.assembly.screening import (
    are_rows_plausible_lab_results,
    find_contradicted_pages,
    find_reason_for_no_rows,
    find_unread_script,
    is_unsupported_language,
)
from reports.parser.layout.lines import Line, group_words_into_lines
from reports.parser.layout.word_repair import repair_misread_words
from reports.parser.loinc import is_known_test_name
from reports.parser.readers import (
    deduplicate_rows_and_clean_names,
    find_result_rows,
    find_unread_result_lines,
    keep_rows_of_grammar,
)
from reports.parser.text.values import has_decimal_commas

from .checks import require_review_for_other_patients, run_report_checks
from .documents import OnPage, read_document_pages
from .pages import Page
from .report import FailureReason, PageSize, ParsedReport, UnreadableReport

MAX_PAGES = 30


def parse_report(
    source: Path | Sequence[Path], *, threads: int = 1, on_page: OnPage | None = None
) -> ParsedReport:
    """Parse a lab report into its header and result rows.

    source: one PDF or picture, or several pictures of its pages in order. threads: how
    many the reading of a picture may use. on_page: called after each picture of a page.
    Same bytes, same answer. Raises: UnreadableReport by too_many_pages (over 30),
    processing_error (a file that does not open, or a picture where the packages that
    read pictures are missing), low_quality (marks without meaning), not_english,
    invalid_input (no lab report, or no PDF or picture at all). Source: Contract 7.1,
    7.2, 7.4.
    """
    paths = [source] if isinstance(source, Path) else list(source)
    pages = read_document_pages(
        paths, at_most=MAX_PAGES, threads=threads, on_page=on_page
    )
    with _without_collecting():
        return parse_report_pages(pages)


def parse_report_pages(pages: Sequence[Page]) -> ParsedReport:
    """Parse pages of words, from any kind of file.

    Raises: UnreadableReport by processing_error, low_quality, not_english and
    invalid_input.
    """
    legible = [page for page in pages if page.legible]
    lines = [_lines_of(page) for page in legible]
    found = keep_rows_of_grammar(
        find_result_rows(legible, lines, is_known=is_known_test_name)
    )
    rows = deduplicate_rows_and_clean_names(found)
    if not rows:
        raise _refuse(find_reason_for_no_rows(pages), pages)
    metadata = read_report_header(lines)
    age = read_patient_age(lines, metadata)
    comma = has_decimal_commas(
        f"{row.fields.value} {row.fields.range or ''}" for row in rows
    )
    by_number = {page.number: page for page in pages}
    parsed = [
        build_parsed_result(
            row, by_number[row.page], metadata, age=age, decimal_comma=comma
        )
        for row in rows
    ]
    left_out = find_contradicted_pages([row.page for row in rows], parsed)
    results = tuple(
        result
        for row, result in zip(rows, parsed, strict=True)
        if row.page not in left_out
    )
    titled = any(row.titled for row in rows)
    if not are_rows_plausible_lab_results(results, pages, titled=titled):
        foreign = is_unsupported_language(pages) or any(page.script for page in pages)
        reason = FailureReason.NOT_ENGLISH if foreign else FailureReason.INVALID_INPUT
        raise _refuse(reason, pages)
    notes = run_report_checks(
        metadata=metadata,
        by_page=read_patient_on_each_page(
            dict(zip((page.number for page in legible), lines, strict=True))
        ),
        results=results,
        decimal_comma=comma,
    )
    return ParsedReport(
        metadata=replace(
            metadata,
            age=None if metadata.dob else age,
            printed_numbers=find_possible_sample_numbers(lines),
        ),
        results=require_review_for_other_patients(
            calibrate_row_confidences(results, notes), notes
        ),
        pages=len(pages),
        notes=notes,
        page_sizes=tuple(
            PageSize(page.number, round(page.width, 2), round(page.height, 2))
            for page in pages
        ),
        unread=tuple(
            place
            for page, own in zip(legible, lines, strict=True)
            for words in find_unread_result_lines(
                own,
                [row for row in found if row.page not in left_out],
                is_known=is_known_test_name,
            )
            if (place := page.place_of(words)) is not None
        )
        + tuple(page.whole for page in pages if page.script),
    )


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Hold back the search for circles of objects, a tenth of a text page's time.

    Words, lines and rows form none, so that counting frees all of them.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _refuse(reason: FailureReason, pages: Sequence[Page]) -> UnreadableReport:
    foreign = reason is FailureReason.NOT_ENGLISH
    return UnreadableReport(
        reason, script=find_unread_script(pages) if foreign else None
    )


def _lines_of(page: Page) -> list[Line]:
    drawn = bool(page.to_shown)
    words = repair_misread_words(page.words) if drawn else page.words
    return group_words_into_lines(words, page=page.number, drawn=drawn)
