from __future__ import annotations

from base64 import b64decode
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import AuditEntry
from labs.gateways.hl7.documents import parse_hl7_attached_documents
from labs.gateways.hl7.messages import parse_hl7_message
from labs.gateways.hl7.results import parse_hl7_result_reports
from labs.models import Hl7Connection, Hl7OutboundMessage, LabDocument
from labs.operations.connections.files import exchange_hl7_files
from labs.operations.results.deliveries import store_result_delivery
from labs.operations.results_out import (
    RESULTS_JOB,
    check_and_send_lab_document,
    enqueue_unsent_results,
    queue_new_results,
    resend_results,
)
from labs.queries.connections import list_connections_with_queue
from labs.states.connections import Transport
from portal.lib.errors import DomainError, NotFound
from portal.lib.tenancy import across_tenants
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx, obx_with_document
from tests.factories.inbound import make_order_sent_to_lab, take
from tests.factories.reports import make_pdf
from tests.factories.results import (
    delivery,
    make_order_awaiting_results,
    make_reported_result,
)
from tests.jobs import queued

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("hl7_dir")]


@pytest.fixture
def order(alice_tenant):
    return make_order_awaiting_results(tenant=alice_tenant)


@pytest.fixture
def system(alice_tenant):
    connection = Hl7Connection(tenant=alice_tenant, account=None, transport="folder")
    connection.save(force_insert=True)
    return connection


def report(order, *results, **fields):
    return store_result_delivery(
        order=order, actor=ACTOR, delivery=delivery(*results, **fields)
    )


def send(order):
    return queue_new_results(tenant=order.tenant, order_id=order.pk)


def messages():
    return list(Hl7OutboundMessage.unscoped.order_by("pk"))


def segments(message, name):
    parsed = parse_hl7_message(bytes(message.content))
    return [one for one in parsed.segments if one.name == name]


def jobs():
    return [job.inputs for job in queued() if job.name == RESULTS_JOB]


def test_results_are_queued_by_a_job_and_once(order, system):
    version = report(order, make_reported_result(text="91", loinc="2345-7"))

    assert [job["order_id"] for job in jobs()] == [str(order.pk)]
    assert [send(order), send(order)] == [1, 0]
    (message,) = messages()
    assert (message.control_id, message.order_id) == (f"R{version.pk}", order.pk)
    (found,) = parse_hl7_result_reports(parse_hl7_message(bytes(message.content)))
    assert found.placers == {str(order.pk)}
    ((observation,),) = [test.observations for test in found.tests]
    assert (observation.text, observation.unit, observation.loinc) == (
        "91", "mg/dL", "2345-7"
    )  # fmt: skip
    assert segments(message, "PID")[0].text(3) == order.user.client_user_id


def test_versions_are_sent_in_order_and_a_correction_says_what_changed(order, system):
    sodium, potassium = (
        make_reported_result("Sodium", "140"),
        make_reported_result("Potassium", "4", is_preliminary=True),
    )
    at = delivery().reported_at
    report(order, sodium, potassium, status="partial")
    report(
        order,
        make_reported_result("Potassium", "5"),
        reported_at=at + timedelta(hours=1),
    )
    report(
        order,
        make_reported_result("Sodium", "141"),
        reported_at=at + timedelta(hours=2),
    )

    assert send(order) == 3
    told = [
        {one.text(3): (one.text(5), one.text(11)) for one in segments(message, "OBX")}
        for message in messages()
    ]
    assert told == [
        {"SODIUM": ("140", "F"), "POTASSIUM": ("4", "P")},
        {"SODIUM": ("140", "F"), "POTASSIUM": ("5", "F")},
        {"SODIUM": ("141", "C"), "POTASSIUM": ("5", "F")},
    ]
    fillers = [[one.text(3) for one in segments(m, "OBR")] for m in messages()]
    assert fillers[0] == fillers[1] == fillers[2]


def test_without_a_system_nothing_is_queued(order):
    report(order)

    assert jobs() == []
    assert send(order) == 0
    assert messages() == []


def test_earlier_results_are_not_sent_by_themselves(order, system):
    report(order)
    Hl7Connection.unscoped.update(created_at=timezone.now() + timedelta(minutes=1))

    assert send(order) == 0
    message = resend_results(order=order, actor=ACTOR)

    assert messages() == [message]


def test_what_a_failed_job_left_is_found(order, system):
    report(order)
    before = len(jobs())

    with across_tenants(why="a test"):
        found = enqueue_unsent_results()
    send(order)
    with across_tenants(why="a test"):
        again = enqueue_unsent_results()

    assert (found, again, len(jobs())) == (1, 0, before + 1)


def test_results_of_another_team_are_not_sent(order, system, charlie_tenant):
    other = make_order_awaiting_results(tenant=charlie_tenant)
    report(other)

    assert send(other) == 0
    assert queue_new_results(tenant=order.tenant, order_id=other.pk) == 0
    assert messages() == []


def test_results_are_sent_again_under_another_id(order, system, hl7_dir):
    version = report(order)
    send(order)
    exchange_hl7_files(tenant=order.tenant, actor=ACTOR, connection_id=system.pk)

    resend_results(order=order, actor=ACTOR)

    first, second = messages()
    assert [first.status, second.status] == ["sent", "queued"]
    assert second.control_id == f"R{version.pk}.2"
    assert segments(first, "OBX")[0].line == segments(second, "OBX")[0].line
    entry = AuditEntry.objects.for_tenant(order.tenant).get(verb="resend_results")
    assert entry.changes == {"version": [None, 1]}
    (path,) = hl7_dir.rglob("*.hl7")
    assert "own-system" in str(path)


def test_what_can_not_be_sent_again_is_refused(order):
    with pytest.raises(NotFound) as without_system:
        resend_results(order=order, actor=ACTOR)
    Hl7Connection(tenant=order.tenant, account=None, transport="folder").save()
    with pytest.raises(NotFound) as without_results:
        resend_results(order=order, actor=ACTOR)
    report(order)
    send(order)
    with pytest.raises(DomainError) as waiting:
        resend_results(order=order, actor=ACTOR)

    assert [each.value.code for each in (without_system, without_results, waiting)] == [
        "own_system_not_found",
        "results_not_found",
        "results_waiting",
    ]
    assert len(messages()) == 1
    assert not AuditEntry.objects.for_tenant(order.tenant).filter(verb="resend_results")


def test_a_fault_of_writing_does_not_stop_results(order, system, monkeypatch):
    monkeypatch.setattr(
        "labs.operations.results_out.build_hl7_results_message", lambda *_, **__: 1 / 0
    )

    version = report(order)

    assert version.number == 1
    with pytest.raises(ZeroDivisionError):
        send(order)


def test_what_a_lab_sends_goes_out_as_it_came_with_its_document(alice_tenant, system):
    order = make_order_sent_to_lab(tenant=alice_tenant)
    content = make_pdf()
    lines = obx(value="<5", sub="1", flag="L"), obx_with_document(content)
    test = make_test(*lines, placer=order.sample_id)
    take(alice_tenant, make_oru(test), lab=order.lab)
    document = LabDocument.unscoped.get()

    first = send(order)
    before = len(jobs())
    check_and_send_lab_document(tenant=alice_tenant, document_id=document.pk)
    assert len(jobs()) == before + 1
    with across_tenants(why="a test"):
        assert enqueue_unsent_results() == 1  # what a killed worker has left
    second = send(order)

    assert (first, second) == (1, 1)
    results, sent = messages()
    (found,) = [one for one in segments(results, "OBX") if one.text(3) == "2345-7"]
    assert [found.components(5), found.text(4), found.text(8)] == [["<", "5"], "1", "L"]
    (file,) = parse_hl7_attached_documents(segments(sent, "OBX")[0])
    assert b64decode(file.data) == content
    assert sent.control_id == f"D{document.pk.hex[:19]}"
    with across_tenants(why="a test"):
        assert enqueue_unsent_results() == 0


@pytest.mark.parametrize("transport", ["folder", "mllp", "sftp"])
def test_a_system_without_lab_account_is_in_use(order, system, transport):
    system.transport = transport
    system.save(update_fields=["transport"])
    report(order)
    send(order)

    with across_tenants(why="a test"):
        found = list(list_connections_with_queue(Transport(transport)))

    assert found == [system]
