from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from accounts.models import ApiCall, ApiKey
from labs.models import Hl7OutboundMessage
from labs.operations.outbound import send_hl7_message
from portal.lib.jobs.jobs import enqueue_job
from tests.factories.connections import make_hl7_connection
from tests.factories.webhooks import make_delivery, make_endpoint
from tests.portal.lib import counting  # noqa: F401 - declares the job

TOKEN = "scrape-" + "x" * 40


def scrape(client, token=TOKEN):
    reply = client.get("/metrics", headers={"authorization": f"Bearer {token}"})
    assert reply.status_code == 200
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(reply.content.decode())
        for sample in family.samples
    }


def test_figures_are_those_of_the_database(
    client, settings, job_queue, alice_tenant, alice_api
):
    settings.METRICS_TOKEN = TOKEN
    enqueue_job("tests.count", tenant=alice_tenant, number=1, seconds=0)
    make_delivery(endpoint=make_endpoint(tenant=alice_tenant))
    key = ApiKey.objects.for_tenant(alice_tenant).get()
    for status, ms, age in ((200, 10, 0), (201, 30, 60), (404, 20, 60), (500, 9, 600)):
        ApiCall.objects.for_tenant(alice_tenant).create(
            tenant=alice_tenant,
            api_key=key,
            at=timezone.now() - timedelta(seconds=age),
            method="GET",
            path="/v2/user",
            status=status,
            ms=ms,
        )

    found = scrape(client)

    assert found["assay_deliveries_due",] == 1
    assert found["assay_delivery_wait_seconds",] >= 0
    assert found["assay_workers",] == found["assay_deliverers",] == 0
    assert found["assay_endpoints", "disabled"] == 0
    calls = {key[1]: value for key, value in found.items() if key[0].endswith("_calls")}
    assert calls == {"2xx": 2, "4xx": 1, "5xx": 0}
    assert found["assay_api_call_seconds", "0.5"] == 0.02
    jobs = {key[2]: value for key, value in found.items() if key[0] == "assay_jobs"}
    assert jobs == {"todo": 1, "doing": 0, "failed": 0}


@pytest.mark.django_db
def test_connections_to_labs_are_counted_by_transport(client, settings, alice_tenant):
    settings.METRICS_TOKEN = TOKEN
    now = timezone.now()
    mllp = make_hl7_connection(
        tenant=alice_tenant,
        last_received_at=now - timedelta(seconds=90),
        failing_since=now,
        fault="no_answer",
    )
    send_hl7_message(connection=mllp, control_id="NW1", content=b"Example^Ada")
    Hl7OutboundMessage.unscoped.update(created_at=now - timedelta(seconds=60))
    make_hl7_connection(tenant=alice_tenant, transport="sftp")

    with time_machine.travel(now, tick=False):
        found = {
            (name.removeprefix("assay_lab_"), *labels): value
            for (name, *labels), value in scrape(client).items()
            if name.startswith("assay_lab_")
        }

    assert found == {
        ("connections", "all", "mllp"): 1,
        ("connections", "silent", "mllp"): 1,
        ("connections", "failing", "mllp"): 1,
        ("messages", "mllp"): 1,
        ("message_wait_seconds", "mllp"): 60,
        ("last_message_seconds", "received", "mllp"): 90,
        ("connections", "all", "sftp"): 1,
        ("connections", "silent", "sftp"): 0,
        ("connections", "failing", "sftp"): 0,
        ("messages", "sftp"): 0,
        ("message_wait_seconds", "sftp"): 0,
    }


@pytest.mark.django_db
@pytest.mark.parametrize("token", ["", TOKEN])
def test_without_the_token_there_are_no_metrics(client, settings, token):
    settings.METRICS_TOKEN = token

    plain = client.get("/metrics")
    empty = client.get("/metrics", headers={"authorization": "Bearer "})
    wrong = client.get("/metrics", headers={"authorization": "Bearer scrape-"})

    assert {each.status_code for each in (plain, empty, wrong)} == {404}
