"""Lines that look like results and are in no row."""

from __future__ import annotations

from collections.abc import Sequence

from reports.parser.layout.lines import Line, build_line_from_words
from reports.parser.pages import Page, Word
from reports.parser.readers import Row, find_result_rows, find_unread_result_lines

XS = (40, 200, 280, 360)


def line(y: float, *texts: str) -> Line:
    words: list[Word] = []
    for start, text in zip(XS, texts, strict=False):
        x = float(start)
        for part in text.split():
            words.append(Word(part, x, y - 4, x + 4.5 * len(part), y + 4, 9))
            x += 4.5 * len(part) + 2.5
    return build_line_from_words(words, page=1)


def knows(name: str) -> bool:
    return name in ("Sodium", "Urea", "ALT")


def rows_of(lines: Sequence[Line]) -> list[Row]:
    words = tuple(word for line in lines for word in line.words)
    return find_result_rows([Page(1, 595, 842, words)], [list(lines)], is_known=knows)


LINES = [
    line(60, "Test", "Result", "Unit", "Reference range"),
    line(72, "Sodium", "140", "mmol/L", "135 - 145"),
    line(84, "Urea", "5.1", "mmol/L", "2.5 - 7.8"),
    line(96, "ALT", "33", "U/L", "< 40"),
]


def test_a_page_read_to_the_end_has_nothing_unread() -> None:
    assert find_unread_result_lines(LINES, rows_of(LINES), is_known=knows) == []


def test_neighbouring_lines_without_a_row_are_one_stretch() -> None:
    rows = rows_of(LINES[:2])

    (stretch,) = find_unread_result_lines(LINES, rows, is_known=knows)

    assert [word.text for word in stretch] == [
        *("Urea", "5.1", "mmol/L", "2.5", "-", "7.8"),
        *("ALT", "33", "U/L", "<", "40"),
    ]


def test_a_pending_test_and_a_limit_in_a_note_are_not_unread() -> None:
    lines = [
        *LINES[:2],
        line(84, "Urea", "to follow", "mmol/L", "2.5 - 7.8"),
        line(110, "Interpretation"),
        line(122, "Urea", "5.1", "mmol/L", "2.5 - 7.8"),
    ]

    assert find_unread_result_lines(lines, rows_of(lines[:2]), is_known=knows) == []
