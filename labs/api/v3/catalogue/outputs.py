"""Response shapes of the catalog and lab accounts, and their builders.

Labs, markers and panels are built in labs.payloads, as orders contain them too.
Contract 6.1 to 6.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict
from uuid import UUID

from labs.payloads import (
    LabAnswer,
    LabTestAnswer,
    MarkerAnswer,
    build_lab_test,
    build_marker,
)
from labs.states.accounts import Billing, DelegatedFlow, LabAccountStatus
from labs.states.catalogue import CHARGE_OF_METHOD, PriceComponent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from labs.models import ExpectedResult, LabAccount, LabTest, Marker
    from labs.operations.catalogue.order_sets import ResolvedSet
    from labs.queries.catalogue import MarkerPage


class LoincAnswer(TypedDict):
    """A LOINC code; `id` is its number without the check digit."""

    id: int
    name: str
    slug: str
    code: str
    unit: str | None


class ExpectedResultAnswer(TypedDict):
    """A result that a marker reports."""

    id: int
    name: str
    slug: str
    lab_id: int | None
    provider_id: str | None
    required: bool
    loinc: LoincAnswer | None


class MarkerComplete(MarkerAnswer):
    """A marker with its expected results."""

    expected_results: list[ExpectedResultAnswer]


class PriceAnswer(TypedDict, total=False):
    """A price in US cents, or the reason it is missing."""

    base_amount_minor: int
    unspecified: str


class Pricing(TypedDict):
    """Prices by marker ID."""

    currency: str
    data: dict[str, PriceAnswer]


class PanelPriceAnswer(TypedDict):
    """The price of a whole lab test."""

    pricing: PriceAnswer


class PanelPricing(TypedDict):
    """Prices by lab test ID."""

    currency: str
    data: dict[str, PanelPriceAnswer]


class MarkersPage(TypedDict):
    """A page of markers."""

    markers: list[MarkerComplete]
    total: int
    page: int
    size: int
    pages: int
    pricing: Pricing | None


class LabTestPage(TypedDict):
    """A page of lab tests; `next_cursor` is null on the last page."""

    data: list[LabTestAnswer]
    next_cursor: str | None
    pricing: PanelPricing | None


class LabAccountAnswer(TypedDict):
    """A lab account."""

    id: UUID
    lab: str
    org_id: UUID
    status: Annotated[str, LabAccountStatus]
    delegated_flow: Annotated[str, DelegatedFlow]
    provider_account_id: str
    account_name: str | None
    default_clinical_notes: str | None
    business_units: list[str] | None
    allowed_billing: dict[str, list[str]]
    team_id_allowlist: list[UUID]


class LabAccountList(TypedDict):
    """Lab accounts the team may use."""

    data: list[LabAccountAnswer]


class _Charge(TypedDict):
    id: Annotated[str, PriceComponent]
    pricing: PriceAnswer


class PriceComponentAnswer(_Charge, total=False):
    """One charge of an order; `marker_breakdown` is the lab's charge by marker ID."""

    marker_breakdown: dict[str, PriceAnswer]


class OrderSetPrice(TypedDict):
    """What an order set would cost, whole and by charge."""

    aggregate_pricing: PriceAnswer
    components: list[PriceComponentAnswer]


class OrderSetPrices(TypedDict):
    """Estimates of order sets, in the order they were sent."""

    currency: str
    data: list[OrderSetPrice]


Labs = list[LabAnswer]
LabTests = list[LabTestAnswer]


def build_markers_page(
    found: MarkerPage, *, page: int, size: int, with_prices: bool = False
) -> MarkersPage:
    """Build a page of markers as requested."""
    prices: Pricing = {
        "currency": "USD",
        "data": {str(marker.pk): build_price(marker.price) for marker in found.markers},
    }
    return {
        "markers": [
            build_marker_with_expected_results(marker) for marker in found.markers
        ],
        "total": found.total,
        "page": page,
        "size": size,
        "pages": -(-found.total // size),
        "pricing": prices if with_prices else None,
    }


def build_marker_with_expected_results(marker: Marker) -> MarkerComplete:
    """Build a marker with its loaded expected results."""
    results = sorted(marker.expected_results.all(), key=lambda result: result.pk)
    return {
        **build_marker(marker),
        "expected_results": [
            _build_expected_result(result, marker.lab_id) for result in results
        ],
    }


def build_lab_test_page(
    panels: Sequence[LabTest], *, next_cursor: str | None, with_prices: bool
) -> LabTestPage:
    """Build a page of panels."""
    prices: PanelPricing = {
        "currency": "USD",
        "data": {
            str(panel.pk): {"pricing": build_price(panel.known_price)}
            for panel in panels
        },
    }
    return {
        "data": [build_lab_test(panel) for panel in panels],
        "next_cursor": next_cursor,
        "pricing": prices if with_prices else None,
    }


def build_price(amount: Decimal | None) -> PriceAnswer:
    """Build a price in US cents, or the reason it is missing."""
    if amount is None:
        return {"unspecified": "refer_to_contract"}
    return {"base_amount_minor": int(amount * 100)}


def build_order_set_price(resolved: ResolvedSet, billing: str) -> OrderSetPrice:
    """Build what an order set would cost the team.

    The catalogue has what a lab bills the team, so the charge is unavailable where
    another payer is billed. Kits and visits at home have no price list; a
    whole is unknown with any of its parts. Source: Ours: nothing unknown counts as 0.
    """
    is_ours = billing == Billing.CLIENT_BILL
    lab_charge: PriceComponentAnswer = {
        "id": PriceComponent.LAB_CHARGE,
        "pricing": build_price(resolved.price) if is_ours else _unavailable(),
        "marker_breakdown": {
            str(marker.pk): build_price(marker.price) if is_ours else _unavailable()
            for marker in resolved.markers
        },
    }
    further = CHARGE_OF_METHOD.get(resolved.method)
    components = [lab_charge]
    if further is not None:
        components.append({"id": further, "pricing": _unavailable()})
    whole = lab_charge["pricing"] if further is None else _unavailable()
    return {"aggregate_pricing": whole, "components": components}


def _unavailable() -> PriceAnswer:
    return {"unspecified": "price_unavailable"}


def build_lab_account(account: LabAccount) -> LabAccountAnswer:
    """Build a lab account; its lab and links are loaded."""
    return {
        "id": account.pk,
        "lab": account.lab.slug,
        "org_id": account.organisation_id,
        "status": account.status,
        "delegated_flow": account.delegated_flow,
        "provider_account_id": account.provider_account_id,
        "account_name": account.account_name or None,
        "default_clinical_notes": account.default_clinical_notes or None,
        "business_units": account.business_units,
        "allowed_billing": account.allowed_billing,
        "team_id_allowlist": sorted(link.team_id for link in account.team_links.all()),
    }


def _build_expected_result(result: ExpectedResult, lab_id: int) -> ExpectedResultAnswer:
    return {
        "id": result.pk,
        "name": result.name,
        "slug": result.slug,
        "lab_id": lab_id,
        "provider_id": result.provider_id,
        "required": result.required,
        "loinc": _build_loinc(result),
    }


def _build_loinc(result: ExpectedResult) -> LoincAnswer | None:
    if not result.loinc_code:
        return None
    return {
        "id": int(result.loinc_code.partition("-")[0]),
        "name": result.loinc_name,
        "slug": result.slug,
        "code": result.loinc_code,
        "unit": result.unit or None,
    }
