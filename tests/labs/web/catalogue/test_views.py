from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.states import Role
from labs.models import LabTest
from labs.states.catalogue import CollectionMethod, LabTestStatus
from tests.factories.accounts import make_member
from tests.factories.labs import make_lab, make_lab_test, make_marker

pytestmark = pytest.mark.django_db


def url(tenant, name, panel=None):
    named = {"lab_test_id": panel.pk} if panel else {}
    place = {"team_slug": tenant.team.slug, "environment": tenant.environment}
    return reverse(f"labs:{name}", kwargs={**place, **named})


@pytest.fixture
def panel(alice_tenant):
    LabTest.objects.for_tenant(alice_tenant).delete()
    lab = make_lab(slug="northgate")
    return make_lab_test(tenant=alice_tenant, lab=lab, name="Kidneys")


def test_panels_are_narrowed_by_every_filter(alice_web, alice_tenant, panel):
    other = make_lab_test(
        tenant=alice_tenant,
        name="Liver",
        method=CollectionMethod.TESTKIT,
        status=LabTestStatus.INACTIVE,
    )

    def found(query):
        page = alice_web.get(f"{url(alice_tenant, 'tests')}?{query}")
        return [each.name for each in page.context["panels"]]

    assert found("") == ["Kidneys", "Liver"]
    assert found("q=IDN") == [panel.name]
    assert found("lab=northgate") == [panel.name]
    assert found("collection=testkit") == [other.name]
    assert found("status=inactive") == [other.name]
    assert found("status=nonsense") == ["Kidneys", "Liver"]
    assert found("lab=nowhere") == []


def test_markers_are_found_by_name_code_loinc_and_page(alice_web, alice_tenant):
    lab = make_lab(slug="northgate")
    marker = make_marker(lab=lab, name="Zinc", provider_id="ZN-7")

    def found(query):
        page = alice_web.get(f"{url(alice_tenant, 'markers')}?{query}")
        return [each.pk for each in page.context["markers"]]

    assert found("lab=northgate") == [marker.pk]
    assert found("lab=northgate&q=zin") == [marker.pk]
    assert found("q=zn-7") == [marker.pk]
    assert 1006 in found("q=4548-4&lab=quest")
    assert len(found("")) == 50
    assert found("page=2")[0] != found("")[0]
    assert found("page=900") == []


def test_tests_come_in_pages(alice_web, alice_tenant, panel, monkeypatch):
    monkeypatch.setattr("labs.web.catalogue.views.PAGE_SIZE", 1)
    other = make_lab_test(tenant=alice_tenant, lab=panel.lab, name="zz last")

    def found(query):
        lab = f"{url(alice_tenant, 'tests')}?lab={panel.lab.slug}&"
        reply = alice_web.get(lab + query)
        return reply.context["panels"], reply.context["pager"].total

    assert found("") == ([panel], 2)
    assert found("page=2") == ([other], 2)
    assert found("page=3") == ([], 2)


@pytest.mark.parametrize(("name", "queries"), [("tests", 6), ("markers", 6)])
def test_a_list_takes_as_many_queries_for_ten_as_for_one(
    alice_web, alice_tenant, panel, name, queries
):
    def count():
        with CaptureQueriesContext(connection) as caught:
            assert alice_web.get(url(alice_tenant, name)).status_code == 200
        return len(caught)

    count()  # the first request does more
    one = count()
    for _ in range(9):
        make_lab_test(tenant=alice_tenant)

    assert one == count() == queries


def test_a_panel_is_archived_after_a_question_and_brought_back(
    alice_web, alice_tenant, panel
):
    asked = alice_web.get(url(alice_tenant, "archive", panel))
    panel.refresh_from_db()
    before = panel.status
    archived = alice_web.post(url(alice_tenant, "archive", panel))
    panel.refresh_from_db()
    between = panel.status
    back = alice_web.post(url(alice_tenant, "unarchive", panel))
    panel.refresh_from_db()

    assert asked.status_code == 200
    assert [archived["Location"], back["Location"]] == [url(alice_tenant, "tests")] * 2
    assert [before, between, panel.status] == ["active", "inactive", "active"]


@pytest.mark.parametrize("name", ["archive", "unarchive"])
def test_what_is_so_already_is_said_and_stays(alice_web, alice_tenant, panel, name):
    status = "inactive" if name == "archive" else "active"
    LabTest.objects.for_tenant(alice_tenant).update(status=status)

    page = alice_web.post(url(alice_tenant, name, panel), follow=True)

    panel.refresh_from_db()
    assert panel.status == status
    assert [message.level_tag for message in page.context["messages"]] == ["error"]


def test_who_only_reads_may_not_archive(alice_tenant, panel):
    client = Client()
    member = make_member(team=alice_tenant.team, roles=(Role.CLINICIAN,))
    client.force_login(member)

    page = client.get(url(alice_tenant, "tests"))
    reply = client.post(url(alice_tenant, "archive", panel))

    panel.refresh_from_db()
    assert page.status_code == 200
    assert url(alice_tenant, "archive", panel) not in page.text
    assert (reply.status_code, panel.status) == (403, "active")
