from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client
from django.urls import reverse

from accounts.states import Role
from labs.operations.orders.placing import import_order
from labs.operations.orders.requisitions import create_requisition
from labs.queries.orders.orders import get_order_with_details
from tests.audit import audited
from tests.factories.accounts import ACTOR, make_member
from tests.factories.inbound import make_lab_document
from tests.factories.labs import make_lab_test, make_order, order_request
from tests.factories.reports import encrypt, make_pdf
from tests.factories.results import make_order_awaiting_results, make_results
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.labs.printed import pages_of

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)


@pytest.fixture
def order(alice_tenant):
    """An order whose requisition is made, of a test with instructions."""
    panel = make_lab_test(tenant=alice_tenant, has_collection_instructions=True)
    order = make_order(tenant=alice_tenant, lab_test=panel)
    create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=order.pk)
    return order


def url(order, name):
    place = {
        "team_slug": order.tenant.team.slug,
        "environment": order.tenant.environment,
        "order_id": order.pk,
    }
    return reverse(f"labs:{name}", kwargs=place)


def signed_in(tenant, *roles):
    client = Client()
    client.force_login(make_member(team=tenant.team, roles=roles))
    return client


@pytest.mark.parametrize(
    ("name", "query", "subject"),
    [
        ("requisition", "", "requisition"),
        ("labels", "?collection_date=2026-11-23&number_of_labels=1", "labels"),
        ("instructions", "", "collection_instructions"),
    ],
)
def test_a_paper_opens_in_the_browser_and_reading_it_is_audited(
    alice_web, alice_tenant, order, name, query, subject
):
    reply = alice_web.get(url(order, name) + query)

    assert reply["Content-Type"] == "application/pdf"
    assert reply["Content-Disposition"] == (
        f'inline; filename="{name}-{str(order.pk)[:8]}.pdf"'
    )
    assert len(pages_of(reply.content)) == 1
    assert audited(alice_tenant)[-1] == ("read", subject, str(order.pk))


def test_results_open_as_a_paper_once_there_are_any(alice_web, alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    before = alice_web.get(url(order, "order")).context["documents"]
    make_results(order=order)

    reply = alice_web.get(url(order, "results_file"))

    assert reply["Content-Type"] == "application/pdf"
    assert audited(alice_tenant)[-1] == ("read", "result", str(order.pk))
    after = alice_web.get(url(order, "order")).context["documents"]
    assert (before.results, after.results) == (False, True)


@pytest.mark.parametrize(
    "name", ["requisition", "labels", "instructions", "results_file"]
)
def test_a_paper_that_is_not_there_leads_back_to_the_order(
    alice_web, alice_tenant, name
):
    order = make_order(tenant=alice_tenant)
    before = holdings(alice_tenant)

    reply = alice_web.get(url(order, name))

    assert (reply.status_code, reply["Location"]) == (302, url(order, "order"))
    assert holdings(alice_tenant) == before


def test_labels_are_asked_for_before_they_are_printed(alice_web, alice_tenant, order):
    before = holdings(alice_tenant)

    with time_machine.travel(NOW, tick=False):
        page = alice_web.get(url(order, "labels"))
    refused = alice_web.get(
        f"{url(order, 'labels')}?collection_date=soon&number_of_labels=91"
    )

    assert page.context["form"]["collection_date"].value().isoformat() == "2026-11-21"
    assert page.context["form"]["number_of_labels"].value() == 3
    assert refused.status_code == 422
    assert set(refused.context["form"].errors) == {
        "collection_date",
        "number_of_labels",
    }
    assert holdings(alice_tenant) == before


def test_documents_of_the_lab_are_listed_newest_first_and_open(alice_web, alice_tenant):
    order = make_order_awaiting_results(tenant=alice_tenant)
    first, second = make_pdf(), make_pdf(pages=2)
    older = make_lab_document(order=order, content=first)
    make_lab_document(order=order, content=second)
    refused = make_lab_document(order=order, content=encrypt(first), series="b")
    where = "https://lab.example/<r>"
    make_lab_document(order=order, status="reference", pointer=where, series="c")

    page = alice_web.get(url(order, "order"))
    opened = alice_web.get(document_url(order, older))
    closed = alice_web.get(document_url(order, refused))

    rows = page.context["documents"].from_lab
    assert [(row.document.number, row.words, row.is_latest) for row in rows] == [
        (4, "Kept by the lab", True),
        (3, "The PDF needs a password.", True),
        (2, "", True),
        (1, "", False),
    ]
    text = page.content.decode()
    assert "https://lab.example/&lt;r&gt;" in text
    assert f'href="{where[:20]}' not in text
    assert document_url(order, refused) not in text
    assert (opened.content, opened["X-Content-Type-Options"]) == (first, "nosniff")
    assert closed.status_code == 404
    assert audited(alice_tenant)[-1] == ("read", "lab_document", str(older.pk))


def test_a_document_of_the_lab_opens_with_its_order_and_the_right_to_names(
    alice_web, alice_tenant
):
    order = make_order_awaiting_results(tenant=alice_tenant)
    other = make_order_awaiting_results(tenant=alice_tenant)
    document = make_lab_document(order=order)
    viewer = signed_in(alice_tenant, Role.VIEWER)

    assert alice_web.get(document_url(other, document)).status_code == 404
    assert viewer.get(document_url(order, document)).status_code == 403
    shelf = viewer.get(url(order, "order")).context["documents"]
    assert shelf.from_lab == ()


def document_url(order, document):
    place = {
        "team_slug": order.tenant.team.slug,
        "environment": order.tenant.environment,
        "order_id": order.pk,
        "lab_document_id": document.pk,
    }
    return reverse("labs:lab_document", kwargs=place)


def test_papers_that_name_the_patient_need_the_right_to(alice_tenant, order):
    viewer = signed_in(alice_tenant, Role.VIEWER)
    before = holdings(alice_tenant)

    for name in ("requisition", "labels", "results_file"):
        assert viewer.get(url(order, name)).status_code == 403
    assert viewer.post(url(order, "reissue_link")).status_code == 403
    assert holdings(alice_tenant) == before
    shelf = viewer.get(url(order, "order")).context["documents"]
    assert (shelf.may_see, shelf.link, shelf.link_left) == (False, "", "")
    reply = viewer.get(url(order, "instructions"))
    assert reply["Content-Type"] == "application/pdf"


@pytest.mark.parametrize(
    ("age", "left"),
    [
        (timedelta(), "7 d 0 h"),
        (timedelta(hours=20), "6 d 4 h"),
        (timedelta(days=6, hours=1), "23 h"),
        (timedelta(days=6, hours=23, minutes=1), "less than an hour"),
        (timedelta(days=7), ""),
    ],
    ids=["new", "days", "hours", "minutes", "ended"],
)
def test_the_order_says_how_long_its_link_works(alice_web, alice_tenant, age, left):
    with time_machine.travel(NOW, tick=False) as clock:
        order = make_order(tenant=alice_tenant)
        create_requisition(tenant=alice_tenant, actor=ACTOR, order_id=order.pk)
        clock.move_to(NOW + age)

        shelf = alice_web.get(url(order, "order")).context["documents"]

    assert shelf.link_left == left
    assert shelf.link_ends_at == NOW + timedelta(days=7)


def test_a_new_link_takes_the_place_of_the_old(alice_web, order):
    old = alice_web.get(url(order, "order")).context["documents"].link

    reply = alice_web.post(url(order, "reissue_link"))

    new = alice_web.get(url(order, "order")).context["documents"].link
    assert reply["Location"] == url(order, "order")
    assert new not in {"", old}


def test_an_import_says_why_it_has_no_requisition(alice_web, alice_tenant):
    order = import_order(
        tenant=alice_tenant,
        actor=ACTOR,
        request=order_request(
            user=make_user(tenant=alice_tenant),
            panels=(make_lab_test(tenant=alice_tenant),),
        ),
        sample_id="S-1",
    )
    order = get_order_with_details(tenant=alice_tenant, order_id=order.pk)

    shelf = alice_web.get(url(order, "order")).context["documents"]

    assert (shelf.requisition, shelf.is_import) == (False, True)


def test_a_tests_instructions_open_from_the_catalogue(alice_web, alice_tenant, order):
    place = {"team_slug": alice_tenant.team.slug, "environment": "sandbox"}
    of = {**place, "lab_test_id": order.lab_test_id}
    bare = {**place, "lab_test_id": make_lab_test(tenant=alice_tenant).pk}

    found = alice_web.get(reverse("labs:panel_instructions", kwargs=of))
    missing = alice_web.get(reverse("labs:panel_instructions", kwargs=bare))

    assert found["Content-Type"] == "application/pdf"
    assert missing["Location"] == reverse("labs:tests", kwargs=place)
