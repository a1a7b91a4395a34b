"""What the checks found, as sentences for a reviewer; LOINC reasons in words.

Must not be here: a check. A note whose code we do not know shows its code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portal.lib.units import show_units
from portal.pills import words
from reports.parser.report import LoincReason, NoteCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_REASONS: dict[str, str] = {
    LoincReason.TEAM_ALIAS: "remembered by your team",
    LoincReason.NAME: "name agrees",
    LoincReason.NAME_RESPELT: "name agrees, respelt",
    LoincReason.NAME_LIKE: "name is like it",
    LoincReason.UNIT_AGREES: "unit agrees",
    LoincReason.SPECIMEN_AGREES: "specimen agrees",
    LoincReason.PANEL_AGREES: "panel agrees",
    LoincReason.METHOD_AGREES: "method agrees",
    LoincReason.UNIT_MISSING: "no unit printed",
    LoincReason.UNIT_CONTRADICTS: "unit contradicts",
    LoincReason.SPECIMEN_CONTRADICTS: "specimen contradicts",
    LoincReason.SHARE_CONTRADICTS: "a share, the code is not",
    LoincReason.SCALE_CONTRADICTS: "scale contradicts",
    LoincReason.METHOD_NOT_PRINTED: "method not printed",
}
_PAIR = 2
_SHOWN_VALUES = 4
CONTRADICTS = frozenset(
    {
        LoincReason.UNIT_CONTRADICTS,
        LoincReason.SPECIMEN_CONTRADICTS,
        LoincReason.SHARE_CONTRADICTS,
        LoincReason.SCALE_CONTRADICTS,
    }
)


def without_repetition(notes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The notes, those on one test that is printed over and over as a single one."""
    told: list[Mapping[str, Any]] = []
    first: dict[int, dict[str, Any]] = {}
    for note in notes:
        if note["code"] != NoteCode.DUPLICATE or len(note["rows"]) != _PAIR:
            told.append(note)
            continue
        (later, earlier), facts = note["rows"], note["facts"]
        if earlier not in first:
            values = [_text(facts, "other")]
            first[earlier] = {**note, "rows": [earlier], "facts": {"values": values}}
            told.append(first[earlier])
        first[earlier]["rows"].append(later)
        first[earlier]["facts"]["values"].append(_text(facts, "value"))
    return told


def note_sentence(note: Mapping[str, Any]) -> str:
    """One sentence of what a note says against its rows."""
    facts = note["facts"]
    match note["code"]:
        case NoteCode.FLAG_DISAGREES:
            return (
                f"Marked {_text(facts, 'flag') or 'nothing'} on the page, but"
                f" {_text(facts, 'found') or 'otherwise'} by the range"
                f" {_text(facts, 'range')}."
            )
        case NoteCode.ARITHMETIC:
            return _arithmetic(facts)
        case NoteCode.IMPLAUSIBLE:
            least, most = _text(facts, "least"), _text(facts, "most")
            return (
                f"{_text(facts, 'printed')} {_unit(facts)} is not possible:"
                f" {least or 'any'} to {most or 'any'} is."
            )
        case NoteCode.UNIT_SUSPECT:
            return f"The unit does not fit {_text(facts, 'printed')}{_fits(facts)}."
        case NoteCode.UNIT_MISSING:
            return f"No unit is printed{_fits(facts)}."
        case NoteCode.DECIMAL_SUSPECT:
            return (
                f"A decimal point may be lost: {_text(facts, 'printed')} lies far off"
                f" {_text(facts, 'range')}, {_text(facts, 'fits')} would not."
            )
        case NoteCode.DUPLICATE:
            pair = [_text(facts, "other"), _text(facts, "value")]
            return _repeats(facts.get("values", pair))
        case NoteCode.SECOND_PERSON:
            pages = ", ".join(
                _number(value)
                for name, value in facts.items()
                if name.startswith("page")
            )
            return f"Another person is named on page {pages}."
        case NoteCode.DATE_IN_FUTURE:
            return f"{words(_text(facts, 'date'))} lies in the future."
        case NoteCode.DATES_OUT_OF_ORDER:
            first, last = _text(facts, "earlier"), _text(facts, "later")
            return f"{words(first)} comes after {words(last).lower()}."
        case _:
            return f"{words(str(note['code']))}."


def reason_words(reasons: list[str]) -> str:
    """Why a LOINC candidate stands where it does."""
    said = [_REASONS.get(reason) or words(reason).lower() for reason in reasons]
    return ", ".join(said)


def is_contradicted(reasons: list[str]) -> bool:
    """Whether something printed speaks against a candidate."""
    return not CONTRADICTS.isdisjoint(reasons)


def _repeats(values: list[str]) -> str:
    if len(values) == _PAIR:
        return f"Printed twice: {values[0]} and {values[1]}."
    shown, more = values[:_SHOWN_VALUES], len(values) - _SHOWN_VALUES
    rest = f" and {more} more" if more > 0 else ""
    return f"Printed several times: {', '.join(shown)}{rest}."


def _arithmetic(facts: Mapping[str, Any]) -> str:
    rule = _text(facts, "rule")
    if rule == "differential_sum":
        return f"The differential sums to {_text(facts, 'printed')} %, not 100."
    if rule == "part_exceeds_whole":
        return f"{_text(facts, 'printed')} is more than its whole,{_whole(facts)}."
    return (
        f"{words(rule)}: {_text(facts, 'printed')} is printed,"
        f" {_text(facts, 'expected')} {_unit(facts)} follows from the other rows."
    )


def _whole(facts: Mapping[str, Any]) -> str:
    return f" {_text(facts, 'whole')}"


def _fits(facts: Mapping[str, Any]) -> str:
    fits = [
        show_units(str(value))
        for name, value in facts.items()
        if name.startswith("fits") and value
    ]
    return f"; {' and '.join(fits)} would fit" if fits else ""


def _unit(facts: Mapping[str, Any]) -> str:
    return show_units(_text(facts, "unit"))


def _text(facts: Mapping[str, Any], name: str) -> str:
    value = facts.get(name)
    if value is None:
        return ""
    return _number(value) if isinstance(value, float | int) else str(value)


def _number(value: float) -> str:
    return f"{value:g}"
