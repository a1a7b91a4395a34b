"""Reads the titles of a table's columns.

No row is read here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from portal.lib.units import looks_like_unit
from reports.parser.columns.table_titles import (
    Title,
    are_titles_of_result_table,
    find_result_level_columns,
    resolve_ambiguous_column_titles,
)
from reports.parser.layout.lines import Cell, Line
from reports.parser.pages import Word
from reports.parser.text.dates import (
    is_date_title,
    parse_dates_in_same_order,
    parse_sortable_date,
)
from reports.parser.text.folding import normalize_letters_and_digits
from reports.parser.text.ranges import parse_labeled_range
from reports.parser.text.roles import (
    LONGEST_TITLE,
    TITLES,
    Role,
    find_column_role,
    is_column_title,
    may_start_column_title,
    names_result_column,
)

_MOST_WORDS = 26
_TWO = 2
_ONE_LIMIT = ({Role.RANGE, Role.LOW}, {Role.RANGE, Role.HIGH})
_FILLERS = {
    *("and", "of", "in", "the", "for", "your", "by", "with", "si", "age", "sex"),
    *("absolute", "percent", "percentage"),
}
_SHARES = {"percent", "percentage"}


@dataclass(frozen=True, slots=True)
class _Part:
    folded: str
    word: Word


def read_column_titles(lines: Sequence[Line]) -> tuple[Title, ...]:
    """Return the column titles that one to three adjacent lines print; empty if none.

    The first line is a title line by itself or becomes one with those below: words
    that stand over one another are read as one title.
    """
    if len(lines) == 1 and not _may_name_results(lines[0]):
        return ()
    if not _may_be_titles(lines):
        return ()
    if len(lines) == 1:
        groups = [list(cell.words) for cell in lines[0].cells]
    else:
        groups = _stack(lines)
    groups = [part for group in groups for part in _split_unit(group)]
    titles: list[Title] = []
    unknown: list[Title] = []
    unread = read = 0
    for group in groups:
        found, left = _read_group(group)
        titles.extend(found)
        read += len(group) - left
        unread += left
        if not found:
            unknown.append(_title(Role.OTHER, " ".join(w.text for w in group), group))
    titles = _split_flags(titles, groups)
    items = [*_read_dates(titles, unknown), *_read_units(titles, unknown)]
    titles += items
    unread -= sum(len(title.text.split()) for title in items)
    titles.sort(key=lambda title: title.x0)
    if not titles:
        return ()
    zones = find_result_level_columns(titles, unknown)
    if zones:
        unread -= sum(len(t.text.split()) for t in unknown if t in zones)
        unknown = [title for title in unknown if title not in zones]
        titles = sorted(
            [
                *(title for title in titles if title not in zones),
                *(Title(Role.VALUE, t.text, t.x0, t.x1) for t in zones),
            ],
            key=lambda title: title.x0,
        )
    titles = resolve_ambiguous_column_titles(_add_unknown(titles, unknown))
    named = sum(len(t.text.split()) for t in titles if t.role is Role.NAME)
    if unread > max(2, 0.34 * (read + unread)) + named:
        return ()
    return tuple(titles) if are_titles_of_result_table(titles, unread) else ()


def _split_flags(titles: list[Title], groups: Sequence[list[Word]]) -> list[Title]:
    """Part 'Result Flag' where no other title is of the results: two columns, set
    close.
    """
    if any(title.role is Role.VALUE for title in titles):
        return titles
    for n, title in enumerate(titles):
        own = [w for g in groups for w in g if title.x0 <= w.x0 and w.x1 <= title.x1]
        kinds = [find_column_role(word.text) for word in own]
        if title.role is Role.FLAG and kinds == [Role.VALUE, Role.FLAG]:
            parted = [_title(Role.VALUE, "", own[:1]), _title(Role.FLAG, "", own[1:])]
            return [*titles[:n], *parted, *titles[n + 1 :]]
    return titles


def _read_dates(titles: list[Title], unknown: list[Title]) -> list[Title]:
    """Titles that are dates, over the results of several days: the latest is read."""
    kinds = {title.role for title in titles}
    if Role.VALUE in kinds or not kinds & {Role.RANGE, Role.UNIT}:
        return []
    items = [
        t for t in unknown if not t.text.startswith(":") and parse_sortable_date(t.text)
    ]
    days = parse_dates_in_same_order([t.text for t in items])
    dated = [(day, t) for day, t in zip(days, items, strict=True) if day is not None]
    beyond = dated and all(title.x0 < dated[0][1].x0 for title in titles)
    if not dated or (beyond and len(dated) == 1 and Role.NAME not in kinds):
        # A date alone, right of all else, is that of a header: 'Ref  Reported'.
        return []
    latest = max(day for day, _ in dated)
    for _, title in dated:
        unknown.remove(title)
    return [
        Title(Role.VALUE if day == latest else Role.PREVIOUS, t.text, t.x0, t.x1)
        for day, t in dated
    ]


def _read_units(titles: list[Title], unknown: list[Title]) -> list[Title]:
    """Titles that are units, over results in each: '%' and '/mm3', with their ranges.

    One range behind both is of the last.
    """
    kinds = {title.role for title in titles}
    united = [t for t in unknown if looks_like_unit(t.text) and not t.text.isalpha()]
    ranges = sorted(t.x0 for t in titles if t.role is Role.RANGE)
    if Role.VALUE in kinds or len(united) != _TWO or not 0 < len(ranges) <= _TWO:
        return []
    if united[0].x1 > ranges[0] or united[1].x1 > ranges[-1]:
        return []
    if len(ranges) == 1 and united[1].x1 > ranges[0]:
        return []
    for title in united:
        unknown.remove(title)
    return [
        Title(Role.VALUE, "", t.x0, t.x1, unit=t.text.strip("()[]")) for t in united
    ]


def _add_unknown(titles: list[Title], unknown: list[Title]) -> list[Title]:
    """Give columns to titles that are not known: a name where one lacks, or other."""
    named = any(title.role is Role.NAME for title in titles)
    values = [title for title in titles if title.role is Role.VALUE]
    if not values:
        return titles
    added = []
    whole = Role.RANGE in {title.role for title in titles}
    for title in unknown:
        following = next((t for t in titles if t.x0 > title.x0), None)
        role = Role.OTHER
        leftmost = whole and title.x0 < titles[0].x0
        before = following is not None and following.role is Role.VALUE
        if not named and (before or leftmost):
            role, named = Role.NAME, leftmost
        elif title.x0 < values[0].x0 and not any(
            t.role is Role.NAME and t.x1 < title.x0 for t in titles
        ):
            continue
        added.append(Title(role, title.text, title.x0, title.x1))
    if not named and not any(title.role is Role.NAME for title in added):
        first = titles[0]
        if first.role is Role.OTHER and first.x0 < values[0].x0:
            titles = [Title(Role.NAME, "", first.x0, first.x1), *titles[1:]]
    return sorted([*titles, *added], key=lambda title: title.x0)


def has_column_title_word(line: Line) -> bool:
    """Return whether a line may begin column titles: one of its words is of a title."""
    return len(line.words) <= _MOST_WORDS and any(
        may_start_column_title(word.text) or is_date_title(word.text)
        for word in line.words
    )


def _may_name_results(line: Line) -> bool:
    """Cheaper refusal: no title that a table must have stands on the line."""
    folded = [normalize_letters_and_digits(word.text) for word in line.words]
    return names_result_column("".join(folded).replace(" ", ""))


def _may_be_titles(lines: Sequence[Line]) -> bool:
    """Cheap refusal: of a line of titles, most words are words of titles."""
    if len(lines[0].words) > _MOST_WORDS:
        return False
    known = words = 0
    for line in lines:
        words += len(line.words)
        hits = sum(
            1
            for word in line.words
            if word.text[0] in "%/"
            or may_start_column_title(word.text)
            or parse_sortable_date(word.text)
            or ("/" in word.text and looks_like_unit(word.text.strip("()[]")))
        )
        if not hits and line is lines[0]:
            return False
        known += hits
    if known < 2 or known < 0.35 * words:
        return False
    return not any(_is_labelled(line) for line in lines)


def _is_labelled(line: Line) -> bool:
    """Whether a line says something behind a label: 'Reference range: 70 - 99'."""
    texts = [cell.text for cell in line.cells]
    if any(parse_labeled_range(text) or _says_more(text) for text in texts):
        return True
    return any(
        a.endswith(":") and not b.endswith(":") for a, b in pairwise([*texts, ""])
    )


def _says_more(text: str) -> bool:
    """Whether a text goes on behind the colon of a title: 'Method: Enzymatic'."""
    label, colon, rest = text.partition(":")
    more = rest.strip()
    if not colon or find_column_role(label.partition("/")[0]) is None:
        return False
    return (
        bool(more) and not is_column_title(more) and parse_sortable_date(more) is None
    )


def _stack(lines: Sequence[Line]) -> list[list[Word]]:
    """Cells of several lines, those over one another joined in reading order."""
    stacks: list[list[Cell]] = []
    for line in lines:
        for cell in line.cells:
            home = None
            for stack in stacks:
                x0, x1 = min(c.x0 for c in stack), max(c.x1 for c in stack)
                shared = min(x1, cell.x1) - max(x0, cell.x0)
                if shared > 0.4 * min(x1 - x0, cell.x1 - cell.x0):
                    home = stack
                    break
            if home is None:
                stacks.append([cell])
            else:
                home.append(cell)
    return [[word for cell in stack for word in cell.words] for stack in stacks]


def _read_group(words: list[Word]) -> tuple[list[Title], int]:
    """Titles in one cell, longest phrase first, and how many words were none."""
    parts = [
        _Part(piece, word)
        for word in words
        for piece in normalize_letters_and_digits(word.text).split()
    ]
    titles: list[Title] = []
    unread: list[_Part] = []
    last: Word | None = None
    n = 0
    while n < len(parts):
        for length in range(min(LONGEST_TITLE, len(parts) - n), 0, -1):
            phrase = tuple(part.folded for part in parts[n : n + length])
            role = TITLES.get("".join(phrase))
            if role is not None:
                taken = [part.word for part in parts[n : n + length]]
                titles.append(_title(role, " ".join(phrase), taken))
                last = taken[-1]
                n += length
                break
        else:
            unread.append(parts[n])
            n += 1
    titles = _join_twins(titles, words)
    strange = {part.word for part in unread if part.folded not in _FILLERS}
    roles = {title.role for title in titles}
    if Role.RANGE in roles and roles in _ONE_LIMIT:
        # 'Lower reference limit', with or without the year of its source.
        titles = [replace(t, role=Role.RANGE) for t in titles[:1]]
    if len(titles) == 1 and titles[0].role is Role.RANGE:
        # Whose range it is stands before or behind: 'WHO 2010 Reference'.
        titles = [_title(Role.RANGE, titles[0].text, words)]
    if len(titles) == 1 and titles[0].role is Role.VALUE and len(words) > 1:
        behind = words[words.index(last) + 1 :] if last in words else []
        unit = " ".join(word.text for word in behind).strip("()[],")
        if looks_like_unit(unit):
            titles = [replace(titles[0], x1=behind[-1].x1, unit=unit)]
            strange.difference_update(behind)
        elif any(normalize_letters_and_digits(word.text) in _SHARES for word in words):
            titles = [replace(titles[0], unit="%")]
        if titles[0].unit and not strange:
            titles = [replace(titles[0], x0=words[0].x0, x1=words[-1].x1)]
        elif strange and words[0] in strange and words[-1] is last:
            # What kind of value it is: 'Ct Value', 'Control Value'.
            titles = [_title(Role.VALUE, " ".join(w.text for w in words), words)]
    return titles, len(strange)


def _join_twins(titles: list[Title], words: list[Word]) -> list[Title]:
    """Take a title in two languages for one: 'Analyse / Onderzoek'."""
    slashes = [word for word in words if word.text in ("/", "|")]
    joined: list[Title] = []
    for title in titles:
        last = joined[-1] if joined else title
        twin = any(last.x1 <= word.x0 and word.x1 <= title.x0 for word in slashes)
        if twin and last.role is title.role:
            joined[-1] = replace(last, x1=title.x1)
        else:
            joined.append(title)
    return joined


def _split_unit(words: list[Word]) -> list[list[Word]]:
    """Part '% Ref. %' into the title of results in a unit and that of their range."""
    first, last = words[0].text, words[-1].text
    twice = len(words) > _TWO and first == last and looks_like_unit(first)
    return [words[:1], words[1:]] if twice else [words]


def _title(role: Role, text: str, words: Sequence[Word]) -> Title:
    return Title(role, text, min(w.x0 for w in words), max(w.x1 for w in words))
