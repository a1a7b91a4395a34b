from __future__ import annotations

import pytest

from portal.lib.errors import DomainError, NotFound
from tests.audit import changes_of
from tests.factories.accounts import ACTOR
from tests.factories.apple_health import make_archive
from tests.jobs import queued
from tests.outbox import emitted
from tests.packed import list_samples
from tests.users.holdings import stored_rows
from tests.users.operations.imports.beats import BEATS, files, start
from users.models import ImportJob
from users.operations.imports.runs import IMPORT_JOB
from users.operations.imports.submission import (
    ImportRequest,
    confirm_health_data_import,
    start_health_data_import,
)
from users.operations.users.users import delete_user
from users.states.imports import ImportStatus

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]


def test_an_upload_waits_for_a_worker(user, alice_tenant):
    request = ImportRequest(file_name="C:\\Health\\beats.ndjson", chunks=[BEATS])

    job = start_health_data_import(user=user, actor=ACTOR, request=request)

    assert job.status == ImportStatus.WAITING
    assert (job.file_name, job.format, job.size) == ("beats.ndjson", "ndjson", 152)
    (waiting,) = [each for each in queued() if each.name == IMPORT_JOB]
    assert waiting.inputs == {"tenant_pk": alice_tenant.pk, "job_id": str(job.id)}
    assert waiting.lock == f"import:{job.id}"
    assert list_samples(user.pk) == []


def test_a_plan_is_stored_once_a_member_confirms_it(user, alice_tenant, run, commits):
    request = ImportRequest(file_name="beats.ndjson", chunks=[BEATS])
    job = start_health_data_import(
        user=user, actor=ACTOR, request=request, needs_confirmation=True
    )
    events = emitted(alice_tenant)

    for _ in range(2):  # a job may run twice
        assert run(job).status == ImportStatus.READY
    assert job.plan == {
        "heartrate": {
            "rows": 2,
            "first": "2026-02-28T10:00:00+00:00",
            "last": "2026-02-28T10:01:00+00:00",
        }
    }
    assert (job.time_zone, job.counts, job.batches_done) == ("UTC", {}, 0)
    assert list_samples(user.pk) == []
    assert emitted(alice_tenant) == events

    with commits():
        confirm_health_data_import(job=job, actor=ACTOR)
    assert run(job).status == ImportStatus.COMPLETED
    assert len(list_samples(user.pk)) == 2
    assert (changes_of(alice_tenant, "confirm_import"), files()) == ({}, [])
    with pytest.raises(DomainError) as refused:
        confirm_health_data_import(job=job, actor=ACTOR)
    assert refused.value.code == "transition_not_allowed"


@pytest.mark.parametrize(
    ("content", "wanted", "code"),
    [
        (b"", {}, "file_empty"),
        (b"%PDF-1.7", {}, "unsupported_file_type"),
        (make_archive()[:-30], {}, "file_damaged"),
        (b"{}", {"provider": "nobody"}, "provider_unknown"),
    ],
    ids=["empty", "a report", "half an archive", "an unknown source"],
)
def test_what_is_no_health_data_is_refused_at_once(
    user, alice_tenant, content, wanted, code
):
    before = stored_rows(alice_tenant)

    with pytest.raises(DomainError) as refused:
        start(user, content, **wanted)

    assert refused.value.code == code
    assert stored_rows(alice_tenant) == before
    assert files() == []


def test_a_deleted_users_file_is_not_kept(user, alice_tenant):
    delete_user(user=user, actor=ACTOR)

    with pytest.raises(NotFound):
        start(user, BEATS)

    assert files() == []
    assert not ImportJob.objects.for_tenant(alice_tenant).exists()


def test_a_user_has_few_imports_under_way(user, alice_tenant):
    for _ in range(3):
        start(user, BEATS)

    with pytest.raises(DomainError) as refused:
        start(user, BEATS)

    assert refused.value.code == "too_many_imports"
    assert ImportJob.objects.for_tenant(alice_tenant).count() == 3
    assert len(files()) == 3
