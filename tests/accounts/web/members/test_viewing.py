from __future__ import annotations

import datetime

import pytest
import time_machine

from accounts.models import AuditEntry, Membership, Team
from accounts.states import Role
from accounts.web.members.viewing import VIEWING_TTL

pytestmark = pytest.mark.django_db
PLACE = "/t/alice-health/sandbox"
START, STOP = f"{PLACE}/members/view-as/", f"{PLACE}/members/view-as/stop/"
BANNER = b"read-only"


def test_an_owner_looks_as_a_developer_changes_nothing_and_stops(
    alice_web, alice_team, charlie_web
):
    started = alice_web.post(START, {"role": Role.DEVELOPER})
    home = alice_web.get(f"{PLACE}/")
    reports = alice_web.get(f"{PLACE}/reports/")
    renamed = alice_web.post(
        f"{PLACE}/settings/team/", {"name": "Mine", "time_zone": "UTC"}
    )
    again = alice_web.post(START, {"role": Role.OWNER})
    other = alice_web.get("/t/alice-health/production/api-keys/")

    assert (started.status_code, started["Location"]) == (302, f"{PLACE}/")
    assert BANNER in home.content
    assert f'href="{PLACE}/reports/"'.encode() not in home.content
    statuses = [each.status_code for each in (reports, renamed, again, other)]
    assert statuses == [403, 403, 403, 403]
    assert Team.objects.get(pk=alice_team.pk).name == "Alice Health"
    assert b"Nothing was changed" in renamed.content
    assert charlie_web.get(f"{PLACE}/").status_code == 404

    alice_web.post(STOP)

    assert BANNER not in alice_web.get(f"{PLACE}/").content
    assert alice_web.get(f"{PLACE}/reports/").status_code == 200
    lines = AuditEntry.unscoped.filter(subject="role", tenant__environment="sandbox")
    assert list(lines.order_by("pk").values_list("verb", "subject_id")) == [
        ("view_as_role", "developer"),
        ("end_view_as_role", "developer"),
    ]


def test_looking_as_a_role_ends_with_its_hour_and_with_the_right_to_it(
    alice_web, alice
):
    now = datetime.datetime(2026, 3, 2, 9, tzinfo=datetime.UTC)
    with time_machine.travel(now, tick=False):
        alice_web.force_login(alice)
        alice_web.post(START, {"role": Role.VIEWER})
        during = alice_web.get(f"{PLACE}/members/")
    with time_machine.travel(now + VIEWING_TTL, tick=False):
        after = alice_web.get(f"{PLACE}/members/")
        alice_web.post(START, {"role": Role.VIEWER})
        Membership.objects.filter(member=alice).update(roles=[Role.CLINICIAN])
        lost = alice_web.get(f"{PLACE}/members/")

    assert BANNER in during.content
    assert BANNER not in after.content + lost.content
    assert alice_web.post(STOP).status_code == 302


def test_who_may_not_give_roles_may_not_look_as_one(alice_web, alice):
    Membership.objects.filter(member=alice).update(roles=[Role.CLINICIAN])

    refused = alice_web.post(START, {"role": Role.VIEWER})

    assert refused.status_code == 403
    assert not AuditEntry.unscoped.filter(verb="view_as_role").exists()
