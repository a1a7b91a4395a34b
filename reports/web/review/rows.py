"""A review's rows, panels and checks as the review page shows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any
from zlib import crc32

from django.utils.translation import gettext as _

from portal.lib.translation import gettext_lazy
from portal.ui.gauges import draw_percentage_bar
from portal.ui.pills import find_status_pill, format_wire_value_as_words
from reports.parser.report import Interpretation
from reports.parser.text.values import parse_printed_number
from reports.states import RowDecision
from reports.web.review.notes import (
    describe_check_note,
    describe_loinc_candidate_reasons,
    is_loinc_candidate_contradicted,
    merge_notes_on_repeated_tests,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from django.utils.safestring import SafeString

    from reports.models import Review, ReviewComment, ReviewRow
    from reports.queries.review_queue import EarlierValue

SHOWN_CANDIDATES = 5
_SURE = 0.9
_UNSURE = 0.6
_BARS = {
    "text": gettext_lazy("Text"),
    "row": gettext_lazy("Row"),
    "loinc": gettext_lazy("LOINC"),
    "unit": gettext_lazy("Unit"),
    "range": gettext_lazy("Range"),
}
# By state: icon, family of its colour, words.
_STATES = {
    "auto": ("ring", "mute", gettext_lazy("As read")),
    "look": ("alert", "warn", gettext_lazy("To check")),
    "contradiction": ("x", "bad", gettext_lazy("Contradiction")),
    "confirmed": ("check", "ok", gettext_lazy("Confirmed")),
    "edited": ("edit", "info", gettext_lazy("Edited")),
    "excluded": ("ban", "mute", gettext_lazy("Excluded")),
    "added": ("plus", "info", gettext_lazy("Added")),
}


@dataclass(frozen=True, slots=True)
class Bar:
    """The parser's confidence in one part, in words and as a bar."""

    label: str
    says: str
    is_low: bool
    svg: SafeString


@dataclass(frozen=True, slots=True)
class Candidate:
    """A LOINC code to choose, with reasons; contradicted ones are struck."""

    code: str
    name: str
    reasons: str
    score: str
    is_struck: bool


@dataclass(frozen=True, slots=True)
class DeskRow:
    """A row as the review page shows it."""

    row: ReviewRow
    state: str
    icon: str
    family: str
    says: str
    why: tuple[str, ...]
    code: str
    code_name: str
    flag: str
    flag_text: str
    bars: tuple[Bar, ...]
    overall: str
    earlier: str
    is_typed: bool
    needs: bool
    comments: tuple[ReviewComment, ...]

    @property
    def panel(self) -> str:
        """Return the printed heading above the row, empty without one."""
        return str(self.row.values["source_panel_name"] or "")


@dataclass(frozen=True, slots=True)
class Panel:
    """A printed heading; `plain` of its rows can be confirmed together."""

    name: str
    plain: int

    @property
    def key(self) -> str:
        """Return an ID of the panel within the page, whatever rows it has."""
        return f"{crc32(self.name.encode()):08x}"


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under one heading.

    panel: None of rows to check, which are decided one by one, and of a heading that
    comes a second time.
    """

    name: str
    rows: tuple[DeskRow, ...]
    panel: Panel | None


@dataclass(frozen=True, slots=True)
class Check:
    """A note on the report, with the rows it is about."""

    says: str
    severity: str
    rows: tuple[tuple[int, str], ...]


def build_review_page_row(
    row: ReviewRow,
    notes: Iterable[Mapping[str, Any]],
    earlier: Mapping[str, EarlierValue],
    comments: Iterable[ReviewComment],
) -> DeskRow:
    """Return a row with its notes, comments and previous value."""
    values = row.values
    needs = row.is_flagged and not row.is_decided
    state = str(row.decision) if row.is_decided else row.state
    if needs and state == "auto":
        state = "look"
    icon, family, description = _STATES.get(
        state, ("ring", "mute", format_wire_value_as_words(state))
    )
    why = [describe_check_note(note) for note in notes if row.position in note["rows"]]
    if values["loinc_match_status"] == "needs_review" and not row.is_decided:
        why.append(_("The LOINC code is uncertain. Confirm it or choose another."))
    if values["interpretation"] == "critical" and row.is_included:
        why.append(_("Critical value. Record who was notified before you sign."))
    if row.reason:
        words = _("Kept: %(reason)s") if row.is_included else _("Excluded: %(reason)s")
        why.append(words % {"reason": row.reason})
    match = next(iter(values["loinc_matches"]), None)
    code = match["loinc_code"] if match else ""
    flag = _flag(values)
    places = values["provenance"]
    return DeskRow(
        row=row,
        state=state,
        icon=icon,
        family=family,
        says=description,
        why=tuple(why),
        code=code,
        code_name=(match["display_name"] or match["loinc_name"]) if match else "",
        flag=flag,
        flag_text=_flag_text(flag, values["flag"] or ""),
        bars=_bars(values["confidence"]),
        overall=_share(values["confidence"].get("overall")),
        earlier=_earlier(values, earlier.get(code)),
        is_typed=not any(places.values()),
        needs=needs,
        comments=tuple(one for one in comments if one.position == row.position),
    )


def group_rows_to_check_first(rows: Sequence[DeskRow]) -> list[Group]:
    """Group rows: those to check first, the rest by panel in reading order."""
    needing = tuple(row for row in rows if row.needs)
    rest = [row for row in rows if not row.needs]
    groups = [Group(_("To check"), needing, None)] if needing else []
    panels = {panel.name: panel for panel in list_panel_headings(rows)}
    for name, found in groupby(rest, lambda row: row.panel):
        groups.append(Group(name or _("Values"), tuple(found), panels.pop(name, None)))
    return groups


def list_panel_headings(rows: Iterable[DeskRow]) -> list[Panel]:
    """Return the headings of a report, each once."""
    plain = Counter[str]()
    for row in rows:
        plain[row.panel] += not (row.needs or row.row.is_decided)
    return [Panel(name, number) for name, number in plain.items()]


def list_report_check_notes(review: Review, rows: Iterable[ReviewRow]) -> list[Check]:
    """Return the notes on a report, contradictions first."""
    names = {row.position: str(row.values["test_name"]) for row in rows}
    checks = [
        Check(
            says=describe_check_note(note),
            severity=note["severity"],
            rows=tuple((at, names[at]) for at in note["rows"] if at in names),
        )
        for note in merge_notes_on_repeated_tests(review.notes)
    ]
    return sorted(checks, key=lambda check: check.severity != "contradiction")


def list_row_loinc_candidates(matches: Iterable[Mapping[str, Any]]) -> list[Candidate]:
    """Return a row's LOINC candidates, contradicted ones last."""
    found = [
        Candidate(
            code=match["loinc_code"],
            # Codes that share a display name differ in their long one.
            name=match["loinc_name"] or match["display_name"],
            reasons=describe_loinc_candidate_reasons(list(match["reasons"])),
            score=_share(match["confidence_score"]),
            is_struck=is_loinc_candidate_contradicted(list(match["reasons"])),
        )
        for match in matches
    ]
    return sorted(found, key=lambda one: one.is_struck)[:SHOWN_CANDIDATES]


def _flag(values: Mapping[str, Any]) -> str:
    if values["interpretation"] == "critical":
        return "critical"
    if values["is_above_max_range"]:
        return "high"
    if values["is_below_min_range"]:
        return "low"
    found = str(values["interpretation"])
    return "" if found == "unknown" else found


def _bars(confidence: Mapping[str, float | None]) -> tuple[Bar, ...]:
    bars = []
    for name, label in _BARS.items():
        share = confidence.get(name)
        if share is None:
            continue
        svg = draw_percentage_bar(share * 100, is_enough=share >= _SURE)
        bars.append(Bar(label, _confidence_text(share), share < _SURE, svg))
    return tuple(bars)


def _confidence_text(share: float) -> str:
    """Return the level and the percentage of a confidence."""
    if share >= _SURE:
        text = _("High, %(share)s")
    elif share >= _UNSURE:
        text = _("Medium, %(share)s")
    else:
        text = _("Low, %(share)s")
    return text % {"share": _share(share)}


def _flag_text(flag: str, printed: str) -> str:
    """Return a row's flag in words, empty for a normal value or one without a flag."""
    if not flag or flag == Interpretation.NORMAL:
        return ""
    label = find_status_pill(flag).words
    if not printed:
        return label
    return _("%(flag)s (printed: %(printed)s)") % {"flag": label, "printed": printed}


def _share(share: float | None) -> str:
    return "" if share is None else f"{int(share * 100)}%"


def _earlier(values: Mapping[str, Any], before: EarlierValue | None) -> str:
    if before is None:
        return ""
    text = f"{before.value} {before.units}".strip()
    if before.collected:
        text = _("%(value)s on %(day)s") % {"value": text, "day": before.collected}
    numbers = (
        parse_printed_number(str(values["value"])),
        parse_printed_number(before.value),
    )
    if numbers[0] is None or numbers[1] is None:
        return text
    if (values["units"] or "") != before.units:
        return text
    change = f"{numbers[0] - numbers[1]:+.4g}"
    return _("%(value)s, change %(change)s") % {"value": text, "change": change}


def count_decided_rows(rows: Iterable[ReviewRow]) -> int:
    """Count the rows that a reviewer has decided."""
    return sum(row.decision != RowDecision.UNDECIDED for row in rows)
