"""Open a foreign PDF in a process of its own, which a hostile file alone can crash.

Run by `python -m` it is that process: it bounds its memory and time, and imports no
Django.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from contextlib import closing
from enum import StrEnum
from pathlib import Path

MODULE = "labs.documents.pdf_check"
TIMEOUT_S = 60
CPU_SECONDS = 30
PAGES_MAX = 1_000
# Of data of its own; a library reserves more address space than it uses.
MEMORY_LIMIT_BYTES = 1024**3
ADDRESS_LIMIT_BYTES = 4 * 1024**3
_END_BYTES = 2048
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD
_ROOT = Path(__file__).resolve().parents[2]


class PdfOutcome(StrEnum):
    """What became of opening a PDF."""

    READABLE = "readable"
    ENCRYPTED = "encrypted"
    UNREADABLE = "unreadable"


class PdfCheckFailed(Exception):
    """The process ended without an answer: by the file, or by the machine."""


def check_pdf_opens(content: bytes) -> PdfOutcome:
    """Return whether a PDF opens without a password and all its pages load.

    Raises: PdfCheckFailed. Source: Ours: the reader is that of a common browser.
    """
    try:
        done = subprocess.run(  # noqa: S603 - our own module, no input in its arguments
            (sys.executable, "-m", MODULE),
            cwd=_ROOT,
            # No secrets; what a library complains about may quote the file.
            env={"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"},
            input=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
            check=False,
        )
        return PdfOutcome(done.stdout.decode())
    except (subprocess.TimeoutExpired, ValueError):
        raise PdfCheckFailed from None


def open_pdf(content: bytes) -> PdfOutcome:
    """Open a PDF in this process; only a bounded one may do that."""
    import pypdfium2

    # A file that was cut off still opens, without its last pages.
    if b"%%EOF" not in content[-_END_BYTES:]:
        return PdfOutcome.UNREADABLE
    try:
        with closing(pypdfium2.PdfDocument(content)) as pdf:
            if not 0 < len(pdf) <= PAGES_MAX:
                return PdfOutcome.UNREADABLE
            for number in range(len(pdf)):
                pdf[number].close()
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD_ERROR:
            return PdfOutcome.ENCRYPTED
        return PdfOutcome.UNREADABLE
    return PdfOutcome.READABLE


def _limit_this_process() -> None:  # pragma: no cover - the tests' own must stay
    for limit, most in (
        (resource.RLIMIT_DATA, MEMORY_LIMIT_BYTES),
        (resource.RLIMIT_AS, ADDRESS_LIMIT_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        resource.setrlimit(limit, (most, most))


if __name__ == "__main__":  # pragma: no cover - tests see it from outside
    _limit_this_process()
    sys.stdout.write(open_pdf(sys.stdin.buffer.read()))
