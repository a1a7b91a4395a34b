from __future__ import annotations

import pytest

from labs.models import Lab, ServiceCenter
from labs.states.service_centers import parse_opening_hours, serialize_opening_hours
from tests.audit import audited
from tests.clients import error_lines
from tests.contract.document import check_answer
from tests.factories.labs import make_lab, make_lab_account, make_lab_test, make_order

pytestmark = pytest.mark.django_db

PATH = "/v3/order/psc/info"
AREA = "/v3/order/area/info"
HERE = "appointment_scheduling_via_api"


@pytest.fixture
def quest():
    return Lab.objects.get(slug="quest")


@pytest.fixture
def sites(quest):
    """Around 85004: one near that is booked here, one farther, one 20 miles away."""
    ServiceCenter.objects.all().delete()
    return [
        make_center(quest, "NEAR", 33.4557, [HERE, "stat"], second_line="Suite 1"),
        make_center(quest, "FAR", 33.55, [], bill_types=["client_bill"]),
        make_center(quest, "EDGE", 33.75, [HERE]),
        make_center(quest, "SHUT", 33.4557, [HERE], is_active=False),
    ]


def make_center(lab: Lab, code: str, latitude: float, capabilities: list[str], **rest):
    return ServiceCenter.objects.create(
        **{
            "lab": lab,
            "site_code": code,
            "name": f"{code} Center",
            "first_line": "1 Sample Street",
            "city": "Phoenix",
            "state": "AZ",
            "zip_code": "85004",
            "latitude": latitude,
            "longitude": -112.0686,
            "time_zone": "America/Phoenix",
            "hours": serialize_opening_hours(parse_opening_hours("mon 07:00-12:00")),
            "capabilities": capabilities,
            "bill_types": ["client_bill", "patient_bill"],
            **rest,
        }
    )


def codes(reply):
    assert reply.status_code == 200, reply.content
    return [one["site_code"] for one in reply.json()["patient_service_centers"]]


def test_centers_are_found_around_a_zip_code_nearest_first(alice_api, quest, sites):
    reply = alice_api.get(f"{PATH}?zip_code=85004&lab_id={quest.pk}")

    check_answer(reply, "get", PATH)
    body = reply.json()
    near, far, edge = body.pop("patient_service_centers")
    assert body == {"lab_id": quest.pk, "slug": "quest"}
    assert near == {
        "metadata": {
            "name": "NEAR Center",
            "state": "AZ",
            "city": "Phoenix",
            "zip_code": "85004",
            "first_line": "1 Sample Street",
            "second_line": "Suite 1",
            "phone_number": None,
            "fax_number": None,
            "hours": serialize_opening_hours(parse_opening_hours("mon 07:00-12:00")),
            "website": None,
        },
        "distance": 0,
        "site_code": "NEAR",
        "supported_bill_types": ["client_bill", "patient_bill"],
        "location": {"lng": -112.0686, "lat": 33.4557},
        "capabilities": [HERE, "stat"],
    }
    assert [(one["site_code"], one["distance"]) for one in (far, edge)] == [
        ("FAR", 7),
        ("EDGE", 20),
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("radius=10", ["NEAR", "FAR"]),
        ("radius=20", ["NEAR", "FAR"]),
        ("radius=100", ["NEAR", "FAR", "EDGE"]),
        ("capabilities=stat", ["NEAR"]),
        ("capabilities=appointment_scheduling_via_psc", ["NEAR", "EDGE"]),
        ("capabilities=stat&capabilities=parking", ["NEAR"]),
        ("capabilities=appointment_scheduling_with_lab", []),
    ],
)
def test_centers_are_narrowed(alice_api, quest, sites, query, found):
    reply = alice_api.get(f"{PATH}?zip_code=85004-1234&lab_id={quest.pk}&{query}")

    assert codes(reply) == found


def test_at_most_thirty_centers_are_given(alice_api, quest, sites):
    for number in range(30):
        make_center(quest, f"N{number}", 33.4557, [])

    found = codes(alice_api.get(f"{PATH}?zip_code=85004&lab_id={quest.pk}"))

    assert len(found) == 30
    assert "FAR" not in found


def test_an_account_narrows_who_may_be_billed(alice_api, alice_tenant, quest, sites):
    mine = make_lab_account(
        tenant=alice_tenant, lab=quest, allowed_billing={"patient_bill": ["AZ"]}
    )
    others = make_lab_account(tenant=alice_tenant, lab=make_lab())

    around = f"{PATH}?zip_code=85004&lab_id={quest.pk}&lab_account_id="
    reply = alice_api.get(f"{around}{mine.pk}")
    refused = alice_api.get(f"{around}{others.pk}")

    near = reply.json()["patient_service_centers"][0]
    assert near["supported_bill_types"] == ["patient_bill"]
    assert (refused.status_code, refused.json()["code"]) == (
        400,
        "lab_account_of_another_lab",
    )


def test_a_strangers_account_is_not_found(alice_api, charlie_tenant, quest):
    account = make_lab_account(tenant=charlie_tenant, lab=quest)

    for path in (f"{PATH}?zip_code=85004&lab_id={quest.pk}", f"{AREA}?zip_code=85004"):
        reply = alice_api.get(f"{path}&lab_account_id={account.pk}")

        assert (reply.status_code, reply.json()["code"]) == (
            404,
            "lab_account_not_found",
        )


@pytest.mark.parametrize(
    ("query", "loc"),
    [
        ("lab_id=1", "zip_code"),
        ("lab_id=1&zip_code=8500", "zip_code"),
        ("zip_code=85004", "lab_id"),
        ("zip_code=85004&lab_id=one", "lab_id"),
        ("zip_code=85004&lab_id=1&radius=15", "radius"),
        ("zip_code=85004&lab_id=1&radius=", "radius"),
    ],
)
def test_a_query_of_the_wrong_form_is_refused(alice_api, query, loc):
    [(place, _)] = error_lines(alice_api.get(f"{PATH}?{query}"))

    assert place == ["query", loc]


def test_a_zip_code_or_lab_that_is_not_there_is_refused(alice_api):
    nowhere = alice_api.get(f"{PATH}?zip_code=00000&lab_id=1")
    nobody = alice_api.get(f"{PATH}?zip_code=85004&lab_id=999")

    assert (nowhere.status_code, nowhere.json()["code"]) == (400, "zip_code_unknown")
    assert (nobody.status_code, nobody.json()["code"]) == (404, "lab_not_found")


def test_centers_are_found_around_an_orders_patient(
    alice_api, alice_tenant, charlie_api, quest, sites
):
    panel = make_lab_test(tenant=alice_tenant, lab=quest)
    order = make_order(tenant=alice_tenant, lab_test=panel)

    reply = alice_api.get(f"/v3/order/{order.pk}/psc/info?radius=10")

    check_answer(reply, "get", "/v3/order/{order_id}/psc/info")
    assert codes(reply) == ["NEAR", "FAR"]
    assert audited(alice_tenant)[-1] == (
        *("read", "order_service_centers"),
        str(order.pk),
    )
    assert charlie_api.get(f"/v3/order/{order.pk}/psc/info").status_code == 404


def test_an_area_tells_who_takes_samples_there(alice_api, quest, sites):
    reply = alice_api.get(f"{AREA}?zip_code=85004&radius=10")

    check_answer(reply, "get", AREA)
    body = reply.json()
    assert body["zip_code"] == "85004"
    assert body["phlebotomy"] == {
        "is_served": True,
        "providers": [
            {"name": "getlabs", "service_types": ["appointment-ready"]},
            {"name": "sonora_quest", "service_types": ["appointment-request"]},
        ],
    }
    assert sorted(body["central_labs"]) == [
        *("bioreference", "labcorp", "quest", "sonora_quest"),
    ]
    assert body["central_labs"]["quest"] == {
        "lab_id": quest.pk,
        "supported_bill_types": ["client_bill", "patient_bill"],
        "patient_service_centers": {
            "appointment_with_vital": True,
            "within_radius": 2,
            "radius": "10",
            "capabilities": [HERE, "stat"],
        },
    }
    assert body["central_labs"]["labcorp"] == {
        "lab_id": 3,
        "supported_bill_types": [],
        "patient_service_centers": {
            "appointment_with_vital": False,
            "within_radius": 0,
            "radius": "10",
            "capabilities": None,
        },
    }


def test_an_area_is_asked_about_some_labs(alice_api, sites):
    one = alice_api.get(f"{AREA}?zip_code=54650&lab=quest").json()
    two = alice_api.get(f"{AREA}?zip_code=54650&labs=labcorp&labs=quest").json()
    [(place, _)] = error_lines(alice_api.get(f"{AREA}?zip_code=54650&labs=ussl"))

    assert sorted(one["central_labs"]) == ["quest"]
    assert sorted(two["central_labs"]) == ["labcorp", "quest"]
    assert two["phlebotomy"] == {
        "is_served": True,
        "providers": [
            {"name": "phlebfinders", "service_types": ["appointment-request"]}
        ],
    }
    assert place[:2] == ["query", "labs"]


def test_production_answers_from_the_centers_of_its_own_labs(
    alice_production, alice_production_api, sites
):
    own, other = (make_lab(tenant=alice_production) for _ in range(2))
    before = alice_production_api.get(f"{AREA}?zip_code=85004")
    make_center(own, "OWN", 33.4557, [])
    reply = alice_production_api.get(f"{AREA}?zip_code=85004")

    assert (before.status_code, before.json()["code"]) == (400, "directory_required")
    check_answer(reply, "get", AREA)
    found = reply.json()["central_labs"]
    assert {
        slug: lab["patient_service_centers"]["within_radius"]
        for slug, lab in found.items()
    } == {own.slug: 1, other.slug: 0}
