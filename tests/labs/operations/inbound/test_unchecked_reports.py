"""Unmatched reports from before their critical results had a clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from labs.jobs import run_unchecked_report_check
from labs.models import CriticalAlert, InboundReport
from labs.operations.inbound import unchecked_reports
from labs.operations.inbound.review import (
    reject_lab_report,
    restore_rejected_lab_report,
)
from labs.operations.results.critical import MAIL_JOB
from portal.lib.slots import Work, hold_work_slot
from portal.lib.tenancy import across_tenants
from tests.factories.accounts import ACTOR
from tests.factories.hl7 import make_oru, make_test, obx
from tests.factories.inbound import take
from tests.factories.labs import make_lab
from tests.jobs import queued

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _clock():
    with time_machine.travel(NOW, tick=False):
        yield


def make_old(tenant, *, value="412", flag="HH", control="C1", note=""):
    """A report taken before it would have been searched."""
    test = make_test(obx(value, flag=flag), placer="NOBODYS", filler=f"F-{control}")
    if note:
        test = (*test, f"NTE|1||{note}")
    with time_machine.travel(NOW - timedelta(days=400), tick=False):
        row = take(
            tenant, make_oru(test, control_id=control), lab=make_lab()
        ).reports.get()
    CriticalAlert.objects.for_tenant(tenant).delete()
    InboundReport.objects.for_tenant(tenant).filter(pk=row.pk).update(
        critical_results=[], critical_checked_at=None
    )
    row.tenant = tenant
    return row


def mails():
    return [job for job in queued() if job.name == MAIL_JOB]


def check():
    with across_tenants(why="as the clock does"):
        run_unchecked_report_check()


def test_an_old_report_with_a_critical_result_starts_the_clock_now(alice_tenant):
    row = make_old(alice_tenant)
    plain = make_old(alice_tenant, value="91", flag="N", control="C2")
    before = len(mails())

    check()
    check()

    row.refresh_from_db()
    plain.refresh_from_db()
    (alert,) = CriticalAlert.objects.for_tenant(alice_tenant)
    assert (row.alert_id, alert.order_id, alert.opened_at) == (alert.pk, None, NOW)
    assert alert.due_at == NOW + timedelta(minutes=60)
    assert [one["result"] for one in row.critical_results] == ["412"]
    assert (plain.alert_id, plain.critical_results) == (None, [])
    assert row.critical_checked_at == plain.critical_checked_at == NOW
    assert len(mails()) == before + 1


def test_reports_of_all_teams_are_searched_oldest_first(
    alice_tenant, charlie_tenant, monkeypatch
):
    monkeypatch.setattr(unchecked_reports, "CHECKED_AT_MOST", 1)
    rows = [make_old(alice_tenant), make_old(charlie_tenant, control="C2")]

    found = []
    for _run in range(2):
        check()
        with across_tenants(why="counts"):
            found.append(CriticalAlert.unscoped.count())

    for row in rows:
        row.refresh_from_db()
        assert row.alert.tenant_id == row.tenant_id
    assert found == [1, 2]


def test_what_a_member_rejected_is_searched_once_it_is_put_back(alice_tenant):
    row = make_old(alice_tenant)
    reject_lab_report(report=row, actor=ACTOR, why="Not ours.")
    check()
    assert not CriticalAlert.objects.for_tenant(alice_tenant).exists()

    restore_rejected_lab_report(report=row, actor=ACTOR)
    check()

    assert CriticalAlert.objects.for_tenant(alice_tenant).count() == 1


def test_a_long_report_is_searched_once_there_is_room_and_holds_up_no_other(
    alice_tenant,
):
    long = make_old(alice_tenant, note="x" * 60_000)
    short = make_old(alice_tenant, control="C2")

    with hold_work_slot(Work.STORED, tenant=alice_tenant):
        check()
        long.refresh_from_db()
        short.refresh_from_db()
        assert (long.critical_checked_at, short.critical_checked_at) == (None, NOW)
    check()

    long.refresh_from_db()
    assert long.alert_id is not None


def test_one_that_cannot_be_read_is_logged_without_its_text_and_left_in_the_queue(
    alice_tenant, caplog
):
    broken, row = make_old(alice_tenant), make_old(alice_tenant, control="C2")
    InboundReport.objects.for_tenant(alice_tenant).filter(pk=broken.pk).update(
        text="MSH|no message of Ada Example"
    )

    check()

    broken.refresh_from_db()
    row.refresh_from_db()
    assert (broken.status, broken.alert_id) == ("unmatched", None)
    assert broken.critical_checked_at == NOW
    assert row.alert_id is not None
    assert f"report {broken.pk} can't be read" in caplog.text
    assert "Ada" not in caplog.text
