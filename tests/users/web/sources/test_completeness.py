"""The page that proves each day of a user's sources."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.operations.pulling.test_worst_days import connected, run
from users.operations.sources.cloud_sources import schedule_cloud_source_refresh
from users.operations.sources.connections import mark_connection_failed
from users.states import ConnectionFault

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _noon(time_machine, monkeypatch):
    time_machine.move_to(NOON, tick=False)
    monkeypatch.setattr(
        "users.operations.sources.budgets.pause", lambda some: time_machine.shift(some)
    )


@pytest.fixture
def scale(alice_tenant, withings):
    connection = connected(alice_tenant, withings)
    for day in range(0, 60, 2):
        moment = NOON - timedelta(days=day, hours=5)
        withings.add_measures(int(moment.timestamp()), {1: (72_500, -3)})
    schedule_cloud_source_refresh(connection=connection)
    run(connection)
    return connection


def url(user):
    place = {"team_slug": user.tenant.team.slug, "environment": user.tenant.environment}
    return reverse("users:completeness", kwargs={**place, "user_id": str(user.uuid)})


def weight(page):
    (source,) = page.context["sources"]
    (found,) = (each for each in source.resources if each.resource == "weight")
    return [str(each.state) for each in found.days]


def test_a_month_is_shown_day_by_day(alice_web, scale):
    page = alice_web.get(url(scale.user))

    assert weight(page) == [*["complete", "source_has_none"] * 15, "open"]
    assert page.context["totals"]["missing"] == 0
    assert "Weight, 7 Mar: Complete" in page.text


def test_earlier_days_and_one_of_them(alice_web, scale):
    page = alice_web.get(
        url(scale.user),
        {
            "until": "2026-02-09",
            "source": "withings",
            "resource": "weight",
            "day": "2026-02-05",
        },
    )

    cell = page.context["cell"]
    assert (page.context["first"].isoformat(), page.context["last"].isoformat()) == (
        "2026-01-10",
        "2026-02-09",
    )
    assert (cell.day.number, str(cell.day.state)) == (1, "complete")
    assert page.context["after"].isoformat() == "2026-03-09"


def test_a_hole_is_shown_with_its_reason(alice_web, scale, time_machine):
    mark_connection_failed(
        connection=scale, actor=ACTOR, fault=ConnectionFault.TOKEN_REFRESH_FAILED
    )
    time_machine.shift(timedelta(days=2))

    page = alice_web.get(url(scale.user))

    assert weight(page)[-3:] == ["missing", "missing", "open"]
    assert page.context["cell"].day.day.isoformat() == "2026-03-10"
    assert "Last error: token_refresh_failed." in page.text
    assert "before the user connects this source again" in page.text
    assert "Send a new link" in page.text


@pytest.mark.parametrize("until", ["soon", "2999-01-01", ""])
def test_an_unknown_day_shows_the_latest(alice_web, scale, until):
    page = alice_web.get(url(scale.user), {"until": until})

    assert page.context["last"].isoformat() == "2026-03-09"


def test_a_user_without_sources_and_strangers(alice_web, charlie_web, alice_tenant):
    user = make_user(tenant=alice_tenant)

    assert "No sources connected" in alice_web.get(url(user)).text
    assert charlie_web.get(url(user)).status_code == 404
