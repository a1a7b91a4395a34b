from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.states import Role
from tests.factories.accounts import (
    ACTOR,
    make_api_key,
    make_member,
    make_team,
    make_tenant,
)
from tests.factories.labs import make_order
from tests.factories.reports import make_parsing_job
from tests.factories.users import make_user
from tests.factories.webhooks import make_endpoint
from users.operations.sources.sources import connect_source

pytestmark = pytest.mark.django_db

HOME = "/t/alice-health/sandbox/"


def states(reply):
    return {row.step.key: row.state for row in reply.context["first_steps"].rows}


def test_each_step_is_done_once_the_data_says_so(alice_web, alice_team, alice_tenant):
    """Another team's rows count for nothing; the last step takes the list away."""
    elsewhere = make_tenant(team=make_team("Elsewhere"))
    make_api_key(tenant=elsewhere)
    make_parsing_job(user=make_user(tenant=elsewhere))

    assert states(alice_web.get(HOME)) == {
        "api_key": "step_next",
        "user": "step_open",
        "source": "step_open",
        "webhook": "step_open",
        "order": "step_open",
        "report": "step_open",
        "member": "step_open",
    }

    make_api_key(tenant=alice_tenant)
    user = make_user(tenant=alice_tenant)
    connect_source(user=user, actor=ACTOR, provider="oura")
    endpoint = make_endpoint(tenant=alice_tenant)
    reply = alice_web.get(HOME)
    (webhook,) = (
        row for row in reply.context["first_steps"].rows if row.step.key == "webhook"
    )
    assert [key for key, state in states(reply).items() if state == "step_done"] == [
        "api_key",
        "user",
        "source",
    ]
    assert webhook.state == "step_next"
    assert webhook.url == f"{HOME}webhooks/"
    assert 'aria-current="step"' in reply.content.decode()

    endpoint.last_success_at = timezone.now()
    endpoint.save(update_fields=["last_success_at"])
    make_order(tenant=alice_tenant, user=user)
    make_parsing_job(user=user)
    with CaptureQueriesContext(connection) as asked:
        assert states(alice_web.get(HOME))["member"] == "step_next"
    assert sum("done_api_key" in query["sql"] for query in asked) == 1

    make_member(team=alice_team, roles=(Role.DEVELOPER,))
    assert alice_web.get(HOME).context["first_steps"] is None


def test_a_member_sees_the_steps_of_their_roles_and_hides_them_by_environment(
    alice, alice_web, alice_team, alice_tenant, alice_production
):
    client = Client()
    client.force_login(make_member(team=alice_team, roles=(Role.DEVELOPER,)))
    assert set(states(client.get(HOME))) == {"api_key", "webhook"}
    viewer = Client()
    viewer.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))
    assert viewer.get(HOME).context["first_steps"] is None

    hidden = alice_web.post(f"{HOME}guides/hide/", {"guide": "first_steps"})
    assert hidden["Location"] == HOME
    assert alice_web.get(HOME).context["first_steps"] is None
    assert alice_web.get("/t/alice-health/production/").context["first_steps"].rows
    assert set(states(client.get(HOME))) == {"api_key", "webhook"}

    shown = {"guide": "first_steps", "show": "1", "back": f"{HOME}users/"}
    assert alice_web.post(f"{HOME}guides/hide/", shown)["Location"] == f"{HOME}users/"
    assert len(states(alice_web.get(HOME))) == len("1234567")
    alice.refresh_from_db()
    assert alice.hidden_guides == []


def test_other_guides_and_pages_of_others_are_refused(alice, alice_web, alice_tenant):
    for back in ("https://elsewhere.example/", "//elsewhere.example/", "/t/other/"):
        reply = alice_web.post(f"{HOME}guides/hide/", {"guide": "x", "back": back})
        assert reply["Location"] == HOME
    alice.refresh_from_db()
    assert alice.hidden_guides == []


def test_the_browsers_time_zone_is_taken_over_or_kept(alice, alice_web, alice_tenant):
    zone = f"{HOME}profile/time-zone/"
    assert alice_web.get(HOME).context["zone_to_replace"] == "UTC"

    alice_web.post(zone, {"time_zone": "Mars/Olympus"})
    alice.refresh_from_db()
    assert alice.time_zone == ""

    alice_web.post(zone, {"time_zone": "Asia/Tokyo"})
    alice.refresh_from_db()
    assert (alice.time_zone, alice.theme) == ("Asia/Tokyo", "")
    assert alice_web.get(HOME).context["zone_to_replace"] == "Asia/Tokyo"

    alice_web.post(f"{HOME}guides/hide/", {"guide": "time_zone"})
    assert alice_web.get(HOME).context["zone_to_replace"] == ""
