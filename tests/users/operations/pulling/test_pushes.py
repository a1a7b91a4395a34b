"""Pushes of Withings and Oura, from their address to the event."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from tests.factories.accounts import ACTOR
from tests.jobs import queued
from tests.users.operations.pulling.test_worst_days import Killed, connected, run, sent
from users import jobs
from users.gateways.base import SourceUnavailable
from users.gateways.withings.gateway import WithingsGateway
from users.models import Announcement, Pull, SourceCredentials, SourceGrant
from users.operations.pulling.pulling import enqueue_due_source_pulls
from users.operations.sources.cloud_sources import (
    schedule_cloud_source_refresh,
)
from users.operations.sources.credentials import (
    build_push_address,
    find_connection_gateway,
    save_source_credentials,
)
from users.operations.sources.sources import disconnect_source
from users.queries.data.introspection import get_source_overview

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _noon(time_machine, monkeypatch):
    time_machine.move_to(NOON, tick=False)
    monkeypatch.setattr(
        "users.operations.sources.budgets.pause", lambda some: time_machine.shift(some)
    )


def seconds(moment):
    return int(moment.timestamp())


def send_here(method, push):
    """Deliver a push to this server."""
    parts = urlsplit(push.url)
    return (
        Client()
        .generic(
            method,
            parts.path,
            push.body,
            content_type=push.content_type,
            headers=dict(push.headers),
        )
        .status_code
    )


@pytest.fixture
def unread(alice_tenant, withings, monkeypatch):
    """A connected scale that was not read yet; its past is 40 days."""
    monkeypatch.setattr(WithingsGateway, "history", timedelta(days=40))
    return connected(alice_tenant, withings)


@pytest.fixture
def scale(unread, withings):
    """A connected scale whose past was read, and that pushes."""
    schedule_cloud_source_refresh(connection=unread)
    run(unread)
    withings.sender.send = send_here
    return unread


def weigh(twin, moment, grams=72_500):
    twin.add_measures(seconds(moment), {1: (grams, -3)})
    twin.announce(1, seconds(moment), seconds(moment) + 1)


def address_of(connection):
    url, token = build_push_address(
        tenant=connection.tenant,
        provider=connection.provider,
        gateway=find_connection_gateway(connection),
    )
    return urlsplit(url).path, token


def post(path, **form):
    return Client().post(
        path,
        urlencode(form),
        content_type="application/x-www-form-urlencoded",
    )


def pushed_pulls(tenant):
    found = Pull.objects.for_tenant(tenant).filter(is_announced=True).order_by("id")
    return [(each.resource, each.status) for each in found]


def test_a_connected_source_is_asked_to_push_to_its_address_once_a_day(
    alice_tenant, withings, scale, time_machine
):
    path, _token = address_of(scale)

    assert {category for category, _ in withings.subscriptions} == {1, 2, 4, 16, 44}
    assert {urlsplit(url).path for _, url in withings.subscriptions} == {path}
    asked = [action for service, action, _ in withings.log if service == "notify"]
    assert asked == ["list", *["subscribe"] * 5]
    schedule_cloud_source_refresh(connection=scale)
    run(scale)
    time_machine.shift(timedelta(days=1, seconds=1))
    withings.subscriptions.pop()
    schedule_cloud_source_refresh(connection=scale)
    run(scale)
    asked = [action for service, action, _ in withings.log if service == "notify"]
    assert asked[6:] == ["list", "subscribe"]
    assert Client().head(path).status_code == 200


def test_a_push_is_read_and_told_at_once(alice_tenant, withings, scale):
    weigh(withings, NOON - HOUR)
    withings.sender.deliver()
    (pending,) = Announcement.objects.for_tenant(alice_tenant).filter(resource="weight")

    wait = run(scale)

    assert withings.sender.statuses == [200]
    assert (pending.first_at, pending.last_at) == (
        NOON - HOUR,
        NOON - HOUR + timedelta(seconds=1),
    )
    assert wait is None
    assert sent(alice_tenant)["weight"] == 1
    assert pushed_pulls(alice_tenant) == [
        ("body", "success"),
        ("fat", "success"),
        ("heartrate", "success"),
        ("lean_body_mass", "success"),
        ("weight", "success"),
    ]
    assert not Announcement.objects.for_tenant(alice_tenant).pending().exists()


def test_doubled_and_shuffled_pushes_are_read_once(alice_tenant, withings, scale):
    for hours in range(1, 6):
        weigh(withings, NOON - hours * HOUR)
    withings.sender.doubled, withings.sender.is_shuffled = 1.0, True
    withings.sender.deliver()
    before = len(withings.log)

    run(scale)

    assert len(withings.sender.statuses) == 10
    assert len(withings.log) - before == 5
    assert sent(alice_tenant)["weight"] == 5
    kept = Announcement.objects.for_tenant(alice_tenant).get(resource="weight")
    assert kept.times == 10


@pytest.mark.parametrize(
    "form",
    [
        {"userid": 363, "appli": "x", "startdate": 1, "enddate": 2},
        {"userid": 363, "appli": 1},
        {"userid": 363, "appli": 1, "startdate": 10**40, "enddate": 2},
        {"appli": 1, "startdate": 1, "enddate": 2},
        {},
    ],
)
def test_what_is_not_a_push_is_refused_and_records_nothing(alice_tenant, unread, form):
    path, _token = address_of(unread)

    reply = post(path, **form)

    assert reply.status_code == 403
    assert not Announcement.objects.for_tenant(alice_tenant).exists()


def test_a_forged_address_is_unknown(alice_tenant, unread):
    path, token = address_of(unread)
    forged = path.replace(token, "0." + "A" * 43)

    reply = post(forged, userid=363, appli=1, startdate=1, enddate=2)

    assert reply.status_code == 404
    assert Client().head(forged).status_code == 404
    assert Client().head(path.replace("withings", "oura")).status_code == 404
    assert not Announcement.objects.for_tenant(alice_tenant).exists()


@pytest.mark.parametrize(
    "form",
    [
        {"userid": 999, "appli": 1, "startdate": 1, "enddate": 2_000_000_000},
        {"userid": 363, "appli": 16, "date": "2026-03-08x"},
        {"userid": 363, "appli": 1, "startdate": 1, "enddate": 2},
    ],
    ids=["of nobody", "no day", "before all that is read"],
)
def test_what_concerns_nobody_is_answered_and_forgotten(alice_tenant, unread, form):
    path, _token = address_of(unread)

    reply = post(path, **form)

    assert reply.status_code in {200, 403}
    assert not Announcement.objects.for_tenant(alice_tenant).exists()


def test_a_forged_push_costs_one_read_of_what_is_kept_and_writes_nothing(
    alice_tenant, withings, scale
):
    path, _token = address_of(scale)
    before, now = len(queued()), timezone.now()

    reply = post(path, userid=363, appli=1, startdate=0, enddate=4_000_000_000)
    run(scale)

    assert reply.status_code == 200
    assert len(queued()) == before + 1
    first = Pull.objects.for_tenant(alice_tenant).filter(is_announced=True).first()
    assert (first.range_start, first.range_end) == (now - timedelta(days=40), now)
    assert sent(alice_tenant).get("weight", 0) == 0


def test_a_lost_push_is_found_by_asking_which_is_rarer_beside_pushes(
    alice_tenant, withings, scale, time_machine
):
    withings.sender.lost = 1.0
    weigh(withings, NOON + HOUR)
    time_machine.shift(2 * HOUR)
    weigh(withings, NOON + 90 * timedelta(minutes=1))
    withings.sender.deliver()

    early = enqueue_due_source_pulls()
    time_machine.shift(HOUR + timedelta(seconds=1))
    late = enqueue_due_source_pulls()
    run(scale)

    assert (withings.sender.losses, withings.sender.statuses) == (2, [])
    assert (early, late) == (0, 1)
    assert sent(alice_tenant)["weight"] == 2


def test_a_source_that_refuses_to_push_is_asked_each_hour(
    alice_tenant, withings, time_machine
):
    withings.sender.send = lambda _method, _push: 500
    connection = connected(alice_tenant, withings)
    schedule_cloud_source_refresh(connection=connection)
    run(connection)
    grant = SourceGrant.objects.for_tenant(alice_tenant).get()
    time_machine.shift(HOUR + timedelta(seconds=1))

    assert grant.pushes_error == "status_293"
    assert enqueue_due_source_pulls() == 1
    connection.refresh_from_db()
    assert connection.status == "connected"


def test_an_announced_window_does_not_move_where_asking_starts(
    alice_tenant, withings, scale, time_machine
):
    """Ten days of failed polls, and one push today: the days between are asked for."""
    weigh(withings, NOON + timedelta(days=4))
    withings.sender.waiting.clear()
    time_machine.shift(timedelta(days=10))
    weigh(withings, NOON + timedelta(days=10))
    withings.sender.deliver()
    run(scale)
    before = sent(alice_tenant)["weight"]

    schedule_cloud_source_refresh(connection=scale)
    run(scale)

    assert before == 1
    assert sent(alice_tenant)["weight"] == 2


def test_what_is_announced_while_its_source_is_away_is_read_later(
    alice_tenant, withings, scale, time_machine
):
    weigh(withings, NOON - HOUR)
    withings.sender.deliver()
    withings.faults.extend([-503])
    wait = run(scale)
    weigh(withings, NOON - 2 * HOUR)
    withings.sender.deliver()
    time_machine.shift(wait)

    waits = [run(scale), run(scale)]

    assert wait == timedelta(minutes=1)
    assert waits[-1] is None
    assert sent(alice_tenant)["weight"] == 2


def test_a_pull_that_fails_gives_its_announcement_back(
    alice_tenant, withings, scale, time_machine
):
    weigh(withings, NOON - timedelta(days=30))
    withings.sender.deliver()
    withings.faults.extend([2555] * 5)
    run(scale)
    pending = Announcement.objects.for_tenant(alice_tenant).pending()
    kept = pending.get(resource="weight")
    # The source refused: it is asked for again after a day.
    time_machine.shift(timedelta(days=1, seconds=1))
    schedule_cloud_source_refresh(connection=scale)
    run(scale)

    assert kept.first_at == NOON - timedelta(days=30)
    assert sent(alice_tenant)["weight"] == 1
    assert not pending.exists()


def test_disconnecting_ends_the_pushes(alice_tenant, withings, scale):
    weigh(withings, NOON - HOUR)
    withings.sender.deliver()

    disconnect_source(user=scale.user, actor=ACTOR, provider="withings")
    jobs.revoke_connection_grant(tenant_pk=alice_tenant.pk, connection_pk=scale.pk)
    weigh(withings, NOON)
    withings.sender.deliver()
    path, _token = address_of(scale)
    late = post(path, userid=363, appli=1, startdate=1, enddate=2_000_000_000)

    assert withings.subscriptions == []
    assert withings.is_revoked
    assert late.status_code == 200
    assert not Announcement.objects.for_tenant(alice_tenant).exists()


def test_a_team_s_own_application_has_an_address_of_its_own(
    alice_tenant, charlie_tenant, withings
):
    for tenant in (alice_tenant, charlie_tenant):
        save_source_credentials(
            tenant=tenant,
            actor=ACTOR,
            provider="withings",
            client_id="twin-id",
            client_secret="twin-secret",
        )
    mine, theirs = (
        connected(alice_tenant, withings),
        connected(charlie_tenant, withings),
    )
    path, token = address_of(mine)

    post(path, userid=363, appli=1, startdate=seconds(NOON), enddate=seconds(NOON))

    assert address_of(theirs)[0] != path
    assert Announcement.objects.for_tenant(alice_tenant).count() == 5
    assert not Announcement.objects.for_tenant(charlie_tenant).exists()
    SourceCredentials.objects.for_tenant(alice_tenant).all().delete()
    assert Client().head(path).status_code == 404
    assert token not in str(queued())


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_week_of_pushes_with_losses_and_kills_loses_nothing(
    alice_tenant, withings, scale, time_machine, monkeypatch
):
    """10 % lost, all else doubled at times, shuffled and late; four workers killed."""
    sender = withings.sender
    sender.lost, sender.doubled, sender.is_shuffled = 0.1, 0.2, True
    chance = random.Random(11)  # noqa: S311 - no secret
    honest = WithingsGateway.pull
    kills = [3, 40, 90, 91]
    pulls = [0]

    def pull(*given, **asked):
        pulls[0] += 1
        for page in honest(*given, **asked):
            if kills and pulls[0] >= kills[0]:
                kills.pop(0)
                raise Killed
            yield page

    monkeypatch.setattr(WithingsGateway, "pull", pull)
    weighed = 0
    for hour in range(7 * 24):
        time_machine.move_to(NOON + hour * HOUR, tick=False)
        if chance.random() < 0.4:
            weigh(withings, NOON + hour * HOUR - timedelta(minutes=7), 72_000 + hour)
            weighed += 1
        sender.late = chance.randrange(2)
        sender.deliver()
        enqueue_due_source_pulls()
        while True:
            try:
                run(scale)
            except Killed:
                continue
            break
    time_machine.shift(4 * HOUR)
    enqueue_due_source_pulls()
    run(scale)

    assert not kills
    assert sender.losses > 3
    assert 601 not in {status for _, _, status in withings.log}
    assert sent(alice_tenant)["weight"] == weighed
    overview = get_source_overview(user=scale.user, provider="withings")
    assert overview.running == 0


def test_a_source_that_is_away_when_it_is_subscribed_stops_no_pull(
    alice_tenant, withings, monkeypatch
):
    connection = connected(alice_tenant, withings)
    weigh(withings, NOON - HOUR)

    def away(*_given, **_asked):
        raise SourceUnavailable("timeout")

    pushes = type(find_connection_gateway(connection).pushes)
    monkeypatch.setattr(pushes, "subscribe", away)
    schedule_cloud_source_refresh(connection=connection)

    assert run(connection) is None
    assert sent(alice_tenant)["weight"] == 1
    grant = SourceGrant.objects.for_tenant(alice_tenant).get()
    assert grant.pushes_error == "timeout"
