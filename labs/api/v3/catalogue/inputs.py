"""Request bodies and queries about the catalog and lab accounts."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.validators import MaxValueValidator, MinValueValidator
from rest_framework import serializers

from labs.models.catalogue import PANEL_NAME_MAX_LENGTH
from labs.operations.catalogue.order_sets import OrderSet
from labs.operations.catalogue.panels import DESCRIPTION_MAX_LENGTH, LabTestRequest
from labs.queries.catalogue import LabTestFilters, LabTestPlace, MarkerFilters
from labs.states.accounts import LabAccountStatus
from labs.states.catalogue import CollectionMethod, Generation, LabTestStatus
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import (
    Bool,
    Inputs,
    Int,
    OpenEnum,
    QueryBool,
    QueryInt,
    QueryText,
    QueryUuid,
    Str,
    Uuid,
)
from portal.lib.api.pagination import (
    CursorInputs,
    PageInputs,
    build_invalid_cursor_error,
    decode_page_cursor,
    encode_page_cursor,
)
from portal.lib.choices import OpenChoices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.models import Lab, LabTest

LIMIT_MAX = 500  # Contract 6.3
MARKERS_MAX = 200
CODE_MAX_LENGTH = 50
# PostgreSQL's integer; past it no marker or lab has an id.
_ID_BOUNDS = (MinValueValidator(0), MaxValueValidator(2**31 - 1))


class GenerationFilter(OpenChoices):
    """How lab tests were created."""

    MANUAL = "manual", "Created manually"
    AUTO = "auto", "Created for an order"
    ALL = "all", "All"


class LabTestKey(OpenChoices):
    """The field that lab tests are sorted by."""

    PRICE = "price", "Price"
    CREATED_AT = "created_at", "Created"
    UPDATED_AT = "updated_at", "Updated"


class SortDirection(OpenChoices):
    """Sort direction."""

    ASC = "asc", "Ascending"
    DESC = "desc", "Descending"


class AccountQuery(Inputs):
    """A lab account; only its lab's items are returned."""

    lab_account_id = QueryUuid(required=False)


class AccountPageQuery(PageInputs):
    """A page of items, limited to a lab account's lab."""

    lab_account_id = QueryUuid(required=False)


class MarkerListQuery(AccountPageQuery):
    """Filters of markers."""

    lab_slug = QueryText(required=False, max_length=50)
    lab_id = serializers.ListField(
        child=QueryInt(validators=_ID_BOUNDS), required=False
    )
    name = QueryText(required=False, max_length=200)
    a_la_carte_enabled = QueryBool(required=False, allow_null=True)
    include_pricing = QueryBool(default=False)


class LabTestFilterQuery(Inputs):
    """Filters of lab tests."""

    generation_method = OpenEnum(GenerationFilter, default=GenerationFilter.MANUAL)
    lab_slug = QueryText(required=False, max_length=50)
    collection_method = OpenEnum(CollectionMethod, required=False)
    status = OpenEnum(LabTestStatus, required=False)
    marker_ids = serializers.ListField(
        child=QueryInt(validators=_ID_BOUNDS), required=False, max_length=MARKERS_MAX
    )
    provider_ids = serializers.ListField(
        child=QueryText(max_length=CODE_MAX_LENGTH),
        required=False,
        max_length=MARKERS_MAX,
    )
    name = QueryText(required=False, max_length=PANEL_NAME_MAX_LENGTH)
    order_key = OpenEnum(LabTestKey, default=LabTestKey.CREATED_AT)
    order_direction = OpenEnum(SortDirection, default=SortDirection.ASC)


class LabTestListQuery(CursorInputs, LabTestFilterQuery):
    """Filters, cursor and pricing of a list of lab tests."""

    lab_test_limit = QueryInt(default=50, min_value=1, max_value=LIMIT_MAX)
    include_pricing = QueryBool(default=False)
    lab_account_id = QueryUuid(required=False)


class LabAccountQuery(AccountQuery):
    """Filters of lab accounts; the status in either spelling."""

    status = OpenEnum(LabAccountStatus, required=False)


class LabTestInputs(Inputs):
    """A lab test to create, from marker IDs or the lab's codes."""

    name = Str(max_length=PANEL_NAME_MAX_LENGTH)
    method = OpenEnum(CollectionMethod)
    description = Str(max_length=DESCRIPTION_MAX_LENGTH, allow_blank=True)
    marker_ids = serializers.ListField(
        child=Int(validators=_ID_BOUNDS), required=False, max_length=MARKERS_MAX
    )
    provider_ids = serializers.ListField(
        child=Str(max_length=CODE_MAX_LENGTH), required=False, max_length=MARKERS_MAX
    )
    fasting = Bool(required=False)
    lab_account_id = Uuid(required=False)
    lab_slug = Str(required=False, max_length=50)


class LabTestPatch(Inputs):
    """Changes to a lab test: `active` false archives, true unarchives, null keeps."""

    name = Str(required=False, allow_null=True, max_length=PANEL_NAME_MAX_LENGTH)
    active = Bool(required=False, allow_null=True)


def parse_marker_filters(query: Mapping[str, Any], lab: Lab | None) -> MarkerFilters:
    """Return the marker filters of a validated query."""
    return MarkerFilters(
        lab=lab,
        lab_slug=normalize_lab_slug(query.get("lab_slug")),
        lab_ids=tuple(query.get("lab_id", ())),
        text=query.get("name", "").strip(),
        is_a_la_carte=query.get("a_la_carte_enabled"),
    )


def parse_lab_test_filters(
    query: Mapping[str, Any], lab: Lab | None = None
) -> LabTestFilters:
    """Return the lab test filters of a validated query."""
    generation = query["generation_method"]
    return LabTestFilters(
        lab=lab,
        lab_slug=normalize_lab_slug(query.get("lab_slug")),
        method=str(query.get("collection_method", "")),
        status=str(query.get("status", "")),
        generation=""
        if generation == GenerationFilter.ALL
        else Generation(str(generation)),
        marker_ids=tuple(query.get("marker_ids", ())),
        provider_ids=tuple(query.get("provider_ids", ())),
        name=query.get("name", "").strip(),
        sort=str(query["order_key"]),
        descending=query["order_direction"] == SortDirection.DESC,
    )


def parse_lab_test_request(body: Mapping[str, Any]) -> LabTestRequest:
    """Return the panel of a validated body. Raises: 422 by missing, value_error."""
    by_id, by_code = body.get("marker_ids"), body.get("provider_ids")
    if bool(by_id) == bool(by_code):
        raise _field_error(
            "marker_ids",
            "Send either marker_ids or provider_ids.",
            "value_error" if by_id else "missing",
        )
    if by_code and not (body.get("lab_slug") or body.get("lab_account_id")):
        raise _field_error(
            "lab_slug", "Send lab_slug together with provider_ids.", "missing"
        )
    return LabTestRequest(
        name=body["name"],
        method=body["method"],
        description=body["description"],
        marker_ids=tuple(by_id or ()),
        provider_ids=tuple(by_code or ()),
        fasting=body.get("fasting"),
        lab_slug=normalize_lab_slug(body.get("lab_slug")) or "",
        lab_account_id=body.get("lab_account_id"),
    )


def parse_order_set(body: Mapping[str, Any]) -> OrderSet:
    """Return the order set of a validated body."""
    add_on = body.get("add_on")
    return OrderSet(
        lab_test_ids=tuple(body.get("lab_test_ids", ())),
        marker_ids=tuple((add_on or {}).get("marker_ids", ())),
        provider_ids=tuple((add_on or {}).get("provider_ids", ())),
        has_add_on=add_on is not None,
    )


def encode_lab_test_list_cursor(panel: LabTest, filters: LabTestFilters) -> str:
    """Return the cursor that continues a list after a panel."""
    value = getattr(panel, filters.sort)
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    return encode_page_cursor([*_sort_order_of(filters), text, str(panel.pk)])


def decode_lab_test_list_cursor(
    query: Mapping[str, Any], filters: LabTestFilters
) -> LabTestPlace | None:
    """Return where a page starts. Raises: 422 at next_cursor."""
    if "next_cursor" not in query:
        return None
    sort, direction, text, panel_id = decode_page_cursor(query["next_cursor"], length=4)
    if [sort, direction] != _sort_order_of(filters):
        raise build_invalid_cursor_error()
    try:
        value: Decimal | datetime
        if sort == LabTestKey.PRICE:
            value = Decimal(text)
            if not value.is_finite():
                raise build_invalid_cursor_error()
        else:
            value = datetime.fromisoformat(text)
            if value.tzinfo is None:
                raise build_invalid_cursor_error()
        return LabTestPlace(value, UUID(panel_id))
    except (ValueError, InvalidOperation):
        raise build_invalid_cursor_error() from None


def _sort_order_of(filters: LabTestFilters) -> list[str]:
    return [filters.sort, "desc" if filters.descending else "asc"]


def _field_error(field: str, message: str, kind: str) -> RequestInvalid:
    return RequestInvalid([FieldError(("body", field), message, kind)])


def normalize_lab_slug(slug: str | None) -> str | None:
    """Return a lab's slug from any case, blank or hyphen (contract D2)."""
    return slug and slug.strip().lower().replace(" ", "_").replace("-", "_")
