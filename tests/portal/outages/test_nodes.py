"""Two web nodes, two workers and a deliverer, each killed while it is at work.

A lock holds every writer in the middle of its transaction until one of each kind is
dead: what a kill meets is known, and no moment has to be hit.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPException
from typing import Any, NamedTuple

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone

from accounts.models import AuditEntry
from accounts.webhooks.models import Attempt, Delivery, Event
from accounts.webhooks.signing import generate_signing_secret
from labs.models import Order, OrderEvent, ResultVersion
from portal.lib.idempotency import CLAIM_TTL, IdempotentAnswer
from reports.models import ParsingJob, ReportResult
from tests.accounts.webhooks.delivery.storms import Agreement, StormReceiver, compare
from tests.clients import JSON
from tests.factories.accounts import make_api_key
from tests.factories.labs import ADDRESS, PATIENT, make_lab_test
from tests.factories.reports import make_pdf
from tests.factories.users import make_user
from tests.factories.webhooks import make_endpoint
from tests.jobs import queued
from tests.portal.lib.worker_process import wait_until
from tests.portal.outages.nodes import (
    ForkedNode,
    Nodes,
    WebNode,
    deliver_webhooks,
    held,
    running_nodes,
    work_on_jobs,
)

pytestmark = pytest.mark.long

UPLOAD = "/lab_report/v1/parser/job"
WALK = ["ordered", "requisition_created", "partial_results", "completed"]
READ = ["submit_report", "start_parsing", "finish_parsing"]
WAIT_S = 30


class Client:
    """What a careful client does: the same key at the other node when one is gone."""

    def __init__(self, webs, tenant, user, panel):
        self.webs = webs
        self.key = make_api_key(tenant=tenant)
        self.order = json.dumps(
            {
                "user_id": str(user.uuid),
                "order_set": {"lab_test_ids": [str(panel.pk)]},
                "patient_details": PATIENT,
                "patient_address": ADDRESS,
            }
        ).encode()
        self.user_id = str(user.uuid)
        self.numbers = itertools.count()
        self.orders = {}  # by key, the answer
        self.reports = []
        self.in_use = []  # keys whose node died with them
        self.simulated = set()

    def call(self, path, body, *, first, **headers):
        for place in (first, 1 - first):
            try:
                return self.webs[place].call(
                    path, body, x_service_api_key=self.key, **headers
                )
            except (OSError, HTTPException):
                continue
        raise AssertionError("no node answers")

    def place_order(self, first, key=None):
        key = key or f"order-{next(self.numbers)}"
        headers = {"content_type": JSON, "x_idempotency_key": key}
        status, body = self.call("/v3/order", self.order, first=first, **headers)
        if status == 409:
            self.in_use.append(key)
            return
        assert status == 200, body
        # An answer that was given stays the answer.
        assert self.orders.setdefault(key, body) == body

    def send_order_unread(self, place, key):
        """Send it and read no answer."""
        return self.webs[place].send(
            "/v3/order",
            self.order,
            x_service_api_key=self.key,
            content_type=JSON,
            x_idempotency_key=key,
        )

    def upload(self, first):
        file = SimpleUploadedFile("report.pdf", make_pdf(), "application/pdf")
        form = {"user_id": self.user_id, "file": file}
        body = encode_multipart(BOUNDARY, form)
        status, body = self.call(
            UPLOAD, body, first=first, content_type=MULTIPART_CONTENT
        )
        assert status == 200, body
        self.reports.append(json.loads(body)["id"])

    def simulate_all(self, first):
        """Let a job walk each order to its end."""
        for key in self.orders.keys() - self.simulated:
            order_id = json.loads(self.orders[key])["order"]["id"]
            path = f"/v3/order/{order_id}/test?delay=1"
            status, body = self.call(path, b"{}", first=first, content_type=JSON)
            assert status == 200, body
            self.simulated.add(key)


class Stage(NamedTuple):
    """A tenant with an endpoint, what serves it, and who asks."""

    tenant: Any
    receiver: StormReceiver
    nodes: Nodes
    client: Client

    @property
    def keys(self):
        return IdempotentAnswer.objects.for_tenant(self.tenant)

    @property
    def deliveries(self):
        return Delivery.objects.for_tenant(self.tenant)


def kill_one_of_each(stage, pool, dying):
    """Kill a web node and a worker in their transactions, a deliverer in its POSTs."""
    receiver, nodes, client = stage.receiver, stage.nodes, stage.client
    web, worker, living = nodes.webs[dying], nodes.workers[dying], 1 - dying
    client.simulate_all(living)
    unread = f"unread-{dying}"
    with client.send_order_unread(dying, unread):
        wait_until(stage.keys.filter(key=unread, status=200).exists)
        with held("webhooks_event") as wait_for:
            calls = [
                *(pool.submit(client.place_order, place) for place in (0, 0, 1, 1)),
                pool.submit(client.upload, dying),
            ]
            wait_for(web.name, 3)
            wait_for(worker.name, 1)
            web.kill()
            worker.kill()
            receiver.hold_answers()
            seen = receiver.receipts.total()
    client.place_order(living, key=unread)
    for call in calls:
        call.result(WAIT_S)
    assert receiver.wait_for_receipts(seen + 5, timeout_s=WAIT_S)
    nodes.deliverers[0].kill()
    receiver.answer_again()
    # Both were in the middle of their orders: nobody may know what became of those.
    assert len(client.in_use) == 2
    # What time does: leases of the dead end, and so do their claims of keys.
    stage.deliveries.update(leased_until=None)
    stage.keys.filter(status=None).update(claimed_at=F("claimed_at") - CLAIM_TTL)
    while client.in_use:
        client.place_order(living, key=client.in_use.pop())
    nodes.deliverers[0] = ForkedNode("deliverer", deliver_webhooks)
    nodes.workers[dying] = ForkedNode(worker.name, work_on_jobs)


def is_settled(stage):
    """Whether no job and no delivery waits; what failed is due at once."""
    waiting = stage.deliveries.filter(status="pending")
    waiting.filter(leased_until=None).update(due_at=timezone.now())
    return not waiting.exists() and all(
        entry.status not in {"todo", "doing"} for entry in queued()
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(300)  # three starts of a web node
def test_no_node_that_is_killed_loses_or_doubles_anything(
    alice_tenant, job_queue, settings
):
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1"]
    user, panel = make_user(tenant=alice_tenant), make_lab_test(tenant=alice_tenant)
    secret = generate_signing_secret()
    with (
        StormReceiver(secret, seed=14) as receiver,
        running_nodes() as nodes,
        ThreadPoolExecutor(5) as pool,
    ):
        url = f"http://127.0.0.1:{receiver.port}/in"
        make_endpoint(tenant=alice_tenant, url=url, secret=secret)
        client = Client(nodes.webs, alice_tenant, user, panel)
        stage = Stage(alice_tenant, receiver, nodes, client)
        for place in (0, 0, 1, 1):
            client.place_order(place)

        kill_one_of_each(stage, pool, 0)
        nodes.webs[0] = WebNode("web-0")
        wait_until(nodes.webs[0].answers)
        kill_one_of_each(stage, pool, 1)
        client.simulate_all(0)
        wait_until(partial(is_settled, stage))

    ids = {json.loads(body)["order"]["id"] for body in client.orders.values()}
    assert len(client.orders) == len(ids) == 4 + 2 * (1 + 4)
    assert_orders_ended_once(stage, ids)
    assert_reports_were_read_once(stage)
    assert {entry.status for entry in queued()} == {"succeeded"}
    assert sum(entry.attempts > 1 for entry in queued()) >= 2  # those of the dead
    assert_events_arrived(stage, orders=len(ids))


def assert_orders_ended_once(stage, ids):
    orders = Order.objects.for_tenant(stage.tenant)
    steps = OrderEvent.objects.for_tenant(stage.tenant).order_by("pk")
    versions = ResultVersion.objects.for_tenant(stage.tenant)
    assert {str(order.pk) for order in orders.all()} == ids
    for order in orders.all():
        walked = [step.status.split(".")[2] for step in steps.filter(order=order)]
        assert walked == WALK
        assert versions.filter(order=order).count() == 2  # partial and whole
    assert stage.keys.filter(status=200).count() == stage.keys.count() == len(ids)


def assert_reports_were_read_once(stage):
    jobs = ParsingJob.objects.for_tenant(stage.tenant)
    rows = ReportResult.objects.for_tenant(stage.tenant)
    told = AuditEntry.objects.for_tenant(stage.tenant).order_by("id")
    assert {str(job.pk) for job in jobs.all()} == set(stage.client.reports)
    assert len(stage.client.reports) == 2
    for job in jobs.all():
        verbs = told.filter(subject="parsing_job", subject_id=str(job.pk))
        assert (job.status, rows.filter(job=job).count()) == ("completed", 4)
        assert list(verbs.values_list("verb", flat=True)) == READ


def assert_events_arrived(stage, *, orders):
    messages = Event.objects.for_tenant(stage.tenant)
    attempts = Attempt.objects.for_tenant(stage.tenant)
    delivered = stage.deliveries.filter(status="delivered")
    agreement = compare(
        stage.receiver,
        messages=messages.values_list("message_id", flat=True),
        delivered=delivered.values_list("event__message_id", flat=True),
        logged=attempts.values_list("delivery__event__message_id", "signature"),
    )
    assert Counter(messages.values_list("event_type", flat=True)) == {
        "labtest.order.created": orders,
        # Of partial results nobody has asked to be told.
        "labtest.order.updated": 2 * orders,
        "lab_report.parsing_job.created": 2,
        "lab_report.parsing_job.updated": 2,
    }
    assert agreement._replace(unlogged=0) == Agreement(0, 0, 0, 0)
    assert agreement.unlogged > 0  # POSTs of dead deliverers, which others sent again
    assert stage.receiver.forged == 0
