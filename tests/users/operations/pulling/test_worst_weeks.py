"""Each source against its twin at its worst, from the backfill to the revocation.

Half a year of past data, then a week of pushes of which a tenth is lost, others come
twice and in any order; two killed workers, a storm of 429, a race for new tokens, and
in the end a consent that the user takes back and gives again. Nothing may be missing,
nothing twice, and no limit of the source overstepped.
"""

from __future__ import annotations

import json
import multiprocessing
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest
from django.db import connection as database

from accounts.webhooks.models import Event
from tests.accounts.webhooks.delivery.receivers import Receiver, deliver
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.factories.webhooks import make_endpoint
from tests.private_server import free_port
from tests.users.operations.pulling.test_pushes import send_here
from tests.users.operations.pulling.test_worst_days import Killed, run, sent
from users.analysis.completeness import prove_completeness
from users.gateways.base import SourceRefused, SourceUnavailable
from users.gateways.cloud import CloudGateway
from users.models import Pull, SourceGrant, Summary
from users.operations.pulling.pulling import enqueue_due_source_pulls
from users.operations.sources.cloud_sources import connect_cloud_source
from users.operations.sources.consents import check_connection_consent
from users.operations.sources.credentials import (
    build_push_address,
    find_connection_gateway,
    find_team_source_gateway,
)
from users.operations.sources.grants import renew_connection_tokens
from users.operations.sources.sources import disconnect_source
from users.states import DayState
from users.wearables.summaries import SUMMARIES

NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NIGHT = 8 * HOUR
WORKER_SECONDS = 5


@dataclass
class Person:
    """One person's data at a twin: what is added, and how much of it there is."""

    twin: Any
    provider: str
    # Of a resource, how many there are.
    there: dict[str, int] = field(default_factory=dict)
    too_many: int = 429
    # What the certificate says of a day with data.
    proof: ClassVar[DayState] = DayState.COMPLETE

    def count(self, resource: str) -> None:
        self.there[resource] = self.there.get(resource, 0) + 1

    def live(self, back: int, *, is_new: bool = False) -> None:
        """Add what a day brings, and announce it if it is new."""

    def revoke(self) -> None:
        self.twin.revoke_consent()


class WithingsPerson(Person):
    def live(self, back, *, is_new=False):
        at = int((NOON - back * DAY - 5 * HOUR).timestamp())
        self.twin.add_measures(at, {1: (72_500 + back, -3)})
        self.count("weight")
        if is_new:
            self.twin.announce(1, at, at + 1)

    def revoke(self):
        self.twin.is_revoked, self.twin.tokens = True, None


class OuraPerson(Person):
    def live(self, back, *, is_new=False):
        waking = NOON - back * DAY - 5 * HOUR
        night = self.twin.add_night(waking - NIGHT, waking)
        self.count("sleep")
        if is_new:
            self.twin.announce("sleep", "create", night)


class WhoopPerson(Person):
    def live(self, back, *, is_new=False):
        waking = NOON - back * DAY - 5 * HOUR
        sleep = self.twin.add_sleep(waking - NIGHT, waking)
        self.count("sleep")
        if is_new:
            self.twin.announce("sleep.updated", sleep)


class PolarPerson(Person):
    def live(self, back, *, is_new=False):
        day = (NOON - back * DAY).date()
        self.twin.add_day(day, steps=6000 + back)
        self.count("activity")
        if is_new:
            self.twin.announce("ACTIVITY_SUMMARY", date=day.isoformat())


class StravaPerson(Person):
    def live(self, back, *, is_new=False):
        activity = self.twin.add_activity(NOON - back * DAY - 5 * HOUR)
        self.count("workouts")
        if is_new:
            self.twin.announce("create", activity)

    def revoke(self):
        super().revoke()
        self.twin.announce("update", self.twin.user_id, authorized="false")


class DexcomPerson(Person):
    """Who is asked every hour: nothing is pushed, and values come late."""

    def live(self, back, *, is_new=False):
        self.twin.add_glucose(NOON - back * DAY - 5 * HOUR, 90 + back % 50)
        self.count("glucose")


class GarminPerson(Person):
    proof = DayState.RECEIVED

    def live(self, back, *, is_new=False):
        day = (NOON - back * DAY).replace(hour=0)
        found = self.twin.add_day(day, steps=6000 + back)
        self.count("activity")
        if is_new:
            self.twin.announce("dailies", found)


class GoogleHealthPerson(Person):
    def live(self, back, *, is_new=False):
        waking = NOON - back * DAY - 5 * HOUR
        self.twin.add_sleep(waking - NIGHT, waking)
        self.count("sleep")
        if is_new:
            self.twin.announce("sleep", waking - NIGHT, waking)


class SuuntoPerson(Person):
    def live(self, back, *, is_new=False):
        waking = NOON - back * DAY - 5 * HOUR
        # The watch computes a night twice, the second time to its end.
        self.twin.add_sleep(waking - NIGHT, waking - HOUR)
        night = self.twin.add_sleep(waking - NIGHT, waking)
        self.count("sleep")
        if is_new:
            self.twin.announce("SUUNTO_247_SLEEP", night)


PEOPLE = {
    "withings": ("withings", WithingsPerson, 601),
    "oura": ("oura_twin", OuraPerson, 429),
    "whoop_v2": ("whoop", WhoopPerson, 429),
    "polar": ("polar", PolarPerson, 429),
    "dexcom_v3": ("dexcom", DexcomPerson, 429),
    "strava": ("strava", StravaPerson, 429),
    "garmin": ("garmin", GarminPerson, 429),
    "google_health": ("google_health", GoogleHealthPerson, 429),
    "suunto": ("suunto", SuuntoPerson, 429),
}
WITHOUT_PUSHES = {"dexcom_v3"}


@pytest.fixture
def clock(time_machine, monkeypatch):
    """The clock at noon of the first day; waiting for a budget moves it on."""
    time_machine.move_to(NOON, tick=False)
    monkeypatch.setattr(
        "users.operations.sources.budgets.pause", lambda some: time_machine.shift(some)
    )
    return time_machine


def sign_in(tenant, provider, twin, user):
    back = f"https://assay.example/connect/back/{provider}/"
    grant = find_team_source_gateway(tenant=tenant, provider=provider).connect(
        code=twin.issue_code(back), redirect_url=back, verifier="v" * 43
    )
    return connect_cloud_source(user=user, actor=ACTOR, provider=provider, grant=grant)


def send_from_test(method, push):
    """Deliver a push; a ping comes from a thread of the twin, without this database."""
    if threading.current_thread() is not threading.main_thread():
        return 200
    return send_here(method, push)


def work(connection, clock, twin):
    """Run the worker until nothing waits; return the longest turn in seconds.

    What the source was asked to send arrives between its turns.
    """
    longest = 0.0
    for _turn in range(2000):
        twin.sender.deliver()
        began = time.perf_counter()
        wait = run(connection)
        longest = max(longest, time.perf_counter() - began)
        if wait is None:
            return longest
        clock.shift(max(wait, timedelta(seconds=1)))
    raise AssertionError("the worker has no end")


def die(monkeypatch, connection, clock, twin, pages):
    """Kill the worker when it has read so many pages, before it stores the next."""
    honest = CloudGateway.pull
    left = [pages]

    def pull(*given, **asked):
        for page in honest(*given, **asked):
            if not left[0]:
                raise Killed
            left[0] -= 1
            yield page

    with monkeypatch.context() as dying:
        dying.setattr(CloudGateway, "pull", pull)
        with pytest.raises(Killed):
            work(connection, clock, twin)


def race(connection, processes=10):
    """Have ten processes renew the same tokens at once; return what they got."""
    spent = SourceGrant.objects.for_tenant(connection.tenant).get().rotation
    fork = multiprocessing.get_context("fork")
    start, answers = fork.Barrier(processes), fork.SimpleQueue()

    def renew():
        database.connection = None  # the test's own
        got = "died"
        try:
            start.wait(timeout=30)
            got = renew_connection_tokens(
                connection=connection,
                gateway=find_connection_gateway(connection),
                spent=spent,
            ).grant.access_token
        except (SourceUnavailable, SourceRefused) as refusal:
            got = type(refusal).__name__
        finally:
            answers.put(got)

    racing = [fork.Process(target=renew) for _ in range(processes)]
    for process in racing:
        process.start()
    got = {answers.get() for _ in racing}
    for process in racing:
        process.join()
    assert [process.exitcode for process in racing] == [0] * processes
    return got


def holes(user):
    """What the certificate says of the days that are over, by state."""
    today = NOON.date() + 7 * DAY
    found = {}
    for source in prove_completeness(user=user, first=today - 90 * DAY, last=today):
        for resource in source.resources:
            for day in resource.days:
                found.setdefault(day.state, set()).add((resource.resource, day.day))
    return found


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("provider", list(PEOPLE))
def test_a_source_at_its_worst_loses_and_doubles_nothing(
    request, alice_tenant, monkeypatch, clock, provider, record_property
):
    fixture, kind, too_many = PEOPLE[provider]
    twin = request.getfixturevalue(fixture)
    person = kind(twin, provider, too_many=too_many)
    twin.sender.send = send_from_test
    if hasattr(twin, "reach"):
        twin.reach = 181 * DAY
    for back in range(180):
        person.live(back)
    (resource,) = person.there

    # The past, with a worker that dies twice in it.
    user = make_user(tenant=alice_tenant)
    connection = sign_in(alice_tenant, provider, twin, user)
    if hasattr(twin, "push_url"):
        twin.push_url, _token = build_push_address(
            tenant=alice_tenant,
            provider=provider,
            gateway=find_connection_gateway(connection),
        )
    die(monkeypatch, connection, clock, twin, pages=0)
    die(monkeypatch, connection, clock, twin, pages=2)
    work(connection, clock, twin)
    assert sent(alice_tenant)[resource] == 180

    # A week: lost, doubled, shuffled; a storm on the third day, a race on the fifth.
    twin.sender.lost, twin.sender.doubled, twin.sender.is_shuffled = 0.1, 0.5, True
    slowest = 0.0
    for day in range(1, 8):
        clock.move_to(NOON + day * DAY, tick=False)
        person.live(-day, is_new=True)
        twin.sender.deliver()
        if day == 3:
            twin.faults.extend([too_many] * 20)
            run(connection)
            assert len(twin.faults) >= 18
            twin.faults.clear()
        if day == 5 and provider != "polar":
            before = twin.trades
            got = race(connection)
            assert twin.trades == before + 1
            assert got - {"SourceUnavailable"} == {
                twin.tokens.access if provider == "withings" else twin.access_token
            }
        slowest = max(slowest, work(connection, clock, twin))
        enqueue_due_source_pulls()
        work(connection, clock, twin)
    clock.move_to(NOON + 8 * DAY, tick=False)
    twin.sender.lost = 0.0
    enqueue_due_source_pulls()
    work(connection, clock, twin)

    accepted = {find_connection_gateway(connection).push_status}
    assert set(twin.sender.statuses) == (
        set() if provider in WITHOUT_PUSHES else accepted
    )
    assert sent(alice_tenant)[resource] == person.there[resource] == 187
    told = Event.objects.for_tenant(alice_tenant).filter(
        event_type__startswith=f"daily.data.{resource}."
    )
    assert told.exists()
    if resource in SUMMARIES:
        mine = Summary.objects.for_tenant(alice_tenant).filter(kind=resource)
        assert mine.count() == 187
    found = holes(user)
    assert found.get(DayState.MISSING, set()) == set()
    assert {day for name, day in found[person.proof] if name == resource} >= {
        NOON.date() - back * DAY for back in range(-6, 60)
    }
    record_property("slowest turn, s", round(slowest, 2))
    record_property("pushes sent", len(twin.sender.statuses))
    record_property("pushes lost", twin.sender.losses)
    assert slowest < WORKER_SECONDS
    if hasattr(twin, "count_most_calls"):
        for limit in find_connection_gateway(connection).limits:
            most = twin.count_most_calls(limit.seconds)
            record_property(f"{limit.seconds}s", most)
            assert most <= limit.calls

    # Taken back at the source, given again: the same connection, nothing read twice.
    person.revoke()
    clock.move_to(NOON + 9 * DAY, tick=False)
    enqueue_due_source_pulls()
    work(connection, clock, twin)
    check_connection_consent(
        tenant=alice_tenant, actor=ACTOR, connection_pk=connection.pk
    )
    connection.refresh_from_db()
    assert connection.status == "error"
    again = sign_in(alice_tenant, provider, twin, user)
    work(again, clock, twin)
    again.refresh_from_db()
    assert (again.pk, again.status) == (connection.pk, "connected")
    assert sent(alice_tenant)[resource] == 187

    # And ended here: the source is told.
    disconnect_source(user=user, actor=ACTOR, provider=provider)
    assert not Pull.objects.for_tenant(alice_tenant).open().exists()


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("provider", sorted(PEOPLE.keys() - WITHOUT_PUSHES))
def test_a_push_is_at_the_endpoint_within_five_seconds_of_worker_time(
    request,
    alice_tenant,
    settings,
    clock,
    monkeypatch,
    provider,
    record_property,
):
    fixture, kind, _too_many = PEOPLE[provider]
    twin = request.getfixturevalue(fixture)
    person = kind(twin, provider)
    twin.sender.send = send_from_test
    person.live(1)
    (resource,) = person.there
    connection = sign_in(alice_tenant, provider, twin, make_user(tenant=alice_tenant))
    url, _token = build_push_address(
        tenant=alice_tenant,
        provider=provider,
        gateway=find_connection_gateway(connection),
    )
    if hasattr(twin, "push_url"):
        twin.push_url = url
    work(connection, clock, twin)
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1"]
    port = free_port()
    make_endpoint(tenant=alice_tenant, url=f"http://127.0.0.1:{port}/in")
    clock.move_to(NOON + DAY, tick=False)
    person.live(-1, is_new=True)
    receiver = Receiver()

    began = time.perf_counter()
    twin.sender.deliver()
    run(connection)
    deliver(port, **{"in": receiver})
    seconds = time.perf_counter() - began

    told = [json.loads(body)["event_type"] for _headers, body in receiver.got]
    assert any(each.startswith(f"daily.data.{resource}.") for each in told), told
    record_property("push to webhook, s", round(seconds, 2))
    assert seconds < WORKER_SECONDS
