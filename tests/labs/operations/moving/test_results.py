from __future__ import annotations

import pytest

from labs.models import CriticalAlert, Hl7OutboundMessage, Order, ResultVersion
from labs.operations.moving.orders import store_past_orders
from tests.clients import ApiClient
from tests.factories.accounts import ACTOR, make_api_key
from tests.factories.labs import make_lab
from tests.factories.users import make_user
from tests.labs.operations.moving.test_orders import order, step
from tests.outbox import emitted_types

pytestmark = pytest.mark.django_db


def result(**changed):
    return {
        "name": "Glucose",
        "slug": "glucose",
        "result": "1,412",
        "type": "numeric",
        "unit": "mg/dL",
        "timestamp": "2025-06-03T08:00:00+00:00",
        "notes": None,
        "reference_range": "70-99",
        "min_range_value": 70.0,
        "max_range_value": 99.0,
        "is_above_max_range": True,
        "is_below_min_range": False,
        # The platform's own judgment stands, whatever ours would be.
        "interpretation": "critical",
        "source_interpretation": "HH",
        "loinc": "2345-7",
        "loinc_slug": "glucose",
        "provider_id": "001032",
        "source_markers": [
            {"marker_id": 7, "name": "CMP", "slug": "cmp", "provider_id": "322000"}
        ],
        "performing_laboratory": "PHX",
        "source_sample_id": "S-1",
        **changed,
    }


def results(*rows, **changed):
    return {
        "metadata": {
            "age": "35",
            "dob": "1990-05-17",
            "patient": "Ada Example",
            "date_reported": "2025-06-04T10:00:00",
            "date_collected": "2025-06-03T08:00:00+00:00",
            "specimen_number": "S-1",
            "clia_#": "03D0000000",
            "laboratory": "Lab of old",
            "status": "final",
            "interpretation": "critical",
        },
        "results": list(rows),
        "missing_results": [
            {
                "name": "Iron",
                "slug": "iron",
                "inferred_failure_type": "drop_off_failure",
                "note": "Too late",
                "source_markers": [],
            }
        ],
        "sample_information": {
            "S-1": {
                "sample_id": "S-1",
                "control_number": "C-9",
                "date_collected": {
                    "timestamp": "2025-06-03T08:00:00+00:00",
                    "timezone_offset": -25200,
                },
                "date_received": "2025-06-03T20:00:00+00:00",
                "performing_laboratories": {"PHX": {"name": "Phoenix"}},
                "clinical_information": {"fasting": True, "notes": "Tired"},
            }
        },
        **changed,
    }


def test_results_are_kept_as_the_platform_has_them(alice_tenant):
    user = make_user(tenant=alice_tenant)
    lab = make_lab(tenant=alice_tenant)
    done = order(lab, step(1, "ordered"), step(2, "completed", "completed"))
    remark = result(name="Remark", result="Hemolysed.", type="comment", loinc=None)
    remark |= {"notes": "Hemolysed.\nSee above", "interpretation": None}

    def keep(found):
        elements = [{"order": done, "result": found}]
        return store_past_orders(alice_tenant, ACTOR, user.uuid, "original", elements)

    keep(results(result(), remark))
    again = keep(results(result(), remark))
    corrected = keep(results(result(result="112"), remark))
    broken = keep(results({"name": "no result"}))

    api = ApiClient(make_api_key(tenant=alice_tenant))
    answer = api.get(f"/v3/order/{done['id']}/result").json()
    versions = ResultVersion.objects.for_tenant(alice_tenant).order_by("number")
    assert (again[1], corrected[1], dict(broken[2])) == (0, 1, {"invalid_element": 1})
    assert [(v.number, v.is_current, v.is_correction) for v in versions] == [
        (1, False, False),
        (2, True, True),
    ]
    assert versions[0].results.get(name="Glucose").value == 1412
    assert {k: v for k, v in answer["results"][0].items() if k != "result_type"} == (
        result(result="112")
    )
    assert answer["results"][1]["notes"] == "Hemolysed.\nSee above"
    [gap] = answer["missing_results"]
    assert (gap["inferred_failure_type"], gap["note"]) == (
        "drop_off_failure",
        "Too late",
    )
    sample = answer["sample_information"]["S-1"]
    assert sample["date_collected"]["timezone_offset"] == -25200
    assert sample["clinical_information"]["fasting"] is True
    assert answer["metadata"]["date_reported"] == "2025-06-04T10:00:00+00:00"
    assert answer["metadata"]["clia_#"] == "03D0000000"
    # No alert, no message to a system of the team, no event.
    assert not CriticalAlert.objects.for_tenant(alice_tenant).exists()
    assert not Hl7OutboundMessage.objects.for_tenant(alice_tenant).exists()
    assert emitted_types(alice_tenant) == []
    assert Order.objects.for_tenant(alice_tenant).get().interpretation == ""
