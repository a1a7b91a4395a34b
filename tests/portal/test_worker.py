"""Workers as real processes: stopped, killed, replaced. What they did is counted."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from functools import partial

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.models import AuditEntry
from portal.lib.jobs.jobs import enqueue_job
from portal.management.commands import worker as command
from reports.models import ParsingJob, ReportResult
from reports.operations.jobs.submission import ReportPart, ReportRequest, submit_report
from tests.factories.accounts import ACTOR, make_tenant
from tests.factories.reports import make_pdf
from tests.factories.users import make_user
from tests.jobs import queued
from tests.outbox import emitted_types
from tests.portal.lib import counting
from tests.portal.lib.worker_process import (
    ForkedWorker,
    start_worker,
    wait_until,
    workers,
)


@pytest.fixture
def tenant(job_queue):
    counting.make_tables()
    yield make_tenant()
    counting.drop_tables()


def unfinished() -> int:
    return sum(entry.status in {"todo", "doing"} for entry in queued())


def has_started(number):
    return len(counting.starts()) >= number


def worker_count():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM procrastinate_workers")
        return cursor.fetchone()[0]


def test_several_workers_share_the_jobs_and_double_none(tenant):
    for number in range(60):
        enqueue_job("tests.count", tenant=tenant, number=number, seconds=0.01)

    with workers(3):
        wait_until(lambda: not unfinished())

    assert counting.counted() == list(range(60))
    assert counting.starts() == list(range(60))
    assert {(entry.status, entry.attempts) for entry in queued()} == {("succeeded", 1)}


def test_killed_workers_lose_no_job_and_double_none(tenant):
    for number in range(40):
        enqueue_job("tests.count", tenant=tenant, number=number, seconds=0.1)

    with workers(2, "--concurrency", "3") as running:
        for kill in range(4):
            goal = 8 * (kill + 1)
            wait_until(partial(has_started, goal))
            running[kill % 2].kill()
            running[kill % 2].wait()
            running[kill % 2] = ForkedWorker("--concurrency", "3")
        wait_until(lambda: not unfinished())

    runs = Counter(counting.starts())
    attempts = {entry.inputs["number"]: entry.attempts for entry in queued()}
    assert counting.counted() == list(range(40))
    assert {entry.status for entry in queued()} == {"succeeded"}
    assert max(attempts.values()) > 1  # a kill did hit running jobs
    # A job runs again only for a worker that died with it.
    assert all(runs[number] <= attempts[number] for number in range(40))


def test_a_report_survives_a_worker_killed_while_it_reads(tenant):
    user = make_user(tenant=tenant)
    request = ReportRequest(
        user_id=user.uuid, parts=(ReportPart(make_pdf(pages=25), "application/pdf"),)
    )
    job = submit_report(tenant=tenant, actor=ACTOR, request=request)

    def status():
        return ParsingJob.objects.for_tenant(tenant).get(id=job.id).status

    with workers(1) as running:
        wait_until(lambda: status() == "started")
        running[0].kill()
        running[0].wait()
        cut_short = status()
        running.append(ForkedWorker())
        wait_until(lambda: status() == "completed")
        wait_until(lambda: not unfinished())

    verbs = AuditEntry.objects.for_tenant(tenant).filter(subject="parsing_job")
    assert cut_short == "started"
    assert ReportResult.objects.for_tenant(tenant).count() == 4
    assert emitted_types(tenant) == [
        "lab_report.parsing_job.created",
        "lab_report.parsing_job.updated",
    ]
    assert list(verbs.order_by("id").values_list("verb", flat=True)) == [
        "submit_report",
        "start_parsing",
        "finish_parsing",
    ]


def test_a_job_whose_end_could_not_be_written_is_not_lost(tenant):
    enqueue_job("tests.count", tenant=tenant, number=1)
    enqueue_job("tests.count", tenant=tenant, number=2, seconds=3)

    with workers(1, FAIL_TO_FINISH="1"):
        wait_until(lambda: not unfinished())

    # The second, which takes long, is not mistaken for lost.
    assert counting.starts() == [1, 1, 2]
    assert [(entry.status, entry.attempts) for entry in queued()] == [
        ("succeeded", 2),
        ("succeeded", 1),
    ]


def test_workers_told_to_stop_finish_their_jobs(tenant):
    # Longer than a heartbeat may be late: stopping workers have to keep their pulse.
    for number in range(2):
        enqueue_job("tests.count", tenant=tenant, number=number, seconds=3)

    with workers(2, "--concurrency", "1") as running:
        wait_until(partial(has_started, 2))
        running.append(ForkedWorker())
        running[0].send_signal(signal.SIGTERM)
        running[1].send_signal(signal.SIGINT)
        codes = [worker.wait(30) for worker in running[:2]]

    assert codes == [0, 0]
    assert counting.counted() == counting.starts() == [0, 1]
    assert [entry.status for entry in queued()] == ["succeeded"] * 2


def test_a_second_signal_ends_a_worker_in_the_middle_of_a_job(tenant):
    enqueue_job("tests.count", tenant=tenant, number=1, seconds=4)

    with workers(1) as (worker,):
        wait_until(counting.starts)

        def is_gone() -> bool:
            worker.send_signal(signal.SIGTERM)
            return worker.poll() is not None

        wait_until(is_gone)

    assert worker.exitcode == 1
    assert [entry.status for entry in queued()] == ["doing"]


def test_a_worker_that_takes_too_long_to_stop_ends(tenant):
    enqueue_job("tests.count", tenant=tenant, number=1, seconds=4)

    with workers(1, STOP_SECONDS="0.2") as (worker,):
        wait_until(counting.starts)
        worker.send_signal(signal.SIGTERM)
        code = worker.wait(30)

    assert code == 1
    assert [entry.status for entry in queued()] == ["doing"]


def test_a_periodic_job_runs_once_for_all_workers(tenant):
    with workers(2, TICKS="1"):
        wait_until(lambda: len(counting.starts()) >= 3)

    seconds = [entry.inputs["timestamp"] for entry in queued()]
    assert len(seconds) == len(set(seconds))
    assert {entry.name for entry in queued()} == {"tests.tick"}


def test_a_worker_of_one_queue_leaves_the_others_and_signs_off_when_stopped(tenant):
    enqueue_job("tests.count", tenant=tenant, number=1)

    with workers(1, "--queues", "parsing") as idle:
        wait_until(worker_count)
        with workers(1) as other:
            wait_until(lambda: not unfinished())
            other[0].send_signal(signal.SIGTERM)
            other[0].wait(30)
        still_there = idle[0].poll() is None and worker_count() == 1
        idle[0].send_signal(signal.SIGTERM)
        code = idle[0].wait(30)

    assert still_there
    assert counting.counted() == [1]
    assert (code, worker_count()) == (0, 0)


@pytest.mark.django_db
def test_a_worker_that_failed_says_so(monkeypatch):
    items = []

    def lose(**options):
        items.append(options)
        return False

    monkeypatch.setattr(command, "run_worker", lose)

    with pytest.raises(CommandError):
        call_command("worker", "--concurrency", "3", "--queues", "parsing", "default")

    assert items == [{"concurrency": 3, "queues": ["parsing", "default"]}]


@pytest.mark.long
def test_a_worker_that_reaches_no_database_says_so_in_one_line_and_waits():
    worker = start_worker(
        DATABASE_URL="postgresql://nobody@127.0.0.1:1/nothing", stderr=subprocess.PIPE
    )
    said = worker.stderr.readline()
    worker.send_signal(signal.SIGTERM)
    _, more = worker.communicate(timeout=60)

    assert worker.returncode == 0
    assert b"the database is away" in said
    assert b"nobody" not in said
    assert more == b""


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_worker_needs_a_slot(number):
    with pytest.raises(CommandError):
        call_command("worker", "--concurrency", number)
