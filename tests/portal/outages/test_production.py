"""A team's first orders of production, from checklist to acknowledged result.

Catalogue and centers come by command, orders and couriers by API, results in the lab's
files; each worker that makes a requisition or takes a result is killed at it once.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.states import Role
from accounts.webhooks.models import Event
from labs.gateways.hl7.drop import IN, OUT
from labs.models import (
    CriticalAlert,
    InboundReport,
    Lab,
    Marker,
    Order,
    OrderEvent,
    ResultVersion,
)
from labs.operations.inbound.files import (
    create_hl7_drop_folders,
    enqueue_hl7_folders_having_files,
)
from tests.clients import JSON
from tests.factories.accounts import make_api_key, make_member
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.labs import (
    ADDRESS,
    PATIENT,
    PHYSICIAN,
    make_kit_stock,
    make_lab_account,
    make_lab_test,
)
from tests.factories.users import make_user
from tests.factories.webhooks import make_endpoint
from tests.jobs import queued
from tests.portal.lib.worker_process import wait_until
from tests.portal.outages.nodes import (
    ANSWER_TIMEOUT_S,
    ForkedNode,
    WebNode,
    held,
    work_on_jobs,
)

pytestmark = pytest.mark.long

SITE = "/t/alice-health/production/"
CATALOGUE = {
    "labs.csv": "id,slug,name,first_line_address,city,zipcode,collection_methods,"
    "sample_types\n1,northgate,Northgate,2 Lab Way,Phoenix,85004,"
    "testkit|walk_in_test,serum|dried_blood_spot\n",
    "questions.csv": "id,key,code,value,type\n",
    "markers.csv": "id,lab,name,provider_id,type,sample_type,unit\n"
    "1,northgate,Potassium,K100,biomarker,serum,mmol/L\n"
    "2,northgate,Hemoglobin A1c,A1C,biomarker,dried_blood_spot,%\n",
    "expected_results.csv": "id,marker_id,name,provider_id,result_type,loinc_code\n"
    "1,1,Potassium,K100,numeric,2823-3\n"
    "2,2,Hemoglobin A1c,A1C,numeric,4548-4\n",
}
CENTERS = (
    "lab,site_code,name,first_line,city,state,zip_code,hours\n"
    "northgate,PHX1,Northgate Phoenix,1 Main St,Phoenix,AZ,85004,mon-fri 07:00-15:00\n"
)
A1C = {"id": "4548-4^Hemoglobin A1c^LN", "unit": "%", "range": "4.0-5.6"}
POTASSIUM = {"id": "2823-3^Potassium^LN", "unit": "mmol/L", "range": "3.5-5.1"}


REQUISITION = ["ordered", "requisition_created"]
# What a result proves of a kit whose way nobody reported (contract D24).
PROVEN = ["delivered_to_lab", "completed"]


class Team:
    """A team of production: what its staff, its server, its courier and its lab do."""

    def __init__(self, tenant, web):
        self.tenant, self.web = tenant, web
        self.key = make_api_key(tenant=tenant)
        self.user = make_user(tenant=tenant)

    def call(self, path, body):
        status, answer = self.web.call(
            path,
            json.dumps(body).encode(),
            x_service_api_key=self.key,
            content_type=JSON,
        )
        return status, json.loads(answer)

    def order(self, panel, **more):
        body = {
            "user_id": str(self.user.uuid),
            "order_set": {"lab_test_ids": [str(panel.pk)]},
            "patient_details": PATIENT,
            "patient_address": ADDRESS,
            **more,
        }
        return self.call("/v3/order", body)

    def place(self, panel):
        status, answer = self.order(panel, physician=PHYSICIAN)
        assert status == 200, answer
        work_through_a_kill("labs_orderevent")
        return Order.objects.for_tenant(self.tenant).get(pk=answer["order"]["id"])

    def report(self, order, status):
        at = timezone.now().isoformat()
        said = {"status": status, "occurred_at": at}
        code, answer = self.call(f"/v3/order/{order.pk}/shipment_events", said)
        assert code == 200, answer

    def result(self, drop, order, code, value, **fields):
        """The lab reads the order's file and answers with a result."""
        ordered = (drop.path / OUT / f"nw-{order.pk}.hl7").read_text()
        placer = re.search(r"^ORC\|NW\|([^|]+)", ordered, re.MULTILINE)[1]
        patient = re.search(r"^PID.*", ordered, re.MULTILINE)[0]
        content = make_oru(
            make_test(
                obx(value, **fields), code=code, placer=placer, filler=f"F-{placer}"
            ),
            patient=patient,
            control_id=f"C-{order.pk.hex[:8]}",
        )
        path = drop.path / IN / f"{order.pk}.hl7"
        path.write_bytes(content)
        os.utime(path, (time.time() - 60, time.time() - 60))
        assert enqueue_hl7_folders_having_files() == 1
        work_through_a_kill("labs_resultversion")

    def walked(self, order):
        steps = OrderEvent.objects.for_tenant(self.tenant).filter(order=order)
        return [step.status.split(".")[2] for step in steps.order_by("pk")]


def work_through_a_kill(table):
    """Kill a worker that is about to write into a table; let another do all work."""
    with held(table) as wait_for:
        dying = ForkedNode("dying", work_on_jobs)
        try:
            wait_for("dying", 1)
        finally:
            dying.kill()
    living = ForkedNode("living", work_on_jobs)
    try:
        wait_until(lambda: all(e.status not in {"todo", "doing"} for e in queued()))
    finally:
        living.kill()
    assert {entry.status for entry in queued()} == {"succeeded"}


@pytest.fixture
def web(settings, tmp_path):
    settings.HL7_DIR = tmp_path / "hl7"
    environment = {"LAB_GATEWAY": "hl7", "HL7_DIR": str(settings.HL7_DIR)}
    node = WebNode("web", **environment)
    try:
        wait_until(node.answers, seconds=ANSWER_TIMEOUT_S)
        yield node
    finally:
        node.kill()


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(300)  # the start of a web node and twelve of workers
def test_a_team_goes_live_while_workers_are_killed(
    alice_production, alice_team, job_queue, settings, web, tmp_path, client
):
    for name, text in CATALOGUE.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "centers.csv").write_text(CENTERS)
    call_command("import_lab_catalogue", str(tmp_path))
    call_command("import_service_centers", str(tmp_path / "centers.csv"))
    lab = Lab.objects.get(slug="northgate", environment="production")
    a1c, potassium = (
        make_lab_test(
            tenant=alice_production,
            lab=lab,
            method=method,
            markers=(Marker.objects.get(lab=lab, provider_id=code),),
        )
        for method, code in (("testkit", "A1C"), ("walk_in_test", "K100"))
    )
    make_endpoint(tenant=alice_production)
    team = Team(alice_production, web)

    refusals = [team.order(a1c)[1]["code"]]
    make_lab_account(tenant=alice_production, lab=lab)
    refusals.append(team.order(a1c)[1]["code"])
    assert refusals == ["lab_account_required", "physician_required"]
    assert not Order.objects.for_tenant(alice_production).exists()
    assert not Event.objects.for_tenant(alice_production).exists()

    ((_account, drop),) = create_hl7_drop_folders(tenant=alice_production)
    make_kit_stock(panel=a1c, count=3)

    reported = team.place(a1c)
    for status in ("transit_customer", "with_customer", "transit_lab"):
        team.report(reported, status)
    team.result(drop, reported, "A1C", "5.2", **A1C)

    silent = team.place(a1c)
    team.result(drop, silent, "A1C", "5.3", **A1C)

    walk_in = team.place(potassium)
    team.result(drop, walk_in, "K100", "6.9", flag="HH", **POTASSIUM)
    alert = CriticalAlert.objects.for_tenant(alice_production).get()
    client.force_login(make_member(team=alice_team, roles=(Role.CLINICIAN,)))
    said = {"action": "Patient called.", "notification_method": "treating"}
    client.post(f"{SITE}critical/{alert.pk}/acknowledge/", said)

    lost = team.place(a1c)
    team.report(lost, "transit_customer")
    team.report(lost, "lost")
    client.force_login(make_member(team=alice_team))
    client.post(f"{SITE}orders/{lost.pk}/replace/")
    work_through_a_kill("labs_orderevent")
    sent_again = Order.objects.for_tenant(alice_production).get(parent=lost)
    team.result(drop, sent_again, "A1C", "5.4", **A1C)

    assert {
        "reported": team.walked(reported),
        "silent": team.walked(silent),
        "walk-in": team.walked(walk_in),
        "lost": team.walked(lost),
        "sent again": team.walked(sent_again),
    } == {
        "reported": [
            *(*REQUISITION, "transit_customer", "with_customer", "transit_lab"),
            *PROVEN,
        ],
        "silent": [*REQUISITION, *PROVEN],
        "walk-in": [*REQUISITION, "completed"],
        "lost": [*REQUISITION, "transit_customer", "lost"],
        "sent again": [*REQUISITION, *PROVEN],
    }
    alert.refresh_from_db()
    assert (alert.order_id, alert.action) == (walk_in.pk, "Patient called.")
    versions = ResultVersion.objects.for_tenant(alice_production)
    assert Counter(versions.values_list("order_id", flat=True)) == dict.fromkeys(
        (reported.pk, silent.pk, walk_in.pk, sent_again.pk), 1
    )
    assert not InboundReport.objects.for_tenant(alice_production).filter(order=None)
    events = Event.objects.for_tenant(alice_production)
    assert Counter(events.values_list("event_type", flat=True)) == {
        "labtest.order.created": 5,
        "labtest.order.updated": 17,  # each step but the first
        # A sample on its way to the lab, and four results.
        "labtest.order_tracking.updated": 5,
        "labtest.result.critical": 1,
    }
