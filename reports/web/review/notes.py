"""Describes check notes and LOINC reasons in sentences for reviewers.

A note of an unknown code shows the code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.lib.languages import write_within_sentence
from portal.lib.translation import gettext_lazy
from portal.lib.units import format_unit
from portal.ui.pills import format_wire_value_as_words
from reports.parser.report import LoincReason, NoteCode
from reports.states import HoldReason

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_REASONS: dict[str, str] = {
    LoincReason.TEAM_ALIAS: gettext_lazy("mapped by your team"),
    LoincReason.NAME: gettext_lazy("name matches"),
    LoincReason.NAME_RESPELT: gettext_lazy("name matches (spelling variant)"),
    LoincReason.NAME_LIKE: gettext_lazy("similar name"),
    LoincReason.UNIT_AGREES: gettext_lazy("unit matches"),
    LoincReason.SPECIMEN_AGREES: gettext_lazy("specimen matches"),
    LoincReason.PANEL_AGREES: gettext_lazy("panel matches"),
    LoincReason.METHOD_AGREES: gettext_lazy("method matches"),
    LoincReason.UNIT_MISSING: gettext_lazy("no unit printed"),
    LoincReason.UNIT_CONTRADICTS: gettext_lazy("unit conflicts"),
    LoincReason.SPECIMEN_CONTRADICTS: gettext_lazy("specimen conflicts"),
    LoincReason.SHARE_CONTRADICTS: gettext_lazy(
        "value is a percentage, the code is not"
    ),
    LoincReason.SCALE_CONTRADICTS: gettext_lazy("scale conflicts"),
    LoincReason.METHOD_NOT_PRINTED: gettext_lazy("method not printed"),
}
_DATES: dict[str, str] = {
    "dob": gettext_lazy("Birth date"),
    "date_collected": gettext_lazy("Collection date"),
    "date_reported": gettext_lazy("Report date"),
}
# By whether a flag is printed, then by the side of the range the value is on.
_FLAG_SENTENCES: dict[bool, dict[str, str]] = {
    True: {
        "high": gettext_lazy("Flagged %(flag)s, but above the range %(range)s."),
        "low": gettext_lazy("Flagged %(flag)s, but below the range %(range)s."),
        "inside": gettext_lazy("Flagged %(flag)s, but within the range %(range)s."),
        "": gettext_lazy("The flag %(flag)s does not match the range %(range)s."),
    },
    False: {
        "high": gettext_lazy("Not flagged, but above the range %(range)s."),
        "low": gettext_lazy("Not flagged, but below the range %(range)s."),
        "": gettext_lazy("Not flagged, but outside the range %(range)s."),
    },
}
DETAIL_LABELS = {
    "name": gettext_lazy("Name"),
    "dob": gettext_lazy("Birth date"),
    "gender": gettext_lazy("Sex"),
}
_DASH = re.compile(r"(?<=\d) ?- ?(?=\d)")
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


def merge_notes_on_repeated_tests(
    notes: Iterable[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    """Return the notes, those on one repeated test merged into one."""
    merged: list[Mapping[str, Any]] = []
    first: dict[int, dict[str, Any]] = {}
    for note in notes:
        if note["code"] != NoteCode.DUPLICATE or len(note["rows"]) != _PAIR:
            merged.append(note)
            continue
        (later, earlier), facts = note["rows"], note["facts"]
        if earlier not in first:
            values = [_text(facts, "other")]
            first[earlier] = {**note, "rows": [earlier], "facts": {"values": values}}
            merged.append(first[earlier])
        first[earlier]["rows"].append(later)
        first[earlier]["facts"]["values"].append(_text(facts, "value"))
    return merged


def describe_check_note(note: Mapping[str, Any]) -> str:
    """Return one sentence that says what a note found."""
    facts = note["facts"]
    match note["code"]:
        case NoteCode.FLAG_DISAGREES:
            return _flag_sentence(facts)
        case NoteCode.ARITHMETIC:
            return _arithmetic_sentence(facts)
        case NoteCode.IMPLAUSIBLE:
            return _implausible_sentence(facts)
        case NoteCode.UNIT_SUSPECT:
            text = _("The unit does not fit %(value)s.") % {
                "value": _text(facts, "printed")
            }
            return _with_fitting_units(text, facts)
        case NoteCode.UNIT_MISSING:
            return _with_fitting_units(_("No unit is printed."), facts)
        case NoteCode.DECIMAL_SUSPECT:
            return _("Missing decimal point? %(value)s would fit %(range)s.") % {
                "value": _text(facts, "fits"),
                "range": _range(facts),
            }
        case NoteCode.DUPLICATE:
            pair = [_text(facts, "other"), _text(facts, "value")]
            return _repeats_sentence(facts.get("values", pair))
        case NoteCode.SECOND_PERSON:
            return _second_person_sentence(facts)
        case NoteCode.HIDDEN_TEXT:
            return _("The file has text that its pages do not show.")
        case NoteCode.DATE_IN_FUTURE:
            return _("%(date)s is in the future.") % {
                "date": _date_label(_text(facts, "date"))
            }
        case NoteCode.DATES_OUT_OF_ORDER:
            return _("%(first)s is after %(second)s.") % {
                "first": _date_label(_text(facts, "earlier")),
                "second": write_within_sentence(_date_label(_text(facts, "later"))),
            }
        case code:
            return f"{format_wire_value_as_words(str(code))}."


def describe_hold_reasons(reasons: Iterable[str]) -> list[str]:
    """Return one sentence for each reason why a report is held."""
    found = ((reason, HoldReason.known(reason)) for reason in reasons)
    return [
        str(known.label) if known else f"{format_wire_value_as_words(reason)}."
        for reason, known in found
    ]


def describe_loinc_candidate_reasons(reasons: list[str]) -> str:
    """Describe the reasons for and against a LOINC candidate."""
    texts = [
        _REASONS.get(reason) or format_wire_value_as_words(reason).lower()
        for reason in reasons
    ]
    return ", ".join(str(text) for text in texts)


def is_loinc_candidate_contradicted(reasons: list[str]) -> bool:
    """Return whether something printed contradicts a candidate."""
    return not CONTRADICTS.isdisjoint(reasons)


def _flag_sentence(facts: Mapping[str, Any]) -> str:
    about = {"flag": _text(facts, "flag"), "range": _range(facts)}
    texts = _FLAG_SENTENCES[bool(about["flag"])]
    return texts.get(_text(facts, "found"), texts[""]) % about


def _implausible_sentence(facts: Mapping[str, Any]) -> str:
    least, most = _text(facts, "least"), _text(facts, "most")
    if least and most:
        text = _("%(value)s is outside the plausible range (%(least)s–%(most)s).")
    elif least:
        text = _("%(value)s is implausible: the least plausible value is %(least)s.")
    else:
        text = _("%(value)s is implausible: the largest plausible value is %(most)s.")
    value = f"{_text(facts, 'printed')} {_unit(facts)}".strip()
    return text % {"value": value, "least": least, "most": most}


def _second_person_sentence(facts: Mapping[str, Any]) -> str:
    pages = [_number(value) for name, value in facts.items() if name.startswith("page")]
    return ngettext(
        "Page %(pages)s names another patient.",
        "Pages %(pages)s name another patient.",
        len(pages),
    ) % {"pages": ", ".join(pages)}


def _repeats_sentence(values: list[str]) -> str:
    if len(values) == _PAIR:
        first, second = values
        return _("Printed twice: %(first)s and %(second)s.") % {
            "first": first,
            "second": second,
        }
    shown, more = values[:_SHOWN_VALUES], len(values) - _SHOWN_VALUES
    about = {"values": ", ".join(shown), "n": more}
    if more <= 0:
        return _("Printed several times: %(values)s.") % about
    return _("Printed several times: %(values)s and %(n)d more.") % about


def _arithmetic_sentence(facts: Mapping[str, Any]) -> str:
    rule, printed = _text(facts, "rule"), _text(facts, "printed")
    if rule == "differential_sum":
        return _("The differential adds up to %(sum)s%%, not 100%%.") % {"sum": printed}
    if rule == "part_exceeds_whole":
        return _("%(part)s is greater than its total, %(whole)s.") % {
            "part": printed,
            "whole": _text(facts, "whole"),
        }
    return _(
        "%(rule)s: %(printed)s is printed, but the other rows give %(expected)s."
    ) % {
        "rule": format_wire_value_as_words(rule),
        "printed": printed,
        "expected": f"{_text(facts, 'expected')} {_unit(facts)}".strip(),
    }


def _with_fitting_units(text: str, facts: Mapping[str, Any]) -> str:
    """Return the sentence, followed by the units that would fit if there are any."""
    units = [
        format_unit(str(value))
        for name, value in facts.items()
        if name.startswith("fits") and value
    ]
    if not units:
        return text
    fits = _("%(units)s would fit.") % {"units": _(" or ").join(units)}
    return f"{text} {fits}"


def _date_label(name: str) -> str:
    return str(_DATES.get(name) or format_wire_value_as_words(name))


def _range(facts: Mapping[str, Any]) -> str:
    """Return the printed range with an en dash between its bounds."""
    return _DASH.sub("–", _text(facts, "range"))


def _unit(facts: Mapping[str, Any]) -> str:
    return format_unit(_text(facts, "unit"))


def _text(facts: Mapping[str, Any], name: str) -> str:
    value = facts.get(name)
    if value is None:
        return ""
    return _number(value) if isinstance(value, float | int) else str(value)


def _number(value: float) -> str:
    return f"{value:g}"
