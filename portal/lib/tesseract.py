"""Runs tesseract, an optional program that reads scripts which the OCR models can't.

It gets a picture that we drew, never a stranger's file, through a pipe. It writes no
file and inherits the limits of memory and processor of the process that calls it.
Without the program, or when it fails, the answer is empty.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import lru_cache
from typing import NamedTuple

PROGRAM = "tesseract"
# By script, the names of the language packs that are used; Debian's packages are
# tesseract-ocr- and the name.
OCR_LANGUAGES = {
    "cyrillic": ("rus", "ukr"),
    "greek": ("ell",),
    "arabic": ("ara",),
    "devanagari": ("hin",),
}
_SECONDS = 60
_LEAST_CONFIDENCE = 30.0
_COLUMNS = 12  # of a row of its TSV output: 6 to 9 the box, 10 confidence, 11 text
_SCRIPT = re.compile(rb"^Script: (\w+)", re.MULTILINE)
_TURNED = re.compile(rb"^Orientation in degrees: 180", re.MULTILINE)


class OcrWord(NamedTuple):
    """A word as read: its box in pixels, and its confidence, 0 to 1."""

    text: str
    left: int
    top: int
    width: int
    height: int
    confidence: float


@lru_cache(maxsize=1)
def list_ocr_languages() -> frozenset[str]:
    """Return the names of the installed language packs; empty without the program."""
    return frozenset(_run("--list-langs").decode(errors="replace").split())


def detect_script(picture: bytes) -> tuple[str, bool] | None:
    """Return the script's lower-case name and whether the text is upside down."""
    answer = _run(
        *("stdin", "stdout", "--psm", "0", "-c", "min_characters_to_try=10"),
        picture=picture,
    )
    found = _SCRIPT.search(answer)
    return (found[1].decode().lower(), bool(_TURNED.search(answer))) if found else None


def read_words(
    picture: bytes, *, languages: list[str], one_line: bool = False
) -> list[OcrWord]:
    """Return the words of a picture of one block or one line, as they are said."""
    mode = "7" if one_line else "6"
    answer = _run(
        *("stdin", "stdout", "--psm", mode, "-l", "+".join(languages), "tsv"),
        picture=picture,
    )
    words = []
    for row in answer.decode(errors="replace").splitlines()[1:]:
        parts = row.split("\t")
        if len(parts) == _COLUMNS and float(parts[10]) >= _LEAST_CONFIDENCE:
            left, top, width, height = map(int, parts[6:10])
            sure = float(parts[10]) / 100
            words.append(OcrWord(parts[11].strip(), left, top, width, height, sure))
    return words


def _run(*arguments: str, picture: bytes = b"") -> bytes:
    program = shutil.which(PROGRAM)
    if program is None:
        return b""
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments; pixels by a pipe
            [program, *arguments],
            input=picture,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"OMP_THREAD_LIMIT": "1", "LANG": "C.UTF-8"},
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout if done.returncode == 0 else b""
