"""Reports that are moved to another order, and two uploads of one file at once."""

from __future__ import annotations

import threading
import uuid

import pytest
from django.db import connection

from accounts.models import AuditEntry
from labs.models import Order, ResultVersion
from portal.lib.errors import DomainError, NotFound
from portal.lib.tenancy import acting_for
from reports.models import ParsingJob, Review
from reports.operations.jobs.moving import move_report_to_order
from reports.operations.jobs.submission import (
    ReportPart,
    ReportRequest,
    submit_report,
)
from tests.factories.accounts import ACTOR
from tests.factories.reports import make_pdf
from tests.outbox import emitted, emitted_types
from tests.reports.by_document import make_order_by_document, read_report, read_row
from tests.reports.desk import decide_all, sign
from tests.reports.uploads import stored_files

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant(alice_tenant):
    alice_tenant.lab_report_human_review_enabled = True
    alice_tenant.save()
    return alice_tenant


def move(job, order_id, reason="Filed under the wrong visit."):
    return move_report_to_order(
        tenant=job.tenant, actor=ACTOR, job_id=job.pk, order_id=order_id, reason=reason
    )


def refused(job, order_id, reason="Wrong order."):
    before = len(emitted_types(job.tenant))
    job.refresh_from_db()
    with pytest.raises(DomainError) as error:
        move(job, order_id, reason)
    now = ParsingJob.objects.for_tenant(job.tenant).get(pk=job.pk)
    assert (now.order_id, now.hold_reasons) == (job.order_id, job.hold_reasons)
    assert len(emitted_types(job.tenant)) == before
    return error.value.code


def test_a_held_report_moves_detaches_and_becomes_the_other_orders_results(tenant):
    order = make_order_by_document(tenant=tenant)
    other = make_order_by_document(tenant=tenant, user=order.user)
    review = read_report(
        order,
        read_row("Glucose", "85"),
        read_row("Potassium", "4.1"),
        metadata={"specimen_number": other.sample_id},
    )
    job = ParsingJob.objects.for_tenant(tenant).get()
    assert job.hold_reasons == ["order_mismatch"]
    Review.objects.for_tenant(tenant).update(not_performed=["sodium"])

    moved = move(job, other.pk)

    review.refresh_from_db()
    assert (moved.order_id, moved.hold_reasons, moved.findings) == (other.pk, [], [])
    assert (review.not_performed, review.status) == ([], "open")
    entry = AuditEntry.objects.for_tenant(tenant).get(verb="move_report")
    assert entry.changes == {
        "order": [str(order.pk), str(other.pk)],
        "why": "Filed under the wrong visit.",
    }
    last = emitted(tenant)[-1]
    assert last["event_type"] == "lab_report.parsing_job.updated"
    assert last["data"]["order_id"] == str(other.pk)
    assert last["data"]["data"]["hold_reasons"] == []

    events = len(emitted(tenant))
    move(job, other.pk)  # again: nothing changes
    assert len(emitted(tenant)) == events

    assert move(job, None).order_id is None
    back = move(job, order.pk)
    assert (back.order_id, back.hold_reasons) == (order.pk, ["order_mismatch"])
    move(job, other.pk)
    decide_all(Review.objects.for_tenant(tenant).get())
    sign(Review.objects.for_tenant(tenant).get())
    version = ResultVersion.objects.for_tenant(tenant).get()
    assert version.order_id == other.pk
    assert refused(job, order.pk) == "report_not_in_review"


def test_a_report_is_not_moved_where_it_cannot_belong(tenant):
    order = make_order_by_document(tenant=tenant)
    foreign = make_order_by_document(tenant=tenant)
    ended = make_order_by_document(tenant=tenant, user=order.user)
    Order.objects.for_tenant(tenant).filter(pk=ended.pk).update(patient_details=None)
    twin = make_order_by_document(tenant=tenant, user=order.user)
    read_report(order, read_row("Glucose", "85"))
    job = ParsingJob.objects.for_tenant(tenant).get()
    read_report(twin, read_row("Glucose", "85"))
    ParsingJob.objects.for_tenant(tenant).update(sha256="a" * 64)

    assert refused(job, foreign.pk) == "order_of_other_user"
    assert refused(job, ended.pk) == "results_not_expected"
    assert refused(job, twin.pk) == "report_on_order_already"
    assert refused(job, twin.pk, reason=" ") == "reason_missing"
    assert refused(job, uuid.uuid4()) == "order_not_found"
    with pytest.raises(NotFound):
        move_report_to_order(
            tenant=tenant, actor=ACTOR, job_id=uuid.uuid4(), order_id=None, reason="x"
        )


@pytest.mark.django_db(transaction=True)
def test_one_file_sent_twice_at_once_is_one_report_of_its_order(tenant):
    order = make_order_by_document(tenant=tenant)
    request = ReportRequest(
        user_id=order.user.uuid,
        parts=(ReportPart(make_pdf(), "application/pdf"),),
        order_id=order.pk,
    )
    both_ready = threading.Barrier(2, timeout=20)
    jobs = []

    def send():
        with acting_for(tenant):
            both_ready.wait()
            jobs.append(submit_report(tenant=tenant, actor=ACTOR, request=request))
        connection.close()

    senders = [threading.Thread(target=send) for _ in range(2)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()

    assert len({job.pk for job in jobs}) == 1
    assert len(jobs) == len(senders)
    assert emitted_types(tenant).count("lab_report.parsing_job.created") == 1
    assert len(stored_files()) == 1
