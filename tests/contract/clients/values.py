"""Values for the methods of clients, made over the API of a sandbox.

By name of a parameter or field, in the API's spelling; `by_method` has those of single
methods, None for what a method must not get. People are fictional.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator

# Begins the client user IDs of those made here, and of no others.
PREFIX = "published-clients-"

PERSON = {
    "first_name": "Ada",
    "last_name": "Example",
    "dob": "1990-05-17",
    "gender": "female",
    "phone_number": "+15550101",
    "email": "ada@assay.example",
}
PLACE = {
    "first_line": "1 Sample Street",
    "city": "Phoenix",
    "state": "AZ",
    "zip": "85004",
    "country": "US",
}
OWN_PAYOR = {"name": "Own Plan", "address": PLACE}
PHYSICIAN = {"first_name": "Vera", "last_name": "Example", "npi": "1234567893"}
PHYSICIAN_OF_ORDER = PHYSICIAN | {"licensed_states": ["AZ"]}


@contextmanager
def made_values(address: str, key: str) -> Iterator[dict[str, Any]]:
    """Make users and orders, yield values that name them, and delete the users.

    A sandbox takes 50 users. Those that an interrupted run left are deleted first.
    """
    with httpx.Client(
        base_url=address, headers={"x-service-api-key": key}, timeout=60
    ) as api:
        _delete_users(api)
        try:
            yield _make_values(api)
        finally:
            _delete_users(api)


def _make_values(api: httpx.Client) -> dict[str, Any]:
    now = datetime.now(UTC).replace(microsecond=0)
    user, spare = (_call(api, "POST", "/v2/user", _new_user()) for _ in range(2))
    user_id = user["user_id"]
    team_id = user["team_id"]
    demo = {"user_id": user_id, "provider": "oura"}
    _call(api, "POST", "/v2/link/connect/demo", demo)
    info = PERSON | {"address": PLACE}
    _call(api, "PATCH", f"/v2/user/{user_id}/info", info)
    tomorrow = (now + timedelta(days=1)).date().isoformat()
    since = (now - timedelta(days=7)).date()

    link_token = _call(api, "POST", "/v2/link/token", {"user_id": user_id})[
        "link_token"
    ]

    def find_id(kind: str) -> str:
        """Return the ID of a summary of the demo source."""
        path = f"/v2/summary/{kind}/{user_id}?start_date={since}"
        return str(_call(api, "GET", path)[kind][0]["id"])

    tests = _call(api, "GET", "/v3/lab_tests")
    by_method = {each["method"]: each["id"] for each in reversed(tests)}
    order = {
        "user_id": user_id,
        "patient_details": PERSON,
        "patient_address": PLACE,
        "physician": PHYSICIAN_OF_ORDER,
        "billing_type": "client_bill",
    }

    def place(method: str, until: str = "") -> str:
        """Place an order for the first test of a method."""
        placed = _call(
            api,
            "POST",
            "/v3/order",
            order
            | {
                "order_set": {"lab_test_ids": [by_method[method]]},
                "collection_method": method,
            },
        )["order"]["id"]
        if until:
            path = f"/v3/order/{placed}/test?final_status={until}"
            _call(api, "POST", path, {})
        return str(placed)

    done = place("walk_in_test", "completed.walk_in_test.completed")
    walk_in = place("walk_in_test", "received.walk_in_test.requisition_created")
    visit = place(
        "at_home_phlebotomy", "received.at_home_phlebotomy.requisition_created"
    )
    read = _call(api, "GET", f"/v3/order/{done}")
    markers = _call(api, "GET", "/v3/lab_tests/markers?lab_id=1&size=1")["markers"]
    slots = _call(
        api,
        "POST",
        f"/v3/order/psc/appointment/availability?lab=quest&zip_code=85004"
        f"&start_date={(now + timedelta(days=2)).date()}",
    )["slots"]
    keys = [slot["booking_key"] for day in slots for slot in day["slots"]]
    reasons = "/v3/order/psc/appointment/cancellation-reasons"
    common = {
        "token": "none",
        **dict.fromkeys(("link_token", "vital_link_token"), link_token),
        "username": "ada",
        "password": "none",
        "auth_type": "password",
        "booking_key": keys[0],
        "cancellation_reason_id": _call(api, "GET", reasons)[0]["id"],
        "marker_ids": [markers[0]["id"]],
        "method": "walk_in_test",
        "description": "A panel of one marker.",
        "sample_type": "serum",
        "sample_id": uuid.uuid4().hex[:12],
        "payor_code": _call(api, "POST", "/v3/payor", OWN_PAYOR)["payor_code"],
        **PLACE,
        **order,
        **PERSON,
        "address": PLACE | {"zip_code": "85004"},
        "user_id": user_id,
        "client_user_id": user["client_user_id"],
        "query_id": user["client_user_id"],
        "team_id": team_id,
        "start_date": (now - timedelta(days=7)).isoformat(),
        "end_date": now.isoformat(),
        "date": now.date().isoformat(),
        "fallback_time_zone": "America/Phoenix",
        "order_set": {"lab_test_ids": [by_method["walk_in_test"]]},
        "collection_method": "walk_in_test",
        "lab_test_id": tests[0]["id"],
        "lab_test_ids": [tests[0]["id"]],
        "order_id": done,
        "transaction_id": read["order_transaction"]["id"],
        "lab_id": 1,
        "lab_slug": "quest",
        "provider_id": markers[0]["provider_id"],
        "lab": "quest",
        "labs": ["quest"],
        "zip_code": "85004",
        "radius": "25",
        "page": 1,
        "size": 10,
        "limit": 10,
        "offset": 0,
        "resource": "activity",
        "collection_date": now.isoformat(),
        "insurance_name": "Aetna",
        "diagnosis_query": "diabetes",
        "codes": ["E11.9"],
        "is_primary": True,
        "member_id": "M-1",
        "relationship": "Self",
        "insured": PERSON | {"address": PLACE},
        "context": "launch",
        "name": "Own panel",
        "timeout": 5,
        "data_type": "timeseries",
        "provider": "oura",
        "oauth_provider": "oura",
        "manual_provider": "beurer_ble",
        "sleep_id": find_id("sleep"),
        "workout_id": find_id("workouts"),
        **dict.fromkeys(("job_id", "raw_result_id", "device_id", "run_id"), user_id),
        "query_id_or_slug": user_id,
        "query": "glucose",
        "order_ids": [done],
        "order_sets": [{"lab_test_ids": [by_method["walk_in_test"]]}],
        "provider_ids": [markers[0]["provider_id"]],
        "user_ids": [user_id],
        "connections": [],
        "target_lab": "quest",
        "timeframe": {
            "type": "relative",
            "anchor": now.date().isoformat(),
            "past": {"unit": "day", "value": 7},
        },
        "queries": [],
        "modality": "walk_in_test",
        "us_state": "AZ",
        "mfa_code": "000000",
        "case": "match_completed",
        "order_source": "managed",
        "action": "reject",
        "mode": "canonical",
        "by_method": {},
    }
    own = _call(
        api,
        "POST",
        "/v3/lab_tests",
        {
            "name": "Own panel",
            "method": "walk_in_test",
            "description": "One.",
            "marker_ids": [markers[0]["id"]],
        },
    )["id"]
    simulated = place("walk_in_test")
    cancelled = place("walk_in_test")
    booked = place("walk_in_test", "received.walk_in_test.requisition_created")
    path = f"/v3/order/{booked}/psc/appointment/book"
    _call(api, "POST", path, {"booking_key": keys[1]})
    common["by_method"] = {
        "user.create": _new_user(),
        "user.delete": {"user_id": spare["user_id"]},
        "user.undo_delete": {"user_id": spare["user_id"], "client_user_id": None},
        "user.patch": {"client_user_id": user["client_user_id"]},
        "user.deregister_provider": {"provider": "oura"},
        "insurance.search_payor_info": {"provider": None},
        "insurance.search_get_payor_info": {"provider": None},
        "payor.create_payor": {"provider": None},
        "compendium.convert": {"provider_ids": None},
        "lab_tests.create": {"provider_ids": None},
        "lab_tests.create_order": {"lab_test_id": None},
        **{
            f"link.{each}": {"team_id": "infer_from_context"}
            for each in (
                *("bulk_export", "bulk_import", "bulk_pause", "list_bulk_ops"),
                "bulk_trigger_historical_pull",
            )
        },
        "link.bulk_import": {
            "team_id": "infer_from_context",
            "connections": [
                {
                    "user_id": spare["user_id"],
                    "access_token": "none",
                    "refresh_token": "none",
                    "provider_id": "none",
                    "expires_at": 2**31 - 1,
                }
            ],
        },
        "link.connect_demo_provider": {"provider": "fitbit"},
        "link.connect_email_auth_provider": {"provider": "freestyle_libre"},
        "link.connect_password_provider": {"provider": "whoop"},
        "link.password_auth": {"provider": "whoop"},
        "link.complete_password_provider_mfa": {"provider": "whoop"},
        "link.connect_manual_provider": {"provider": "beurer_ble"},
        "lab_tests.request_phlebotomy_appointment": {
            "order_id": visit,
            "provider": "getlabs",
        },
        "lab_tests.import_order": {
            "patient_address": PLACE
            | {"receiver_name": "Ada Example", "phone_number": "+15550101"},
        },
        "lab_tests.get_order_psc_info": {"order_id": walk_in},
        "lab_tests.get_labels_pdf": {"order_id": visit},
        "lab_tests.book_psc_appointment": {
            "order_id": walk_in,
            "request": {"booking_key": keys[0]},
        },
        "lab_tests.reschedule_psc_appointment": {
            "order_id": booked,
            "request": {"booking_key": keys[-1]},
            "booking_key": keys[-1],
        },
        "lab_tests.get_psc_appointment_availability": {"start_date": tomorrow},
        "lab_tests.get_phlebotomy_appointment_availability": {
            "start_date": tomorrow,
            "request": PLACE | {"zip_code": "85004"},
        },
        "lab_tests.book_phlebotomy_appointment": {
            "order_id": visit,
            "request": {"booking_key": "none"},
        },
        "lab_tests.reschedule_phlebotomy_appointment": {
            "order_id": visit,
            "request": {"booking_key": "none"},
        },
        "lab_tests.get_markers_for_order_set": {
            "request": {"lab_test_ids": [by_method["walk_in_test"]]}
        },
        "lab_tests.get_psc_appointment": {"order_id": booked},
        "lab_tests.cancel_psc_appointment": {"order_id": walk_in},
        "lab_tests.update_lab_test": {"lab_test_id": own},
        "lab_tests.cancel_order": {"order_id": cancelled},
        "lab_tests.simulate_order_process": {"order_id": simulated},
        "testkit.create_order": {
            "lab_test_id": by_method.get("testkit", tests[0]["id"]),
            "shipping_details": PLACE
            | {"receiver_name": "Ada Example", "phone_number": "+15550101"},
        },
    }
    return common


def _new_user() -> dict[str, str]:
    return {"client_user_id": f"{PREFIX}{uuid.uuid4()}"}


def _delete_users(api: httpx.Client) -> None:
    """Delete the users that were made here."""
    for user in _call(api, "GET", "/v2/user?limit=100")["users"]:
        if user["client_user_id"].startswith(PREFIX):
            _call(api, "DELETE", f"/v2/user/{user['user_id']}")


def _call(api: httpx.Client, method: str, path: str, body: Any = None) -> Any:
    answer = api.request(method, path, json=body)
    if answer.is_error:
        raise RuntimeError(f"{method} {path}: {answer.status_code} {answer.text}")
    return answer.json()
