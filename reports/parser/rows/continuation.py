"""What a line below a row adds to it: more of its name, range or unit.

Also the start of a name printed on the line above its value.
"""

from __future__ import annotations

from dataclasses import replace

from reports.parser.layout.lines import (
    Line,
    are_lines_of_same_font_size,
    split_words_into_cells,
)
from reports.parser.pages import Word
from reports.parser.text.fields import is_range_status_text, is_unit, join_word_texts
from reports.parser.text.not_names import (
    has_letters,
    is_prose,
    is_test_method,
    starts_explanation_section,
)
from reports.parser.text.ranges import is_plain_numeric_range, looks_like_range
from reports.parser.text.roles import Role

from .naming import is_printed_smaller_than_name
from .row import Parts, Row, Section, replace_row_range_text, replace_row_unit
from .wording import clean_printed_name, is_incomplete_name, may_be_part_of_test_name

# Of two words, in points, for a line may have its unit set smaller.
_SAME_SIZE = 0.1
_BESIDE = frozenset({Role.RANGE, Role.UNIT, Role.METHOD})

# Signs that a typewriter draws a rule with.
_RULE = " -–—_=.*"


class Continuation:
    """Adds lines to rows, and remembers brackets that may be methods after all."""

    def __init__(self, section: Section, *, methods: bool = False) -> None:
        """methods: whether a column of methods stands beside, so that none is below."""
        self._section = section
        self._methods = methods
        self._bracketed: list[tuple[Row, str, list[Word]]] = []

    def drop_bracketed_methods(self, rows: int) -> None:
        """Brackets under one name are part of it; under many names they are methods."""
        if len(self._bracketed) < max(2, 0.25 * rows):
            return
        for row, name, words in self._bracketed:
            row.name_text, row.name = name, words

    def add_line(self, last: Row, line: Line, parts: Parts) -> bool:
        """Take a line without a value into the row above it, if it goes on there."""
        if not line.text.strip(_RULE):
            return False
        name_words = parts.get(Role.NAME, [])
        others: set[Role] = set(parts) - {Role.NAME}
        took = False
        noted = bool(name_words) and (
            is_printed_smaller_than_name(name_words, last.name)
            or is_test_method(join_word_texts(name_words))
        )
        if (
            noted
            and _continues_row(last, parts)
            and not self._is_wrapped_name(last, line, name_words)
        ):
            name_words = []
        if not others - _BESIDE:
            stacked = join_word_texts(parts.get(Role.RANGE, []))
            if not last.fields.units and last.fields.range and is_unit(stacked):
                last.fields = replace_row_unit(last.fields, stacked, parts[Role.RANGE])
                took = True
            elif Role.RANGE in parts:
                if name_words and not self._is_wrapped_name(last, line, name_words):
                    return False
                if name_words and _is_next_row(last, parts[Role.RANGE]):
                    return False
                took = _add_range(last, parts[Role.RANGE])
        if name_words and (took or not others or others == {Role.METHOD}):
            took = self._add_name(last, line, name_words) or took
        if took:
            last.line = _stretch(last.line, line)
        return took

    def _add_name(self, last: Row, line: Line, words: list[Word]) -> bool:
        text = join_word_texts(words)
        wrapped = self._is_wrapped_name(last, line, words)
        bracketed = text.startswith("(") and text.count("(") == text.count(")")
        short = self._section.knows(text[1:].partition(")")[0])
        if bracketed and not short and (wrapped or is_test_method(text)):
            self._bracketed.append((last, last.test_name, last.name))
        if wrapped:
            last.name_text = f"{last.test_name} {clean_printed_name(text)}"
            last.name = [*last.name, *words]
        return wrapped

    def _is_wrapped_name(self, last: Row, line: Line, words: list[Word]) -> bool:
        text = join_word_texts(words)
        trailing = text[:1].islower() and len(words) <= 2
        bracketed = self._methods and text.startswith("(") and text.endswith(")")
        method = is_test_method(text) and not trailing and not bracketed
        apart = abs(words[0].size - last.name[0].size)
        if method or not (
            are_lines_of_same_font_size(last.line, line) or apart < _SAME_SIZE
        ):
            return False
        if starts_explanation_section(text) or is_prose(text) or len(words) > 6:
            return False
        if words[0].bold != last.name[0].bold:
            return False
        if words[0].x0 < last.name[0].x0 - 0.25 * line.size:
            return False
        if text[:1] == text[-1:] == "-":
            # A heading between dashes: '-- REFERENCE VALUE --'.
            return False
        before = last.test_name
        if is_incomplete_name(before):
            return True
        if text[:1].islower() or text.startswith(("(", "-", "/", "&")):
            return True
        known_before = self._section.knows(before)
        near = line.middle - last.line.middle < 1.5 * line.size
        # A picture does not tell a bold heading from the rest of a name.
        if (
            near
            and may_be_part_of_test_name(text)
            and not (line.drawn and known_before)
        ):
            return True
        whole = f"{before} {clean_printed_name(text)}"
        return not known_before and self._section.knows(whole)


def _continues_row(last: Row, parts: Parts) -> bool:
    """Whether the range of a row has more below it, in its own print."""
    own, below = last.fields.range_words, parts.get(Role.RANGE, [])
    return bool(below) and not (own and is_printed_smaller_than_name(below, own))


def _is_next_row(last: Row, words: list[Word]) -> bool:
    """Whether a range under another, both plain, is that of a row without a value."""
    if is_incomplete_name(last.test_name):
        return False
    return is_plain_numeric_range(last.fields.range or "") and is_plain_numeric_range(
        join_word_texts(words)
    )


def _add_range(last: Row, words: list[Word]) -> bool:
    if _begins_bands(last, words):
        return False
    text = " ".join(filter(None, (_whole_range(last), join_word_texts(words))))
    last.fields = replace_row_range_text(last.fields, text, words)
    return True


def _whole_range(last: Row) -> str | None:
    """The range above more of it, with what of a band was taken for the flag.

    So '< 40 Low' over '>= 60 High', which say nothing of the value.
    """
    spread, printed = last.fields.range, join_word_texts(last.fields.range_words)
    name = printed.removeprefix(spread or "").strip()
    if spread is None or name == printed or not is_range_status_text(name):
        return spread
    if last.fields.flag == name:
        last.fields = replace(last.fields, flag=None)
    return printed


def _begins_bands(last: Row, words: list[Word]) -> bool:
    """Whether labels stand apart from limits below a range that has neither apart."""
    own = last.fields.range_words
    whole = (
        bool(own)
        and len(split_words_into_cells(own)) == 1
        and looks_like_range(join_word_texts(own))
    )
    label, *limits = split_words_into_cells(words)
    return (
        whole
        and len(limits) == 1
        and has_letters(label.text)
        and not looks_like_range(label.text)
        and looks_like_range(limits[0].text)
    )


def _stretch(line: Line, below: Line) -> Line:
    """The line moved down to where its row ends, so that the next one is near."""
    return replace(line, top=below.top, bottom=below.bottom)
