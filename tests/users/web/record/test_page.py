"""The timeline of a user's page, its tiles and what it reads."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry
from accounts.operations.audit.entries import record_read
from accounts.states import Role
from portal.lib.actor import Actor, ActorKind
from tests.factories.accounts import ACTOR, make_member
from tests.factories.fhir import make_outside_report
from tests.factories.imports import make_import
from tests.factories.labs import make_order
from tests.factories.reports import make_parsed, make_parsed_result, make_parsing_job
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.summaries import cycle_element, record
from tests.factories.timeseries import push_samples
from tests.factories.users import make_user
from users.operations.sources.connections import mark_connection_failed
from users.operations.sources.pausing import pause_source, resume_source
from users.operations.sources.sources import connect_source
from users.states import ConnectionFault

pytestmark = pytest.mark.django_db
LIST = "/t/alice-health/sandbox/users/"
NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
EVERYTHING = [
    ("Nights", 2),
    ("Workouts", 1),
    ("Out of range", 1),
    ("Orders", 1),
    ("Results", 1),
    ("Reports", 1),
    ("Events", 2),
    ("Source breaks", 2),
]


@pytest.fixture
def user(alice_tenant, time_machine):
    """A person of Rome to whom one thing of each kind happened."""
    time_machine.move_to(NOW - timedelta(days=20), tick=False)
    user = make_user(tenant=alice_tenant, fallback_time_zone="Europe/Rome")
    oura = connect_source(user=user, actor=ACTOR, provider="oura")
    connect_source(user=user, actor=ACTOR, provider="fitbit")
    pause_source(user=user, actor=ACTOR, provider="fitbit")
    time_machine.move_to(NOW - timedelta(days=17), tick=False)
    resume_source(user=user, actor=ACTOR, provider="fitbit")
    order = make_order_awaiting_results(tenant=alice_tenant, user=user)
    make_results(
        order=order,
        results=(
            make_reported_result("Potassium", "7.1", interpretation="critical"),
            make_reported_result("Sodium", "140"),
        ),
        collected_at=NOW - timedelta(days=3),
    )
    make_parsing_job(
        user=user,
        status="pending_review",
        report=make_parsed(results=(make_parsed_result(),)),
        created_at=NOW - timedelta(days=2),
    )
    time_machine.move_to(NOW - timedelta(hours=6), tick=False)
    night = {
        "bedtime_start": "2026-06-28T21:00:00+00:00",
        "bedtime_stop": "2026-06-29T05:00:00+00:00",
        "total": 7 * 3600,
    }
    # The same night of two sources is one; the one below is of the day of waking.
    record(user, "sleep", night)
    record(user, "sleep", night, provider="fitbit")
    record(
        user,
        "sleep",
        {
            "bedtime_start": "2026-05-30T21:00:00+00:00",
            "bedtime_stop": "2026-05-31T05:00:00+00:00",
            "total": 6 * 3600,
        },
    )
    record(
        user,
        "workouts",
        {
            "time_start": "2026-06-29T16:00:00+00:00",
            "time_end": "2026-06-29T16:58:00+00:00",
            "max_hr": 148,
        },
    )
    push_samples(
        user,
        "glucose",
        # Just before midnight of Rome, and in range after it.
        {"timestamp": "2026-06-27T21:59:00+00:00", "value": 11.2},
        {"timestamp": "2026-06-27T22:01:00+00:00", "value": 6.0},
        provider="freestyle_libre",
    )
    # What a source sends ends its break, so that it comes last.
    mark_connection_failed(
        connection=oura, actor=ACTOR, fault=ConnectionFault.TOKEN_REFRESH_FAILED
    )
    time_machine.move_to(NOW, tick=False)
    return user


def rows_of(reply):
    return [(row.title, row.number) for row in reply.context["timeline"].table]


def feed_of(reply):
    return [
        (each.day.isoformat(), one.says_time, one.entry.title, one.entry.detail)
        for each in reply.context["timeline"].feed
        for one in each.entries
    ]


def subjects(tenant, after):
    found = AuditEntry.objects.for_tenant(tenant).filter(pk__gt=after, verb="read")
    return list(found.order_by("pk").values_list("subject", flat=True))


def last_entry(tenant):
    return AuditEntry.objects.for_tenant(tenant).order_by("-pk").first().pk


def test_a_user_s_page_shows_what_happened_in_the_last_month(
    alice_web, alice_tenant, user
):
    before = last_entry(alice_tenant)

    with CaptureQueriesContext(connection) as asked:
        reply = alice_web.get(f"{LIST}{user.uuid}/")

    named = dict(rows_of(reply))
    events = named.pop("Events")
    expected = dict(EVERYTHING)
    expected.pop("Events")
    assert named == expected
    assert events >= 2
    assert feed_of(reply)[:6] == [
        ("2026-06-30", "08:00", "Oura stopped", "Token refresh failed"),
        ("2026-06-29", "18:00", "Workout, 58 min", "Highest 148 bpm, Oura"),
        ("2026-06-29", "07:00", "Sleep, 7 h 00 min", "23:00 to 07:00, Fitbit, Oura"),
        ("2026-06-28", "14:00", "Report", "1 value, pending review"),
        (
            "2026-06-27",
            "23:59",
            "Glucose out of range",
            "highest 11.2 mmol/L, Freestyle Libre",
        ),
        (
            "2026-06-27",
            "14:00",
            "Potassium 7.1 mg/dL, critical",
            "2 results, 2 out of range, 1 critical",
        ),
    ]
    html = reply.content.decode()
    assert html.count('class="tl-night"') == 2
    assert html.count('class="tl-break-open"') == 1
    assert [
        (tile.label, tile.status, tile.number) for tile in reply.context["attention"]
    ] == [
        ("Potassium", "critical", "7.1"),
        ("Report", "pending_review", "1"),
        ("Unreviewed results", "pending_review", "2"),
        ("Oura", "error", "6 h"),
    ]
    assert subjects(alice_tenant, before) == [
        "report_list",
        "orders",
        "result_trends",
        "user",
        "summaries",
        "timeseries",
    ]
    assert len(asked) <= 60


def test_a_span_ends_where_it_is_asked_to(alice_web, user):
    week = alice_web.get(f"{LIST}{user.uuid}/?span=week&to=2026-06-05")
    unknown = alice_web.get(f"{LIST}{user.uuid}/?span=age&to=soon")
    year = alice_web.get(f"{LIST}{user.uuid}/?span=year&to=2030-01-01&list=all")

    assert week.context["span"].words == "30 May to 5 Jun 2026"
    assert rows_of(week) == [("Nights", 1)]
    assert (week.context["span"].before, week.context["span"].after) == (
        "?span=week&to=2026-05-29",
        "?span=week&to=2026-06-12",
    )
    assert unknown.context["span"].words == "31 May to 30 Jun 2026"
    assert unknown.context["span"].after == ""
    assert year.context["span"].first == date(2025, 6, 30)
    assert year.context["timeline"].more == 0
    assert [day for day, *_ in feed_of(year)][-1] == "2026-05-31"
    nothing = alice_web.get(f"{LIST}{user.uuid}/?span=week&to=2020-01-01")
    assert nothing.context["timeline"].is_empty


def test_a_member_sees_rows_of_their_areas_alone(alice_team, alice_tenant, user):
    developer = Client()
    developer.force_login(make_member(team=alice_team, roles=(Role.DEVELOPER,)))
    before = last_entry(alice_tenant)

    reply = developer.get(f"{LIST}{user.uuid}/")

    shown = {title for title, _ in rows_of(reply)}
    assert "Results" not in subjects(alice_tenant, before)
    allowed = reply.wsgi_request.rights
    assert ("Orders" in shown) == ("orders" in allowed.reads)
    assert ("Reports" in shown) == ("reports" in allowed.reads)
    assert ("Events" in shown) == ("webhooks" in allowed.reads)


def test_a_cycle_is_read_when_it_is_opened_and_audited(alice_web, alice_tenant, user):
    record(
        user,
        "menstrual_cycle",
        cycle_element(
            period_start="2026-05-20", period_end="2026-05-24", cycle_end="2026-06-17"
        ),
        cycle_element(
            period_start="2026-06-18",
            period_end="2026-06-22",
            cycle_end="2026-07-15",
            ovulation_test=[{"date": "2026-06-29", "test_result": "positive"}],
            basal_body_temperature=[
                {"date": "2026-06-20", "value": 36.4},
                {"date": "2026-06-21", "value": 36.5},
            ],
        ),
    )
    before = last_entry(alice_tenant)

    closed = alice_web.get(f"{LIST}{user.uuid}/")
    closed_reads = subjects(alice_tenant, before)
    opened = alice_web.get(f"{LIST}{user.uuid}/?show=cycle")

    assert closed.context["cycle"] is None
    assert "Day 13" not in closed.content.decode()
    assert "menstrual_cycle" not in closed_reads
    card = opened.context["cycle"]
    assert (card.number, card.unit, card.usual, card.source.slug) == (
        "Day 13",
        "of about 28",
        "Last cycles 29 days",
        "oura",
    )
    assert card.facts == [("Ovulation test", "Positive 29 Jun")]
    assert card.chart.count("mi-line") == 1
    assert subjects(alice_tenant, before)[-1] == "menstrual_cycle"


def test_who_read_lately_is_on_the_page(
    alice_web, alice_team, alice_tenant, user, time_machine
):
    other = make_user(tenant=alice_tenant, client_user_id="mbr_other")
    noor = make_member(team=alice_team, email="noor@assay.example")
    noor.name = "Noor Haddad"
    noor.save(update_fields=["name"])

    def read(actor, of=user, days=0):
        time_machine.move_to(NOW - timedelta(days=days), tick=False)
        record_read(
            tenant=alice_tenant,
            actor=actor,
            subject="summaries",
            subject_id=of.uuid,
            user_uuid=of.uuid,
        )

    read(Actor(ActorKind.MEMBER, "gone", "gone@assay.example"), days=31)
    for days in (3, 2):
        read(Actor(ActorKind.MEMBER, str(noor.pk), noor.email), days=days)
    read(Actor(ActorKind.API_KEY, "key-1", "Data warehouse"), days=1)
    read(Actor(ActorKind.API_KEY, "key-2", "Elsewhere"), of=other)
    read(Actor.system("a job"))
    before = last_entry(alice_tenant)

    page = alice_web.get(f"{LIST}{user.uuid}/")

    assert [(each.label, each.name, each.at) for each in page.context["readers"]] == [
        ("Data warehouse", "", NOW - timedelta(days=1)),
        ("noor@assay.example", "Noor Haddad", NOW - timedelta(days=2)),
    ]
    assert "audit" in subjects(alice_tenant, before)
    clinician = Client()
    clinician.force_login(make_member(team=alice_team, roles=[Role.CLINICIAN]))
    before = last_entry(alice_tenant)
    unseen = clinician.get(f"{LIST}{user.uuid}/")
    assert (unseen.status_code, unseen.context["readers"]) == (200, [])
    assert "audit" not in subjects(alice_tenant, before)


def test_glucose_is_a_card_beside_what_is_usual(alice_web, user):
    push_samples(
        user,
        "glucose",
        *(
            {
                "timestamp": f"{NOW.date() - timedelta(days=days)}T08:00:00+00:00",
                "value": 5.5,
            }
            for days in range(31, 51)
        ),
        provider="freestyle_libre",
    )

    reply = alice_web.get(f"{LIST}{user.uuid}/")

    (card,) = [
        each for each in reply.context["metric_cards"] if each.title == "Glucose"
    ]
    assert (card.number, card.unit, card.change, card.usual) == (
        "8.6",
        "mmol/L, mean",
        "3.1 mmol/L more",
        "5.5",
    )
    assert card.below == [
        ("Lowest and highest", "6.0 to 11.2"),
        ("Days beyond 3.9 to 10.0", "1 of 2"),
        ("Days with a value", "2 of 31"),
    ]


def test_ids_and_a_call_are_in_a_tab_for_developers(alice_web, alice_tenant, user):
    before = last_entry(alice_tenant)

    reply = alice_web.get(f"{LIST}{user.uuid}/developers/")

    html = reply.content.decode()
    assert f"/v2/user/{user.uuid}" in html
    assert str(alice_tenant.team.id) in html
    assert subjects(alice_tenant, before) == ["user"]
    assert alice_web.get(f"{LIST}no-uuid/developers/").status_code == 404
    assert "curl" not in alice_web.get(f"{LIST}{user.uuid}/").content.decode()


def tabs_of(reply):
    return dict(
        re.findall(
            r'>([^<>]+)<span class="count">([^<]+)</span></a>', reply.content.decode()
        )
    )


def test_tabs_say_how_many_things_each_lists(alice_web, alice_tenant, alice_team, user):
    address = f"{LIST}{user.uuid}/developers/"
    other = make_user(tenant=alice_tenant)
    make_order(tenant=alice_tenant, user=other)
    make_parsing_job(user=other)
    make_import(user=other)
    alice_web.get(address)  # what a session's first request asks once

    with CaptureQueriesContext(connection) as few:
        before = alice_web.get(address)
    for _n in range(3):
        make_order(tenant=alice_tenant, user=user)
    make_parsing_job(user=user)
    make_outside_report(user=user)
    make_import(user=user)
    with CaptureQueriesContext(connection) as many:
        after = alice_web.get(address)
    developer = Client()
    developer.force_login(make_member(team=alice_team, roles=(Role.DEVELOPER,)))

    assert tabs_of(before) == {"Imports": "0", "Lab orders": "1", "Reports": "1"}
    assert tabs_of(after) == {"Imports": "1", "Lab orders": "4", "Reports": "3"}
    assert len(many) == len(few)
    counting = [each["sql"] for each in many if "UNION ALL" in each["sql"]]
    assert sum("labs_order" in sql and "reports_" in sql for sql in counting) == 1
    # No reports: that area is not theirs.
    assert tabs_of(developer.get(address)) == {"Imports": "1", "Lab orders": "4"}
    assert alice_web.get(f"{LIST}{user.uuid}/orders/").context["total"] == 4
