"""Pages of the source ranking, of the team and of a user."""

from __future__ import annotations

import pytest

from accounts.states import Role
from tests.factories.accounts import ACTOR, make_member
from tests.factories.users import make_user
from users.models import SourcePriority
from users.operations.sources.priorities import save_source_priority

pytestmark = pytest.mark.django_db
TEAM = "/t/alice-health/sandbox/source-priority/"


def ranked(tenant, user=None):
    mine = SourcePriority.objects.for_tenant(tenant).filter(user=user).first()
    return mine.sources if mine else None


def press(client, page, move, source=""):
    reply = client.post(page, {"move": move, "source": source})
    assert (reply.status_code, reply["Location"]) == (302, page)


def test_a_team_ranks_its_sources_by_buttons(alice_web, alice_tenant, alice_api):
    for source in ("oura", "withings", "fitbit"):
        press(alice_web, TEAM, "add", source)
    added = ranked(alice_tenant)
    press(alice_web, TEAM, "up", "fitbit")
    press(alice_web, TEAM, "down", "oura")
    press(alice_web, TEAM, "up", "fitbit")
    moved = ranked(alice_tenant)
    press(alice_web, TEAM, "remove", "withings")

    assert added == ["oura", "withings", "fitbit"]
    assert moved == ["fitbit", "oura", "withings"]
    (line,) = alice_api.get("/v2/team/source/priorities").json()
    assert line["source_priority"] == ["fitbit", "oura"]
    shown = alice_web.get(TEAM).context["ranking"]
    assert [each.slug for each in shown] == ["fitbit", "oura"]


def test_a_user_s_ranking_starts_from_the_team_s_and_replaces_it(
    alice_web, alice_tenant
):
    user = make_user(tenant=alice_tenant)
    page = f"/t/alice-health/sandbox/users/{user.uuid}/source-priority/"
    save_source_priority(tenant=alice_tenant, actor=ACTOR, sources=["oura", "withings"])

    before = alice_web.get(page)
    press(alice_web, page, "up", "withings")
    own = ranked(alice_tenant, user)
    press(alice_web, page, "reset")

    assert not before.context["is_own"]
    assert [each.slug for each in before.context["ranking"]] == ["oura", "withings"]
    assert own == ["withings", "oura"]
    assert ranked(alice_tenant, user) is None
    assert ranked(alice_tenant) == ["oura", "withings"]


def test_what_is_no_source_or_by_nobody_who_may_changes_nothing(
    alice_web, client, alice_tenant
):
    alice_web.post(TEAM, {"move": "add", "source": "nothing"})
    viewer = make_member(team=alice_tenant.team, roles=(Role.VIEWER,))
    client.force_login(viewer)

    refused = client.post(TEAM, {"move": "add", "source": "oura"})

    assert refused.status_code == 403
    assert ranked(alice_tenant) is None
    assert (
        alice_web.get(TEAM.replace("source", "users/no-id/source")).status_code == 404
    )
