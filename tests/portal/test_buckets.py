"""An installation whose files are in a bucket: its hosts share no folder."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from portal.lib.errors import Unavailable
from portal.ops.health.files import check_upload_storage
from reports.models import ParsingJob
from reports.operations.jobs.parsing import parse_submitted_report
from reports.states import ParsingJobStatus
from tests.buckets import keeping_at
from tests.clients import ApiClient, confirm
from tests.factories.accounts import ACTOR, make_api_key, make_member
from tests.factories.reports import make_parsing_job, make_pdf
from tests.factories.users import make_user
from tests.jobs import queued
from tests.portal.lib.worker_process import start_worker, wait_until
from tests.reports.uploads import nothing_happened, upload
from users.models import ImportJob, UserExport
from users.operations.users.users import delete_user, erase_user

PLACE = "/t/alice-health/sandbox"
BEATS = b"".join(
    b'{"resource":"heartrate","timestamp":"2026-02-28T10:%02d:00Z","value":60}\n' % each
    for each in range(2)
)


def files_of(*folders):
    """Names of files; those that are only locked (portal.lib.slots) hold nothing."""
    return [
        path.name
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and path.parent.name != "slots"
    ]


def read(reply):
    return b"".join(reply.streaming_content)


def post_import(client, user):
    page = f"{PLACE}/users/{user.uuid}/imports/"
    file = SimpleUploadedFile("beats.ndjson", BEATS)
    return client.post(page, {"file": file, "provider": "manual"})


def test_a_web_host_and_a_worker_host_share_a_bucket_and_no_folder(
    job_queue, bucket, alice_tenant, alice_team, tmp_path, settings
):
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 0  # as for large ones
    user = make_user(tenant=alice_tenant)
    web = Client()
    web.force_login(make_member(team=alice_team))
    confirm(web)
    api = ApiClient(make_api_key(tenant=alice_tenant))
    answer = upload(api, user=user, files=[make_pdf()]).json()
    post_import(web, user)
    exports = f"{PLACE}/users/{user.uuid}/exports/"
    web.post(exports)
    here, there = Path(settings.VAR_DIR).parent, tmp_path / "worker"
    kept_here = files_of(here)

    worker = start_worker(
        STORAGE_URL=bucket.url,
        VAR_DIR=str(there),
        UPLOADS_DIR=str(there / "uploads"),
    )
    try:
        wait_until(lambda: {job.status for job in queued()} == {"succeeded"})
        planned = ImportJob.unscoped.get()
        web.post(f"{PLACE}/users/{user.uuid}/imports/{planned.pk}/confirm/")
        wait_until(lambda: {job.status for job in queued()} == {"succeeded"})
    finally:
        worker.kill()
        worker.wait()

    job, export = ParsingJob.unscoped.get(), UserExport.unscoped.get()
    imported = ImportJob.unscoped.get()
    page = web.get(f"{PLACE}/reports/{job.id}/pages/1/")
    archive = web.get(f"{exports}{export.pk}/file/")
    content = read(archive)
    inside = zipfile.ZipFile(io.BytesIO(content)).namelist()
    uploaded = job.files.get().stored_as
    assert answer["status"] == "upload_pending"
    assert job.status == ParsingJobStatus.COMPLETED
    assert (imported.status, imported.rows_accepted) == ("completed", 2)
    assert (page.status_code, page.content[:3]) == (200, b"\xff\xd8\xff")
    assert archive["Content-Length"] == str(len(content)) == str(export.size)
    assert f"files/{uploaded}" in inside
    assert bucket.content(uploaded) == make_pdf()
    pictures = [f"{uploaded}.pages/1-{size}.jpg" for size in ("full", "small")]
    assert bucket.names == sorted([export.stored_as, uploaded, *pictures])
    assert (there / "scratch").is_dir()
    assert (kept_here, files_of(here, there)) == ([], [])

    delete_user(user=user, actor=ACTOR)
    with time_machine.travel(timezone.now() + timedelta(days=8)):
        erased = erase_user(tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid)

    assert erased
    assert bucket.names == []


@pytest.mark.django_db
def test_while_the_bucket_is_away_nothing_is_half_done_and_jobs_wait(
    bucket, alice_tenant, alice, alice_api
):
    user = make_user(tenant=alice_tenant)
    web = Client(raise_request_exception=False)
    web.force_login(alice)
    job = make_parsing_job(user=user, status=ParsingJobStatus.STARTED, pages=1)
    page = f"{PLACE}/reports/{job.id}/pages/1/"
    bucket.failing = "SlowDown"

    with nothing_happened(alice_tenant):
        refused = upload(alice_api, user=user, files=[make_pdf()])
        shown = web.get(page)
    imported = post_import(web, user)
    with pytest.raises(Unavailable):
        parse_submitted_report(tenant_pk=alice_tenant.pk, job_id=job.id)

    job.refresh_from_db()
    assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
    assert (imported.status_code, ImportJob.unscoped.count()) == (422, 0)
    assert b"File storage is not available" in imported.content
    assert (shown.status_code, shown["Retry-After"]) == (503, "5")
    assert b"File storage is not available" in shown.content
    assert job.status == ParsingJobStatus.STARTED
    assert len(bucket.names) == 1


def test_doctor_tries_the_bucket_and_looks_who_else_may_read_it(bucket, settings):
    def state():
        found = check_upload_storage()
        return found.state, found.sentence

    fine = state()
    bucket.keeps_versions = True
    versioned = state()
    bucket.is_public = True
    public = state()
    url = bucket.url.replace("sec%2Fret", "other")
    with keeping_at(url):
        refused = state()
    settings.STORAGE_URL = "s3://assay-files"
    unread = state()

    assert fine == (
        "ok",
        "Uploads are stored in the bucket assay-files at"
        f" http://127.0.0.1:{bucket.server_port}.",
    )
    assert (versioned[0], public[0], refused[0], unread[0]) == ("warn", *["fail"] * 3)
    assert "versions" in versioned[1]
    assert "Anyone" in public[1]
    assert not any(word in refused[1] for word in ("AKIATEST", "other"))
    assert bucket.names == []
