"""Saves changes to rows of a review as versions, and runs the checks again.

Rows whose doubts changed change with it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson
from django.utils.translation import gettext as _

from portal.lib.errors import Conflict, DomainError, NotFound
from reports.models import ReviewRow, ReviewRowVersion
from reports.operations.critical_limits import build_critical_criteria
from reports.operations.reading.parsed_values import build_stored_header
from reports.operations.review.checks import (
    RowText,
    get_row_review_state,
    list_row_check_notes,
    run_checks_on_review_rows,
    uses_report_decimal_commas,
)
from reports.operations.review.reviews import (
    lock_claimed_review,
    record_review_change_in_audit_log,
    update_review_counts,
)
from reports.parser.report import Metadata, ParsedResult
from reports.queries import list_review_rows
from reports.states import RowDecision

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.models import Review
    from reports.parser.checks.critical import CriticalCriteria
    from reports.parser.report import Place

TEXT_MAX_LENGTH = 1000
_TYPED = (
    "test_name",
    "value",
    "units",
    "reference_range",
    "flag",
    "source_panel_name",
)
_COLUMNS = ["values", "decision", "reason", "state", "version", "acknowledged"]


@dataclass(frozen=True, slots=True)
class RowRef:
    """A row of a review at the version that the caller saw."""

    review_id: UUID
    position: int
    version: int


@dataclass(frozen=True, slots=True)
class SavedRow:
    """A saved row, and the other rows that changed with it."""

    row: ReviewRow
    others: tuple[ReviewRow, ...]
    notes: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Change:
    """A change to one row; a result of None leaves its values.

    One that does not settle a doubt leaves a contradicted row undecided, but for a
    reason.
    """

    row: ReviewRow
    decision: str
    result: ParsedResult | None = None
    reason: str = ""
    restores: int | None = None
    settles_doubt: bool = True


@dataclass
class Desk:
    """A locked review with all its rows, in reading order."""

    review: Review
    rows: list[ReviewRow]
    actor: Actor

    def find(self, ref: RowRef) -> ReviewRow:
        """Return the row at that version. Raises: row_not_found, row_changed."""
        row = self.at(ref.position)
        if row.version != ref.version:
            raise Conflict(
                "row_changed", _("Someone changed this row while you were editing.")
            )
        return row

    def at(self, position: int) -> ReviewRow:
        """Return the current row. Raises: row_not_found (404)."""
        for row in self.rows:
            if row.position == position:
                return row
        raise NotFound("row_not_found", _("Row not found."), "position")

    @property
    def metadata(self) -> Metadata:
        """The header that the report's rows are read by."""
        return build_stored_header(self.review.job)

    @cached_property
    def criteria(self) -> CriticalCriteria:
        """What the report's values are judged by."""
        return build_critical_criteria(job=self.review.job, metadata=self.metadata)

    @property
    def decimal_comma(self) -> bool:
        """Whether the report's numbers have decimal commas."""
        return uses_report_decimal_commas(self.rows)


def lock_review_rows(*, tenant: Tenant, actor: Actor, review_id: UUID) -> Desk:
    """Lock a claimed review for changes to its rows.

    Raises: review_not_found (404); claim_needed, claim_lost (409); review_ended.
    """
    review = lock_claimed_review(tenant=tenant, actor=actor, review_id=review_id)
    return Desk(review, list_review_rows(tenant=tenant, review=review), actor)


def save_and_recheck_review_rows(
    *, desk: Desk, changes: Sequence[Change], verb: str
) -> SavedRow:
    """Save each row's next version, run the checks, and save what that changed.

    The row answered is that of the first change; the others come with what the checks
    changed.
    """
    before = {change.row.position: change.row.values for change in changes}
    for change in changes:
        row = change.row
        if change.result is not None:
            row.values = convert_row_values_as_stored(change.result)
        row.decision, row.reason = change.decision, change.reason
        row.version += 1
        if row.values != before[row.position] or not row.is_critical:
            row.acknowledged = None  # it was of another value
    notes = run_checks_on_review_rows(desk.rows, notes=desk.review.notes)
    saved = [change.row for change in changes]
    changed, renewed = _list_side_effects(desk, saved, notes)
    for change in changes:
        if change.row.is_contradicted and not (change.settles_doubt or change.reason):
            change.row.decision = RowDecision.UNDECIDED
    desk.review.notes = notes
    fields = {
        name
        for row in saved
        for name in row.values
        if row.values[name] != before[row.position].get(name)
    }
    store_review_row_versions(
        desk=desk,
        rows=[*saved, *renewed],
        also=changed,
        verb=verb,
        together=[row.position for row in saved],
        restores={c.row.position: c.restores for c in changes},
        fields=sorted(fields),
    )
    others = dict.fromkeys([*saved[1:], *renewed, *changed])
    return SavedRow(saved[0], tuple(others), notes)


def store_review_row_versions(
    *,
    desk: Desk,
    rows: Sequence[ReviewRow],
    verb: str,
    together: Sequence[int],
    also: Sequence[ReviewRow] = (),
    restores: dict[int, int | None] | None = None,
    **details: object,
) -> None:
    """Write rows with a version each, rows of `also` without one, and the review.

    together: the positions that the operation itself changed; the other rows only
    follow.
    """
    tenant, review = desk.review.tenant, desk.review
    touched = list(dict.fromkeys([*rows, *also]))
    if touched:
        ReviewRow.objects.for_tenant(tenant).bulk_update(touched, _COLUMNS)
    own = set(together)
    ReviewRowVersion.objects.for_tenant(tenant).bulk_create(
        ReviewRowVersion(
            tenant=tenant,
            row=row,
            version=row.version,
            values=row.values,
            decision=row.decision,
            reason=row.reason,
            act=verb if row.position in own else "",
            together=sorted(own) if row.position in own else [],
            restores=(restores or {}).get(row.position),
            actor_kind=desk.actor.kind,
            actor_key=desk.actor.key,
            actor_label=desk.actor.label,
        )
        for row in rows
    )
    update_review_counts(review, desk.rows)
    review.save(update_fields=["notes", "flagged", "is_critical", "claimed_until"])
    record_review_change_in_audit_log(
        review, desk.actor, verb=verb, positions=sorted(own), **details
    )


def get_row_decision_before_reopening(row: ReviewRow) -> str:
    """Return the decision of a row before a new check result reopened it."""
    if row.version == 1:
        return RowDecision.CONFIRMED
    first = row.versions.get(version=1)
    if first.decision == RowDecision.ADDED:
        return RowDecision.ADDED
    same = first.values == row.values
    return RowDecision.CONFIRMED if same else RowDecision.EDITED


def get_row_decision_after_change(row: ReviewRow) -> str:
    """Return the decision of a row after a reviewer changed it."""
    was_added = row.decision == RowDecision.ADDED
    return RowDecision.ADDED if was_added else RowDecision.EDITED


def validate_review_row_text(text: RowText) -> RowText:
    """Return the text, stripped. Raises: row_incomplete, text_too_long."""
    plain = {
        name: value.replace("\0", "").strip() or None
        for name in _TYPED
        if (value := getattr(text, name)) is not None
    }
    name, value = plain["test_name"], plain["value"]
    if not (name and value):
        raise DomainError("row_incomplete", _("Enter a name and a value."))
    for field, written in plain.items():
        if written and len(written) > TEXT_MAX_LENGTH:
            raise DomainError(
                "text_too_long", _("Enter at most 1,000 characters."), field
            )
    return RowText(
        test_name=name,
        value=value,
        units=plain.get("units"),
        reference_range=plain.get("reference_range"),
        flag=plain.get("flag"),
        source_panel_name=plain.get("source_panel_name"),
        sample_type=text.sample_type,
    )


def require_box_inside_page(*, review: Review, place: Place) -> None:
    """Refuse a box outside its page. Raises: place_not_on_page."""
    sizes = {size["page"]: size for size in review.job.page_sizes or []}
    size = sizes.get(place.page)
    if (
        size is None
        or len(place.polygon) < 3
        or not all(
            0 <= point.x <= size["width"] and 0 <= point.y <= size["height"]
            for point in place.polygon
        )
    ):
        raise DomainError(
            "place_not_on_page", _("The box is outside the page."), "place"
        )


def convert_row_values_as_stored(result: ParsedResult) -> dict[str, Any]:
    """Return a row's values in the form in which the database returns them."""
    stored: dict[str, Any] = orjson.loads(orjson.dumps(asdict(result), default=list))
    return stored


def _list_side_effects(
    desk: Desk, saved: Iterable[ReviewRow], notes: list[dict[str, Any]]
) -> tuple[list[ReviewRow], list[ReviewRow]]:
    """Rows whose state changed, and decided rows that a new doubt asks about again.

    An excluded row is asked about no more.
    """
    own = set(saved)
    changed, renewed = [], []
    for row in desk.rows:
        state = get_row_review_state(notes, row.position)
        before = list_row_check_notes(desk.review.notes, row.position)
        gained = list_row_check_notes(notes, row.position) - before
        if state != row.state:
            row.state = state
            changed.append(row)
        if gained and row.is_decided and row.is_included:
            row.decision = RowDecision.UNDECIDED
            if row not in own:
                row.version += 1
                renewed.append(row)
    return [row for row in changed if row not in own], renewed
