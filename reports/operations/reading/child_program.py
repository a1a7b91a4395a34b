"""Program of the child process that opens a report, run by `python -m`.

It limits its own memory, CPU time and files, reads one request as JSON and writes one
answer. It imports the parser, and no Django.
"""

from __future__ import annotations

import base64
import ctypes
import math
import os
import resource
import signal
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from reports.operations.reading.parsed_values import build_parsed_value_from_json
from reports.parser.boxes import read_text_in_box
from reports.parser.documents import NoPictureReader
from reports.parser.hidden_text import find_hidden_text
from reports.parser.intake import RefusedFile, check_file_can_be_opened
from reports.parser.parsing import parse_report
from reports.parser.report import Place, UnreadableReport
from reports.parser.showing import render_page_thumbnail, render_report_page_jpeg

CPU_SECONDS = 60
# Of data of its own; what it maps from files, some 150 MB of libraries, comes on top.
MEMORY_LIMIT_BYTES = 1280 * 1024**2
ADDRESS_LIMIT_BYTES = 6 * 1024**3
_NICENESS = 5  # what answers requests goes first
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def build_answer(request: dict[str, Any]) -> bytes:
    """Do what the parent requested and return it as one JSON object."""
    answer: dict[str, object]
    try:
        answer = _handle_request(request)
    except NoPictureReader as refusal:
        answer = {"unreadable": refusal.reason, "without_engine": True}
    except UnreadableReport as refusal:
        answer = {"unreadable": refusal.reason, "script": refusal.script}
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
        report = parse_report(paths, threads=threads, on_page=_report_page_done)
        hidden = find_hidden_text(paths, report)
        return {"report": replace(report, notes=(*report.notes, *hidden))}
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


def _measure_mapped_bytes() -> tuple[int, int]:
    """Return the data and the address space of this process. Source: proc(5), statm."""
    try:
        pages = Path("/proc/self/statm").read_text().split()
    except OSError:
        return 0, 0
    size = resource.getpagesize()
    return int(pages[5]) * size, int(pages[0]) * size


def limit_process_memory_and_cpu(
    parent: int, *, most_seconds: int, is_fork: bool = False
) -> None:  # pragma: no cover - as above
    """Limit this process: memory, no file writes, ends with its parent.

    What a fork inherited does not count toward its memory. The first page may take
    CPU_SECONDS, all together `most_seconds`; both only while nothing that is more
    urgent wants the processor.
    """
    os.nice(_NICENESS)
    # Libraries reserve far more address space than they use, so that alone can't be
    # the bound.
    data, space = _measure_mapped_bytes() if is_fork else (0, 0)
    for limit, most in (
        (resource.RLIMIT_DATA, MEMORY_LIMIT_BYTES + data),
        (resource.RLIMIT_AS, ADDRESS_LIMIT_BYTES + space),
    ):
        resource.setrlimit(limit, (most, most))
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
    sys.stdout.buffer.write(build_answer(orjson.loads(sys.stdin.buffer.read())))
