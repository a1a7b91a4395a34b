from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import pytest
from procrastinate.contrib.django.models import ProcrastinateJob

from tests.audit import audited
from tests.factories.accounts import ACTOR
from tests.factories.users import make_user
from tests.users.holdings import stored_rows
from users import jobs
from users.models import Connection, User
from users.operations.sources.sources import connect_source
from users.operations.users.users import UserChanges, delete_user, update_user

pytestmark = pytest.mark.django_db
DELETED = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def due(alice_tenant, time_machine):
    """A user deleted a week ago, and one whose ingestion has ended."""
    time_machine.move_to(DELETED, tick=False)
    deleted = make_user(tenant=alice_tenant)
    delete_user(user=deleted, actor=ACTOR)
    ended = make_user(tenant=alice_tenant)
    connect_source(user=ended, actor=ACTOR, provider="oura")
    update_user(
        user=ended, actor=ACTOR, changes=UserChanges(ingestion_end=date(2026, 2, 1))
    )
    time_machine.move_to(DELETED + timedelta(days=7), tick=False)
    return deleted, ended


def test_the_sweep_enqueues_what_is_due(due, alice_tenant):
    deleted, ended = due

    jobs.enqueue_due_erasures_pauses_and_expiries()

    found = ProcrastinateJob.objects.order_by("id").values_list("task_name", "args")
    assert list(found) == [
        ("users.erase", {"tenant_pk": alice_tenant.pk, "user_id": str(deleted.uuid)}),
        ("users.pause", {"tenant_pk": alice_tenant.pk, "user_id": str(ended.uuid)}),
    ]


def test_the_jobs_do_what_their_operations_do(due, alice_tenant):
    deleted, ended = due

    jobs.erase_due_user(tenant_pk=alice_tenant.pk, user_id=str(deleted.uuid))
    jobs.pause_user_sources_after_ingestion(
        tenant_pk=alice_tenant.pk, user_id=str(ended.uuid)
    )

    assert list(User.objects.for_tenant(alice_tenant)) == [ended]
    assert Connection.objects.for_tenant(alice_tenant).get().status == "paused"
    assert audited(alice_tenant)[-2:] == [
        ("erase_user", "user", str(deleted.uuid)),
        ("move_source", "source", "oura"),
    ]


def test_the_jobs_run_again_without_harm(due, alice_tenant):
    inputs = [{"user_id": str(each)} for each in (due[0].uuid, due[1].uuid, uuid4())]
    for job, given in zip(
        (jobs.erase_due_user, jobs.pause_user_sources_after_ingestion),
        inputs,
        strict=False,
    ):
        job(tenant_pk=alice_tenant.pk, **given)
    before = stored_rows(alice_tenant)

    for given in inputs:
        jobs.erase_due_user(tenant_pk=alice_tenant.pk, **given)
        jobs.pause_user_sources_after_ingestion(tenant_pk=alice_tenant.pk, **given)

    assert stored_rows(alice_tenant) == before
