"""Extraction from reports of strangers, each time in a child process with limits.

One function for each purpose: check an upload, parse a report, read a box, draw pages.
Each sets its limits of time, and checks the answer like any other input.
"""

from __future__ import annotations

import base64
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from reports.operations.reading.child_process import OutOfTime, run_child
from reports.operations.reading.parsed_values import (
    build_parsed_value_from_json,
    exactly,
)
from reports.parser.boxes import BoxReading
from reports.parser.intake import FileKind, OpenedFile, RefusalCode, RefusedFile
from reports.parser.report import (
    FailureReason,
    ParsedReport,
    Place,
    Script,
    UnreadableReport,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


logger = logging.getLogger(__name__)
# A request waits for it and has its thread held: what takes longer is the worker's.
QUICK_INSPECT_TIMEOUT = timedelta(seconds=5)
QUICK_INSPECT_CPU_SECONDS = 3
# A page of one's own text takes 0.4 s, a picture of it 3 s and more until it is read;
# a worker could not answer who drew the box.
BOX_TIMEOUT = timedelta(seconds=12)
BOX_CPU_SECONDS = 10
# The same look by a worker, whose answer is the last.
INSPECT_TIMEOUT = timedelta(seconds=60)
INSPECT_CPU_SECONDS = 20
# For one picture of a page, or for all that is no picture: the child says when it has
# read a page, so a long scan may take its time and a hang is still found.
DRAW_TIMEOUT = timedelta(seconds=20)
PARSE_TIMEOUT = timedelta(seconds=120)


def check_upload_files_during_request(
    files: Sequence[tuple[Path, str]],
) -> list[OpenedFile]:
    """Check files as check_upload_files does, within QUICK_INSPECT_CPU_SECONDS.

    The caller holds a slot. Raises RefusedFile as that does; OutOfTime where nothing
    was decided. Source: Contract 7.1; Ours: a hostile file must not hold the thread of
    a request.
    """
    return _read_inspection(
        run_child(
            _build_inspection_request(files),
            QUICK_INSPECT_TIMEOUT,
            cpu_seconds=QUICK_INSPECT_CPU_SECONDS,
        )
    )


def check_upload_files(files: Sequence[tuple[Path, str]]) -> list[OpenedFile]:
    """Check that each file has its stated media type and can be opened.

    Raises RefusedFile by the parser's codes, unreadable_file also where opening the
    file broke a bound. Source: Contract 7.1; Ours: no process of ours opens a
    stranger's file itself.
    """
    try:
        answer = run_child(
            _build_inspection_request(files),
            INSPECT_TIMEOUT,
            cpu_seconds=INSPECT_CPU_SECONDS,
        )
    except OutOfTime:
        answer = None
    return _read_inspection(answer)


def _build_inspection_request(files: Sequence[tuple[Path, str]]) -> dict[str, Any]:
    # A media type is ASCII; anything else agrees with no content.
    return {
        "inspect": [
            [str(path), declared if declared.isascii() else ""]
            for path, declared in files
        ]
    }


def _read_inspection(answer: object) -> list[OpenedFile]:
    """Return the inspected files of an answer. Raises: RefusedFile."""
    try:
        match answer:
            case {"opened": opened}:
                return [
                    OpenedFile(FileKind(kind), exactly(int, pages))
                    for kind, pages in opened
                ]
            case {"refused": code}:
                refusal = RefusedFile(RefusalCode(code))
            case _:
                refusal = RefusedFile(RefusalCode.UNREADABLE)
    except (ValueError, TypeError):
        refusal = RefusedFile(RefusalCode.UNREADABLE)
    raise refusal


def parse_stored_report_files(*paths: Path, threads: int = 1) -> ParsedReport:
    """Parse a stored file, or stored page images of one report in order.

    threads: how many the reading of a picture may use. Raises UnreadableReport: with
    the parser's reason, or with processing_error where the child died, took over
    PARSE_TIMEOUT for a page, or answered what no parser would. Source: Ours: a report
    comes from strangers.
    """
    request = {"parse": [str(path) for path in paths], "threads": threads}
    try:
        answer = run_child(request, PARSE_TIMEOUT)
    except OutOfTime:
        answer = None
    try:
        match answer:
            case {"report": report}:
                found: ParsedReport = build_parsed_value_from_json(ParsedReport, report)
                return found
            case {"unreadable": reason, "without_engine": True}:
                logger.error("images can't be read: install the dependency group ocr")
                refusal = UnreadableReport(FailureReason(reason))
            case {"unreadable": reason, "script": script}:
                known = None if script is None else Script(script)
                refusal = UnreadableReport(FailureReason(reason), script=known)
            case _:
                refusal = UnreadableReport(FailureReason.PROCESSING_ERROR)
    except (ValueError, TypeError):
        logger.error("the parser's answer has an unknown shape")  # noqa: TRY400 - the error may quote
        refusal = UnreadableReport(FailureReason.PROCESSING_ERROR)
    raise refusal


def read_text_in_stored_page_box(*paths: Path, place: Place) -> BoxReading:
    """Read the text in a box on a page of a stored report during a request.

    The caller holds a slot. Raises UnreadableReport, with processing_error also where
    the child died or took over BOX_CPU_SECONDS. Source: Ours (workflow D1): a page that
    a stranger made is opened in no web process.
    """
    request = {
        "box": {"page": place.page, "polygon": [list(p) for p in place.polygon]},
        "paths": [str(path) for path in paths],
    }
    try:
        answer = run_child(request, BOX_TIMEOUT, cpu_seconds=BOX_CPU_SECONDS)
    except OutOfTime:
        answer = None
    match answer:
        case {"reading": reading}:
            try:
                found: BoxReading = build_parsed_value_from_json(BoxReading, reading)
            except (ValueError, TypeError):
                logger.error("the answer for a box has an unknown shape")  # noqa: TRY400 - as above
            else:
                return found
    raise UnreadableReport(FailureReason.PROCESSING_ERROR)


def render_report_pages(
    *paths: Path, pages: Sequence[int]
) -> list[tuple[bytes, bytes] | None]:
    """Render pages of a stored report, each as a JPEG and a small one.

    None for a page that can't be drawn. Raises UnreadableReport with processing_error
    where the child died or took too long over a page. Source: Ours, as
    read_text_in_stored_page_box.
    """
    try:
        answer = run_child(_build_rendering_request(paths, pages), DRAW_TIMEOUT)
    except OutOfTime:
        answer = None
    return _read_rendering(answer, pages)


def render_report_page(*paths: Path, page: int) -> tuple[bytes, bytes] | None:
    """Render one page as render_report_pages does, during a request.

    The caller holds a slot. Raises UnreadableReport where the child died or took over
    QUICK_INSPECT_CPU_SECONDS. Source: Ours, as read_text_in_stored_page_box.
    """
    try:
        answer = run_child(
            _build_rendering_request(paths, [page]),
            QUICK_INSPECT_TIMEOUT,
            cpu_seconds=QUICK_INSPECT_CPU_SECONDS,
        )
    except OutOfTime:
        answer = None
    (drawn,) = _read_rendering(answer, [page])
    return drawn


def _build_rendering_request(
    paths: Sequence[Path], pages: Sequence[int]
) -> dict[str, Any]:
    return {"draw": list(pages), "paths": [str(path) for path in paths]}


def _read_rendering(
    answer: object, pages: Sequence[int]
) -> list[tuple[bytes, bytes] | None]:
    match answer:
        case {"pictures": [*pictures]} if len(pictures) == len(pages):
            return [_pictures(found) for found in pictures]
    raise UnreadableReport(FailureReason.PROCESSING_ERROR)


def _pictures(found: object) -> tuple[bytes, bytes] | None:
    """Return a page's two images from an answer; None if they are invalid."""
    match found:
        case [str(full), str(small)]:
            try:
                pictures = base64.b64decode(full), base64.b64decode(small)
            except ValueError:
                return None
            return pictures if all(map(is_complete_jpeg, pictures)) else None
    return None


def is_complete_jpeg(content: bytes) -> bool:
    """Whether bytes begin and end as a JPEG does."""
    return content.startswith(b"\xff\xd8\xff") and content.endswith(b"\xff\xd9")
