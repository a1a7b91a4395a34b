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
from tests.factories.labs import make_order
from tests.factories.reports import make_parsing_job
from tests.factories.users import make_user
from users.operations.sources.sources import connect_source
from users.operations.users.users import delete_user

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox"
SEARCH = f"{PLACE}/search/"
HTMX = {"HX-Request": "true"}


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
    reply = client.get(SEARCH, {"q": text}, headers=HTMX)
    assert reply.status_code == HTTPStatus.OK
    return {
        group.title: [option.words for option in group.options]
        for group in reply.context["groups"]
    }


def commands(client):
    """What the palette lists at once: words by group."""
    shell = client.get(SEARCH).context["shell"]
    return {
        group.title: [option.words for option in group.options]
        for group in shell.commands
    }


@pytest.mark.parametrize("text", ["mbr_dana", "mbr_d", "MBR_D", "mb", " mbr_dana "])
def test_a_client_user_id_is_found_whole_or_from_its_beginning(alice_web, dana, text):
    assert typed(alice_web, text) == {"Users": ["mbr_dana"]}


@pytest.mark.parametrize(
    "text", ["br_dana", "dana", "m", "", "mbr%", "mb\0", "x" * 256]
)
def test_other_text_finds_nothing(alice_web, dana, text):
    assert typed(alice_web, text) == {}


def test_an_id_opens_its_user_whole_or_from_eight_letters_on(alice_web, dana):
    whole = str(dana.uuid)

    for text in (whole, whole.upper(), dana.uuid.hex, whole[:8], whole[:20]):
        assert typed(alice_web, text) == {"Users": ["mbr_dana"]}, text
    assert typed(alice_web, whole[:7]) == {}


def test_an_id_of_a_job_is_found_with_whose_it_is(alice_web, job):
    words = f"{str(job.id)[:8]} of mbr_dana"

    assert typed(alice_web, str(job.id)) == {"Reports": [words]}
    assert typed(alice_web, str(job.id)[:8]) == {"Reports": [words]}


def test_an_order_is_found_by_its_id_and_that_of_its_sample(
    alice_web, alice_tenant, dana
):
    order = make_order(tenant=alice_tenant, user=dana)
    Order.objects.for_tenant(alice_tenant).update(sample_id="SB0123456")
    words = {"Orders": [f"{str(order.pk)[:8]} of mbr_dana"]}

    assert typed(alice_web, str(order.pk)[:8]) == words
    assert typed(alice_web, "sb0123456") == words
    assert typed(alice_web, "sb01") == {}
    assert (
        alice_web.get(SEARCH, {"q": "SB0123456"})["Location"]
        == f"{PLACE}/orders/{order.pk}/"
    )


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

    assert alice_web.get(SEARCH, {"q": "mbr_dana"})["Location"] == page
    assert alice_web.get(SEARCH, {"q": str(dana.uuid)})["Location"] == page
    assert (
        alice_web.get(SEARCH, {"q": str(job.id)})["Location"]
        == f"{PLACE}/reports/{job.id}/"
    )


def test_the_page_lists_users_pages_and_actions(alice_web, dana):
    reply = alice_web.get(SEARCH, {"q": "mbr_"})
    assert "mbr_dana" in reply.content.decode()

    reply = alice_web.get(SEARCH, {"q": "report"})
    found = {g.title: [o.words for o in g.options] for g in reply.context["commands"]}
    assert found == {
        "Go to": ["Reports", "Open reports", "Parity report"],
        "Actions": ["Upload report"],
    }


def test_nothing_found_is_said(alice_web):
    assert "No matches" in alice_web.get(SEARCH, {"q": "zzz"}).content.decode()


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


def test_what_was_found_is_audited_without_the_text(alice_web, alice_tenant, dana):
    typed(alice_web, "mbr_dana")
    typed(alice_web, "Rosa Beispiel")

    lines = AuditEntry.objects.for_tenant(alice_tenant).filter(verb="read")
    assert list(lines.values_list("subject", "subject_id")) == [("search", "users")]


@pytest.mark.parametrize("number", [1, 2, 20])
def test_a_search_costs_the_same_at_any_size(alice_web, alice_tenant, number):
    for index in range(number):
        user = make_user(tenant=alice_tenant, client_user_id=f"0123456789-{index}")
        connect_source(user=user, actor=ACTOR, provider="oura")
    alice_web.get(SEARCH)  # the session notes the place once

    with CaptureQueriesContext(connection) as queries:
        alice_web.get(SEARCH, {"q": "0123456789"}, headers=HTMX)

    assert len(queries) == SEARCH_QUERIES


# Session, member, place; users by a whole id or part of a user_id, users by the
# beginning of theirs, orders, jobs; two of webhooks. Sources and audit go by rows,
# which Django does not count.
SEARCH_QUERIES = 9
