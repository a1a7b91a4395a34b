from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reports.models import OutsideReport, ParsingJob, ReportResult
from reports.operations.retention import (
    count_old_completed_reports,
    count_old_failed_reports,
    delete_old_completed_reports,
    delete_old_failed_reports,
)
from reports.states import ParsingJobStatus
from tests.factories.fhir import make_outside_report
from tests.factories.reports import make_parsed, make_parsing_job
from tests.factories.users import make_user
from tests.reports.uploads import stored_files

pytestmark = pytest.mark.django_db
BEFORE = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def ended(tenant, status, at, **fields):
    return make_parsing_job(
        user=make_user(tenant=tenant),
        status=status,
        finished_at=at,
        content=f"%PDF {status} {at}".encode(),
        **fields,
    )


def test_failed_uploads_and_reports_go_each_by_its_own_age(
    alice_tenant, charlie_tenant, django_capture_on_commit_callbacks
):
    failed, completed = ParsingJobStatus.FAILED, ParsingJobStatus.COMPLETED
    old = ended(alice_tenant, failed, BEFORE - DAY)
    report = ended(alice_tenant, completed, BEFORE - 2 * DAY, report=make_parsed())
    waiting = make_parsing_job(
        user=make_user(tenant=alice_tenant), created_at=BEFORE - 9 * DAY
    )
    fresh = ended(alice_tenant, failed, BEFORE)
    others = ended(charlie_tenant, completed, BEFORE - 9 * DAY)
    files = len(stored_files())

    aged = [
        each(alice_tenant, BEFORE)
        for each in (count_old_failed_reports, count_old_completed_reports)
    ]
    with django_capture_on_commit_callbacks(execute=True):
        unread = list(delete_old_failed_reports(alice_tenant, BEFORE))
    left = set(ParsingJob.unscoped.values_list("pk", flat=True))
    with django_capture_on_commit_callbacks(execute=True):
        reports = list(delete_old_completed_reports(alice_tenant, BEFORE))

    assert [(each.number, each.oldest) for each in aged] == [
        (1, BEFORE - DAY),
        (1, BEFORE - 2 * DAY),
    ]
    assert (unread, reports) == ([1], [1])
    assert old.pk not in left >= {report.pk, waiting.pk, fresh.pk, others.pk}
    assert set(ParsingJob.unscoped.values_list("pk", flat=True)) == {
        *(waiting.pk, fresh.pk, others.pk)
    }
    assert not ReportResult.objects.for_tenant(alice_tenant).exists()
    assert len(stored_files()) == files - 2


def test_outside_reports_go_by_when_they_were_stored(alice_tenant, time_machine):
    user = make_user(tenant=alice_tenant)
    time_machine.move_to(BEFORE - DAY, tick=False)
    make_outside_report(user=user, id_="old")
    time_machine.move_to(BEFORE + DAY, tick=False)
    kept = make_outside_report(user=user, id_="new")

    aged = count_old_completed_reports(alice_tenant, BEFORE)
    removed = sum(delete_old_completed_reports(alice_tenant, BEFORE))

    assert (aged.number, aged.oldest, removed) == (1, BEFORE - DAY, 1)
    assert list(OutsideReport.objects.for_tenant(alice_tenant).all()) == [kept]
