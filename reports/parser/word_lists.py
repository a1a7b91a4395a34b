"""Reads the lists of words in data/, each by the heading that it stands under."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "data"


@lru_cache
def read_word_lists(file: str) -> dict[str, tuple[str, ...]]:
    """Return the words by heading of a file: 'heading: word word', or 'phrase|phrase'.

    Lines that are indented go on from the one above.
    """
    text = (_FOLDER / file).read_text(encoding="utf-8")
    lists = {}
    for line in re.sub(r"\n\s+", " ", text).splitlines():
        heading, _, words = line.partition(": ")
        if not line.startswith("#"):
            parts = words.split("|") if "|" in words else words.split()
            lists[heading] = tuple(part.strip() for part in parts)
    return lists


def read_patterns(file: str) -> tuple[str, ...]:
    """Return the patterns of a file, one a line; a blank stands for any blanks.

    Lines that are indented go on from the one above.
    """
    text = (_FOLDER / file).read_text(encoding="utf-8")
    lines = re.sub(r"\n\s+", "", text).splitlines()
    return tuple(line.replace(" ", r"\s+") for line in lines if line[:1] != "#")


def read_named_patterns(file: str) -> tuple[tuple[str, str], ...]:
    """Return the names and patterns of a file: 'name: pattern', one a line."""
    lines = (line.partition(r":\s+") for line in read_patterns(file))
    return tuple((name, pattern) for name, _, pattern in lines)
