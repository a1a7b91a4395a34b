from __future__ import annotations

from http import HTTPStatus

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry
from accounts.states import Role
from labs.models import Order
from tests.clients import confirm
from tests.factories.accounts import ACTOR, make_member
from tests.factories.appointments import make_appointment, make_bookable_order
from tests.factories.hl7 import make_oru, make_test
from tests.factories.inbound import take
from tests.factories.labs import make_order
from tests.factories.reports import make_parsing_job
from tests.factories.users import make_user
from users.operations.sources.sources import connect_source
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox"
SEARCH = f"{PLACE}/search/"
HTMX = {"HX-Request": "true"}
# Kinds of what belongs to the team; the catalog and the documentation are the same for
# all.
RECORDS = ("users", "orders", "reports", "webhooks", "recent")


@pytest.fixture
def dana(alice_tenant):
    return make_user(tenant=alice_tenant, client_user_id="mbr_dana")


@pytest.fixture
def job(dana):
    return make_parsing_job(user=dana, status="completed")


def as_role(team, *roles):
    client = Client()
    client.force_login(make_member(team=team, roles=roles))
    return client


def typed(client, text):
    """What the palette gets while this is typed: words by group."""
    reply = client.post(SEARCH, {"q": text}, headers=HTMX)
    assert reply.status_code == HTTPStatus.OK
    return {
        group.title: [option.words for option in group.options]
        for group in reply.context["groups"]
        if group.key in RECORDS
    }


def commands(client):
    """What the palette lists at once: words by group."""
    shell = client.get(SEARCH).context["shell"]
    return {
        group.title: [option.words for option in group.options]
        for group in shell.commands
    }


@pytest.mark.parametrize(
    "text", ["mbr_dana", "mbr_d", "MBR_D", "mb", " mbr_dana ", "br_d", "Dana"]
)
def test_a_client_user_id_is_found_by_any_part(alice_web, dana, text):
    assert typed(alice_web, text) == {"Users": ["mbr_dana"]}


@pytest.mark.parametrize("text", ["na", "m", "", "mbr%", "mb\0", "x" * 256])
def test_other_text_finds_nothing(alice_web, dana, text):
    assert typed(alice_web, text) == {}


def test_a_user_id_is_found_by_any_part_from_six_letters_on(alice_web, dana):
    whole = str(dana.uuid)

    for text in (whole, whole.upper(), dana.uuid.hex, whole[:6], whole[11:20]):
        assert typed(alice_web, text) == {"Users": ["mbr_dana"]}, text
    assert typed(alice_web, whole[:5]) == {}


def test_a_report_is_found_by_any_part_of_its_id_with_whose_it_is(alice_web, job):
    words = f"{str(job.id)[:8]} of mbr_dana"

    for text in (str(job.id), str(job.id)[:6], str(job.id)[11:20]):
        assert typed(alice_web, text) == {"Reports": [words]}, text
    assert typed(alice_web, str(job.id)[:5]) == {}


def test_an_order_is_found_by_every_number_that_people_have_of_it(
    alice_web, alice_tenant, dana
):
    order = make_bookable_order(tenant=alice_tenant, user=dana)
    other = make_order(tenant=alice_tenant, user=dana)
    Order.objects.for_tenant(alice_tenant).filter(pk=order.pk).update(
        sample_id="SB0123456"
    )
    visit = make_appointment(order=order)
    words = {"Orders": [f"{str(order.pk)[:8]} of mbr_dana"]}
    message = take(alice_tenant, make_oru(make_test()), lab=order.lab)
    (lab_report,) = message.reports.all()
    lab_report.order = order
    lab_report.fillers, lab_report.samples = ["24-330-0917"], ["T7-77"]
    lab_report.save()

    for text in (
        *(str(order.pk), str(order.pk)[:6], str(order.pk)[11:20], order.pk.hex[5:25]),
        *("sb0123456", "SB01", "3456", "SB-0123-456"),
        str(order.transaction_id)[9:18],
        str(visit.pk),
        *("24-330-0917", "3300917", "t777"),
    ):
        assert typed(alice_web, text) == words, text
    assert typed(alice_web, "sb") == {}
    assert (
        alice_web.post(SEARCH, {"q": "SB0123456"})["Location"]
        == f"{PLACE}/orders/{order.pk}/"
    )

    # Matched to another order, the lab's numbers lead there.
    lab_report.order = other
    lab_report.save()
    assert typed(alice_web, "3300917") == {
        "Orders": [f"{str(other.pk)[:8]} of mbr_dana"]
    }
    other.delete()
    assert typed(alice_web, "3300917") == {}


def test_the_whole_id_comes_before_those_that_begin_with_it(alice_web, alice_tenant):
    for name in ("mbr_1", "mbr_11", "mbr_12"):
        make_user(tenant=alice_tenant, client_user_id=name)

    assert typed(alice_web, "mbr_1") == {"Users": ["mbr_1", "mbr_12", "mbr_11"]}


def test_no_more_than_six_of_a_kind_are_shown(alice_web, alice_tenant):
    for number in range(8):
        make_user(tenant=alice_tenant, client_user_id=f"mbr_{number}")

    assert len(typed(alice_web, "mbr_")["Users"]) == 6


def test_nothing_of_another_tenant_is_found(
    alice_web, charlie_tenant, alice_production
):
    for tenant in (charlie_tenant, alice_production):
        user = make_user(tenant=tenant, client_user_id="mbr_stranger")
        job = make_parsing_job(user=user)

        for text in ("mbr_stranger", str(user.uuid), str(job.id)):
            assert typed(alice_web, text) == {}


def test_a_deleted_user_is_not_found(alice_web, dana, job):
    delete_user(user=dana, actor=ACTOR)

    for text in ("mbr_dana", str(dana.uuid), str(job.id)):
        assert typed(alice_web, text) == {}


def test_who_reads_no_reports_finds_none(alice_team, job):
    viewer = as_role(alice_team, Role.VIEWER)

    assert typed(viewer, str(job.id)) == {}
    assert typed(viewer, "mbr_dana") == {"Users": ["mbr_dana"]}


def test_a_name_finds_nothing(alice_web, dana):
    make_parsing_job(
        user=dana, status="completed", metadata={"patient_first_name": "Rosa"}
    )

    assert typed(alice_web, "Rosa") == {}


def test_a_whole_id_opens_its_page_without_script(alice_web, dana, job):
    page = f"{PLACE}/users/{dana.uuid}/"

    assert alice_web.post(SEARCH, {"q": "mbr_dana"})["Location"] == page
    assert alice_web.post(SEARCH, {"q": str(dana.uuid)})["Location"] == page
    assert (
        alice_web.post(SEARCH, {"q": str(job.id)})["Location"]
        == f"{PLACE}/reports/{job.id}/"
    )


def test_the_page_lists_users_pages_and_actions(alice_web, dana):
    reply = alice_web.post(SEARCH, {"q": "mbr_"})
    assert "mbr_dana" in reply.content.decode()

    reply = alice_web.post(SEARCH, {"q": "report"})
    found = {g.title: [o.words for o in g.options] for g in reply.context["commands"]}
    assert found == {
        "Go to": ["Reports", "Open reports", "Parity report", "Reports by mail"],
        "Actions": ["Upload report"],
    }


def test_nothing_found_is_said(alice_web):
    assert "No matches" in alice_web.post(SEARCH, {"q": "zzzz"}).content.decode()


def test_an_owner_is_offered_pages_actions_and_other_places(
    alice_web, alice_production
):
    offered = commands(alice_web)

    assert set(offered["Go to"]) >= {"Overview", "Users", "Reports"}
    assert set(offered["Actions"]) >= {
        "Upload report",
        "Look up a client user ID",
        "Load or remove demo data",
    }
    assert offered["Switch to"] == ["Alice Health, Production"]


def test_a_viewer_is_offered_what_they_may_open(alice_team, alice_tenant):
    offered = commands(as_role(alice_team, Role.VIEWER))

    assert {"Reports", "Upload report", "Load or remove demo data"}.isdisjoint(
        {words for group in offered.values() for words in group}
    )


def test_production_is_not_offered_demo_data(alice_web, alice_production):
    shell = alice_web.get("/t/alice-health/production/search/").context["shell"]

    words = {option.words for group in shell.commands for option in group.options}
    assert "Load or remove demo data" not in words
    assert "Upload report" in words


def test_every_page_and_action_opens(alice_web):
    confirm(alice_web)
    shell = alice_web.get(SEARCH).context["shell"]

    for group in shell.commands:
        for option in group.options:
            assert alice_web.get(option.url).status_code == HTTPStatus.OK, option.words


def test_markers_tests_settings_and_documentation_are_found(alice_web, alice_team):
    def found(client, text):
        reply = client.post(SEARCH, {"q": text})
        groups = [*reply.context["groups"], *reply.context["commands"]]
        return {
            group.title: [(option.words, option.url) for option in group.options]
            for group in groups
        }

    ferritin = found(alice_web, "ferrit")["Tests and markers"]
    assert ("Ferritin", f"{PLACE}/lab-tests/markers/?q=Ferritin") in ferritin
    assert alice_web.get(ferritin[0][1]).status_code == HTTPStatus.OK
    assert ("Member sign-in", f"{PLACE}/settings/sign-in/") in found(
        alice_web, "sign-in"
    )["Go to"]
    viewer = as_role(alice_team, Role.VIEWER)
    assert found(alice_web, "api log")["Go to"] == [("API log", f"{PLACE}/api-log/")]
    assert "Go to" not in found(viewer, "api log")
    for _words, url in found(viewer, "retention")["Documentation"]:
        assert viewer.get(url.partition("#")[0]).status_code == HTTPStatus.OK


def test_what_was_opened_last_is_offered_first(
    alice_web, alice_team, alice_tenant, dana, job
):
    order = make_order(tenant=alice_tenant, user=dana)
    others = [
        make_user(tenant=alice_tenant, client_user_id=f"mbr_{number}")
        for number in range(3)
    ]
    for path in (
        f"orders/{order.pk}",
        f"users/{dana.uuid}",
        f"reports/{job.id}",
        f"users/{others[0].uuid}",
        f"orders/{order.pk}",
    ):
        assert alice_web.get(f"{PLACE}/{path}/").status_code == HTTPStatus.OK

    assert typed(alice_web, "") == {
        "Recently opened": [
            f"{str(order.pk)[:8]} of mbr_dana",
            "mbr_0",
            f"{str(job.id)[:8]} of mbr_dana",
            "mbr_dana",
        ]
    }
    assert typed(alice_web, "mbr_")["Users"] == ["mbr_0", "mbr_dana", "mbr_2", "mbr_1"]
    assert typed(as_role(alice_team, Role.OWNER), "") == {}  # opened by another
    delete_user(user=dana, actor=ACTOR)
    assert typed(alice_web, "") == {"Recently opened": ["mbr_0"]}


def test_nothing_is_searched_from_an_address(alice_web, dana):
    reply = alice_web.get(SEARCH, {"q": "mbr_dana"})

    assert (reply.status_code, reply.context["groups"]) == (HTTPStatus.OK, [])


def test_who_views_as_a_role_searches_with_its_rights(alice_web, job):
    confirm(alice_web)
    alice_web.post(f"{PLACE}/members/view-as/", {"role": "viewer"})

    assert typed(alice_web, "dana") == {"Users": ["mbr_dana"]}


def test_what_was_found_is_audited_without_the_text(alice_web, alice_tenant, dana):
    typed(alice_web, "mbr_dana")
    typed(alice_web, "Rosa Beispiel")

    lines = AuditEntry.objects.for_tenant(alice_tenant).filter(verb="read")
    assert list(
        lines.filter(subject="search").values_list("subject", "subject_id")
    ) == [
        ("search", "users"),
    ]


@pytest.mark.parametrize("number", [1, 2, 20])
def test_a_search_costs_the_same_at_any_size(alice_web, alice_tenant, number):
    for index in range(number):
        user = make_user(tenant=alice_tenant, client_user_id=f"0123456789-{index}")
        connect_source(user=user, actor=ACTOR, provider="oura")
    alice_web.get(SEARCH)  # the session notes the place once

    with CaptureQueriesContext(connection) as queries:
        alice_web.post(SEARCH, {"q": "0123456789"}, headers=HTMX)

    assert len(queries) == SEARCH_QUERIES


# Session, member; users by a whole id or part of a user_id, by any part of theirs;
# markers, two of lab tests; two of webhooks; what was opened. The place, orders,
# reports, sources and audit go by rows, which Django does not count.
SEARCH_QUERIES = 10
