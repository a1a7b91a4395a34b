"""The name of a row where it is not simply what stands in the column of names: begun on
the line above, wholly above its method, or with a share of cells behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reports.parser.fields import Fields, text_of
from reports.parser.lines import Line, is_of_size
from reports.parser.names import is_method
from reports.parser.pages import Word
from reports.parser.values import is_flag

from .pairs import read_pair
from .row import Row, Section
from .wording import (
    clean_name,
    has_heading_word,
    is_incomplete_name,
    join_wrapped,
    may_name_a_test,
)

# Of print that says how a test was done, to that of its name.
_LESSER = 0.9

Pending = Sequence[tuple[Line, list[Word]]]


def take_name_above(
    row: Row, pending: Pending, section: Section, *, after: Sequence[Row]
) -> Row | None:
    """The row with the name above it, where only its method stands beside it.

    pending: the last line of words alone, if one is right above. after: the row before,
    if there is one; where its name is not bold, a bold line is a heading.
    """
    if not pending:
        return None
    above, words = pending[-1]
    if row.line.middle - above.middle > 1.9 * max(row.line.size, above.size):
        return None
    named = Row(row.page, list(words), row.fields, row.line, columns=row.columns)
    if not may_name_a_test(named.test_name):
        return None
    plainer = words[0].bold and not row.name[0].bold
    plainer = plainer and all(last.name[0].bold for last in after)
    known = section.knows(row.test_name, row.fields)
    lesser = (is_smaller_print(row.name, words) or plainer) and not known
    printed = text_of(row.name)
    bracketed = printed.startswith("(") and printed.endswith(")")
    method = is_method(printed) and not known
    if not method and not bracketed and not lesser:
        return None
    if lesser and not section.knows(named.test_name, row.fields):
        return None
    return named


def is_smaller_print(words: Sequence[Word], name: Sequence[Word]) -> bool:
    """Whether words are set smaller than a name, as the method of its test is."""
    return words[0].size < _LESSER * name[0].size


def take_name_start_above(row: Row, pending: Pending, section: Section) -> Row | None:
    """The row with the start of its name taken from the line above, if it wraps."""
    if not pending:
        return None
    above, words = pending[-1]
    if row.line.middle - above.middle > 1.75 * row.line.size:
        return None
    first, second = text_of(words), text_of(row.name)
    if not is_of_size(above, row.line):
        return None
    flows = is_incomplete_name(first)
    if not flows:
        known = section.knows(row.test_name, row.fields)
        whole = clean_name(f"{first} {second}")
        flows = (not known and second[:1].islower()) or (
            (not known or _is_of_name_style(words, row.name))
            and section.knows(whole, row.fields)
        )
    if not flows:
        return None
    joined = Row(
        row.page, [*words, *row.name], row.fields, row.line, columns=row.columns
    )
    joined.name_text = join_wrapped(clean_name(first), clean_name(second))
    return joined


def split_flag_word(
    words: list[Word], fields: Fields, section: Section
) -> tuple[list[Word], str | None]:
    """Take 'High' from behind a name that is known without it."""
    if len(words) < 2 or not is_flag(words[-1].text):
        return words, None
    short, whole = clean_name(text_of(words[:-1])), clean_name(text_of(words))
    spelt = words[-1].text.lower() in ("high", "low")
    if not section.knows(short, fields):
        return words, None
    if not spelt and section.knows(whole, fields):
        return words, None
    return words[:-1], words[-1].text


def split_share_and_count(
    name: list[Word], fields: Fields, line: Line
) -> tuple[list[Word], Fields]:
    """Take a share that stands before its count from behind the name."""
    for n, word in enumerate(name[1:], start=1):
        if word.text[:1].isdigit() and word in line.words:
            pair = read_pair(line.words[line.words.index(word) :])
            if pair is not None:
                return name[:n], replace(pair[0], flag=fields.flag)
    return name, fields


def _is_of_name_style(above: list[Word], name: list[Word]) -> bool:
    """Whether words look like the start of a name rather than the heading over it."""
    first, second = text_of(above), text_of(name)
    return (
        len(above) > 1
        and first[:1].isupper()
        and above[0].bold == name[0].bold
        and abs(above[0].x0 - name[0].x0) < 0.25 * name[0].size
        and (first.upper() != first or second.upper() == second)
        and not has_heading_word(first)
    )
