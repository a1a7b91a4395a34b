"""Edits, confirms, excludes and undoes rows of a review; sets boxes and codes.

Each change names the version it was made on and makes the next (review_saving). Must
not be here: rows that a person makes (review_additions), or what is settled once for
the whole report (review_gates).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError
from reports.models import ReviewRowVersion
from reports.operations.reading.loinc_table import get_imported_loinc_folder
from reports.operations.reading.parsed_values import build_parsed_value_from_json
from reports.operations.review.checks import (
    RowText,
    convert_stored_row_to_parsed_result,
    parse_typed_row_text,
)
from reports.operations.review.reviews import validate_review_reason
from reports.operations.review.saving import (
    Change,
    RowRef,
    SavedRow,
    get_row_decision_after_change,
    get_row_decision_before_reopening,
    lock_review_rows,
    require_box_inside_page,
    save_and_recheck_review_rows,
    store_review_row_versions,
    validate_review_row_text,
)
from reports.parser.loinc.decision import choose_loinc_code, clear_loinc_code
from reports.parser.report import ParsedResult, Place
from reports.states import RowDecision, RowPart

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.models import ReviewRow

TAKEN_BACK = "taken back"


@transaction.atomic
def edit_review_row_text(
    *, tenant: Tenant, actor: Actor, ref: RowRef, text: RowText
) -> SavedRow:
    """Change the text of a row; its box is unchanged.

    The row counts as decided unless the change brings a new doubt. Raises:
    review_not_found, row_not_found (404); claim_needed, claim_lost, row_changed (409);
    review_ended, row_incomplete, text_too_long. Source: Ours (workflow D1).
    """
    text = validate_review_row_text(text)
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=ref.review_id)
    row = desk.find(ref)
    result = parse_typed_row_text(
        text,
        before=convert_stored_row_to_parsed_result(row),
        metadata=desk.metadata,
        criteria=desk.criteria,
        decimal_comma=desk.decimal_comma,
    )
    change = Change(row, get_row_decision_after_change(row), result)
    return save_and_recheck_review_rows(desk=desk, changes=[change], verb="edit_row")


@transaction.atomic
def set_review_row_loinc_code(
    *, tenant: Tenant, actor: Actor, ref: RowRef, loinc_code: str | None
) -> SavedRow:
    """Set a row's LOINC code, or None; the other candidates follow it.

    A row that a check contradicts with this code as well is decided only if it was kept
    with a reason. Raises: as edit_review_row_text but for its texts; loinc_unknown.
    Source: Ours (workflow D1): a code does not make an impossible value possible.
    """
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=ref.review_id)
    row = desk.find(ref)
    result = convert_stored_row_to_parsed_result(row)
    decided = (
        clear_loinc_code(result)
        if loinc_code is None
        else choose_loinc_code(result, loinc_code, release=get_imported_loinc_folder())
    )
    if decided is None:
        raise DomainError("loinc_unknown", _("Unknown LOINC code."), "loinc_code")
    change = Change(
        row,
        get_row_decision_after_change(row),
        decided,
        row.reason if row.is_contradicted and row.is_included else "",
        settles_doubt=False,
    )
    return save_and_recheck_review_rows(
        desk=desk, changes=[change], verb="choose_loinc"
    )


@transaction.atomic
def set_review_row_box(
    *,
    tenant: Tenant,
    actor: Actor,
    ref: RowRef,
    part: RowPart,
    place: Place | None,
) -> SavedRow:
    """Set the position of a part of a row; None if it was typed.

    What the row says stays, and an undecided row stays undecided. Raises: as
    edit_review_row_text but for its texts; place_not_on_page. Source: Ours (workflow
    D1): correcting a text never moves its box, so the box is moved by itself.
    """
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=ref.review_id)
    row = desk.find(ref)
    if place is not None:
        require_box_inside_page(review=desk.review, place=place)
    result = convert_stored_row_to_parsed_result(row)
    places = {part.value: place}
    result = replace(result, provenance=replace(result.provenance, **places))
    confirmed = row.decision == RowDecision.CONFIRMED
    decision = get_row_decision_after_change(row) if confirmed else row.decision
    change = Change(row, decision, result, reason=row.reason)
    return save_and_recheck_review_rows(desk=desk, changes=[change], verb="redraw_box")


@transaction.atomic
def confirm_review_row(
    *, tenant: Tenant, actor: Actor, ref: RowRef, reason: str = ""
) -> SavedRow:
    """Confirm a row as it is, with its first LOINC candidate.

    reason: why it is kept; only of a row that a check contradicts, which needs one.
    Raises: as set_review_row_loinc_code but for loinc_unknown; reason_missing,
    reason_too_long. Source: Ours (workflow D1): no single key keeps an impossible value
    or a contradiction.
    """
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=ref.review_id)
    row = desk.find(ref)
    why = validate_review_reason(reason) if row.is_contradicted else ""
    return save_and_recheck_review_rows(
        desk=desk,
        changes=[Change(row, get_row_decision_before_reopening(row), reason=why)],
        verb="confirm_row",
    )


@transaction.atomic
def confirm_unflagged_panel_rows(
    *, tenant: Tenant, actor: Actor, review_id: UUID, panel: str | None
) -> list[ReviewRow]:
    """Confirm a panel's undecided, unflagged rows; return them.

    A row that needs attention is never among them: it is decided by itself. Raises:
    review_not_found (404), claim_needed, claim_lost (409), review_ended. Source: Ours
    (workflow D1): no blind approval of many at once.
    """
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=review_id)
    plain = [
        row
        for row in desk.rows
        if (row.values["source_panel_name"] or None) == (panel or None)
        and not row.is_decided
        and not row.is_flagged
    ]
    for row in plain:
        row.decision = get_row_decision_before_reopening(row)
        row.version += 1
    positions = [row.position for row in plain]
    store_review_row_versions(
        desk=desk, rows=plain, verb="confirm_plain_rows", together=positions
    )
    return plain


@transaction.atomic
def exclude_review_row(
    *, tenant: Tenant, actor: Actor, ref: RowRef, reason: str
) -> SavedRow:
    """Exclude a row from the results, with a reason.

    Raises: as confirm_review_row; reason_missing, reason_too_long. Source: Ours
    (workflow D1).
    """
    why = validate_review_reason(reason)
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=ref.review_id)
    change = Change(desk.find(ref), RowDecision.EXCLUDED, reason=why)
    return save_and_recheck_review_rows(desk=desk, changes=[change], verb="exclude_row")


@transaction.atomic
def undo_review_row_change(*, tenant: Tenant, actor: Actor, ref: RowRef) -> SavedRow:
    """Restore a row to its previous version, as a new version.

    Undone again, it goes one further back. Splitting and merging are undone in all
    their rows, as far as nobody has changed those since; a row that a person added is
    excluded. Raises: as confirm_review_row; nothing_to_undo. Source: Ours (workflow
    D1).
    """
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=ref.review_id)
    row = desk.find(ref)
    last = _version(row, row.version)
    rows = [row]
    if last.act in {"split_row", "merge_rows"}:
        rows += [
            other
            for position in last.together
            if position != row.position
            and (other := desk.at(position))
            and (late := _version(other, other.version)).act == last.act
            and late.together == last.together
        ]
    changes = [change for one in rows if (change := _undoing(one)) is not None]
    if not changes or changes[0].row is not row:
        raise DomainError("nothing_to_undo", _("This row has no changes to undo."))
    return save_and_recheck_review_rows(desk=desk, changes=changes, verb="undo_row")


def _undoing(row: ReviewRow) -> Change | None:
    """What a row was before its last change; None where there was nothing."""
    now = _version(row, row.version)
    back = (now.restores or row.version) - 1
    if back < 1:
        added = row.decision == RowDecision.ADDED
        return Change(row, RowDecision.EXCLUDED, reason=TAKEN_BACK) if added else None
    before = _version(row, back)
    return Change(
        row,
        before.decision,
        build_parsed_value_from_json(ParsedResult, before.values),
        before.reason,
        restores=back,
    )


def _version(row: ReviewRow, version: int) -> ReviewRowVersion:
    rows = ReviewRowVersion.objects.for_tenant(row.tenant).filter(row=row)
    found: ReviewRowVersion = rows.get(version=version)
    return found
