"""Opens reports in a child process, so that a hostile file can crash only that.

The child has bounds on memory, time and output, no secrets in its environment and no
Django; its answer is JSON that is checked like any other input. This module is both
sides: it runs itself by `python -m`.
"""

from __future__ import annotations

import base64
import ctypes
import dataclasses
import logging
import math
import os
import resource
import selectors
import signal
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

import orjson

from reports.parser.boxes import BoxReading, read_text_in_box
from reports.parser.documents import NoPictureReader
from reports.parser.intake import (
    FileKind,
    OpenedFile,
    RefusalCode,
    RefusedFile,
    check_file_can_be_opened,
)
from reports.parser.parsing import MAX_PAGES, parse_report
from reports.parser.report import FailureReason, ParsedReport, Place, UnreadableReport
from reports.parser.showing import render_page_thumbnail, render_report_page_jpeg

if TYPE_CHECKING:
    from collections.abc import Sequence

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
CPU_SECONDS = 60
MOST_STEPS = MAX_PAGES + 2
# Of data of its own; what it maps from files, some 150 MB of libraries, comes on top.
MEMORY_LIMIT_BYTES = 1280 * 1024**2
ADDRESS_LIMIT_BYTES = 6 * 1024**3
OUTPUT_LIMIT_BYTES = 32 * 1024**2
_ROOT = Path(__file__).resolve().parents[3]
_COMMAND = (sys.executable, "-m", "reports.operations.reading.extraction")
_NICENESS = 5  # what answers requests goes first
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class OutOfTime(Exception):
    """The child process did not end within its time limit."""


def check_upload_files_during_request(
    files: Sequence[tuple[Path, str]],
) -> list[OpenedFile]:
    """Check files as check_upload_files does, within QUICK_INSPECT_CPU_SECONDS.

    The caller holds a slot. Raises RefusedFile as that does; OutOfTime where nothing
    was decided. Source: Contract 7.1; Ours: a hostile file must not hold the thread of
    a request.
    """
    return _read_inspection(
        _run_child(
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
        answer = _run_child(
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
                    OpenedFile(FileKind(kind), _exactly(int, pages))
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
        answer = _run_child(request, PARSE_TIMEOUT)
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
            case {"unreadable": reason}:
                refusal = UnreadableReport(FailureReason(reason))
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
        answer = _run_child(request, BOX_TIMEOUT, cpu_seconds=BOX_CPU_SECONDS)
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
        answer = _run_child(_build_rendering_request(paths, pages), DRAW_TIMEOUT)
    except OutOfTime:
        answer = None
    return _read_rendering(answer, pages)


def render_report_page(*paths: Path, page: int) -> tuple[bytes, bytes] | None:
    """Render one page as render_report_pages does, during a request.

    The caller holds a slot. Raises UnreadableReport where the child died or took over
    QUICK_INSPECT_CPU_SECONDS. Source: Ours, as read_text_in_stored_page_box.
    """
    try:
        answer = _run_child(
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


def _run_child(
    request: dict[str, Any],
    timeout: timedelta,
    *,
    cpu_seconds: int | None = None,
) -> object:
    """Run a child process to its end; its answer, or None if it failed.

    timeout: for how long it may be silent. cpu_seconds: of the processor, in all;
    unless given CPU_SECONDS a page. Raises: OutOfTime.
    """
    most = MOST_STEPS * CPU_SECONDS if cpu_seconds is None else cpu_seconds
    steps = MOST_STEPS if cpu_seconds is None else 1
    child = subprocess.Popen(  # noqa: S603 - our own module, no input in its arguments
        [*_COMMAND, str(os.getpid()), str(most)],
        cwd=_ROOT,
        env={
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            # What we compiled is read where we put it.
            "PYTHONPYCACHEPREFIX": sys.pycache_prefix or "",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # What a library complains about may quote the report.
        stderr=subprocess.DEVNULL,
        # Ctrl-C at the worker is for the worker. In a session of its own it would be
        # given as much of the processor as all that answers requests.
        process_group=0,
    )
    try:
        answer = _exchange_with_child(
            child, orjson.dumps(request), timeout, steps=steps
        )
        if not answer.strip() and _ran_out_of_cpu(child):
            raise OutOfTime
    finally:
        child.kill()  # at the end of its output it has nothing more to do
        child.wait()
    try:
        found: object = orjson.loads(answer)
    except orjson.JSONDecodeError:
        logger.error("a parsing process ended without an answer")  # noqa: TRY400 - as above
        return None
    match found:
        case {"fault": str(fault)}:
            logger.error("the parser failed: %s", fault[:500])
            return None
    return found


def _ran_out_of_cpu(child: subprocess.Popen[bytes]) -> bool:
    """Return whether the child ended because its CPU time ran out."""
    with suppress(subprocess.TimeoutExpired):
        return child.wait(timeout=1) in {-signal.SIGXCPU, -signal.SIGKILL}
    return False


def _exchange_with_child(
    child: subprocess.Popen[bytes],
    request: bytes,
    timeout: timedelta,
    *,
    steps: int = 1,
) -> bytes:
    """Send a request and return the answer; empty if a limit was broken.

    Raises: OutOfTime, when it is silent for `timeout`, or not done after `steps` such.
    """
    assert child.stdin is not None  # noqa: S101 - asked for
    assert child.stdout is not None  # noqa: S101 - asked for
    patience = timeout.total_seconds()
    end = time.monotonic() + steps * patience
    answer = b""
    with child.stdin, child.stdout, selectors.DefaultSelector() as selector:
        try:
            child.stdin.write(request)
            child.stdin.close()
        except BrokenPipeError:
            return b""
        selector.register(child.stdout, selectors.EVENT_READ)
        while selector.select(min(patience, end - time.monotonic())):
            parsed = os.read(child.stdout.fileno(), 2**16)
            answer += parsed
            if not parsed:
                return answer
            if len(answer) > OUTPUT_LIMIT_BYTES:
                return b""
    raise OutOfTime


@cache
def _type_hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def build_parsed_value_from_json(kind: Any, value: Any) -> Any:
    """Build a value of a type of reports.parser.report from JSON, refusing other input.

    Raises ValueError or TypeError. NUL is dropped: PostgreSQL takes no text with it.
    Source: Ours: what a stranger's file made is checked like any input.
    """
    arguments = get_args(kind)
    if get_origin(kind) in {Union, UnionType}:
        (inner,) = [part for part in arguments if part is not NoneType]
        return None if value is None else build_parsed_value_from_json(inner, value)
    if get_origin(kind) is tuple:
        return tuple(
            build_parsed_value_from_json(arguments[0], item)
            for item in _exactly(list, value)
        )
    if dataclasses.is_dataclass(kind):
        given, hints = _exactly(dict, value), _type_hints(kind)  # type: ignore[arg-type]  # a class
        if given.keys() != hints.keys():
            raise ValueError(kind)
        return kind(
            **{
                name: build_parsed_value_from_json(hints[name], given[name])
                for name in hints
            }
        )  # type: ignore[operator]  # as above
    if issubclass(kind, tuple):
        parts = zip(_type_hints(kind).values(), _exactly(list, value), strict=True)
        return kind(*(build_parsed_value_from_json(hint, item) for hint, item in parts))
    if issubclass(kind, StrEnum):
        return kind(value)
    if kind is float:
        number = float(_exactly(int, value) if type(value) is int else value)
        if type(value) not in {int, float} or not math.isfinite(number):
            raise ValueError(kind)
        return number
    found = _exactly(kind, value)
    return found.replace("\0", "") if kind is str else found


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(kind)
    return value


def _build_answer(request: dict[str, Any]) -> bytes:
    """Do what the parent requested and return it as one JSON object."""
    answer: dict[str, object]
    try:
        answer = _handle_request(request)
    except NoPictureReader as refusal:
        answer = {"unreadable": refusal.reason, "without_engine": True}
    except UnreadableReport as refusal:
        answer = {"unreadable": refusal.reason}
    except RefusedFile as refusal:
        answer = {"refused": refusal.code}
    except Exception as error:  # noqa: BLE001 - told without its text
        answer = {"fault": get_error_type_and_code_line(error)}
    # orjson takes dataclasses but no named tuples.
    return orjson.dumps(answer, default=list)


def get_error_type_and_code_line(error: Exception) -> str:
    """Return an error's type and code line, without its text, which may quote data."""
    where = " < ".join(
        f"{Path(step.filename).name}:{step.lineno}"
        for step in reversed(traceback.extract_tb(error.__traceback__)[-6:])
    )
    return f"{type(error).__name__} at {where}"


def _handle_request(request: dict[str, Any]) -> dict[str, object]:
    if "draw" in request:
        paths = [Path(path) for path in request["paths"]]
        return {"pictures": [_draw(paths, number) for number in request["draw"]]}
    if "box" in request:
        box = build_parsed_value_from_json(Place, request["box"])
        return {
            "reading": read_text_in_box([Path(path) for path in request["paths"]], box)
        }
    if "parse" in request:
        paths = [Path(path) for path in request["parse"]]
        threads = request.get("threads", 1)
        return {
            "report": parse_report(paths, threads=threads, on_page=_report_page_done)
        }
    opened = [
        check_file_can_be_opened(Path(path), declared=declared)
        for path, declared in request["inspect"]
    ]
    return {"opened": [(file.kind, file.pages) for file in opened]}


def _draw(paths: list[Path], number: int) -> list[str] | None:
    """A page as a picture and a small one; another may be drawn where this can't."""
    _report_page_done()
    try:
        full = render_report_page_jpeg(paths, number)
        pictures = [full, render_page_thumbnail(full)]
    except Exception:  # noqa: BLE001 - as of _answer; it may quote
        return None
    return [base64.b64encode(picture).decode() for picture in pictures]


def _report_page_done() -> None:  # pragma: no cover - the tests' own limit must stay
    """Report that a page is done, and allow time for one more."""
    sys.stdout.buffer.write(b" ")
    sys.stdout.buffer.flush()
    extend_cpu_limit_for_page()


def extend_cpu_limit_for_page() -> None:  # pragma: no cover - as above
    """Extend this process's CPU limit by the time for one page."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = math.ceil(used.ru_utime + used.ru_stime + CPU_SECONDS)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    if most != resource.RLIM_INFINITY:
        seconds = min(seconds, most)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))


def limit_process_memory_and_cpu(
    parent: int, *, most_seconds: int
) -> None:  # pragma: no cover - as above
    """Limit this process: memory, no file writes, ends with its parent.

    The first page may take CPU_SECONDS, all together `most_seconds`; both only while
    nothing that is more urgent wants the processor.
    """
    os.nice(_NICENESS)
    # Libraries reserve far more address space than they use, so that alone can't be
    # the bound.
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_LIMIT_BYTES, ADDRESS_LIMIT_BYTES))
    resource.setrlimit(
        resource.RLIMIT_CPU, (min(CPU_SECONDS, most_seconds), most_seconds)
    )
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core would hold the report
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    # A stop of the service goes to all its processes; the worker lets this one finish.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before that took hold
            sys.exit(1)


if __name__ == "__main__":  # pragma: no cover - tests see it from outside
    limit_process_memory_and_cpu(int(sys.argv[1]), most_seconds=int(sys.argv[2]))
    sys.stdout.buffer.write(_build_answer(orjson.loads(sys.stdin.buffer.read())))
