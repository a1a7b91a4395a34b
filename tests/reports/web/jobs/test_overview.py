from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.states import Role
from reports.web.jobs.overview import FAILED_LATELY, LISTED
from tests.factories.accounts import make_api_key, make_member
from tests.factories.reports import make_parsing_job
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox/"


@pytest.fixture
def dana(alice_tenant):
    make_api_key(tenant=alice_tenant)  # without one, that would need attention
    return make_user(tenant=alice_tenant, client_user_id="mbr_dana")


@pytest.fixture(autouse=True)
def _room_for_every_tile(monkeypatch):
    monkeypatch.setattr("portal.home.overview.TILES", 9)


def ago(**time):
    return timezone.now() - timedelta(**time)


def make_failed(user, at, reason="invalid_input"):
    return make_parsing_job(
        user=user, status="failed", failure_reason=reason, finished_at=at
    )


def attention(reply):
    return [
        (item.title, item.detail, item.url)
        for item in reply.context["overview"].attention
    ]


def tile(reply, label):
    [found] = [
        view.tile
        for view in reply.context["overview"].tiles
        if view.tile.label == label
    ]
    return found


def nav_count(reply):
    count = reply.context["shell"].nav_counts.get("reports")
    return count and count.number


def test_a_report_that_waits_for_review_needs_attention(alice_web, dana):
    job = make_parsing_job(user=dana, status="pending_review")

    reply = alice_web.get(PLACE)

    assert attention(reply) == [
        ("A lab report is pending review", "mbr_dana", f"{PLACE}reports/{job.id}/")
    ]
    assert nav_count(reply) == 1


@pytest.mark.parametrize(
    ("reason", "said"),
    [("low_quality", "Image quality too low"), ("sent_to_the_moon", "Failed")],
)
def test_a_report_that_failed_lately_says_why(alice_web, dana, reason, said):
    job = make_failed(dana, ago(hours=1), reason)

    reply = alice_web.get(PLACE)

    assert attention(reply) == [
        (
            "A lab report failed",
            f"mbr_dana. {said}",
            f"{PLACE}reports/{job.id}/",
        )
    ]
    assert nav_count(reply) == 1


def test_a_report_that_failed_long_ago_asks_no_more(alice_web, dana):
    make_failed(dana, timezone.now() - FAILED_LATELY - timedelta(minutes=1))

    reply = alice_web.get(PLACE)

    assert attention(reply) == []
    assert nav_count(reply) is None


def test_many_failures_end_in_their_list(alice_web, dana):
    for hours in range(1, LISTED + 3):
        make_failed(dana, ago(hours=hours))

    found = attention(alice_web.get(PLACE))

    assert len(found) == LISTED + 1
    assert f"{PLACE}reports/?tab=failed" in {url for _title, _detail, url in found}


def test_the_waiting_tile_and_card_show_the_oldest_first(alice_web, dana):
    new = make_parsing_job(user=dana, status="started", created_at=ago(minutes=5))
    old = make_parsing_job(user=dana, status="upload_pending", created_at=ago(hours=18))
    make_parsing_job(user=dana, status="completed")

    reply = alice_web.get(PLACE)

    waiting = tile(reply, "Open reports")
    assert (waiting.number, waiting.detail) == (2, "Oldest: 18 h")
    html = reply.content.decode()
    assert html.index(f"{PLACE}reports/{old.id}/") < html.index(
        f"{PLACE}reports/{new.id}/"
    )


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(minutes=3), "Oldest: 3 min"),
        (timedelta(hours=47), "Oldest: 47 h"),
        (timedelta(hours=48), "Oldest: 2 days"),
    ],
)
def test_the_oldest_says_its_age(alice_web, dana, age, words):
    make_parsing_job(user=dana, status="started", created_at=timezone.now() - age)

    assert tile(alice_web.get(PLACE), "Open reports").detail == words


def test_reports_that_are_read_now_are_asked_after_soon(alice_web, dana):
    make_parsing_job(user=dana, status="started")

    assert 'hx-trigger="every 3s"' in alice_web.get(PLACE).content.decode()


def test_the_read_tile_shows_uploads_by_day(alice_web, dana):
    for days in (0, 0, 3, 20):
        make_parsing_job(user=dana, status="completed", created_at=ago(days=days))

    read = tile(alice_web.get(PLACE), "Completed reports")

    assert (read.number, read.detail) == (4, "3 uploaded in 7 days")
    assert read.trend == (0,) * 10 + (1, 0, 0, 2)


def test_who_reads_no_reports_gets_no_count(alice_team, dana):
    make_failed(dana, ago(hours=1))
    client = Client()
    client.force_login(make_member(team=alice_team, roles=(Role.VIEWER,)))

    assert nav_count(client.get(PLACE)) is None


def test_many_reports_are_counted_up_to_a_limit(alice_web, dana, monkeypatch):
    monkeypatch.setattr("reports.queries.COUNTED_UP_TO", 1)
    monkeypatch.setattr("reports.web.jobs.overview.COUNTED_UP_TO", 1)
    for _ in range(3):
        make_parsing_job(user=dana, status="completed")

    read = tile(alice_web.get(PLACE), "Completed reports")

    assert (read.number, read.unit) == (1, "or more")
