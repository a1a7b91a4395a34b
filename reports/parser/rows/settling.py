"""Cleans up the rows of a whole report: repeats, and marks after names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from reports.parser.report import SampleType
from reports.parser.text.fields import is_unit, strip_status_words_from_name
from reports.parser.text.roles import is_name_column_title

from .grammar import (
    breaks_value_grammar,
    drop_gloss_from_name,
    settle_fields_by_grammar,
)
from .row import Row

_LABELLED = re.compile(
    r"(?i)(?P<open>[(\[]?)\s*(?:normal(?:e|wert|bereich)?|norm[ae]?|zakres"
    r"|ref(?:erence|erenz|\.)?|v?\.?n\.?|v\.?r\.?)"
    r"(?:\s*[:=]\s*|(?<=\w{3})\s+(?=[<>≤≥\d]))(?P<rest>\S.*)"
)
_BRACKETED_UNIT = re.compile(r"[(\[](?P<unit>[^()\[\]]+)[)\]]")
_BAND = re.compile(r"[^\W\d_]{2,}\s*[:=]")
_SERIAL = re.compile(r"\d{1,3}[.)]?")
# The number of the laboratory that did the test, as some print behind every name.
_LAB_NUMBER = re.compile(r"(?<=[^\d\s])\s?0\d$")


def keep_rows_of_grammar(rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose fields, once settled, obey the grammar of their kind.

    The line of a row that is left out counts as unread, so that a person sees it.
    """
    for row in rows:
        row.fields = settle_fields_by_grammar(row.fields)
        _drop_gloss(row)
    return [
        row
        for row in rows
        if not breaks_value_grammar(row.fields.value)
        and not is_name_column_title(row.test_name)
    ]


def deduplicate_rows_and_clean_names(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, each once, names without the lab's number."""
    numbered = [row for row in rows if _LAB_NUMBER.search(row.test_name)]
    if len(numbered) >= max(3, 0.4 * len(rows)):
        for row in numbered:
            row.name_text = _LAB_NUMBER.sub("", row.test_name)
    drop_serial_numbers_from_names(rows)
    for row in rows:
        row.name_text = strip_status_words_from_name(row.test_name)
        _drop_label(row)
        _drop_brackets(row)
    return _drop_repeats(rows)


def _drop_gloss(row: Row) -> None:
    """Leave out of a name what says it again in another script, set apart."""
    if row.test_name.isascii():
        return
    words = drop_gloss_from_name(row.name)
    if len(words) < len(row.name):
        row.name, row.name_text = words, ""


def drop_serial_numbers_from_names(rows: Sequence[Row]) -> None:
    """Leave out of names the numbers that count the rows: '1 Sodium', '2 Urea'."""
    counted = [
        row for row in rows if len(row.name) > 1 and _SERIAL.fullmatch(row.name[0].text)
    ]
    numbers = [int(row.name[0].text.rstrip(".)")) for row in counted]
    follows = sum(1 for a, b in pairwise(numbers) if b == a + 1)
    if len(counted) < max(3, 0.7 * len(rows)) or follows < 0.7 * len(counted) - 1:
        return
    for row in counted:
        row.name_text = row.test_name.removeprefix(row.name[0].text).lstrip(" .)")
        row.name = row.name[1:]


def _drop_label(row: Row) -> None:
    """Leave out the label of a range that has but one part: 'Normal: 70 - 99'."""
    match = _LABELLED.fullmatch(row.fields.range or "")
    if match and not _BAND.search(match["rest"]):
        rest = match["rest"].rstrip(")] ") if match["open"] else match["rest"]
        row.fields = replace(row.fields, range=rest)


def _drop_brackets(row: Row) -> None:
    """Leave out brackets around a whole unit: '[g/dL]'."""
    match = _BRACKETED_UNIT.fullmatch(row.fields.units or "")
    if match and is_unit(match["unit"]):
        row.fields = replace(row.fields, units=match["unit"])


def _is_fuller(row: Row, first: Row) -> bool:
    """Whether a row has the range that a summary before it leaves out."""
    return bool(row.fields.range) and not first.fields.range


def _drop_repeats(rows: Iterable[Row]) -> list[Row]:
    """Leave out a row that a later page quotes again, equal in every part."""
    kept: dict[tuple[str, str, str | None, SampleType | None], Row] = {}
    for row in rows:
        key = (
            row.test_name.casefold(),
            row.fields.value,
            row.fields.units,
            row.specimen,
        )
        first = kept.get(key)
        if first is None or (first.page != row.page and _is_fuller(row, first)):
            kept[key] = row
        elif first.page == row.page:
            kept[(*key[:3], None) if key[3] else (f"{key[0]} ", *key[1:])] = row
    return sorted(kept.values(), key=lambda row: (row.page,))
