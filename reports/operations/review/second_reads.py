"""Second reads, blind to the first one, and disputes between the two readers.

A second read begins with what the first began with. Where both say the same, what was
signed first is kept; else a third person decides between them, row by row. Must not be
here: what follows a signature (review_signing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from django.db import transaction
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError
from reports.models import ReviewRow
from reports.operations.reading.parsed_values import build_parsed_value_from_json
from reports.operations.review.checks import (
    get_row_review_state,
    run_checks_on_review_rows,
)
from reports.operations.review.reviews import InitialRow, open_report_review
from reports.operations.review.saving import (
    Change,
    RowRef,
    SavedRow,
    lock_review_rows,
    save_and_recheck_review_rows,
)
from reports.parser.loinc.catalogue import build_name_key
from reports.parser.report import ParsedResult
from reports.queries import list_review_row_versions, list_review_rows
from reports.states import ReviewKind, RowDecision

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from reports.models import Review

Side = Literal["first", "second"]
NOT_READ = "not in this reading"


def open_second_read_review(*, first: Review) -> Review:
    """Open a review for a second reader, without the first reader's changes.

    Nothing the first reader did is taken over: no edit, no page shown, no person
    settled. Source: Ours (workflow D1).
    """
    return open_report_review(
        job=first.job,
        number=first.number + 1,
        rows=_initial_rows(first),
        notes=first.first_notes,
        kind=ReviewKind.SECOND,
        why=first.why,
    )


def have_readers_different_results(*, first: Review, second: Review) -> bool:
    """Return whether two readers reached different results."""
    pairs = _pairs(_rows(first), _rows(second), begun=len(_initial_rows(first)))
    return any(_differ(*pair) for pair in pairs)


def open_third_reader_review(*, first: Review, second: Review) -> Review:
    """Open a review for a third reader; rows that agree are already decided.

    A row that the readers made different things of begins with the first one's.
    Source: Ours (workflow D1).
    """
    rows = []
    for one, other in _pairs(
        _rows(first), _rows(second), begun=len(_initial_rows(first))
    ):
        shown = one or other
        if shown is None:
            continue
        disputed = _differ(one, other)
        rows.append(
            InitialRow(
                values=shown.values,
                state=shown.state,
                decision=RowDecision.UNDECIDED if disputed else shown.decision,
                reason="" if disputed else shown.reason,
                acknowledged=None if disputed else shown.acknowledged,
                disputed={"first": _reader_row(one), "second": _reader_row(other)}
                if disputed
                else None,
            )
        )
    fresh, notes = recheck_initial_review_rows(rows, notes=first.first_notes)
    return open_report_review(
        job=first.job,
        number=second.number + 1,
        rows=fresh,
        notes=notes,
        kind=ReviewKind.DISPUTE,
        why=first.why,
        identity_decided=second.identity_decided,
        duplicate_decided=second.duplicate_decided,
        replaces=first.replaces,
    )


def recheck_initial_review_rows(
    rows: Sequence[InitialRow], *, notes: Sequence[dict[str, Any]]
) -> tuple[list[InitialRow], list[dict[str, Any]]]:
    """Return the initial rows of a review with fresh states and notes.

    notes: those known of the report, of which the ones on its header stay.
    """
    made = [
        ReviewRow(position=position, values=row.values, decision=row.decision)
        for position, row in enumerate(rows)
    ]
    found = run_checks_on_review_rows(made, notes=notes)
    fresh = [
        InitialRow(
            values=row.values,
            state=get_row_review_state(found, position),
            decision=row.decision,
            reason=row.reason,
            acknowledged=row.acknowledged,
            disputed=row.disputed,
        )
        for position, row in enumerate(rows)
    ]
    return fresh, found


@transaction.atomic
def resolve_disputed_row(
    *, tenant: Tenant, actor: Actor, ref: RowRef, side: Side
) -> SavedRow:
    """Resolve a disputed row with one of the two readers' versions.

    Raises: review_not_found, row_not_found (404); claim_needed, claim_lost, row_changed
    (409); review_ended, row_not_disputed. Source: Ours (workflow D1).
    """
    desk = lock_review_rows(tenant=tenant, actor=actor, review_id=ref.review_id)
    row = desk.find(ref)
    if row.disputed is None:
        raise DomainError("row_not_disputed", _("The two readers agree on this row."))
    reading = row.disputed[side]
    if reading is None:
        change = Change(row, RowDecision.EXCLUDED, reason=NOT_READ)
    else:
        result = build_parsed_value_from_json(ParsedResult, reading["values"])
        change = Change(row, reading["decision"], result, reason=reading["reason"])
    return save_and_recheck_review_rows(
        desk=desk, changes=[change], verb="take_reading"
    )


def _rows(review: Review) -> list[ReviewRow]:
    return list_review_rows(tenant=review.tenant, review=review)


def _initial_rows(review: Review) -> list[InitialRow]:
    """Return the initial rows of a review; positions are list indexes."""
    firsts = [
        version
        for version in list_review_row_versions(tenant=review.tenant, review=review)
        if version.version == 1 and not version.act
    ]
    return recheck_initial_review_rows(
        [
            InitialRow(values=v.values, state="", decision=v.decision, reason=v.reason)
            for v in firsts
        ],
        notes=review.first_notes,
    )[0]


def _pairs(
    first: Iterable[ReviewRow], second: Iterable[ReviewRow], *, begun: int
) -> list[tuple[ReviewRow | None, ReviewRow | None]]:
    """Pair the two readers' rows, in the first reader's order.

    begun: with how many rows both began, which go by position; rows that a reader added
    go together where they are of one test. Added rows that were taken back count as
    never made.
    """
    others = list(second)
    by_position = {row.position: row for row in others if row.position < begun}
    added = [row for row in others if row.position >= begun and row.is_included]
    pairs: list[tuple[ReviewRow | None, ReviewRow | None]] = []
    for row in first:
        if row.position < begun:
            pairs.append((row, by_position.get(row.position)))
        elif row.is_included:
            twin = next((o for o in added if _test(o) == _test(row)), None)
            if twin is not None:
                added.remove(twin)
            pairs.append((row, twin))
    pairs += [(None, row) for row in added]
    return pairs


def _differ(first: ReviewRow | None, second: ReviewRow | None) -> bool:
    included = [row for row in (first, second) if row is not None and row.is_included]
    if len(included) < 2:
        return len(included) == 1
    return _comparable_values(included[0]) != _comparable_values(included[1])


def _comparable_values(row: ReviewRow) -> tuple[object, ...]:
    """Return the parts of a row that two readers must agree on, normalized."""
    values = row.values
    low, high = values["min_reference_range"], values["max_reference_range"]
    spread = (low, high)
    if low is None and high is None:
        spread = (_plain(values["reference_range"]), None)
    return (
        _test(row),
        _number(values["value"]),
        values["ucum"] or _plain(values["units"]),
        spread,
        _plain(values["flag"]),
    )


def _test(row: ReviewRow) -> str:
    matches = row.values["loinc_matches"]
    code = str(matches[0]["loinc_code"]) if matches else ""
    return code or build_name_key(row.values["test_name"])


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return _plain(text)


def _plain(text: str | None) -> str:
    return "".join((text or "").split()).casefold()


def _reader_row(row: ReviewRow | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {"values": row.values, "decision": row.decision, "reason": row.reason}
