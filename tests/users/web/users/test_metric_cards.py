"""Cards of recent weeks on a user's page, compared with the weeks before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import AuditEntry
from tests.factories.summaries import record
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db
LIST = "/t/alice-health/sandbox/users/"
NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
TODAY = NOW.date()


def night(day, minutes, **more):
    stop = datetime(day.year, day.month, day.day, 6, tzinfo=UTC)
    start = stop - timedelta(minutes=minutes)
    return {
        "bedtime_start": start.isoformat(),
        "bedtime_stop": stop.isoformat(),
        "total": minutes * 60,
        **more,
    }


def nap(day):
    start = datetime(day.year, day.month, day.day, 13, tzinfo=UTC)
    return {
        "bedtime_start": start.isoformat(),
        "bedtime_stop": (start + timedelta(minutes=30)).isoformat(),
        "total": 1800,
    }


def ago(days):
    return TODAY - timedelta(days=days)


def test_a_card_says_what_changed_against_the_person_s_own_weeks(
    alice_web, alice_tenant, time_machine
):
    time_machine.move_to(NOW, tick=False)
    user = make_user(tenant=alice_tenant)
    # 20 of 31 nights of 7 h, before them 40 of 8 h; naps besides; one night by another
    # source, which a band on the arm would have made shorter.
    record(
        user,
        "sleep",
        *(night(ago(days), 420, hr_resting=52) for days in range(20)),
        *(nap(ago(days)) for days in range(1, 20)),
        *(night(ago(31 + days), 480, hr_resting=52) for days in range(40)),
    )
    record(user, "sleep", night(ago(0), 60), provider="fitbit")
    record(
        user,
        "activity",
        *({"calendar_date": str(ago(days)), "steps": 9000} for days in range(13)),
        *({"calendar_date": str(ago(31 + days)), "steps": 1} for days in range(13)),
    )
    record(
        user,
        "body",
        {"calendar_date": str(ago(9)), "weight": 71.4},
        {"calendar_date": str(ago(2)), "weight": 70.2, "fat": 21.5},
    )
    record(
        user,
        "workouts",
        *(
            {
                "time_start": f"{ago(days)}T{hour}:00:00+00:00",
                "time_end": f"{ago(days)}T{hour}:30:00+00:00",
            }
            for days, hour in (
                *((3, "07"), (3, "18"), (5, "07")),
                # 16 in the 40 days since the first night.
                *((days, hour) for days in range(33, 70, 5) for hour in ("07", "18")),
            )
        ),
    )
    before = AuditEntry.objects.for_tenant(alice_tenant).count()

    reply = alice_web.get(f"{LIST}{user.uuid}/")

    cards = {card.title: card for card in reply.context["metric_cards"]}
    assert {
        title: (card.number, card.unit, card.arrow, card.change, card.usual)
        for title, card in cards.items()
    } == {
        "Sleep": ("7 h 00 min", "a night", "↓", "1 h 00 min less", "8 h 00 min"),
        "Activity": ("9,000", "steps a day", "", "", ""),
        "Heart": ("52", "bpm resting", "=", "As usual", "52"),
        "Body": ("70.2", "kg", "", "", ""),
        "Workouts": ("3", "in 31 days", "↓", "9 fewer", "12"),
    }
    assert {card.source.slug for card in cards.values()} == {"oura"}
    assert cards["Sleep"].below == [
        ("Deep sleep", "0 min, as usual"),
        ("Days with a value", "20 of 31"),
    ]
    assert cards["Body"].below == [
        ("Body fat", "21.5 %"),
        ("Days with a value", "2 of 31"),
    ]
    assert cards["Sleep"].chart.count("mi-bar") == 20
    assert cards["Sleep"].chart.count("mi-band") == 1
    assert cards["Activity"].chart.count("mi-band") == 0
    # Two weights with days between: two points and no line.
    assert cards["Body"].chart.count("mi-lone") == 2
    # Two workouts of one day are one bar.
    assert cards["Workouts"].chart.count("mi-bar") == 2
    read = AuditEntry.objects.for_tenant(alice_tenant).order_by("pk")[before:]
    assert [(each.verb, each.subject) for each in read] == [
        ("read", "user"),
        ("read", "summaries"),
    ]


def test_a_user_without_recent_summaries_has_no_cards(
    alice_web, alice_tenant, time_machine
):
    time_machine.move_to(NOW, tick=False)
    user = make_user(tenant=alice_tenant)
    record(user, "sleep", night(ago(31), 420), night(ago(-1), 420))

    reply = alice_web.get(f"{LIST}{user.uuid}/")

    assert reply.context["metric_cards"] == []
    assert b"Recent weeks" not in reply.content
