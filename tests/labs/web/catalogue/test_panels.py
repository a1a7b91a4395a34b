from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import AuditEntry
from accounts.states import Role
from labs.models import LabTest
from labs.operations.catalogue.panels import approve_lab_test
from labs.states.catalogue import CollectionMethod
from tests.factories.accounts import ACTOR, make_member
from tests.factories.labs import make_lab, make_marker
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.labs.web.order_wizard.test_views import Wizard

pytestmark = pytest.mark.django_db


def url(tenant, name="new_panel"):
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(f"labs:{name}", kwargs=place)


@pytest.fixture
def lab():
    return make_lab(slug="northgate", name="Northgate")


@pytest.fixture
def marker(lab):
    return make_marker(lab=lab, name="Ferritin", price=Decimal("12.50"))


@pytest.fixture
def entered(lab):
    """All of the form but its markers."""
    return {
        "name": "Iron",
        "lab": lab.slug,
        "method": "walk_in_test",
        "description": "Stores of iron",
    }


@pytest.fixture
def press(alice_web, alice_tenant, entered):
    def send(**values):
        return alice_web.post(url(alice_tenant), {**entered, **values})

    return send


def test_a_panel_is_made_and_waits_for_an_operator(
    press, alice_web, alice_tenant, lab, marker
):
    other = make_marker(lab=lab, name="Iron", price=Decimal("7.25"), fasting=True)

    reply = press(marker_ids=[marker.pk, other.pk], go="make")

    panel = LabTest.objects.for_tenant(alice_tenant).get(name="Iron")
    entry = AuditEntry.objects.for_tenant(alice_tenant).get(verb="create_lab_test")
    waiting = f"{url(alice_tenant, 'tests')}?status=pending_approval"
    page = alice_web.get(waiting)
    assert (reply.status_code, reply["Location"]) == (302, waiting)
    assert (panel.lab, panel.method) == (lab, CollectionMethod.WALK_IN_TEST)
    assert (panel.status, panel.description) == ("pending_approval", "Stores of iron")
    assert (panel.price, panel.fasting) == (Decimal("19.75"), True)
    assert set(panel.markers.all()) == {marker, other}
    assert entry.subject_id == str(panel.pk)
    assert page.context["panels"] == [panel]
    assert [note.level_tag for note in page.context["messages"]] == ["success"]


def test_a_price_that_is_unknown_is_no_sum(press, alice_web, alice_tenant, lab, marker):
    unpriced = make_marker(lab=lab, name="Iron", price=None)

    chosen = press(marker_ids=[marker.pk, unpriced.pk], go="search")
    press(marker_ids=[marker.pk, unpriced.pk], go="make")

    panel = LabTest.objects.for_tenant(alice_tenant).get(name="Iron")
    page = alice_web.get(f"{url(alice_tenant, 'tests')}?status=pending_approval")
    assert panel.price == marker.price
    assert "2 markers, price unknown" in chosen.content.decode()
    assert '<td data-label="Price" class="num">unknown</td>' in page.content.decode()


def test_a_panel_is_ordered_once_it_is_approved(press, alice_web, alice_tenant, marker):
    press(marker_ids=marker.pk, go="make")
    panel = LabTest.objects.for_tenant(alice_tenant).get(name="Iron")
    wizard = Wizard(alice_tenant, alice_web)
    wizard.to_tests(make_user(tenant=alice_tenant), panel.lab)

    before = wizard.open().context["panels"]
    approve_lab_test(tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk)
    after = wizard.open().context["panels"]

    assert (before, after) == ([], [panel])


def test_markers_are_looked_for_in_the_chosen_lab_alone(press, lab, marker):
    make_marker(lab=lab, name="Zinc")
    make_marker(lab=lab, name="Ferritin of old", is_orderable=False)
    make_marker(lab=make_lab(), name="Ferritin")

    def found(**values):
        return [one.name for one in press(**values).context["found"]]

    assert found() == ["Ferritin", "Zinc"]
    assert found(q="ferri") == ["Ferritin"]
    assert found(q=marker.provider_id) == ["Ferritin"]
    assert found(q="nothing") == []
    assert found(lab="") == []


def test_a_press_adds_or_takes_off_and_keeps_what_was_entered(press, lab, marker):
    other = make_marker(lab=lab)

    added = press(marker_ids=marker.pk, add=other.pk)
    removed = press(marker_ids=[marker.pk, other.pk], remove=marker.pk)

    assert added.context["markers"] == [marker, other]
    assert removed.context["markers"] == [other]
    assert added.status_code == 200
    assert added.context["form"]["name"].value() == "Iron"
    assert added.context["form"]["description"].value() == "Stores of iron"


def test_another_lab_takes_off_the_markers_of_the_one_before(press, marker):
    other = make_lab(slug="southgate")

    page = press(lab=other.slug, marker_ids=marker.pk)

    assert page.context["markers"] == []


def test_only_the_ways_of_the_chosen_lab_are_offered(press, lab):
    lab.collection_methods = ["testkit"]
    lab.save()

    page = press()

    offered = page.context["form"].fields["method"].widget.choices
    assert [value for value, _ in offered] == ["", "testkit"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "n" * 151}, "name"),
        ({"lab": ""}, "lab"),
        ({"lab": "nowhere"}, "lab"),
        ({"lab": "elsewhere"}, "__all__"),
        ({"method": ""}, "method"),
        ({"method": "testkit"}, "method"),
        ({"description": "d" * 2001}, "description"),
        ({"marker_ids": []}, "__all__"),
        ({"marker_ids": [899_999]}, "__all__"),
        ({"marker_ids": ["x", "9" * 30]}, "__all__"),
    ],
)
def test_a_refusal_stands_beside_its_field(
    press, alice_tenant, lab, marker, given, field
):
    lab.collection_methods = ["walk_in_test"]
    lab.save()
    make_lab(slug="elsewhere")
    before = holdings(alice_tenant)

    page = press(**{"marker_ids": [marker.pk], **given}, go="make")

    assert page.status_code == 422
    assert list(page.context["form"].errors) == [field]
    assert holdings(alice_tenant) == before


def test_a_marker_that_is_no_longer_ordered_is_refused(press, alice_tenant, marker):
    marker.is_orderable = False
    marker.save()
    before = holdings(alice_tenant)

    page = press(marker_ids=marker.pk, go="make")

    assert (page.status_code, list(page.context["form"].errors)) == (422, ["__all__"])
    assert page.context["markers"] == [marker]
    assert holdings(alice_tenant) == before


def test_typing_brings_only_what_was_found(alice_web, alice_tenant, entered, marker):
    sent = {**entered, "go": "search", "q": "ferri"}

    part = alice_web.post(url(alice_tenant), sent, headers={"HX-Request": "true"})

    assert part.text.strip().startswith('<div id="panel-found">')
    assert f'name="add" value="{marker.pk}"' in part.text


def test_the_page_takes_as_many_queries_for_ten_markers_as_for_one(press, lab, marker):
    def count(*markers):
        with CaptureQueriesContext(connection) as caught:
            page = press(marker_ids=[one.pk for one in markers])
        assert len(page.context["markers"]) == len(markers)
        return len(caught)

    count(marker)  # the first request does more
    one = count(marker)
    ten = count(marker, *(make_marker(lab=lab) for _ in range(9)))

    assert one == ten == 8


def test_who_only_reads_may_not_make_a_panel(alice_tenant, entered, marker):
    client = Client()
    client.force_login(make_member(team=alice_tenant.team, roles=(Role.CLINICIAN,)))
    before = holdings(alice_tenant)

    listed = client.get(url(alice_tenant, "tests"))
    sent = {**entered, "marker_ids": marker.pk, "go": "make"}
    replies = [client.get(url(alice_tenant)), client.post(url(alice_tenant), sent)]

    assert url(alice_tenant) not in listed.text
    assert [reply.status_code for reply in replies] == [403, 403]
    assert holdings(alice_tenant) == before


def test_a_stranger_finds_no_page(alice_tenant, entered, marker):
    client = Client()
    client.force_login(make_member(email="loner@assay.example"))
    before = holdings(alice_tenant)

    sent = {**entered, "marker_ids": marker.pk, "go": "make"}
    reply = client.post(url(alice_tenant), sent)

    assert reply.status_code == 404
    assert holdings(alice_tenant) == before


def test_a_list_says_who_approves_what_waits(press, alice_web, alice_tenant, marker):
    press(marker_ids=marker.pk, go="make")
    panel = LabTest.objects.for_tenant(alice_tenant).get(name="Iron")
    mine = f"{url(alice_tenant, 'tests')}?q=Iron"
    words = "Needs an operator's approval"

    before = alice_web.get(mine).text
    approve_lab_test(tenant=alice_tenant, actor=ACTOR, lab_test_id=panel.pk)
    after = alice_web.get(mine).text

    assert before.count(words) == 1
    assert (panel.name in after, words in after) == (True, False)
