"""Classifies texts at the start of a line that are not test names.

Vocabulary of administrative lines, categories of explanation tables, methods,
sections and openings of prose. Judges text alone, never position.
"""

from __future__ import annotations

import re
from functools import lru_cache

from reports.parser.report import SampleType
from reports.parser.text.folding import normalize_letters_and_digits
from reports.parser.word_lists import (
    read_named_patterns,
    read_patterns,
    read_word_lists,
)

_ADMINISTRATIVE = re.compile(f"^(?:{'|'.join(read_patterns('administrative.txt'))})$")

_CATEGORY = re.compile(f"^(?:{'|'.join(read_patterns('categories.txt'))})$")

_OPENING = re.compile(rf"(?i)^\W*(?:{'|'.join(read_patterns('openings.txt'))})")

_EXPLANATION_TITLES = frozenset(read_word_lists("words.txt")["explanation titles"])

_METHOD = re.compile(
    rf"(?i)^[(\[*{{\s]*(?:{'|'.join(read_patterns('methods.txt'))})[)\]\s.}}]*$"
)

_SPECIMENS = tuple(
    (re.compile(rf"\b(?:{pattern})\b"), SampleType(kind))
    for kind, pattern in read_named_patterns("specimens.txt")
)

_WORD = re.compile(r"[^\W\d_]{2,}")


@lru_cache(maxsize=8192)
def is_administrative_line(name: str) -> bool:
    """Return whether a line is about the patient, the order or the lab."""
    return bool(_ADMINISTRATIVE.match(normalize_letters_and_digits(name)))


@lru_cache(maxsize=8192)
def is_category_label(name: str) -> bool:
    """Return whether a name is of an explanation table: Borderline, Stage 2, Adults."""
    return bool(_CATEGORY.match(normalize_letters_and_digits(name)))


@lru_cache(maxsize=8192)
def starts_explanation_section(text: str) -> bool:
    """Return whether a line begins an explanation: Interpretation, Note, References."""
    return bool(_OPENING.match(text))


def is_explanation_table_title(text: str) -> bool:
    """Return whether titles are of an explanation table: Category, Risk, Stage, Age."""
    words = normalize_letters_and_digits(text).split()
    hits = sum(1 for word in words if word in _EXPLANATION_TITLES)
    return 0 < len(words) <= 12 and hits >= max(1, len(words) // 4)


@lru_cache(maxsize=8192)
def is_test_method(text: str) -> bool:
    """Return whether a text names how a test was done."""
    return bool(_METHOD.match(text))


@lru_cache(maxsize=2048)
def find_specimen_in_text(text: str) -> SampleType | None:
    """Return the specimen that a header or a cell names, None if it names none."""
    folded = normalize_letters_and_digits(text)
    for pattern, kind in _SPECIMENS:
        if pattern.search(folded):
            return kind
    return None


def names_both_blood_and_urine(text: str) -> bool:
    """Return whether a header names blood and urine, as one over two tables does."""
    folded = normalize_letters_and_digits(text)
    kinds = {kind for pattern, kind in _SPECIMENS if pattern.search(folded)}
    return kinds >= {SampleType.BLOOD, SampleType.URINE}


def has_letters(text: str) -> bool:
    """Return whether any character is a letter."""
    return any(sign.isalpha() for sign in text)


def is_prose(text: str) -> bool:
    """Return whether a text is a sentence or part of one: many words in lower case."""
    words = text.split()
    if len(words) < 7:
        return False
    lower = sum(1 for word in words if word[:1].islower() and _WORD.search(word))
    return lower >= 0.5 * len(words)
