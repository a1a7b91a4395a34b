"""A marker of a user beside a number of their daily life."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta

import pytest

from accounts.models import AuditEntry
from portal.ui.beside_chart import LifePoint, draw_beside_chart
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.summaries import record
from tests.factories.users import make_user

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
TODAY = NOW.date()


def night(day, rate):
    return {
        "bedtime_start": f"{day - timedelta(days=1)}T22:00:00+00:00",
        "bedtime_stop": f"{day}T06:00:00+00:00",
        "total": 7 * 3600,
        "hr_resting": rate,
    }


@pytest.fixture
def user(alice_tenant, time_machine):
    """Ferritin of two orders, and the nights of the last weeks."""
    time_machine.move_to(NOW, tick=False)
    user = make_user(tenant=alice_tenant)
    for text, at, fields in (
        ("9", NOW - timedelta(days=150), {"interpretation": "critical"}),
        ("70", NOW - timedelta(days=10), {}),
    ):
        order = make_order_awaiting_results(tenant=alice_tenant, user=user)
        make_results(
            order=order,
            results=(
                make_reported_result(
                    "Ferritin", text, loinc="2276-4", observed_at=at, **fields
                ),
                make_reported_result("Zinc", "80", observed_at=at),
            ),
        )
    # Day 10 and the six before it, two with another rate, and one after it.
    nights = [night(TODAY - timedelta(days=10 + ago), 52) for ago in range(5)]
    nights += [night(TODAY - timedelta(days=15 + ago), 60) for ago in range(2)]
    nights.append(night(TODAY - timedelta(days=9), 90))
    record(user, "sleep", *nights)
    record(user, "sleep", night(TODAY, 40), provider="fitbit")
    return user


def test_a_marker_stands_beside_the_days_before_it(alice_web, alice_tenant, user):
    address = f"/t/alice-health/sandbox/users/{user.uuid}/beside-life/"
    before = AuditEntry.objects.for_tenant(alice_tenant).order_by("-pk").first().pk

    year = alice_web.get(address, {"of": "2276-4"})
    quarter = alice_web.get(
        address, {"of": "2276-4", "span": "quarter", "life": "asleep"}
    )
    unknown = alice_web.get(address, {"span": "age", "life": "luck"})

    assert year.context["source"].slug == "oura"
    assert [
        (row.day, row.result.text, row.median, row.days) for row in year.context["rows"]
    ] == [(date(2026, 6, 20), "70", "52", 7), (date(2026, 1, 31), "9", "", 0)]
    html = year.content.decode()
    assert html.count("tr-crit") == 1
    assert html.count('class="bs-stem"') == 2
    # Days of one week are one point of the line; weeks that touch are one line.
    assert year.context["is_weekly"]
    assert html.count("mi-line") + html.count("mi-lone") >= 1
    assert [(row.day, row.median, row.days) for row in quarter.context["rows"]] == [
        (date(2026, 6, 20), "7", 7)
    ]
    assert not quarter.context["is_weekly"]
    assert (unknown.context["span"], unknown.context["life"].key) == ("year", "resting")
    # Nothing is out of range now: the first by name.
    assert unknown.context["trend"].name == "Ferritin"
    assert alice_web.get(address, {"of": "718-7"}).status_code == 404
    found = AuditEntry.objects.for_tenant(alice_tenant).filter(pk__gt=before)
    assert (
        list(found.order_by("pk").values_list("subject", "user_uuid"))
        == [
            ("result_trends", user.uuid),
            ("summaries", user.uuid),
        ]
        * 3
    )


def test_the_file_holds_the_days_of_the_page(alice_web, alice_tenant, user):
    address = f"/t/alice-health/sandbox/users/{user.uuid}/beside-life/"
    asked = {"of": "2276-4", "span": "quarter"}
    before = AuditEntry.objects.for_tenant(alice_tenant).order_by("-pk").first().pk

    reply = alice_web.get(f"{address}file/", asked)
    unknown = alice_web.get(f"{address}file/", {"of": "718-7"})

    found = list(csv.DictReader(io.StringIO(reply.content.decode())))
    # Each day by itself: 7 before the collection, its own among them, and one after.
    assert [(row["day"], row["value"], row["result"]) for row in found] == [
        ("2026-06-14", "60", ""),
        ("2026-06-15", "60", ""),
        ("2026-06-16", "52", ""),
        ("2026-06-17", "52", ""),
        ("2026-06-18", "52", ""),
        ("2026-06-19", "52", ""),
        ("2026-06-20", "52", "70"),
        ("2026-06-21", "90", ""),
    ]
    assert found[6] == {
        "day": "2026-06-20",
        "life": "resting",
        "value": "52",
        "value_unit": "bpm",
        "source": "oura",
        "marker": "Ferritin",
        "loinc": "2276-4",
        "result": "70",
        "unit": "mg/dL",
        "reference_range": "65-99",
        "interpretation": "normal",
        "collected_at": "2026-06-20T12:00:00Z",
        "median_before": "52",
        "days_before": "7",
        "annotations": "",
    }
    assert unknown.status_code == 404
    lines = AuditEntry.objects.for_tenant(alice_tenant).filter(pk__gt=before)
    assert list(lines.order_by("pk").values_list("verb", "subject", "user_uuid")) == [
        ("read", "result_trends_file", user.uuid),
        ("read", "summaries_file", user.uuid),
    ]


def test_a_side_without_values_has_no_numbers():
    chart = draw_beside_chart(
        [],
        [LifePoint(date(2026, 11, 20), 50.0), LifePoint(date(2026, 11, 27), 51.0)],
        first=date(2026, 11, 1),
        last=date(2026, 11, 27),
        every=7,
        hue="red",
        says="Resting heart rate",
    )

    assert "bs-ink" not in chart
    assert chart.count('class="bs-red"') == chart.count('class="tl-tick"') > 0


def test_a_user_without_data_has_nothing_to_show(
    alice_web, alice_tenant, charlie_tenant
):
    user = make_user(tenant=alice_tenant)
    strange = make_user(tenant=charlie_tenant)
    place = "/t/alice-health/sandbox/users"

    page = alice_web.get(f"{place}/{user.uuid}/beside-life/")

    assert page.context["chart"] == ""
    assert '<svg class="chart beside"' not in page.content.decode()
    for wanted in (strange.uuid, "no-id"):
        assert alice_web.get(f"{place}/{wanted}/beside-life/").status_code == 404
        file = alice_web.get(f"{place}/{wanted}/beside-life/file/")
        assert file.status_code == 404
    assert not AuditEntry.objects.for_tenant(alice_tenant).filter(verb="read").exists()
