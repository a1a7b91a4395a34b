"""Child process that opens a report: start it, send a request, read its answer.

A hostile file can crash only the child, which has no secrets in its environment and no
Django. It is killed when it is silent for too long, writes too much or runs out of CPU.
"""

from __future__ import annotations

import logging
import os
import selectors
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from reports.operations.reading.child_program import CPU_SECONDS
from reports.parser.parsing import MAX_PAGES

if TYPE_CHECKING:
    from datetime import timedelta


logger = logging.getLogger(__name__)

MOST_STEPS = MAX_PAGES + 2
OUTPUT_LIMIT_BYTES = 32 * 1024**2
_ROOT = Path(__file__).resolve().parents[3]
_COMMAND = (sys.executable, "-m", "reports.operations.reading.child_program")


class OutOfTime(Exception):
    """The child process did not end within its time limit."""


def run_child(
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
        # At the end of its output it has nothing more to do, nor has what it started.
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
    try:
        found: object = orjson.loads(answer)
    except orjson.JSONDecodeError:
        logger.error("a parsing process ended without an answer")  # noqa: TRY400 - the error may quote
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
