from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.core.files.storage import default_storage
from django.utils import timezone

from accounts.declarations.hooks import list_app_hooks
from reports.models import ParsingJob, ParsingJobTransition, ReportFile, ReportResult
from reports.operations.jobs.parsing import PARSER, store_parsing_results
from reports.operations.jobs.status import mark_parsing_job_started
from reports.operations.reading.files import (
    ORPHAN_AGE,
    delete_orphan_report_files,
    erase_user_reports,
    store_page_image,
)
from reports.states import ParsingJobStatus, PictureSize
from tests.factories.accounts import ACTOR
from tests.factories.reports import (
    make_parsed,
    make_parsing_job,
    store_report_file,
)
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.reports.uploads import stored_files
from users.operations.users.users import delete_user, erase_user

TABLES = (ParsingJob, ReportFile, ReportResult, ParsingJobTransition)


def make_old(stored_as: str, *, age: timedelta) -> Path:
    path = Path(default_storage.path(stored_as))
    moment = (timezone.now() - age).timestamp()
    os.utime(path, (moment, moment))
    return path


def rows(tenant) -> list[int]:
    return [table.objects.for_tenant(tenant).count() for table in TABLES]


def test_each_file_gets_a_name_of_its_own():
    names = {store_report_file(b"the same") for _ in range(3)}

    assert len(names) == len(stored_files()) == 3


@pytest.mark.django_db
def test_an_old_file_without_a_row_is_swept_alone(alice_tenant):
    user = make_user(tenant=alice_tenant)
    job = make_parsing_job(user=user)
    kept = ReportFile.objects.for_tenant(alice_tenant).get(job=job).stored_as
    old = ORPHAN_AGE + timedelta(minutes=1)
    named = make_old(kept, age=old)
    orphan = make_old(store_report_file(b"orphan"), age=old)
    young = make_old(store_report_file(b"young"), age=ORPHAN_AGE - timedelta(minutes=1))
    gone = "reports/ab/gone"
    for name in (kept, f"reports/{orphan.parent.name}/{orphan.name}", gone):
        store_page_image(name, 1, PictureSize.FULL, b"drawn")

    assert delete_orphan_report_files() == 1

    picture = named.with_name(f"{named.name}.pages") / "1-full.jpg"
    assert sorted(stored_files()) == sorted([named, picture, young])
    assert not orphan.exists()


@pytest.mark.django_db
def test_a_sweep_of_nothing_is_fine():
    assert delete_orphan_report_files() == 0


@pytest.mark.django_db
def test_erasing_a_user_removes_their_reports_and_files_alone(
    alice_tenant, django_capture_on_commit_callbacks
):
    user, other = make_user(tenant=alice_tenant), make_user(tenant=alice_tenant)
    make_parsing_job(user=user, status=ParsingJobStatus.COMPLETED, report=make_parsed())
    read = make_parsing_job(user=user)
    mark_parsing_job_started(job=read, actor=PARSER)
    uploaded = ReportFile.objects.for_tenant(alice_tenant).get(job=read).stored_as
    store_page_image(uploaded, 1, PictureSize.SMALL, b"drawn")
    kept = make_parsing_job(
        user=other, status=ParsingJobStatus.COMPLETED, report=make_parsed()
    )
    assert rows(alice_tenant) == [3, 3, 2, 1]

    with django_capture_on_commit_callbacks(execute=True):
        erase_user_reports(alice_tenant.pk, user.uuid)

    assert rows(alice_tenant) == [1, 1, 1, 0]
    assert ParsingJob.objects.for_tenant(alice_tenant).get() == kept
    assert len(stored_files()) == 1


@pytest.mark.django_db
def test_erasing_keeps_the_files_until_the_rows_are_gone_for_good(
    alice_tenant, django_capture_on_commit_callbacks
):
    user = make_user(tenant=alice_tenant)
    make_parsing_job(user=user)

    with django_capture_on_commit_callbacks(execute=False):
        erase_user_reports(alice_tenant.pk, user.uuid)

    assert len(stored_files()) == 1


@pytest.mark.django_db
def test_erasing_in_another_tenant_removes_nothing(alice_tenant, charlie_tenant):
    user = make_user(tenant=alice_tenant)
    make_parsing_job(user=user)

    erase_user_reports(charlie_tenant.pk, user.uuid)

    assert rows(alice_tenant) == [1, 1, 0, 0]


@pytest.mark.django_db
def test_a_user_whose_undo_is_over_goes_with_reports_files_and_events(
    alice_tenant, django_capture_on_commit_callbacks
):
    user = make_user(tenant=alice_tenant)
    job = make_parsing_job(user=user, status=ParsingJobStatus.STARTED)
    store_parsing_results(job=job, actor=PARSER, report=make_parsed())
    delete_user(user=user, actor=ACTOR)

    with (
        time_machine.travel(timezone.now() + timedelta(days=8)),
        django_capture_on_commit_callbacks(execute=True),
    ):
        erased = erase_user(tenant=alice_tenant, actor=ACTOR, user_uuid=user.uuid)

    assert erased
    assert rows(alice_tenant) == [0, 0, 0, 0]
    assert stored_files() == []
    assert emitted_types(alice_tenant) == []


def test_reports_are_among_what_is_erased_with_a_user():
    erasers = [erase for app in list_app_hooks() for erase in app.user_erasers]

    assert erase_user_reports in erasers
