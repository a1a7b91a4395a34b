"""Inputs of unmatched results, read into filters (contract 10)."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from labs.models.inbound import WHY_MAX_LENGTH
from labs.queries.inbound import UnmatchedResultFilters
from labs.states.match_reviews import MatchDecision, MatchResolution, MatchReviewStatus
from portal.lib.api.fields import (
    Date,
    Inputs,
    OpenEnum,
    QueryInt,
    QueryText,
    Str,
    Uuid,
)
from portal.lib.api.pagination import (
    CursorInputs,
    build_invalid_cursor_error,
    decode_page_cursor,
    encode_page_cursor,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from labs.models import InboundReport

LIMIT_MAX = 100
_SEARCH_MAX_LENGTH = 100
_DAY = timedelta(days=1)


class UnmatchedResultQuery(CursorInputs):
    """Filters of a list of unmatched results."""

    limit = QueryInt(default=50, min_value=1, max_value=LIMIT_MAX)
    decision_code = OpenEnum(MatchDecision, required=False)
    lab_slug = QueryText(required=False, max_length=100)
    status = OpenEnum(MatchReviewStatus, required=False)
    created_at_start = Date(required=False)
    created_at_end = Date(required=False)
    search_input = QueryText(required=False, max_length=_SEARCH_MAX_LENGTH)


class AcceptInputs(Inputs):
    """The order of a result, or its user, and a note."""

    user_id = Uuid(required=False)
    order_id = Uuid(required=False)
    note = Str(required=False, max_length=WHY_MAX_LENGTH)


class ResolveInputs(Inputs):
    """What becomes of a result without an order, and a note."""

    action = OpenEnum(MatchResolution)
    note = Str(required=False, max_length=WHY_MAX_LENGTH)


def parse_unmatched_result_filters(query: Mapping[str, Any]) -> UnmatchedResultFilters:
    """Return the filters of a validated query; both days are included, in UTC."""
    start: date | None = query.get("created_at_start")
    end: date | None = query.get("created_at_end")
    return UnmatchedResultFilters(
        status=query.get("status"),
        decision=query.get("decision_code"),
        lab_slug=query.get("lab_slug"),
        since=_start_of(start) if start else None,
        before=_start_of(end) + _DAY if end else None,
        search=query.get("search_input"),
    )


def encode_unmatched_result_cursor(report: InboundReport) -> str:
    """Return the cursor that continues a list after a report."""
    return encode_page_cursor([report.received_at.isoformat(), str(report.pk)])


def decode_unmatched_result_cursor(
    query: Mapping[str, Any],
) -> tuple[datetime, UUID] | None:
    """Return where a page starts; None at the first. Raises: 422 at next_cursor."""
    if "next_cursor" not in query:
        return None
    at, key = decode_page_cursor(query["next_cursor"], length=2)
    try:
        moment = datetime.fromisoformat(at)
        found = moment.astimezone(UTC), UUID(key)
    except (ValueError, OverflowError):
        raise build_invalid_cursor_error() from None
    if moment.tzinfo is None:
        raise build_invalid_cursor_error()
    return found


def _start_of(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
