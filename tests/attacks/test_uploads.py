"""Uploads that are made to keep the server busy, sent to a real one.

Who may be looked at is told by the slots that this process holds, not by the clock.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from portal.lib import slots
from portal.lib.slots import Work, hold_work_slot
from reports.models import ParsingJob
from reports.operations.reading import extraction
from tests.factories.accounts import make_api_key, make_team, make_tenant
from tests.factories.reports import encrypt, make_endless_pdf, make_pdf
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.portal.lib.worker_process import wait_until
from tests.portal.outages.nodes import ANSWER_TIMEOUT_S, WebNode

UPLOAD = "/lab_report/v1/parser/job"
CREATED = "lab_report.parsing_job.created"
UPDATED = "lab_report.parsing_job.updated"
AT_ONCE = 12
PENDING = (200, "upload_pending")
REFUSED = (400, "encrypted_file")


@contextmanager
def running_web():
    web = WebNode("attacked")
    try:
        wait_until(web.answers, seconds=ANSWER_TIMEOUT_S)
        yield web
    finally:
        web.kill()


def sender(web, tenant, content):
    """Call it to upload a file for a user of the tenant: status, and what it says."""
    key = make_api_key(tenant=tenant)
    file = SimpleUploadedFile("report.pdf", content, "application/pdf")
    form = {"user_id": str(make_user(tenant=tenant).uuid), "file": file}
    body = encode_multipart(BOUNDARY, form)

    def send():
        status, answer = web.call(
            UPLOAD, body, content_type=MULTIPART_CONTENT, x_service_api_key=key
        )
        data = json.loads(answer)
        return status, data.get("status") or data["code"]

    return send


@pytest.mark.long
@pytest.mark.timeout(300)
def test_one_tenants_uploads_leave_the_others_their_look(
    run_jobs, alice_tenant, charlie_tenant, monkeypatch
):
    locked = encrypt(make_pdf())
    bobs = make_tenant(team=make_team("Bob Care"))
    with running_web() as web, ThreadPoolExecutor(AT_ONCE) as pool:
        alices, charlies, others = (
            sender(web, tenant, locked)
            for tenant in (alice_tenant, charlie_tenant, bobs)
        )
        with hold_work_slot(Work.UPLOAD, tenant=alice_tenant):
            flood = [pool.submit(alices) for _ in range(AT_ONCE)]
            while_alice_is_busy = charlies()
            answers = [each.result() for each in flood]
        with ExitStack() as held:
            for tenant in (alice_tenant, charlie_tenant)[: slots.IN_ALL]:
                held.enter_context(hold_work_slot(Work.UPLOAD, tenant=tenant))
            while_all_are_busy = others()
        afterwards = alices()
        loop = sender(web, charlie_tenant, make_endless_pdf())()

    assert answers == [PENDING] * AT_ONCE
    assert while_alice_is_busy == REFUSED
    assert while_all_are_busy == PENDING
    assert afterwards == REFUSED
    assert loop == PENDING
    monkeypatch.setattr(extraction, "INSPECT_CPU_SECONDS", 2)
    run_jobs()
    for tenant, number in ((alice_tenant, AT_ONCE), (charlie_tenant, 1), (bobs, 1)):
        jobs = ParsingJob.objects.for_tenant(tenant)
        assert [(job.status, job.failure_reason) for job in jobs] == [
            ("failed", "invalid_input")
        ] * number
        events = emitted_types(tenant)
        assert (events.count(CREATED), events.count(UPDATED)) == (number, number)
        assert len(events) == 2 * number
