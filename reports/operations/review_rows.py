"""The rows of a review: edit, confirm, exclude, add, undo; choose a LOINC code.

Each change names the version it was made on, makes the next, and runs the checks again;
rows whose doubts changed change with it. Must not be here: what is settled once for the
whole report (review_gates).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson
from django.db import transaction

from portal.lib.errors import Conflict, DomainError, NotFound
from reports.models import ReviewRow, ReviewRowVersion
from reports.operations.extraction import read_as
from reports.operations.loinc import loinc_folder
from reports.operations.review_checks import (
    RowText,
    check_rows,
    doubts_of,
    read_text,
    result_of,
    state_of,
    uses_decimal_comma,
)
from reports.operations.reviews import (
    count_needs,
    read_reason,
    record_review,
    working_review,
)
from reports.parser.loinc import search_loinc
from reports.parser.report import (
    Confidence,
    LoincMatch,
    LoincMatchStatus,
    Metadata,
    ParsedResult,
    Place,
    Provenance,
)
from reports.queries import review_rows
from reports.states import RowDecision

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.models import Review

TEXT_MAX_LENGTH = 1000
ROWS_AT_MOST = 1000
_TYPED = (
    "test_name",
    "value",
    "units",
    "reference_range",
    "flag",
    "source_panel_name",
)


@dataclass(frozen=True, slots=True)
class RowRef:
    """A row of a review at the version that the caller has seen."""

    review_id: UUID
    position: int
    version: int


@dataclass(frozen=True, slots=True)
class SavedRow:
    """A row as it is after a change, and the other rows that changed with it."""

    row: ReviewRow
    others: tuple[ReviewRow, ...]
    notes: list[dict[str, Any]]


@dataclass(slots=True)
class _Desk:
    """A locked review with all its rows, in order."""

    review: Review
    rows: list[ReviewRow]
    actor: Actor

    def find(self, ref: RowRef) -> ReviewRow:
        for row in self.rows:
            if row.position == ref.position:
                if row.version != ref.version:
                    raise Conflict("row_changed", "This row was changed meanwhile.")
                return row
        raise NotFound("row_not_found", "Row not found.", "position")


@transaction.atomic
def edit_row(*, tenant: Tenant, actor: Actor, ref: RowRef, text: RowText) -> SavedRow:
    """Change what a row says; its box stays where it is.

    The row counts as decided unless the change brings a new doubt. Raises:
    review_not_found, row_not_found (404); claim_needed, claim_lost, row_changed (409);
    review_ended, row_incomplete, text_too_long. Source: Ours (workflow D1).
    """
    text = _checked(text)
    desk = _open(tenant, actor, ref.review_id)
    row = desk.find(ref)
    result = read_text(
        text,
        before=result_of(row),
        metadata=_metadata(desk.review),
        decimal_comma=uses_decimal_comma(desk.rows),
    )
    was_added = row.decision == RowDecision.ADDED
    decision = RowDecision.ADDED if was_added else RowDecision.EDITED
    return _save(desk, row, result=result, decision=decision, verb="edit_row")


@transaction.atomic
def choose_loinc(
    *, tenant: Tenant, actor: Actor, ref: RowRef, loinc_code: str | None
) -> SavedRow:
    """Say which LOINC code a row has, None for none; the others stay behind it.

    Raises: as edit_row but for its texts; loinc_unknown. Source: Ours (workflow D1).
    """
    desk = _open(tenant, actor, ref.review_id)
    row = desk.find(ref)
    result = result_of(row)
    if loinc_code is None:
        chosen: tuple[LoincMatch, ...] = ()
        status = LoincMatchStatus.NO_MATCH
    else:
        others = [m for m in result.loinc_matches if m.loinc_code != loinc_code]
        chosen = (_match(result, loinc_code), *others)
        status = LoincMatchStatus.AUTO_MATCH
    result = replace(
        result,
        loinc_matches=chosen,
        loinc_match_status=status,
        confidence=replace(result.confidence, loinc=None),
    )
    was_added = row.decision == RowDecision.ADDED
    decision = RowDecision.ADDED if was_added else RowDecision.EDITED
    return _save(desk, row, result=result, decision=decision, verb="choose_loinc")


@transaction.atomic
def confirm_row(*, tenant: Tenant, actor: Actor, ref: RowRef) -> SavedRow:
    """Say that a row is right as it stands, with its first LOINC candidate.

    Raises: as choose_loinc but for loinc_unknown. Source: Ours (workflow D1).
    """
    desk = _open(tenant, actor, ref.review_id)
    row = desk.find(ref)
    return _save(desk, row, decision=_kept_as(row), verb="confirm_row")


@transaction.atomic
def confirm_plain_rows(
    *, tenant: Tenant, actor: Actor, review_id: UUID, panel: str | None
) -> list[ReviewRow]:
    """Confirm a panel's undecided rows that nothing speaks against; those confirmed.

    A row that needs attention is never among them: it is decided by itself. Raises:
    review_not_found (404), claim_needed, claim_lost (409), review_ended. Source: Ours
    (workflow D1): no blind approval of many at once.
    """
    desk = _open(tenant, actor, review_id)
    plain = [
        row
        for row in desk.rows
        if (row.values["source_panel_name"] or None) == (panel or None)
        and not row.is_decided
        and not row.is_flagged
    ]
    for row in plain:
        row.decision = _kept_as(row)
        row.version += 1
    _store(
        desk,
        plain,
        verb="confirm_plain_rows",
        positions=[row.position for row in plain],
    )
    return plain


@transaction.atomic
def exclude_row(*, tenant: Tenant, actor: Actor, ref: RowRef, reason: str) -> SavedRow:
    """Keep a row out of the results, and say why.

    Raises: as confirm_row; reason_missing, reason_too_long. Source: Ours (workflow D1).
    """
    why = read_reason(reason)
    desk = _open(tenant, actor, ref.review_id)
    row = desk.find(ref)
    return _save(
        desk, row, decision=RowDecision.EXCLUDED, reason=why, verb="exclude_row"
    )


@transaction.atomic
def undo_row(*, tenant: Tenant, actor: Actor, ref: RowRef) -> SavedRow:
    """Make a row what it was before its last change, as a version of its own.

    Raises: as confirm_row; nothing_to_undo. Source: Ours (workflow D1).
    """
    desk = _open(tenant, actor, ref.review_id)
    row = desk.find(ref)
    if row.version == 1:
        raise DomainError("nothing_to_undo", "This row was not changed.")
    before = ReviewRowVersion.objects.for_tenant(tenant).get(
        row=row, version=row.version - 1
    )
    return _save(
        desk,
        row,
        result=read_as(ParsedResult, before.values),
        decision=before.decision,
        reason=before.reason,
        verb="undo_row",
    )


@transaction.atomic
def add_row(
    *,
    tenant: Tenant,
    actor: Actor,
    review_id: UUID,
    text: RowText,
    place: Place | None = None,
) -> SavedRow:
    """Add a row that the machine did not read, last in order.

    place: where it stands on a page; a row without one counts as typed. Raises:
    review_not_found (404); claim_needed, claim_lost (409); review_ended, text_too_long,
    row_incomplete, place_not_on_page, too_many_rows. Source: Ours (workflow D1).
    """
    text = _checked(text)
    desk = _open(tenant, actor, review_id)
    if len(desk.rows) >= ROWS_AT_MOST:
        raise DomainError("too_many_rows", "A report has at most 1,000 rows.")
    if place is not None:
        _check_place(desk.review, place)
    result = read_text(
        text,
        before=ParsedResult(
            test_name="",
            value="",
            provenance=Provenance(value=place),
            confidence=Confidence(),
        ),
        metadata=_metadata(desk.review),
        decimal_comma=uses_decimal_comma(desk.rows),
    )
    row = ReviewRow(
        tenant=tenant,
        review=desk.review,
        position=max((known.position for known in desk.rows), default=-1) + 1,
        version=0,
        values=_stored(result),
    )
    row.save(force_insert=True)
    desk.rows.append(row)
    return _save(desk, row, decision=RowDecision.ADDED, verb="add_row")


def _open(tenant: Tenant, actor: Actor, review_id: UUID) -> _Desk:
    review = working_review(tenant=tenant, actor=actor, review_id=review_id)
    return _Desk(review, review_rows(tenant=tenant, review=review), actor)


def _save(
    desk: _Desk,
    row: ReviewRow,
    *,
    verb: str,
    decision: str,
    result: ParsedResult | None = None,
    reason: str = "",
) -> SavedRow:
    """Make the row's next version, check all rows again, keep what that changed."""
    before = row.values
    if result is not None:
        row.values = _stored(result)
    row.decision, row.reason = decision, reason
    row.version += 1
    if row.values != before or not row.is_critical:
        row.acknowledged = None  # it was of another value
    notes = check_rows(desk.rows, notes=desk.review.notes)
    changed, renewed = _spread(desk, row, notes)
    desk.review.notes = notes
    fields = sorted(name for name in row.values if row.values[name] != before[name])
    _store(
        desk,
        [row, *renewed],
        verb=verb,
        also=changed,
        positions=[row.position],
        fields=fields,
    )
    return SavedRow(row, tuple(dict.fromkeys([*renewed, *changed])), notes)


def _spread(
    desk: _Desk, saved: ReviewRow, notes: list[dict[str, Any]]
) -> tuple[list[ReviewRow], list[ReviewRow]]:
    """Rows whose state changed, and decided rows that a new doubt asks about again.

    An excluded row is asked about no more.
    """
    changed, renewed = [], []
    for row in desk.rows:
        state = state_of(notes, row.position)
        before = doubts_of(desk.review.notes, row.position)
        gained = doubts_of(notes, row.position) - before
        if state != row.state:
            row.state = state
            changed.append(row)
        if gained and row.is_decided and row.is_kept:
            row.decision = RowDecision.UNDECIDED
            if row is not saved:
                row.version += 1
                renewed.append(row)
    return [row for row in changed if row is not saved], renewed


def _store(
    desk: _Desk,
    rows: list[ReviewRow],
    *,
    verb: str,
    also: list[ReviewRow] | None = None,
    **told: object,
) -> None:
    """Write rows with a version each, `also` without one, and the review."""
    tenant, review = desk.review.tenant, desk.review
    columns = ["values", "decision", "reason", "state", "version", "acknowledged"]
    touched = list(dict.fromkeys([*rows, *(also or [])]))
    if touched:
        ReviewRow.objects.for_tenant(tenant).bulk_update(touched, columns)
    ReviewRowVersion.objects.for_tenant(tenant).bulk_create(
        ReviewRowVersion(
            tenant=tenant,
            row=row,
            version=row.version,
            values=row.values,
            decision=row.decision,
            reason=row.reason,
            actor_kind=desk.actor.kind,
            actor_key=desk.actor.key,
            actor_label=desk.actor.label,
        )
        for row in rows
    )
    count_needs(review, desk.rows)
    review.save(update_fields=["notes", "flagged", "is_critical", "claimed_until"])
    record_review(review, desk.actor, verb=verb, **told)


def _kept_as(row: ReviewRow) -> str:
    """Confirmed, or what a person had made of the row before a doubt came up."""
    if row.version == 1:
        return RowDecision.CONFIRMED
    first = row.versions.get(version=1)
    if first.decision == RowDecision.ADDED:
        return RowDecision.ADDED
    same = first.values == row.values
    return RowDecision.CONFIRMED if same else RowDecision.EDITED


def _match(result: ParsedResult, code: str) -> LoincMatch:
    """A code as a candidate: the row's own, or one of the catalogue or release."""
    for match in result.loinc_matches:
        if match.loinc_code == code:
            return match
    hits = search_loinc(
        code, unit=result.units, specimen=result.sample_type, release=loinc_folder()
    )
    for hit in hits:
        if hit.loinc_code == code:
            return LoincMatch(
                loinc_code=hit.loinc_code,
                loinc_name=hit.loinc_name,
                display_name=hit.display_name,
                aliases=(),
                confidence_score=hit.score,
                reasons=hit.reasons,
            )
    raise DomainError("loinc_unknown", "This LOINC code is not known.", "loinc_code")


def _checked(text: RowText) -> RowText:
    """The text without blanks around it. Raises: row_incomplete, text_too_long."""
    plain = {
        name: value.replace("\0", "").strip() or None
        for name in _TYPED
        if (value := getattr(text, name)) is not None
    }
    name, value = plain["test_name"], plain["value"]
    if not (name and value):
        raise DomainError("row_incomplete", "A row needs a name and a value.")
    for field, written in plain.items():
        if written and len(written) > TEXT_MAX_LENGTH:
            raise DomainError("text_too_long", "At most 1,000 characters.", field)
    return RowText(
        test_name=name,
        value=value,
        units=plain.get("units"),
        reference_range=plain.get("reference_range"),
        flag=plain.get("flag"),
        source_panel_name=plain.get("source_panel_name"),
        sample_type=text.sample_type,
    )


def _check_place(review: Review, place: Place) -> None:
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
        raise DomainError("place_not_on_page", "The box is on no page.", "place")


def _metadata(review: Review) -> Metadata:
    known = review.job.metadata or {}
    return Metadata(**{name: known.get(name) for name in Metadata.__dataclass_fields__})


def _stored(result: ParsedResult) -> dict[str, Any]:
    """A row's values just as they come back from the database."""
    stored: dict[str, Any] = orjson.loads(orjson.dumps(asdict(result), default=list))
    return stored
