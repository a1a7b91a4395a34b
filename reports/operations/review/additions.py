"""Adds, splits and merges rows of a review."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError
from reports.models import ReviewRow
from reports.operations.review.checks import (
    RowText,
    convert_stored_row_to_parsed_result,
    parse_typed_row_text,
)
from reports.operations.review.saving import (
    Change,
    RowRef,
    SavedRow,
    convert_row_values_as_stored,
    get_row_decision_after_change,
    lock_review_rows,
    require_box_inside_page,
    save_and_recheck_review_rows,
    validate_review_row_text,
)
from reports.parser.report import Confidence, ParsedResult, Place, Point, Provenance
from reports.queries import get_row_reading_order_key
from reports.states import RowDecision

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.operations.review.saving import Desk

ROWS_AT_MOST = 1000


@transaction.atomic
def add_review_row(
    *,
    tenant: Tenant,
    actor: Actor,
    review_id: UUID,
    text: RowText,
    place: Place | None = None,
) -> SavedRow:
    """Add a row that the parser did not find, placed by its position on the page.

    place: where it stands on a page; a row without one counts as typed, and is last.
    Raises: review_not_found (404); claim_needed, claim_lost (409); review_ended,
    text_too_long, row_incomplete, place_not_on_page, too_many_rows. Source: Ours
    (workflow D1).
    """
    text = validate_review_row_text(text)
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=review_id)
    if place is not None:
        require_box_inside_page(review=desk.review, place=place)
    after = _row_above(desk.rows, place) if place else None
    row = _new_row(desk, text, Provenance(value=place), after=after)
    change = Change(row, RowDecision.ADDED)
    return save_and_recheck_review_rows(desk=desk, changes=[change], verb="add_row")


@transaction.atomic
def split_review_row(
    *, tenant: Tenant, actor: Actor, ref: RowRef, parts: Sequence[RowText]
) -> SavedRow:
    """Split a row: the first part replaces it, each other becomes a new row.

    All keep the box they were read from. Raises: review_not_found, row_not_found (404);
    claim_needed, claim_lost, row_changed (409); review_ended, row_incomplete (also of
    fewer than two parts), text_too_long, too_many_rows. Source: Ours (workflow D1).
    """
    texts = [validate_review_row_text(part) for part in parts]
    if len(texts) < 2:
        raise DomainError("row_incomplete", _("Enter at least two rows to split into."))
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=ref.review_id)
    row = desk.find(ref)
    whole = convert_stored_row_to_parsed_result(row)
    first = parse_typed_row_text(
        texts[0],
        before=whole,
        metadata=desk.metadata,
        criteria=desk.criteria,
        decimal_comma=desk.decimal_comma,
    )
    after = row.position if row.after is None else row.after
    changes = [Change(row, get_row_decision_after_change(row), first)]
    for text in texts[1:]:
        new = _new_row(desk, text, whole.provenance, after=after)
        changes.append(Change(new, RowDecision.ADDED))
    return save_and_recheck_review_rows(desk=desk, changes=changes, verb="split_row")


@transaction.atomic
def merge_review_rows(
    *, tenant: Tenant, actor: Actor, refs: Sequence[RowRef], text: RowText
) -> SavedRow:
    """Merge rows of one report: the first gets `text`, the others are excluded.

    Its boxes hold the ink of all. Raises: as edit_review_row_text, and row_incomplete
    of fewer than two rows. Source: Ours (workflow D1).
    """
    text = validate_review_row_text(text)
    if len({ref.position for ref in refs}) < 2:
        raise DomainError("row_incomplete", _("Choose at least two rows to merge."))
    if len({ref.review_id for ref in refs}) > 1:
        raise DomainError(
            "row_incomplete", _("All rows to merge must be in the same report.")
        )
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=refs[0].review_id)
    rows = [desk.find(ref) for ref in refs]
    results = [convert_stored_row_to_parsed_result(row) for row in rows]
    merged = parse_typed_row_text(
        text,
        before=replace(results[0], provenance=_joined(results)),
        metadata=desk.metadata,
        criteria=desk.criteria,
        decimal_comma=desk.decimal_comma,
    )
    reason = f"merged into {text.test_name}"
    changes = [
        Change(rows[0], get_row_decision_after_change(rows[0]), merged),
        *(Change(row, RowDecision.EXCLUDED, reason=reason) for row in rows[1:]),
    ]
    return save_and_recheck_review_rows(desk=desk, changes=changes, verb="merge_rows")


def suggest_merged_row_text(rows: Sequence[ReviewRow]) -> RowText:
    """Return a suggested text for merged rows: names and values joined.

    Of unit, range, flag, panel and specimen the first that is there.
    """
    results = [convert_stored_row_to_parsed_result(row) for row in rows]

    def first(name: str) -> str | None:
        return next((v for r in results if (v := getattr(r, name))), None)

    return RowText(
        test_name=" ".join(dict.fromkeys(result.test_name for result in results)),
        value=" ".join(dict.fromkeys(result.value for result in results)),
        units=first("units"),
        reference_range=first("reference_range"),
        flag=first("flag"),
        source_panel_name=first("source_panel_name"),
        sample_type=next((r.sample_type for r in results if r.sample_type), None),
    )


def _new_row(
    desk: Desk, text: RowText, provenance: Provenance, *, after: int | None
) -> ReviewRow:
    """A stored row of no version yet, taken into the desk. Raises: too_many_rows."""
    if len(desk.rows) >= ROWS_AT_MOST:
        raise DomainError("too_many_rows", _("A report can have at most 1,000 rows."))
    bare = ParsedResult(
        test_name="", value="", provenance=provenance, confidence=Confidence()
    )
    result = parse_typed_row_text(
        text,
        before=bare,
        metadata=desk.metadata,
        criteria=desk.criteria,
        decimal_comma=desk.decimal_comma,
    )
    row = ReviewRow(
        tenant=desk.review.tenant,
        review=desk.review,
        position=max((known.position for known in desk.rows), default=-1) + 1,
        version=0,
        values=convert_row_values_as_stored(result),
        after=after,
    )
    row.save(force_insert=True)
    desk.rows.append(row)
    desk.rows.sort(key=get_row_reading_order_key)
    return row


def _row_above(rows: Sequence[ReviewRow], place: Place) -> int | None:
    """The position of the last row, in reading order, that stands higher than a box.

    None where none does; the new row is then last, as its column is not known.
    """
    top = (place.page, min(point.y for point in place.polygon))
    found = None
    for row in rows:
        own = row.values["provenance"]["value"] or row.values["provenance"]["name"]
        if own and (own["page"], min(y for _, y in own["polygon"])) <= top:
            found = row.position if row.after is None else row.after
    return found


def _joined(results: Sequence[ParsedResult]) -> Provenance:
    """For each part one box around all the boxes on the first one's page."""
    names = Provenance.__dataclass_fields__
    return Provenance(
        **{n: _around([getattr(r.provenance, n) for r in results]) for n in names}
    )


def _around(places: Sequence[Place | None]) -> Place | None:
    known = [place for place in places if place is not None]
    if not known:
        return None
    same = [place for place in known if place.page == known[0].page]
    if len(same) == 1:
        return same[0]
    xs = [point.x for place in same for point in place.polygon]
    ys = [point.y for place in same for point in place.polygon]
    corners = (
        (min(xs), min(ys)),
        (max(xs), min(ys)),
        (max(xs), max(ys)),
        (min(xs), max(ys)),
    )
    return Place(known[0].page, tuple(Point(x, y) for x, y in corners))
