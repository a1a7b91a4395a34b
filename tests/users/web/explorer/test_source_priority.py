from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.audit import audited
from tests.factories.samples import put_samples
from tests.factories.users import make_user
from users.models import SourcePriority

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _noon(time_machine):
    time_machine.move_to(datetime(2026, 3, 1, 12, tzinfo=UTC), tick=False)


@pytest.fixture
def user(alice_tenant):
    user = make_user(tenant=alice_tenant)
    put_samples(
        user,
        "steps",
        ("2026-02-28T10:00", 60, 500),
        ("2026-02-28T11:00", 60, 100),
        source_type="watch",
    )
    put_samples(
        user,
        "steps",
        ("2026-02-28T10:00", 60, 700),
        ("2026-02-28T12:00", 60, 50),
        provider="apple_health_kit",
        source_type="phone",
    )
    return user


def address(user, query="?series=steps&day=2026-02-28"):
    slug = user.tenant.team.slug
    return f"/t/{slug}/{user.tenant.environment}/users/{user.uuid}/ledger/{query}"


def test_each_interval_says_who_won_and_who_did_not_count(
    alice_web, alice_tenant, user
):
    reply = alice_web.get(address(user))

    assert [
        (win.start, win.end, win.source, win.value, win.others)
        for win in reply.context["wins"]
    ] == [
        ("10:00", "12:00", "Oura, watch", "600", "Apple HealthKit, phone 700"),
        ("12:00", "13:00", "Apple HealthKit, phone", "50", ""),
    ]
    assert reply.context["total"] == "650"
    assert audited(alice_tenant)[-1] == ("read", "steps", str(user.uuid))


def test_another_rule_is_an_address_and_changes_the_total(alice_web, user):
    first = alice_web.get(address(user))
    totals = {str(each.rule): each.total for each in first.context["rules"]}
    most = next(each for each in first.context["rules"] if each.rule == "max")

    reply = alice_web.get(address(user, most.query))

    assert totals == {"max": "850", "priority": "650", "merge": "650"}
    assert reply.context["total"] == "850"
    assert reply.context["wins"][0].source == "Apple HealthKit, phone"


def test_what_a_source_says_and_what_counted_stand_side_by_side(alice_web, user):
    reply = alice_web.get(address(user))

    assert [
        (share.source, share.reported, share.counted)
        for share in reply.context["shares"]
    ] == [("Oura, watch", "600", "600"), ("Apple HealthKit, phone", "750", "50")]


@pytest.mark.parametrize(
    "query", ["", "?series=heartrate&day=never&rule=dice", "?day=2031-01-01"]
)
def test_what_means_nothing_shows_the_newest_day(alice_web, user, query):
    reply = alice_web.get(address(user, query))

    assert reply.context["resource"].slug == "steps"
    assert reply.context["day"].isoformat() == "2026-02-28"
    assert len(reply.context["wins"]) == 2


def test_a_stranger_finds_nothing(charlie_web, user):
    assert charlie_web.get(address(user)).status_code == 404


def test_a_source_is_ranked_first_and_the_ranking_taken_back(
    alice_web, alice_tenant, user
):
    rank = address(user, "rank/")
    here = "?series=steps&day=2026-02-28&rule=priority"

    ranked = alice_web.post(
        rank, {"source": "apple_health_kit", "here": here}, follow=True
    )
    back = alice_web.post(rank, {"here": here}, follow=True)

    assert "Apple HealthKit counts first for this user." in ranked.text
    assert "Priority of this user: Apple HealthKit, then" in ranked.text
    # From 10:00 the phone's 700, at 11:00 the watch's 100, at 12:00 the phone's 50.
    assert (ranked.context["total"], back.context["total"]) == ("850", "650")
    assert "Priority of" not in back.text
    assert ranked.redirect_chain == [(address(user, here), 302)]


def test_an_unknown_source_is_not_ranked(alice_web, user):
    reply = alice_web.post(address(user, "rank/"), {"source": "nobody"}, follow=True)

    assert "Unknown source: nobody." in reply.text
    assert not SourcePriority.unscoped.exists()


def test_a_stranger_ranks_nothing(charlie_web, user):
    assert charlie_web.post(address(user, "rank/"), {"source": "oura"}).status_code == (
        404
    )
    assert not SourcePriority.unscoped.exists()
