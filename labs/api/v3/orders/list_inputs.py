"""Query of the list of orders (contract 6.8), read into filters."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from labs.queries.orders.orders import OrderFilters
from labs.states.orders import Interpretation
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import OpenEnum, QueryBool, QueryText, QueryUuid
from portal.lib.api.pagination import PageInputs
from portal.lib.choices import OpenChoices

if TYPE_CHECKING:
    from collections.abc import Mapping


class ActivationType(OpenChoices):
    """Whether an order has started."""

    CURRENT = "current", "Current"
    SCHEDULED = "scheduled", "Scheduled"


class OrderKey(OpenChoices):
    """The field that orders are sorted by."""

    CREATED_AT = "created_at", "Created"
    PATIENT_NAME = "patient_name", "Patient"
    LAST_STATUS = "last_status", "Status"


class Direction(OpenChoices):
    """Sort direction."""

    ASC = "asc", "Ascending"
    DESC = "desc", "Descending"


class OrderListQuery(PageInputs):
    """Filters of a list of orders."""

    search_input = QueryText(required=False)
    start_date = QueryText(required=False)
    end_date = QueryText(required=False)
    updated_start_date = QueryText(required=False)
    updated_end_date = QueryText(required=False)
    status = serializers.ListField(child=QueryText(), required=False)
    order_type = serializers.ListField(child=QueryText(), required=False)
    order_activation_types = serializers.ListField(
        child=OpenEnum(ActivationType), required=False
    )
    interpretation = OpenEnum(Interpretation, required=False)
    is_critical = QueryBool(required=False, allow_null=True)
    user_id = QueryUuid(required=False)
    order_transaction_id = QueryUuid(required=False)
    order_ids = serializers.ListField(child=QueryUuid(), required=False)
    patient_name = QueryText(required=False)
    shipping_recipient_name = QueryText(required=False)
    order_key = OpenEnum(OrderKey, default=OrderKey.CREATED_AT)
    order_direction = OpenEnum(Direction, default=Direction.DESC)


def parse_order_filters(query: Mapping[str, Any]) -> OrderFilters:
    """Return the filters of a validated query. Raises: 422 by date, value_error."""
    created = _read_time_window(query, "start_date", "end_date")
    updated = _read_time_window(query, "updated_start_date", "updated_end_date")
    return OrderFilters(
        search=query.get("search_input", "").strip(),
        created_from=created[0],
        created_until=created[1],
        updated_from=updated[0],
        updated_until=updated[1],
        low_statuses=tuple(_normalize_choices(query.get("status", ()))),
        methods=tuple(_normalize_choices(query.get("order_type", ()))),
        activation=frozenset(map(str, query.get("order_activation_types", ()))),
        interpretation=str(query.get("interpretation", "")),
        is_critical=query.get("is_critical"),
        user_uuid=query.get("user_id"),
        transaction_id=query.get("order_transaction_id"),
        order_ids=tuple(query.get("order_ids", ())),
        patient_name=query.get("patient_name", "").strip(),
        recipient_name=query.get("shipping_recipient_name", "").strip(),
        sort=str(query["order_key"]),
        descending=query["order_direction"] == Direction.DESC,
    )


def _normalize_choices(values: Any) -> list[str]:
    """Return values from any spelling (D2); unknown ones match nothing."""
    return [v.strip().lower().replace(" ", "_").replace("-", "_") for v in values]


def _read_time_window(
    query: Mapping[str, Any], start: str, end: str
) -> tuple[datetime | None, datetime | None]:
    """Return both ends, inclusive; a bare date means its whole day (1.5)."""
    first = _read_instant(query, start, time())
    last = _read_instant(query, end, time(23, 59, 59, 999999))
    if first and last and last < first:
        raise RequestInvalid(
            [FieldError(("query", end), "Must not be before the start.", "value_error")]
        )
    return first, last


def _read_instant(query: Mapping[str, Any], name: str, at: time) -> datetime | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        kind = "date_from_datetime_parsing"
        raise RequestInvalid(
            [FieldError(("query", name), "Enter a date, such as 2026-11-23.", kind)]
        ) from None
    if len(text) == len("YYYY-MM-DD"):
        found = datetime.combine(found.date(), at)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
