"""A tenant's own labs: nobody else sees, orders or changes them."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from labs.models import CatalogueUpdate, Lab, LabTest, Marker
from labs.operations.catalogue.catalogue_export import export_lab_catalogue
from labs.operations.catalogue.import_catalogue import (
    apply_catalogue_update,
    check_catalogue_update,
)
from portal.lib.errors import DomainError, NotFound
from tests.factories.accounts import ACTOR
from tests.factories.labs import ADDRESS, PATIENT, make_lab
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.labs.operations.catalogue.conftest import FILES, update, with_changes

pytestmark = pytest.mark.django_db


@pytest.fixture
def own(alice_tenant):
    """A lab of Alice's own with its glucose."""
    update(owner=alice_tenant)
    return Lab.objects.get(owner=alice_tenant)


@pytest.fixture
def glucose(own):
    return Marker.objects.get(lab=own, provider_id="G1")


def order_body(user, marker):
    return {
        "user_id": str(user.uuid),
        "order_set": {"add_on": {"marker_ids": [marker.pk]}},
        "collection_method": "walk_in_test",
        "patient_details": PATIENT,
        "patient_address": ADDRESS,
        "aoe_answers": [],
    }


def test_a_team_orders_from_its_own_lab(own, glucose, alice_api, alice_tenant):
    user = make_user(tenant=alice_tenant)
    slugs = {lab["slug"] for lab in alice_api.get("/v3/lab_tests/labs").json()}
    listed = alice_api.get("/v3/lab_tests/markers?lab_slug=north").json()

    placed = alice_api.post("/v3/order", order_body(user, glucose))

    assert own.environment == alice_tenant.environment
    assert "north" in slugs
    assert [one["provider_id"] for one in listed["markers"]] == ["G1", "L1"]
    assert placed.status_code == 200
    order = placed.json()["order"]
    assert order["lab_test"]["lab"]["slug"] == "north"
    assert [one["provider_id"] for one in order["lab_test"]["markers"]] == ["G1"]


def test_an_update_leaves_the_order_of_an_own_lab_as_it_was_placed(
    own, glucose, alice_api, alice_tenant
):
    user = make_user(tenant=alice_tenant)
    placed = alice_api.post("/v3/order", order_body(user, glucose)).json()["order"]

    update(("markers", "4.00", "9.00"), owner=alice_tenant)

    seen = alice_api.get(f"/v3/order/{placed['id']}").json()
    assert seen["lab_test"]["markers"][0]["price"] == "4.00"
    glucose.refresh_from_db()
    assert str(glucose.price) == "9.00"


def test_another_team_meets_nothing_of_it(own, glucose, charlie_api, charlie_tenant):
    user = make_user(tenant=charlie_tenant)
    before = holdings(charlie_tenant)

    labs = charlie_api.get("/v3/lab_tests/labs").json()
    refusals = [
        charlie_api.get(f"/v3/lab_tests/{own.pk}/markers/G1"),
        charlie_api.post("/v3/order", order_body(user, glucose)),
        charlie_api.post(
            "/v3/lab_tests",
            {
                "name": "Stolen",
                "method": "walk_in_test",
                "description": "",
                "marker_ids": [glucose.pk],
            },
        ),
        charlie_api.post(
            "/v3/lab_tests",
            {
                "name": "Stolen",
                "method": "walk_in_test",
                "description": "",
                "provider_ids": ["G1"],
                "lab_slug": "north",
            },
        ),
    ]
    lists = [
        charlie_api.get(f"/v3/lab_tests/markers?{query}").json()["markers"]
        for query in (f"lab_id={own.pk}", "lab_slug=north")
    ]

    assert "north" not in {lab["slug"] for lab in labs}
    assert [refusal.status_code for refusal in refusals] == [404] * 4
    assert lists == [[], []]
    assert holdings(charlie_tenant) == before


def test_the_other_environment_of_the_team_meets_nothing_of_it(
    own, alice_production_api
):
    labs = alice_production_api.get("/v3/lab_tests/labs").json()

    assert "north" not in {lab["slug"] for lab in labs}


def test_two_teams_have_labs_of_one_slug_and_change_their_own(
    own, alice_tenant, charlie_tenant
):
    update(owner=charlie_tenant)
    update(
        ("labs", "North Lab", "Nord"),
        ("markers", "Glucose", "Zucker"),
        owner=charlie_tenant,
    )

    theirs = Lab.objects.get(owner=charlie_tenant)
    assert (own.name, theirs.name) == ("North Lab", "Nord")
    assert Marker.objects.get(lab=own, provider_id="G1").name == "Glucose"
    numbers = CatalogueUpdate.objects.order_by("owner", "number")
    assert list(numbers.values_list("owner", "number")) == sorted(
        [(alice_tenant.pk, 1), (charlie_tenant.pk, 1), (charlie_tenant.pk, 2)]
    )
    assert (
        b"Zucker"
        not in export_lab_catalogue(labs=Lab.objects.in_catalogue_of(alice_tenant))[
            "markers"
        ]
    )


def test_another_teams_update_is_neither_applied_nor_found(
    alice_tenant, charlie_tenant
):
    draft = check_catalogue_update(
        contents=with_changes(), actor=ACTOR, owner=alice_tenant
    )

    for owner in (charlie_tenant, None):
        with pytest.raises(NotFound):
            apply_catalogue_update(update_id=draft.pk, actor=ACTOR, owner=owner)

    draft.refresh_from_db()
    assert draft.number is None
    assert not Lab.objects.filter(slug="north").exists()


def test_a_team_does_not_write_to_a_shared_lab(alice_production):
    shared = make_lab("shared", environment="production")
    files = {
        name: FILES[name].replace("north", "shared")
        for name in ("questions", "markers", "expected_results")
    }

    for given, said in (
        (files, "markers.csv, line 2, column 1 (lab): lab is not in labs.csv."),
        (
            {**files, "labs": FILES["labs"].replace("north", "shared")},
            "labs.csv, line 2, column 1 (slug): another lab has this slug.",
        ),
    ):
        with pytest.raises(DomainError) as refused:
            check_catalogue_update(
                contents={name: text.encode() for name, text in given.items()},
                actor=ACTOR,
                owner=alice_production,
            )
        assert refused.value.message.startswith(said)

    assert list(Lab.objects.filter(slug="shared")) == [shared]
    assert not Marker.objects.filter(lab=shared).exists()


def test_the_shared_catalogue_takes_no_slug_of_an_own_lab(alice_production):
    update(owner=alice_production)

    with pytest.raises(DomainError) as refused:
        check_catalogue_update(contents=with_changes(), actor=ACTOR)

    assert refused.value.message.startswith(
        "labs.csv, line 2, column 1 (slug): another lab has this slug."
    )
    with pytest.raises(IntegrityError), transaction.atomic():
        make_lab("north", tenant=alice_production, owner=alice_production)


def test_an_own_panel_that_would_be_empty_is_kept(own, glucose, alice_tenant):
    panel = LabTest(
        tenant=alice_tenant,
        lab=own,
        name="Sugar",
        slug="sugar",
        sample_type="serum",
        method="walk_in_test",
        status="active",
    )
    panel.save(force_insert=True)
    panel.markers.set([glucose])

    with pytest.raises(DomainError) as refused:
        update(("markers", "fast,4.00,", "fast,4.00,true"), owner=alice_tenant)

    assert refused.value.message == (
        "markers.csv, line 2, column 8 (retired): panel Sugar of Alice Health would be"
        " empty: archive it first."
    )
    glucose.refresh_from_db()
    assert glucose.retired_at is None
