from __future__ import annotations

from uuid import uuid4

import pytest

from tests.audit import audited
from tests.clients import error_lines
from tests.factories.users import make_user
from tests.users.factories import info_body
from tests.users.holdings import stored_rows

pytestmark = pytest.mark.django_db
ADDRESS = {**info_body()["address"], "second_line": None, "access_notes": None}
ANSWER = {
    **info_body(),
    "address": ADDRESS,
    "medical_proxy": None,
    "race": None,
    "ethnicity": None,
    "sexual_orientation": None,
    "gender_identity": None,
}


@pytest.fixture
def user(alice_tenant):
    return make_user(tenant=alice_tenant)


def test_the_least_body_answers_all_keys(alice_api, alice_tenant, user):
    reply = alice_api.patch(f"/v2/user/{user.uuid}/info", info_body())

    assert reply.status_code == 200
    assert reply.json() == ANSWER
    assert audited(alice_tenant)[-1] == (
        "record_user_info",
        "user_info",
        str(user.uuid),
    )


def test_the_latest_info_is_what_was_written_and_the_read_is_audited(
    alice_api, alice_tenant, user
):
    written = alice_api.patch(f"/v2/user/{user.uuid}/info/", info_body()).json()

    reply = alice_api.get(f"/v2/user/{user.uuid}/info/latest/")

    assert reply.status_code == 200
    assert reply.json() == written
    assert audited(alice_tenant)[-1] == ("read", "user_info", str(user.uuid))


def test_the_fullest_body_is_kept(alice_api, user):
    full = info_body(
        address={**ADDRESS, "second_line": "Flat 2", "access_notes": "x" * 1000},
        medical_proxy={
            "first_name": "Marta",
            "last_name": "Example",
            "address": ADDRESS,
            "phone_number": "+15550100",
            "household_income": 40000,
            "household_size": 3,
            "email": "marta@assay.example",
        },
        race="white_caucasian",
        ethnicity="ashkenazi_jewish",
        sexual_orientation="dont_know",
        gender_identity="genderqueer",
    )

    reply = alice_api.patch(f"/v2/user/{user.uuid}/info", full)

    assert reply.json() == full
    assert alice_api.get(f"/v2/user/{user.uuid}/info/latest").json() == full


def test_enumerations_are_taken_in_any_case_and_sent_in_ours(alice_api, user):
    reply = alice_api.patch(
        f"/v2/user/{user.uuid}/info",
        info_body(gender="Female", race="White-Caucasian", ethnicity="NON HISPANIC"),
    )

    answer = reply.json()
    assert answer["gender"] == "female"
    assert answer["race"] == "white_caucasian"
    assert answer["ethnicity"] == "non_hispanic"


def test_a_gender_we_do_not_know_is_kept_as_it_came(alice_api, user):
    reply = alice_api.patch(f"/v2/user/{user.uuid}/info", info_body(gender="Agender"))

    assert reply.json()["gender"] == "Agender"


def test_null_and_absent_are_the_same_and_clear(alice_api, user):
    path = f"/v2/user/{user.uuid}/info"
    alice_api.patch(path, info_body(race="asian", ethnicity="other"))

    reply = alice_api.patch(
        path,
        info_body(race=None, medical_proxy=None, address={**ADDRESS, "city": "Tempe"}),
    )

    assert reply.json() == {**ANSWER, "address": {**ADDRESS, "city": "Tempe"}}


@pytest.mark.parametrize("name", sorted(info_body()))
def test_a_whole_write_needs_every_required_field(alice_api, alice_tenant, user, name):
    alice_api.patch(f"/v2/user/{user.uuid}/info", info_body())
    before = stored_rows(alice_tenant)
    body = info_body()
    del body[name]

    absent = alice_api.patch(f"/v2/user/{user.uuid}/info", body)
    null = alice_api.patch(f"/v2/user/{user.uuid}/info", {**body, name: None})

    assert error_lines(absent) == [(["body", name], "missing")]
    assert error_lines(null) == [(["body", name], "missing")]
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize("name", ["Ada", "O'Neil", "Ada-Maria", "J. R.", "3rd", "a,b"])
def test_a_name_of_the_labs_form_is_taken(alice_api, user, name):
    reply = alice_api.patch(
        f"/v2/user/{user.uuid}/info", info_body(first_name=name, last_name=name)
    )

    assert reply.json()["first_name"] == name
    assert reply.json()["last_name"] == name


@pytest.mark.parametrize(
    "name", [" Ada", "Ada ", "A  B", "-Ada", "Zoë", "Ada\n", "A_b", "'A", "A\tB"]
)
@pytest.mark.parametrize("field", ["first_name", "last_name"])
def test_a_name_labs_refuse_is_refused(alice_api, alice_tenant, user, field, name):
    before = stored_rows(alice_tenant)

    reply = alice_api.patch(f"/v2/user/{user.uuid}/info", info_body(**{field: name}))

    assert error_lines(reply) == [(["body", field], "string_pattern_mismatch")]
    assert stored_rows(alice_tenant) == before


@pytest.mark.parametrize(
    ("wanted", "loc", "kind"),
    [
        ({"first_name": "x" * 51}, ["first_name"], "string_too_long"),
        ({"first_name": ""}, ["first_name"], "string_too_short"),
        ({"email": "ada"}, ["email"], "value_error"),
        ({"email": 1}, ["email"], "string_type"),
        ({"phone_number": 15550101}, ["phone_number"], "string_type"),
        ({"dob": "17.05.1990"}, ["dob"], "date_from_datetime_parsing"),
        ({"dob": "9999-12-31"}, ["dob"], "value_error"),
        ({"race": "martian"}, ["race"], "enum"),
        ({"race": 1}, ["race"], "string_type"),
        ({"address": "here"}, ["address"], "value_error"),
        ({"address": {**ADDRESS, "zip": 85004}}, ["address", "zip"], "string_type"),
        ({"address": {**ADDRESS, "zip": None}}, ["address", "zip"], "missing"),
        (
            {"address": {**ADDRESS, "access_notes": "x" * 1001}},
            ["address", "access_notes"],
            "string_too_long",
        ),
        (
            {
                "medical_proxy": {
                    "first_name": "Marta",
                    "last_name": "Example",
                    "phone_number": "+15550100",
                    "household_income": "much",
                }
            },
            ["medical_proxy", "address"],
            "missing",
        ),
    ],
)
def test_a_bad_body_is_refused_at_its_field(
    alice_api, alice_tenant, user, wanted, loc, kind
):
    before = stored_rows(alice_tenant)

    reply = alice_api.patch(f"/v2/user/{user.uuid}/info", info_body(**wanted))

    assert (["body", *loc], kind) in error_lines(reply)
    assert stored_rows(alice_tenant) == before


def test_a_number_of_another_type_is_refused(alice_api, user):
    proxy = {
        "first_name": "Marta",
        "last_name": "Example",
        "phone_number": "+15550100",
        "address": ADDRESS,
    }

    for wrong in ("much", 1.5, True):
        reply = alice_api.patch(
            f"/v2/user/{user.uuid}/info",
            info_body(medical_proxy={**proxy, "household_income": wrong}),
        )

        assert error_lines(reply) == [
            (["body", "medical_proxy", "household_income"], "int_parsing")
        ]


def test_without_info_the_latest_is_not_found(alice_api, alice_tenant, user):
    before = stored_rows(alice_tenant)

    reply = alice_api.get(f"/v2/user/{user.uuid}/info/latest")

    assert reply.status_code == 404
    assert reply.json()["code"] == "user_info_missing"
    assert stored_rows(alice_tenant) == before


def test_a_strangers_info_is_not_found(alice_api, charlie_api, alice_tenant, user):
    alice_api.patch(f"/v2/user/{user.uuid}/info", info_body())
    before = stored_rows(alice_tenant)

    for user_id in (user.uuid, uuid4()):
        read = charlie_api.get(f"/v2/user/{user_id}/info/latest")
        write = charlie_api.patch(f"/v2/user/{user_id}/info", info_body())

        assert (read.status_code, write.status_code) == (404, 404)
    assert stored_rows(alice_tenant) == before
