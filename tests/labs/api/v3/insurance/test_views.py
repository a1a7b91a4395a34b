from __future__ import annotations

import pytest

from labs.models import Payor, UserInsurance
from labs.operations.insurance import list_built_in_payors
from tests.audit import audited
from tests.contract.document import check_answer
from tests.factories.labs import ADDRESS
from tests.factories.users import make_user
from tests.labs.holdings import holdings

pytestmark = pytest.mark.django_db

INSURED = {
    "first_name": "Ada",
    "last_name": "Example",
    "gender": "female",
    "address": ADDRESS,
    "dob": "1990-05-17",
    "email": "ada@assay.example",
    "phone_number": "+15550101",
}
BODY = {
    "payor_code": "SBX001",
    "member_id": "M-1",
    "relationship": "self",
    "insured": INSURED,
}
WHOLE_ADDRESS = {**ADDRESS, "second_line": None, "access_notes": None}


@pytest.fixture
def path(alice_tenant):
    return f"/v2/user/{make_user(tenant=alice_tenant).uuid}/insurance"


def locs(reply):
    return [tuple(line["loc"]) for line in reply.json()["detail"]]


def test_insurers_are_searched(alice_api):
    found = alice_api.get("/v3/insurance/search/payor?insurance_name=desert")
    everyone = alice_api.get("/v3/insurance/search/payor")

    check_answer(found, "get", "/v3/insurance/search/payor")
    assert found.json() == [
        {
            "payor_code": "SBX001",
            "name": "Desert Mutual Health Plan",
            "aliases": ["Desert Mutual", "DMHP"],
            "org_address": {
                "first_line": "100 Mesa Avenue",
                "second_line": None,
                "country": "US",
                "zip": "85004",
                "city": "Phoenix",
                "state": "AZ",
                "access_notes": None,
            },
            "source": "platform",
        }
    ]
    assert len(everyone.json()) == len(list_built_in_payors())


def test_the_deprecated_search_finds_the_same_and_says_so(alice_api):
    new = alice_api.get("/v3/insurance/search/payor?provider_payor_id=SBX002")
    old = alice_api.post("/v3/insurance/search/payor", {"provider_id": "SBX002"})

    (found,) = new.json()
    assert old.json() == [{**found, "code": "SBX002"}]
    assert {"Deprecation", "Sunset", "Link"} <= set(old.headers)


def test_diagnoses_are_searched_by_code_and_words(alice_api):
    found = alice_api.get("/v3/insurance/search/diagnosis?diagnosis_query=Z79.4")
    missing = alice_api.get("/v3/insurance/search/diagnosis")

    assert found.json() == [
        {
            "diagnosis_code": "Z79.4",
            "description": "Long term (current) use of insulin",
            "is_secondary": True,
        }
    ]
    assert (missing.status_code, locs(missing)) == (422, [("query", "diagnosis_query")])


def test_codes_are_checked(alice_api):
    reply = alice_api.post(
        "/v3/insurance/validate_icd_codes",
        {"codes": ["Z79.4", "sugar", "C50.911", "c50.911"]},
    )
    none = alice_api.post("/v3/insurance/validate_icd_codes", {})

    check_answer(reply, "post", "/v3/insurance/validate_icd_codes")
    assert reply.json()["valid"] is False
    said = reply.json()
    for line in (*said["violations"], *said["warnings"]):
        assert line.pop("message")
    assert [error.partition(":")[0] for error in said["errors"]] == ["sugar"]
    assert said["violations"] == [
        {"code": "Z79.4", "conflicts_with": "C50.911", "type": "secondary_first"},
        {"code": "C50.911", "conflicts_with": "C50.911", "type": "repeated"},
    ]
    assert said["warnings"] == [
        {"code": "C50.911", "overlaps_with": "", "type": "unknown"}
    ]
    assert (none.status_code, locs(none)) == (422, [("body", "codes")])


def test_an_insurer_is_added_for_the_team_alone(alice_api, charlie_api):
    reply = alice_api.post("/v3/payor", {"name": "Own Plan", "address": ADDRESS})

    search = "/v3/insurance/search/payor?insurance_name=own plan"
    check_answer(reply, "post", "/v3/payor")
    assert reply.json()["source"] == "team"
    assert reply.json()["org_address"] == WHOLE_ADDRESS
    assert alice_api.get(search).json() == [reply.json()]
    assert charlie_api.get(search).json() == []


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({"address": ADDRESS}, ("body", "name")),
        ({"name": " ", "address": ADDRESS}, ("body", "name")),
        ({"name": "Own", "address": {}}, ("body", "address", "first_line")),
    ],
)
def test_an_insurer_is_refused_by_field(alice_api, alice_tenant, body, loc):
    reply = alice_api.post("/v3/payor", body)

    assert reply.status_code == 422
    assert loc in locs(reply)
    assert Payor.objects.for_tenant(alice_tenant).count() == 0


def test_insurance_is_written_whole_and_read_back(alice_api, alice_tenant, path):
    proxy = {
        "first_name": "Eve",
        "last_name": "Example",
        "address": ADDRESS,
        "phone_number": "+15550102",
    }
    body = {**BODY, "group_id": "G-1", "guarantor": proxy}

    written = alice_api.post(path, body)
    read = alice_api.get(f"{path}/latest")

    assert written.status_code == 200
    assert written.json() == {
        "member_id": "M-1",
        "payor_code": "SBX001",
        "relationship": "Self",
        "insured": {**INSURED, "address": WHOLE_ADDRESS},
        "company": {
            "name": "Desert Mutual Health Plan",
            "address": written.json()["company"]["address"],
        },
        "group_id": "G-1",
        "guarantor": {
            **proxy,
            "address": WHOLE_ADDRESS,
            "household_income": None,
            "household_size": None,
            "email": None,
        },
        "is_primary": True,
    }
    assert read.json() == written.json()
    insurance = "/v2/user/{user_id}/insurance"
    check_answer(written, "post", insurance)
    check_answer(read, "get", f"{insurance}/latest")
    user_id = path.split("/")[3]
    assert audited(alice_tenant)[1:] == [
        ("record_insurance", "insurance", user_id),
        ("read", "insurance", user_id),
    ]


def test_the_rank_that_is_asked_for_is_read(alice_api, path):
    alice_api.post(path, BODY)
    alice_api.post(path, {**BODY, "member_id": "M-2", "is_primary": False})

    primary = alice_api.get(f"{path}/latest?is_primary=true").json()
    latest = alice_api.get(f"{path}/latest").json()

    assert (primary["member_id"], primary["is_primary"]) == ("M-1", True)
    assert (latest["member_id"], latest["is_primary"]) == ("M-2", False)


def test_a_user_without_insurance_has_none_to_read(alice_api, alice_tenant, path):
    reply = alice_api.get(f"{path}/latest")

    assert (reply.status_code, reply.json()["code"]) == (404, "insurance_missing")
    assert [verb for verb, *_ in audited(alice_tenant)] == ["create_user"]


@pytest.mark.parametrize(
    ("changes", "loc"),
    [
        ({"payor_code": "nobody"}, ("body", "payor_code")),
        ({"member_id": None}, ("body", "member_id")),
        ({"relationship": "friend"}, ("body", "relationship")),
        ({"insured": {**INSURED, "dob": "1990"}}, ("body", "insured", "dob")),
        ({"is_primary": "yes"}, ("body", "is_primary")),
    ],
)
def test_insurance_is_refused_by_field(alice_api, alice_tenant, path, changes, loc):
    before = holdings(alice_tenant)

    reply = alice_api.post(path, {**BODY, **changes})

    assert (reply.status_code, locs(reply)) == (422, [loc])
    assert UserInsurance.objects.for_tenant(alice_tenant).count() == 0
    assert holdings(alice_tenant) == before
