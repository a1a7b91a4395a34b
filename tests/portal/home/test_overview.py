from __future__ import annotations

import re
from datetime import timedelta
from http import HTTPStatus

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.declarations.pages import (
    AttentionItem,
    OverviewPart,
    PageContributions,
    Tile,
    Urgency,
)
from accounts.models import AuditEntry
from accounts.states import Role
from accounts.webhooks.catalogue import load_event_types
from labs.models import Order
from portal.home.overview import ATTENTION_ITEMS
from portal.home.recent_events import TYPES_SHOWN
from tests.factories.accounts import ACTOR, make_api_key, make_member
from tests.factories.labs import make_lab_test, make_order
from tests.factories.reports import make_parsing_job
from tests.factories.users import make_user
from tests.factories.webhooks import make_event
from users.operations.sources.sources import connect_source

pytestmark = pytest.mark.django_db

PLACE = "/t/alice-health/sandbox/"
PRODUCTION = "/t/alice-health/production/"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def dana(alice_tenant):
    make_api_key(tenant=alice_tenant)  # without one, that would need attention
    return make_user(tenant=alice_tenant, client_user_id="mbr_dana")


@pytest.fixture
def parts(monkeypatch):
    """Call it to replace the parts of the apps."""

    def replace(*parts):
        apps = [
            PageContributions(overview=(lambda _request, part=part: part,))
            for part in parts
        ]
        monkeypatch.setattr(
            "portal.home.overview.list_page_contributions", lambda: apps
        )

    return replace


def as_role(team, *roles):
    client = Client()
    client.force_login(make_member(team=team, roles=roles))
    return client


def item(urgency, hours, title="x"):
    return AttentionItem(
        urgency=urgency,
        since=timezone.now() - timedelta(hours=hours),
        family="bad",
        icon="alert",
        title=title,
        url="/somewhere/",
    )


def titles(reply):
    return [item.title for item in reply.context["overview"].attention]


def tile_labels(reply):
    return [view.tile.label for view in reply.context["overview"].tiles]


def reads(tenant):
    lines = AuditEntry.objects.for_tenant(tenant).filter(verb="read")
    return list(lines.values_list("subject", "subject_id"))


def test_the_most_urgent_comes_first_and_within_it_the_oldest(alice_web, dana, parts):
    parts(
        OverviewPart(attention=(item(Urgency.SOURCE, 9, "source"),)),
        OverviewPart(
            attention=(
                item(Urgency.REPORT, 1, "new report"),
                item(Urgency.REPORT, 5, "old report"),
                item(Urgency.CRITICAL_RESULT, 0, "critical"),
            )
        ),
    )

    assert titles(alice_web.get(PLACE)) == [
        "critical",
        "old report",
        "new report",
        "source",
    ]


def test_a_long_list_is_cut_and_says_so(alice_web, dana, parts):
    number = ATTENTION_ITEMS + 3
    parts(OverviewPart(attention=(item(Urgency.REPORT, 1),) * number))

    reply = alice_web.get(PLACE)

    assert len(titles(reply)) == ATTENTION_ITEMS
    assert reply.context["overview"].attention_total == number
    assert f"{ATTENTION_ITEMS} of {number}, most urgent" in reply.content.decode()


def test_the_four_tiles_of_lowest_rank_are_shown(alice_web, dana, parts):
    tiles = [Tile(rank, f"tile {rank}", rank, "/x/") for rank in (50, 10, 40, 30, 20)]
    parts(OverviewPart(tiles=tuple(tiles[:2])), OverviewPart(tiles=tuple(tiles[2:])))

    assert tile_labels(alice_web.get(PLACE)) == [
        "tile 10",
        "tile 20",
        "tile 30",
        "tile 40",
    ]


def test_the_app_in_the_greatest_hurry_sets_the_pace(alice_web, dana, parts):
    parts(OverviewPart(poll_seconds=30), OverviewPart(poll_seconds=3), OverviewPart())

    html = alice_web.get(PLACE).content.decode()

    assert 'hx-trigger="every 3s"' in html


def test_a_page_asks_every_ten_seconds_for_first_steps_and_else_once_a_minute(
    alice_web, dana
):
    assert 'hx-trigger="every 10s"' in alice_web.get(PLACE).content.decode()
    alice_web.post(f"{PLACE}guides/hide/", {"guide": "first_steps"})
    assert 'hx-trigger="every 60s"' in alice_web.get(PLACE).content.decode()


def test_a_poll_gets_the_changing_part_alone(alice_web, dana):
    reply = alice_web.get(PLACE, headers=HTMX)

    html = reply.content.decode()
    assert "<html" not in html
    assert html.count('id="overview"') == 1


def test_every_tile_links_to_a_list_of_as_many(alice_web, alice_tenant, dana):
    connect_source(user=dana, actor=ACTOR, provider="oura")
    make_user(tenant=alice_tenant)
    make_parsing_job(user=dana, status="started")
    make_parsing_job(user=dana, status="completed")
    make_order(tenant=alice_tenant, user=dana)

    overview = alice_web.get(PLACE).context["overview"]

    shown = {view.tile.label: view.tile.number for view in overview.tiles}
    assert shown == {
        "Users": 2,
        "Orders in progress": 1,
        "Open reports": 1,
        "Users with a source": 1,
    }
    for view in overview.tiles:
        listed = alice_web.get(view.tile.url).context["pager"].total
        assert listed == view.tile.number, view.tile.label


@pytest.mark.parametrize(
    ("role", "labels"),
    [
        (
            Role.CLINICIAN,
            ["Users", "Orders in progress", "Open reports", "Users with a source"],
        ),
        (Role.DEVELOPER, ["Users", "Orders in progress", "Users with a source"]),
        (Role.VIEWER, ["Users", "Orders in progress", "Users with a source"]),
    ],
)
def test_a_member_sees_what_their_roles_read(alice_team, dana, role, labels):
    make_parsing_job(user=dana, status="failed", finished_at=timezone.now())

    reply = as_role(alice_team, role).get(PLACE)

    assert tile_labels(reply) == labels
    has_report = "A lab report failed" in titles(reply)
    assert has_report == (role == Role.CLINICIAN)
    assert ("Recent events" in reply.content.decode()) == (role == Role.DEVELOPER)


def test_recent_events_are_counted_by_type_and_name_nobody(alice_web, dana):
    for provider in ("oura", "fitbit"):
        connect_source(user=dana, actor=ACTOR, provider=provider)

    html = alice_web.get(PLACE).content.decode()

    assert html.count("provider.connection.created") == 1
    assert 'class="num">2</td>' in html
    assert "mbr_dana" not in html


def test_the_latest_types_of_events_are_shown_and_the_rest_counted(
    alice_web, dana, alice_tenant
):
    kinds = [kind for kind in load_event_types() if kind.startswith("daily.data.")]
    for kind in kinds[: TYPES_SHOWN + 2]:
        make_event(tenant=alice_tenant, event_type=kind)

    html = alice_web.get(PLACE).content.decode()

    assert html.count("daily.data.") == TYPES_SHOWN
    assert "And 2 more types." in html


def test_nothing_of_another_tenant_is_shown(
    alice_web, dana, charlie_tenant, alice_production
):
    for tenant in (charlie_tenant, alice_production):
        stranger = make_user(tenant=tenant, client_user_id="mbr_stranger")
        connect_source(user=stranger, actor=ACTOR, provider="garmin")
        make_parsing_job(user=stranger, status="pending_review")

    reply = alice_web.get(PLACE)

    html = reply.content.decode()
    assert titles(reply) == []
    assert [view.tile.number for view in reply.context["overview"].tiles] == [
        1,
        0,
        0,
        0,
    ]
    assert "mbr_stranger" not in html
    assert "Garmin" not in html


def test_quiet_is_said(alice_web, dana):
    html = alice_web.get(PLACE).content.decode()

    assert "Nothing needs your attention." in html
    assert "No open items." in html


def test_the_read_is_audited(alice_web, alice_tenant, dana):
    alice_web.get(PLACE)

    assert reads(alice_tenant) == [("overview", "sandbox")]


def test_a_team_without_users_is_shown_how_to_begin(alice_web, alice_tenant, settings):
    settings.PUBLIC_URL = "https://portal.example"
    make_api_key(tenant=alice_tenant)  # the first step; the first call comes second

    reply = alice_web.get(PLACE)

    html = reply.content.decode()
    assert reply.status_code == HTTPStatus.OK
    assert "curl https://portal.example/v2/user" in html
    assert "$ASSAY_KEY" in html
    assert re.findall(r"[sp]k_(?:us|eu)_", html) == []
    assert "Load demo data" in html
    assert reads(alice_tenant) == []


def test_production_offers_no_demo_data(alice_web, alice_production):
    html = alice_web.get(PRODUCTION).content.decode()

    assert "Demo data is available in the sandbox only." in html
    assert "demo-data/load" not in html


def test_who_may_not_load_demo_data_is_told_who_may(alice_team, alice_tenant):
    html = as_role(alice_team, Role.DEVELOPER).get(PLACE).content.decode()

    assert "An owner or admin of Alice Health can load demo data here." in html
    assert "demo-data/load" not in html


def fill(tenant, number):
    """So many users, each with a source, two reports, an order and events."""
    panel = make_lab_test(tenant=tenant)
    for _ in range(number):
        user = make_user(tenant=tenant)
        connect_source(user=user, actor=ACTOR, provider="oura")
        make_parsing_job(user=user, status="pending_review")
        make_parsing_job(user=user, status="failed", finished_at=timezone.now())
        make_order(tenant=tenant, user=user, lab_test=panel)
    waiting = "collecting_sample.walk_in_test.appointment_pending"
    Order.objects.for_tenant(tenant).update(status=waiting)


@pytest.mark.parametrize("number", [1, 2, 20])
def test_the_overview_costs_the_same_at_any_size(alice_web, alice_tenant, number):
    fill(alice_tenant, number)
    alice_web.get(PLACE)  # the session notes the place once

    with CaptureQueriesContext(connection) as queries:
        alice_web.get(PLACE)

    assert len(queries) == OVERVIEW_QUERIES


# Session, member, demo data, keys; orders as shown, by day; reports waiting, to review,
# failed, by day; sources, users by day; events, endpoints and their health. The place,
# the switcher, totals, the sidebar's numbers, arrivals, audit, which orders need
# attention and users with a source go by rows, which Django does not count. The first
# steps are one.
OVERVIEW_QUERIES = 17
