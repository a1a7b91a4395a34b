"""Possible orders of an unmatched report, with what agrees and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.queries.orders.history import has_order_ended
from labs.states.inbound import Agreement
from labs.web.order_rows import format_lab_account_name
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.operations.inbound.matching import Candidate, Evidence

_POINTS = (
    ("number", gettext_lazy("Number")),
    ("name", gettext_lazy("Name")),
    ("birth_date", gettext_lazy("Birth date")),
    ("sex", gettext_lazy("Sex")),
    ("tests", gettext_lazy("Tests")),
    ("account", gettext_lazy("Account")),
)
_GLYPHS = {
    Agreement.AGREES: ("ok", "check"),
    Agreement.DIFFERS: ("bad", "x"),
    Agreement.UNTOLD: ("mute", "minus"),
}


@dataclass(frozen=True, slots=True)
class MatchPoint:
    """One thing that agrees or differs between a report and an order."""

    words: str
    agreement: str
    family: str
    glyph: str


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A possible order of a report, as a table row.

    `has_ended`: its status takes no results, and they can only be added to it as it is.
    """

    candidate: Candidate
    points: Sequence[MatchPoint]
    account: str
    has_ended: bool


def build_candidate_row(candidate: Candidate) -> CandidateRow:
    return CandidateRow(
        candidate,
        _build_match_points(candidate.evidence),
        format_lab_account_name(candidate.order.lab_account),
        has_order_ended(candidate.order),
    )


def _build_match_points(evidence: Evidence) -> list[MatchPoint]:
    agreements = [(label, getattr(evidence, name)) for name, label in _POINTS]
    return [
        MatchPoint(label, str(agreement.label), *_GLYPHS[agreement])
        for label, agreement in agreements
    ]
