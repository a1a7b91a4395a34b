"""What is compared of orders, their results and workout streams, as flat fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from users.gateways.moving.assay import AssayApi
    from users.operations.moving.parity_counts import Parity

ORDER_RESULTS = "order_results"
# Compared as they are; the others are read by describe_order.
_SAME = (
    *("sample_id", "status", "passthrough", "interpretation", "has_missing_results"),
    *("activate_by", "expected_result_by_date", "worst_case_result_by_date"),
    *("health_insurance_id", "origin"),
)
_OF_TEST = ("name", "slug", "sample_type", "method", "price", "fasting")
_OF_ACCOUNT = {"patient_id", "account_id"}

Key = tuple[str, str, str]


def index_orders(orders: Iterable[Mapping[str, Any]]) -> dict[Key, dict[str, Any]]:
    """Return what is compared of orders, by ID."""
    return {("", "", each["id"]): describe_order(each) for each in orders}


def index_results(
    order_id: str, results: Mapping[str, Any] | None
) -> dict[Key, dict[str, Any]]:
    """Return what is compared of an order's results: each, and what holds for all."""
    if results is None:
        return {}
    about = {k: v for k, v in results["metadata"].items() if k not in _OF_ACCOUNT}
    found: dict[Key, dict[str, Any]] = {(order_id, "", "metadata"): about}
    for part in ("results", "missing_results"):
        for number, each in enumerate(results.get(part) or ()):
            row = {name: value for name, value in each.items() if name != "result_type"}
            row["source_markers"] = [
                one.get("provider_id") for one in each.get("source_markers") or ()
            ]
            found[order_id, part, f"{number} {each['name']}"] = row
    for name, sample in (results.get("sample_information") or {}).items():
        found[order_id, "sample", name] = dict(sample or {})
    return found


def describe_order(order: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is compared of an order as contract 6.10 has it."""
    test, details = order["lab_test"], order["details"]
    patient = _drop_nulls(order.get("patient_details"))
    if patient:
        patient["dob"] = patient["dob"][:10]
    steps = sorted(order["events"], key=lambda each: each["id"])
    return {
        **{name: order.get(name) or None for name in _SAME},
        "collected_by": details["type"],
        "shipment": _drop_nulls((details.get("data") or {}).get("shipment")),
        "patient_details": patient,
        "patient_address": _drop_nulls(order.get("patient_address")),
        "shipping_details": _drop_nulls(order.get("shipping_details")),
        "physician": _drop_nulls(order.get("physician")),
        "clinical_notes": order.get("clinical_notes") or order.get("notes") or None,
        "placed_at": order["created_at"],
        "changed_at": order["updated_at"],
        "priority": bool(order.get("priority")),
        "billing_type": order.get("billing_type") or "client_bill",
        "icd_codes": order.get("icd_codes") or [],
        "transaction": (order.get("order_transaction") or {}).get("id"),
        "steps": [each["status"] for each in steps],
        "step_details": [each.get("status_detail") for each in steps],
        "step_times": [each["created_at"] for each in steps],
        "lab": (test.get("lab") or {}).get("slug"),
        "test": {name: test.get(name) for name in _OF_TEST},
        "markers": sorted(each["provider_id"] for each in test.get("markers") or ()),
    }


def explain_orders(
    parity: Parity, api: AssayApi, orders: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Count by rule what can't be here, and return the rest, to be compared."""
    counts = parity.of("orders")
    left: list[Mapping[str, Any]] = []
    for order in orders:
        lab = (order["lab_test"].get("lab") or {}).get("slug") or ""
        if not api.has_marker(lab, ""):
            counts.theirs += 1
            counts.explained["lab_not_in_catalogue"] += 1
            continue
        counts.converted["own_ids"] += 1
        if order.get("requisition_form_url"):
            counts.converted["no_requisition"] += 1
        if (order["details"].get("data") or {}).get("appointment_id"):
            counts.converted["no_appointment"] += 1
        markers = order["lab_test"].get("markers") or []
        known = [each for each in markers if api.has_marker(lab, each["provider_id"])]
        if len(known) < len(markers):
            counts.explained["marker_not_in_catalogue"] += len(markers) - len(known)
        test = {**order["lab_test"], "markers": known}
        left.append({**order, "lab_test": test})
    return left


def _drop_nulls(shape: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if shape is None:
        return None
    return {
        name: _drop_nulls(value) if isinstance(value, dict) else value
        for name, value in shape.items()
        if value is not None and name != "id"
    }
