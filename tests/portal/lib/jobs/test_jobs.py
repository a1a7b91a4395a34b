from __future__ import annotations

import ast
import logging
from importlib import import_module

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from procrastinate.contrib.django import app, procrastinate_app

from portal.lib.errors import Unavailable
from portal.lib.jobs.jobs import (
    ATTEMPTS,
    JobFailed,
    delete_finished_jobs,
    enqueue_job,
    load_declared_jobs,
    periodic_job,
    tenant_job,
)
from tests.architecture.source import modules
from tests.factories.accounts import make_tenant
from tests.jobs import make_all_due, periodic_jobs, queued
from tests.portal.lib import counting


@pytest.fixture
def tables(job_queue):
    counting.make_tables()
    counting.given_up.clear()
    counting.giving_up_raises.clear()
    yield
    counting.drop_tables()


@pytest.fixture
def tenant(tables):
    return make_tenant()


@pytest.fixture
def own_jobs(monkeypatch):
    """Jobs declared in this test are unknown after it."""
    library = procrastinate_app.current_app
    declared = dict(periodic_jobs())
    monkeypatch.setattr(library, "tasks", dict(library.tasks))
    monkeypatch.setattr(library.periodic_registry, "periodic_tasks", declared)


def statuses() -> list[tuple[str, str, int]]:
    return [(entry.name, entry.status, entry.attempts) for entry in queued()]


def test_a_job_runs_for_its_tenant_with_its_inputs(tenant, run_jobs):
    enqueue_job("tests.count", tenant=tenant, number=7)

    run_jobs()

    assert counting.counted() == [7]
    assert statuses() == [("tests.count", "succeeded", 1)]


def test_a_job_acts_for_its_tenant(tenant, run_jobs, own_jobs):
    seen = []

    @tenant_job("tests.look")
    def look(*, tenant_pk):
        seen.append((tenant_pk, acting_tenant()))

    enqueue_job("tests.look", tenant=tenant)

    run_jobs()

    assert seen == [(tenant.pk, str(tenant.pk))]


def acting_tenant():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('assay.tenant')")
        return cursor.fetchone()[0]


def test_a_job_of_a_transaction_that_is_rolled_back_never_runs(tenant, run_jobs):
    with transaction.atomic():
        enqueue_job("tests.count", tenant=tenant, number=1)
        transaction.set_rollback(True)

    run_jobs()

    assert statuses() == []
    assert counting.starts() == []


def test_a_job_enqueued_by_a_job_that_is_rolled_back_never_runs(tenant, run_jobs):
    enqueue_job("tests.enqueue_and_fail", tenant=tenant)

    run_jobs()

    assert statuses() == [("tests.enqueue_and_fail", "todo", 1)]
    assert counting.starts() == []


def test_a_job_enqueued_by_a_job_runs(tenant, run_jobs):
    enqueue_job("tests.enqueue_another", tenant=tenant)

    run_jobs()

    assert counting.counted() == [2]


def test_an_unknown_job_is_refused_at_once(tenant):
    with pytest.raises(KeyError):
        enqueue_job("tests.unheard_of", tenant=tenant)

    assert queued() == []


def enqueued_names() -> set[str]:
    """The first input of every call of enqueue in our code, constants looked up."""
    names = set()
    for path, tree in modules(word="enqueue_job"):
        for node in ast.walk(tree):
            match node:
                case ast.Call(
                    func=ast.Name("enqueue_job") | ast.Attribute(attr="enqueue_job"),
                    args=[ast.Constant(str(name)), *_],
                ):
                    names.add(name)
                case ast.Call(
                    func=ast.Name("enqueue_job") | ast.Attribute(attr="enqueue_job"),
                    args=[ast.Name(name), *_],
                ):
                    module = path.removesuffix(".py").replace("/", ".")
                    names.add(getattr(import_module(module), name))
                case ast.Call(
                    func=ast.Name("enqueue_job") | ast.Attribute(attr="enqueue_job")
                ):
                    raise AssertionError(f"{path}: which job is enqueued?")
    return names


def test_every_job_that_is_enqueued_is_declared():
    names = enqueued_names()

    load_declared_jobs()
    assert "reports.parse" in names
    assert names <= set(app.tasks)


def test_every_periodic_job_runs_one_at_a_time():
    declared = periodic_jobs().values()

    assert {entry.task.name for entry in declared} >= {
        "portal.remove_finished_jobs",
        "portal.purge_answers",
        "reports.sweep_orphan_files",
    }
    for entry in declared:
        assert entry.task.lock == entry.task.name
        assert entry.task.queueing_lock is None


def test_a_failing_job_waits_longer_each_time(tenant, run_jobs):
    enqueue_job("tests.fail", tenant=tenant, number=3)
    waits = []

    for _ in range(ATTEMPTS - 1):
        make_all_due()
        run_jobs()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT extract(epoch FROM scheduled_at - now())"
                " FROM procrastinate_jobs"
            )
            waits.append(float(cursor.fetchone()[0]))

    for wait, longest in zip(waits, (2, 4, 8, 16), strict=True):
        assert longest / 2 < wait <= longest
    assert counting.given_up == []


def full():
    raise OperationalError from psycopg.errors.DiskFull()


def away():
    raise Unavailable("storage_unavailable", "Away.")


@pytest.mark.parametrize("fail", [away, full])
def test_a_job_is_put_off_until_what_it_needs_is_back(tenant, run_jobs, own_jobs, fail):
    runs = []

    @tenant_job("tests.reach", queue="parsing", on_give_up=counting.give_up)
    def reach(*, tenant_pk, number):
        runs.append(number)
        if len(runs) < ATTEMPTS + 2:
            fail()

    enqueue_job("tests.reach", tenant=tenant, lock="one", number=7)
    for _ in range(ATTEMPTS + 2):
        run_jobs()
        make_all_due()

    assert runs == [7] * (ATTEMPTS + 2)
    assert {
        (entry.queue, entry.lock, entry.status, entry.attempts) for entry in queued()
    } == {("parsing", "one", "succeeded", 1)}
    assert counting.given_up == []


def test_a_job_that_keeps_failing_is_given_up_once(tenant, run_jobs):
    enqueue_job("tests.fail", tenant=tenant, number=3)

    for _ in range(ATTEMPTS + 2):
        make_all_due()
        run_jobs()

    assert counting.starts() == [3] * ATTEMPTS
    assert counting.given_up == [3]
    assert statuses() == [("tests.fail", "failed", ATTEMPTS)]


def test_giving_up_is_repeated_until_it_succeeds(tenant, run_jobs):
    counting.giving_up_raises[:] = [LookupError("Rosa Beispiel"), LookupError()]
    enqueue_job("tests.fail", tenant=tenant, number=3)

    for _ in range(ATTEMPTS + 2):
        make_all_due()
        run_jobs()

    assert counting.starts() == [3] * ATTEMPTS
    assert counting.given_up == [3]
    assert statuses() == [("tests.fail", "failed", ATTEMPTS + 2)]


def test_a_job_whose_workers_always_die_is_given_up_unrun(tenant, run_jobs):
    enqueue_job("tests.fail", tenant=tenant, number=3)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE procrastinate_jobs SET attempts = %s", [ATTEMPTS])

    run_jobs()

    assert counting.starts() == []
    assert counting.given_up == [3]


def test_a_failure_says_where_and_nothing_of_what_the_code_had_in_hand(
    tenant, run_jobs, caplog
):
    enqueue_job("tests.fail", tenant=tenant, number=3)

    with caplog.at_level(logging.DEBUG):
        for _ in range(ATTEMPTS):
            make_all_due()
            run_jobs()

    assert "tests.fail: LookupError at fail:" in caplog.text
    assert "Beispiel" not in caplog.text


def test_jobs_of_one_lock_run_one_after_the_other(tenant, run_jobs, own_jobs):
    at_once, most = [], []

    @tenant_job("tests.overlap")
    def overlap(*, tenant_pk):
        at_once.append(1)
        most.append(len(at_once))
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.05)")
        at_once.pop()

    for _ in range(4):
        enqueue_job("tests.overlap", tenant=tenant, lock="subject")

    while any(entry.status == "todo" for entry in queued()):
        run_jobs(concurrency=4)

    assert most == [1, 1, 1, 1]


def test_a_periodic_job_runs_over_all_tenants(db, own_jobs):
    seen = []

    @periodic_job("0 0 1 1 *", "tests.yearly")
    def yearly():
        seen.append(acting_tenant())

    app.tasks["tests.yearly"].func(timestamp=0)

    assert seen == ["*"]


def test_a_periodic_job_that_fails_says_where_alone(db, own_jobs):
    @periodic_job("0 0 1 1 *", "tests.broken")
    def broken():
        raise LookupError("Rosa Beispiel")

    with pytest.raises(JobFailed, match=r"tests\.broken: LookupError") as failure:
        app.tasks["tests.broken"].func(timestamp=0)

    assert "Beispiel" not in str(failure.value)


def test_jobs_that_ended_a_week_ago_are_forgotten(tenant, run_jobs):
    for number in (1, 2):
        enqueue_job("tests.count", tenant=tenant, number=number)
    run_jobs()
    enqueue_job("tests.count", tenant=tenant, number=3)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE procrastinate_events SET at = at - interval '8 days'"
            " WHERE job_id <> 2"
        )

    delete_finished_jobs()

    assert [(entry.inputs["number"], entry.status) for entry in queued()] == [
        (2, "succeeded"),
        (3, "todo"),
    ]
