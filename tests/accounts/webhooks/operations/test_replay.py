from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import AuditEntry
from accounts.webhooks.models import Delivery, Replay, ReplayItem
from accounts.webhooks.operations.endpoints import change_endpoint, delete_endpoint
from accounts.webhooks.operations.replay import (
    REPLAY_JOB,
    cancel_delivery_retries,
    cancel_replay,
    continue_replay_after_probe,
    queue_next_replay_deliveries,
    resend_delivery,
    start_replay,
)
from accounts.webhooks.queries.log import LogFilters
from accounts.webhooks.queries.replays import (
    find_replay_probe_attempt,
    measure_replay_progress,
)
from accounts.webhooks.states import DeliveryLane
from portal.lib.errors import DomainError
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import (
    make_attempted_delivery,
    make_delivery,
    make_endpoint,
)
from tests.jobs import queued

pytestmark = pytest.mark.django_db

FAILED = LogFilters(outcome="failed")


@pytest.fixture
def endpoint(alice_tenant):
    return make_endpoint(tenant=alice_tenant)


@pytest.fixture
def failed(endpoint):
    """Three deliveries that were given up, the oldest first."""
    made = []
    for age in (30, 20, 10):
        delivery = make_delivery(endpoint=endpoint, age=timedelta(minutes=age))
        make_attempted_delivery(delivery, status="failed")
        made.append(delivery)
    return made


def states(endpoint):
    found = Delivery.objects.for_tenant(endpoint.tenant).order_by("created_at")
    return [(row.status, row.lane, row.step) for row in found]


def start(endpoint, **wishes):
    return start_replay(endpoint=endpoint, actor=ACTOR, **{"filters": FAILED, **wishes})


def advance(replay):
    queue_next_replay_deliveries(tenant=replay.tenant, replay_pk=replay.pk)
    replay.refresh_from_db()


def refusal(verb, **inputs):
    with pytest.raises(DomainError) as refused:
        verb(actor=ACTOR, **inputs)
    return refused.value.code


def ticks():
    return [each for each in queued() if each.name == REPLAY_JOB]


WAS_FAILED = ("failed", DeliveryLane.LIVE, 1)
IS_QUEUED = ("pending", DeliveryLane.REPLAY, 0)


def test_one_is_sent_again_under_the_same_id(endpoint, failed):
    before = failed[0].event.message_id

    resend_delivery(delivery=failed[0], actor=ACTOR)

    assert states(endpoint) == [IS_QUEUED, WAS_FAILED, WAS_FAILED]
    again = Delivery.objects.for_tenant(endpoint.tenant).get(pk=failed[0].pk)
    assert (again.event.message_id, again.finished_at) == (before, None)
    assert again.due_at <= timezone.now()
    entry = AuditEntry.objects.for_tenant(endpoint.tenant).latest("id")
    assert (entry.verb, entry.subject_id) == ("resend_delivery", before)


def test_a_pending_retry_is_replaced(endpoint):
    delivery = make_delivery(endpoint=endpoint)
    make_attempted_delivery(delivery)
    later = timezone.now() + timedelta(hours=10)
    Delivery.objects.for_tenant(endpoint.tenant).update(due_at=later)

    resend_delivery(delivery=delivery, actor=ACTOR)

    [row] = Delivery.objects.for_tenant(endpoint.tenant)
    assert (row.status, row.lane, row.step) == IS_QUEUED
    assert row.due_at < later


def test_what_is_being_sent_is_left_alone(endpoint):
    delivery = make_delivery(endpoint=endpoint)
    Delivery.objects.for_tenant(endpoint.tenant).update(
        lease=1, leased_until=timezone.now() + timedelta(seconds=30)
    )

    assert refusal(resend_delivery, delivery=delivery) == "delivery_in_flight"
    assert states(endpoint) == [("pending", DeliveryLane.LIVE, 0)]


def test_nothing_is_sent_again_to_an_endpoint_that_is_off(endpoint, failed):
    change_endpoint(endpoint=endpoint, actor=ACTOR, disabled=True)
    off = refusal(resend_delivery, delivery=failed[0])
    started = refusal(start_replay, endpoint=endpoint, filters=FAILED)
    delete_endpoint(endpoint=endpoint, actor=ACTOR)

    assert (off, started) == ("endpoint_disabled", "endpoint_disabled")
    assert refusal(resend_delivery, delivery=failed[0]) == "endpoint_deleted"
    assert not Replay.objects.for_tenant(endpoint.tenant).exists()
    assert ticks() == []


def test_what_waits_can_be_dropped_and_nothing_else(endpoint, failed):
    waiting = make_delivery(endpoint=endpoint)

    cancel_delivery_retries(delivery=waiting, actor=ACTOR)

    assert states(endpoint)[-1] == ("dropped", DeliveryLane.LIVE, 0)
    assert (
        refusal(cancel_delivery_retries, delivery=failed[0]) == "transition_not_allowed"
    )


def test_a_probe_goes_alone_and_the_others_wait(endpoint, failed):
    replay = start(endpoint)

    assert (replay.status, replay.total) == ("probing", 3)
    assert states(endpoint) == [IS_QUEUED, WAS_FAILED, WAS_FAILED]
    assert ticks() == []
    assert find_replay_probe_attempt(replay) is None
    failed[0].refresh_from_db()
    attempt = make_attempted_delivery(failed[0], code=200)
    assert find_replay_probe_attempt(replay) == attempt
    progress = measure_replay_progress(replay)
    assert (progress.delivered, progress.failed, progress.left) == (1, 0, 2)


def test_after_the_probe_the_rest_follows_at_its_rate(endpoint, failed):
    replay = start(endpoint, rate=1)
    failed[0].refresh_from_db()
    make_attempted_delivery(failed[0], code=200)

    continue_replay_after_probe(replay=replay, actor=ACTOR)
    assert [tick.inputs["replay_pk"] for tick in ticks()] == [replay.pk]
    advance(replay)

    due = [row.due_at for row in Delivery.objects.for_tenant(endpoint.tenant)]
    second, third = sorted(due)[1:]
    assert (third - second).total_seconds() == pytest.approx(1, abs=0.01)
    assert states(endpoint)[1:] == [IS_QUEUED, IS_QUEUED]
    assert replay.status == "running"


def test_a_slow_replay_queues_little_at_a_time(endpoint):
    for age in range(15):
        make_attempted_delivery(
            make_delivery(endpoint=endpoint, age=timedelta(minutes=age)),
            status="failed",
        )

    replay = start(endpoint, rate=1, probe_first=False)
    advance(replay)
    advance(replay)

    assert states(endpoint).count(IS_QUEUED) == 10


def test_it_is_done_once_all_was_sent(endpoint, failed):
    replay = start(endpoint, probe_first=False)
    advance(replay)
    for delivery, code in zip(failed, (200, 200, 500), strict=True):
        delivery.refresh_from_db()
        make_attempted_delivery(delivery, code=code)

    advance(replay)

    assert replay.status == "done"
    progress = measure_replay_progress(replay)
    assert (progress.delivered, progress.failed, progress.left) == (2, 1, 0)
    assert len(ticks()) == 2


def test_what_came_after_the_start_is_not_part_of_it(endpoint, failed):
    replay = start(endpoint, probe_first=False)
    make_attempted_delivery(make_delivery(endpoint=endpoint), status="failed")

    advance(replay)

    assert states(endpoint)[-1] == WAS_FAILED
    assert ReplayItem.objects.for_tenant(endpoint.tenant).count() == 3


def test_a_cancelled_replay_leaves_what_it_has_not_sent_as_it_was(endpoint, failed):
    retrying = make_delivery(endpoint=endpoint, age=timedelta(minutes=5))
    make_attempted_delivery(retrying)
    later = timezone.now() + timedelta(hours=2)
    Delivery.objects.for_tenant(endpoint.tenant).filter(pk=retrying.pk).update(
        due_at=later
    )
    replay = start(endpoint, filters=LogFilters(outcome="missed"), probe_first=False)
    advance(replay)
    failed[0].refresh_from_db()
    make_attempted_delivery(failed[0], code=200)

    cancel_replay(replay=replay, actor=ACTOR)

    assert states(endpoint) == [
        ("delivered", DeliveryLane.REPLAY, 1),
        WAS_FAILED,
        WAS_FAILED,
        ("pending", DeliveryLane.LIVE, 1),
    ]
    retrying.refresh_from_db()
    assert retrying.due_at == later
    failed[1].refresh_from_db()
    assert failed[1].finished_at is not None
    assert (
        measure_replay_progress(replay).sent,
        measure_replay_progress(replay).left,
    ) == (1, 3)
    advance(replay)
    assert replay.status == "cancelled"
    assert refusal(cancel_replay, replay=replay) == "transition_not_allowed"


def test_failures_in_a_row_stop_it(endpoint):
    made = [make_delivery(endpoint=endpoint) for _ in range(7)]
    for delivery in made:
        make_attempted_delivery(delivery, status="failed")
    replay = start(endpoint, stop_after=5, probe_first=False)
    advance(replay)
    for delivery in made[:5]:
        delivery.refresh_from_db()
        make_attempted_delivery(delivery)

    advance(replay)

    assert replay.status == "stopped"
    assert states(endpoint)[5:] == [WAS_FAILED, WAS_FAILED]


def test_an_endpoint_that_is_disabled_stops_it(endpoint, failed):
    replay = start(endpoint, probe_first=False)
    change_endpoint(endpoint=endpoint, actor=ACTOR, disabled=True)

    advance(replay)

    assert replay.status == "stopped"
    assert states(endpoint) == [WAS_FAILED] * 3


@pytest.mark.parametrize(
    ("wishes", "code"),
    [
        ({"filters": LogFilters(outcome="held")}, "nothing_to_replay"),
        ({"rate": 7}, "rate_invalid"),
        ({"stop_after": 7}, "stop_invalid"),
    ],
)
def test_a_replay_that_makes_no_sense_is_refused(endpoint, failed, wishes, code):
    refused = refusal(start_replay, endpoint=endpoint, **{"filters": FAILED, **wishes})

    assert refused == code
    assert not Replay.objects.for_tenant(endpoint.tenant).exists()
    assert states(endpoint) == [WAS_FAILED] * 3


def test_one_replay_at_a_time_goes_to_an_endpoint(endpoint, failed):
    start(endpoint)

    assert refusal(start_replay, endpoint=endpoint, filters=FAILED) == (
        "replay_in_progress"
    )
    assert Replay.objects.for_tenant(endpoint.tenant).count() == 1
