"""A replay by a real worker, its jobs by the real queue."""

from __future__ import annotations

import pytest
from aiohttp import web

from accounts.webhooks.models import Attempt, Delivery
from accounts.webhooks.operations.replay import (
    continue_replay_after_probe,
    start_replay,
)
from accounts.webhooks.queries.log import LogFilters
from accounts.webhooks.queries.replays import (
    find_replay_probe_attempt,
    measure_replay_progress,
)
from tests.accounts.webhooks.delivery.receivers import Receiver, deliver
from tests.accounts.webhooks.delivery.test_worker import (  # noqa: F401 - a fixture
    endpoint_at,
    port,
)
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import make_event
from tests.jobs import make_all_due

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_was_missed_arrives_under_the_same_ids(
    alice_tenant,
    port,  # noqa: F811 - the fixture
    run_jobs,
):
    endpoint = endpoint_at(port, alice_tenant)
    events = [make_event(tenant=alice_tenant) for _ in range(3)]
    broken = Receiver(lambda _request: web.Response(status=500))
    deliver(port, **{"in": broken})
    well = Receiver()

    replay = start_replay(
        endpoint=endpoint,
        actor=ACTOR,
        filters=LogFilters(outcome="missed"),
        rate=100,
    )
    deliver(port, **{"in": well})
    probed = [headers["webhook-id"] for headers, _ in well.got]
    assert probed == [events[0].message_id]
    assert find_replay_probe_attempt(replay).succeeded
    continue_replay_after_probe(replay=replay, actor=ACTOR)
    run_jobs()
    Delivery.objects.for_tenant(alice_tenant).filter(lane=1).update(
        due_at=events[0].created_at
    )
    deliver(port, **{"in": well})
    make_all_due()
    run_jobs()

    assert {headers["webhook-id"] for headers, _ in well.got} == {
        event.message_id for event in events
    }
    assert well.got[0][1].decode() == events[0].body
    replay.refresh_from_db()
    assert (replay.status, measure_replay_progress(replay).delivered) == ("done", 3)
    tries = Attempt.objects.for_tenant(alice_tenant).order_by("id")
    assert [each.is_manual for each in tries] == [False] * 3 + [True] * 3
