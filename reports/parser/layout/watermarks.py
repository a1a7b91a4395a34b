"""Drops watermark words, recognized by size, color and place."""

from __future__ import annotations

from statistics import median

from reports.parser.pages import Word
from reports.parser.text.values import is_numeric_value


def drop_watermark_words(words: list[tuple[Word, bool, int]]) -> list[tuple[Word, int]]:
    """Drop large faint words, and faint words over other words.

    Takes words with whether they are faint and where the sign before them is, and
    gives those kept with the latter.
    """
    if not words:
        return []
    usual = median(word.size for word, _, _ in words)
    solid = [word for word, faint, _ in words if not faint]
    kept = []
    for word, faint, before in words:
        if word.size > 2.2 * usual and _covers_lines(word, solid):
            continue
        # A number set large and light by itself is a result on a dark card.
        large = word.size > 1.3 * usual and not is_numeric_value(word.text)
        if faint and solid and (large or _overlaps(word, solid)):
            continue
        kept.append((word, before))
    return kept


def _covers_lines(word: Word, others: list[Word]) -> bool:
    """Whether a large word lies over at least two smaller ones."""
    inside = 0
    for other in others:
        if other.size * 1.5 < word.size and _touch(word, other):
            inside += 1
    return inside >= 2


def _overlaps(word: Word, others: list[Word]) -> bool:
    return any(other is not word and _touch(word, other) for other in others)


def _touch(a: Word, b: Word) -> bool:
    wide = min(a.x1, b.x1) - max(a.x0, b.x0)
    high = min(a.bottom, b.bottom) - max(a.top, b.top)
    return wide > 1 and high > 0.35 * min(a.bottom - a.top, b.bottom - b.top)
