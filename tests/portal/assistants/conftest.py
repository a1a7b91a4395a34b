"""An assistant of Alice's team, and all that it may be asked about."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Executor, Future
from functools import partial
from queue import Queue
from typing import Any

import pytest

from accounts.models import Tenant
from accounts.operations.api_keys.api_keys import KeyRules, create_api_key
from accounts.operations.assistants import admit_assistant
from portal.assistants.calls import ApiCalls
from portal.assistants.server import answer_tool
from tests.factories.accounts import ACTOR
from tests.factories.reports import make_parsed, make_parsed_result, make_parsing_job
from tests.factories.results import (
    make_order_awaiting_results,
    make_reported_result,
    make_results,
)
from tests.factories.summaries import LEAST
from tests.factories.users import make_user
from users.operations.data.samples import SampleBatch, record_samples
from users.operations.data.summaries import SummaryBatch, record_summaries
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES

DATA = ("users:read", "orders:read", "patient_details:read", "reports:read")
SPAN = {"start_date": "2026-02-27", "end_date": "2026-03-02"}
HERE = "127.0.0.1"


class HomeExecutor(Executor):
    """Hands work of an event loop back to the test's thread, and its transaction."""

    def __init__(self) -> None:
        self.waiting: Queue[tuple[Future[Any], Any] | None] = Queue()

    def submit(self, call: Any, /, *given: Any, **named: Any) -> Future[Any]:
        done: Future[Any] = Future()
        self.waiting.put((done, partial(call, *given, **named)))
        return done

    def run(self, talk: Any) -> Any:
        """Run a coroutine in a thread of its own, and here what it submits."""
        answers: list[Any] = []

        def loop() -> None:
            try:
                answers.append(asyncio.run(talk))
            finally:
                self.waiting.put(None)

        thread = threading.Thread(target=loop)
        thread.start()
        while (work := self.waiting.get()) is not None:
            done, call = work
            done.set_result(call())
        thread.join()
        return answers[0]


def make_key(tenant, *scopes, **rules):
    _key, text = create_api_key(
        tenant=tenant,
        actor=ACTOR,
        label="assistant",
        rules=KeyRules(scopes=frozenset(scopes) or None, **rules),
    )
    return text


def turn_on(tenant):
    Tenant.objects.filter(pk=tenant.pk).update(assistants_enabled=True)


def ask(key, name, **arguments):
    """What an assistant with a key is told, and whether it was refused."""
    grant = admit_assistant(key=key, address=HERE)
    return answer_tool(ApiCalls(key, grant, HERE), name, arguments, client="Test 1.0")


@pytest.fixture
def key(alice_tenant):
    turn_on(alice_tenant)
    return make_key(alice_tenant, "assistant:read", *DATA)


def make_world(tenant, *, words="plain"):
    """A user with data of two sources, two lab results and a report."""
    user = make_user(tenant=tenant, client_user_id=f"user {words}")
    for provider in ("strava", "health_connect"):
        record_summaries(
            user=user,
            actor=ACTOR,
            resource=SUMMARIES["workouts"],
            batch=SummaryBatch(provider, [LEAST["workouts"] | {"title": words}]),
        )
        record_samples(
            user=user,
            actor=ACTOR,
            resource=TIMESERIES["heartrate"],
            batch=SampleBatch(
                provider, [{"timestamp": "2026-03-01T10:00:00+00:00", "value": 61}]
            ),
        )
    orders = []
    for text, flag in (("90", ""), ("400", "HH")):
        order = make_order_awaiting_results(tenant=tenant, user=user)
        make_results(
            order=order,
            results=(make_reported_result(text=text, flag=flag, notes=words),),
        )
        orders.append(order)
    report = make_parsed(results=(make_parsed_result(test_name=words),))
    job = make_parsing_job(user=user, status="completed", report=report)
    return {
        "find_user": {"query": f"user {words}"[:40]},
        "read_summaries": {"user_id": str(user.uuid), "resource": "workouts"} | SPAN,
        "sum_resource": {
            "user_id": str(user.uuid),
            "resource": "heartrate",
            "period": "day",
        }
        | SPAN,
        "read_lab_results": {"user_id": str(user.uuid)},
        "read_order": {"order_id": str(orders[-1].pk)},
        "read_report": {"report_id": str(job.pk)},
        "find_missing_data": {"user_id": str(user.uuid)} | SPAN,
    }


@pytest.fixture
def world(alice_tenant):
    return make_world(alice_tenant)
