"""Finds tests that are reported more than once with different values."""

from __future__ import annotations

from collections.abc import Sequence

from reports.parser.checks.quantities import find_result_catalogue_entry
from reports.parser.report import Fact, Note, NoteCode, ParsedResult, RowState


def check_repeated_tests(results: Sequence[ParsedResult]) -> tuple[Note, ...]:
    """Return notes on rows of one name, code and unit with different values.

    The same test by two methods, or in serum and urine, has two codes or two names.
    """
    first: dict[tuple[str, ...], int] = {}
    notes: list[Note] = []
    for position, result in enumerate(results):
        entry = find_result_catalogue_entry(result)
        key = (
            "".join(sign for sign in result.test_name.casefold() if sign.isalnum()),
            entry.code if entry else "",
            result.ucum or result.units or "",
            result.source_panel_name or "" if entry is None else "",
            result.sample_type or "",
        )
        earlier = first.setdefault(key, position)
        if earlier == position or results[earlier].value == result.value:
            continue
        notes.append(
            Note(
                NoteCode.DUPLICATE,
                RowState.LOOK,
                (position, earlier),
                (
                    Fact("value", text=result.value),
                    Fact("other", text=results[earlier].value),
                ),
            )
        )
    return tuple(notes)
