from __future__ import annotations

from collections import Counter
from datetime import timedelta

import orjson
import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.jobs import Status

from portal.lib.budgets import find_share, find_shares_by_queue
from portal.lib.jobs.jobs import enqueue_job, load_declared_jobs
from portal.lib.jobs.turns import TurnTaking
from tests.factories.accounts import make_tenant


class Worker:
    """A worker that takes jobs and ends them when it is said, without running them."""

    def __init__(self, places: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT worker_id FROM procrastinate_register_worker_v1()")
            (self.id,) = cursor.fetchone()
        self._turns = TurnTaking(DjangoConnector(), places)

    def take(self):
        return async_to_sync(self._turns.fetch_job)(queues=None, worker_id=self.id)

    def end(self, job):
        async_to_sync(self._turns.finish_job)(job, Status.SUCCEEDED, delete_job=False)


def whose(job):
    # Outside of a worker the library leaves arguments as text.
    return job and orjson.loads(job.task_kwargs).get("tenant_pk")


@pytest.fixture
def teams(db):
    load_declared_jobs()
    # Among teams never served yet the first is by this order.
    return sorted((make_tenant() for _ in range(3)), key=lambda each: str(each.pk))


def test_a_team_with_a_thousand_jobs_gets_every_other_turn(teams):
    loud, quiet, _ = teams
    for _ in range(1000):
        enqueue_job("users.pull", tenant=loud)
    first, second = (enqueue_job("users.pull", tenant=quiet) for _ in range(2))
    urgent = enqueue_job("users.pull", tenant=quiet, priority=1)
    worker = Worker(places=1)
    turns = []

    for _ in range(8):
        job = worker.take()
        turns.append(job)
        worker.end(job)

    assert [whose(job) for job in turns] == [
        *(loud.pk, quiet.pk) * 3,  # then the other has no more
        *(loud.pk,) * 2,
    ]
    # Of a team's own jobs the order is as it was.
    assert [job.id for job in turns if whose(job) == quiet.pk] == [
        *(urgent, first, second)
    ]


def test_a_team_takes_its_share_of_a_worker_and_the_rest_is_for_others(teams):
    loud, quiet, third = teams
    for _ in range(9):
        enqueue_job("users.import_file", tenant=loud)
    for _ in range(9):
        enqueue_job("reports.parse", tenant=loud)
    for _ in range(9):
        enqueue_job("users.pull", tenant=loud)
    worker, beside = Worker(places=4), Worker(places=4)

    taken = [worker.take() for _ in range(4)]

    # Two imports and no third, one more job, and the last place is for another team.
    assert [whose(job) for job in taken] == [loud.pk] * 3 + [None]
    assert Counter(job.queue for job in taken if job) == {"imports": 2, "parsing": 1}
    # Whose jobs run least comes first, wherever they run; the share is of each worker.
    enqueue_job("users.pull", tenant=quiet)
    enqueue_job("users.pull", tenant=quiet, after=timedelta(hours=1))
    enqueue_job("users.pull", tenant=third, lock="one")
    enqueue_job("users.pull", tenant=third, lock="one")
    assert {whose(beside.take()), whose(beside.take())} == {quiet.pk, third.pk}
    assert [whose(beside.take()) for _ in range(4)] == [*[loud.pk] * 3, None]
    # What a team's job ends is its place's end.
    worker.end(taken[0])
    assert whose(worker.take()) == loud.pk
    assert worker.take() is None


def test_jobs_of_no_team_keep_to_no_share_and_take_turns(teams):
    loud, *_ = teams
    for _ in range(3):
        enqueue_job("users.pull", tenant=loud)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_jobs (task_name, queue_name) SELECT"
            " 'portal.purge_answers', 'default' FROM generate_series(1, 3)"
        )
    worker = Worker(places=2)

    taken = [whose(worker.take()) for _ in range(5)]

    assert taken == [None, loud.pk, None, None, None]


def test_a_worker_packs_once_at_a_time_and_others_take_the_other_parts(teams):
    """Four packers in one worker would have all the places that others wait for."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_jobs (task_name, queue_name) SELECT"
            " 'users.pack_days_' || n, 'packing' FROM generate_series(0, 3) n"
        )
    worker, beside = Worker(places=3), Worker(places=3)

    taken = [worker.take(), worker.take(), beside.take(), beside.take()]
    worker.end(taken[0])
    taken.append(worker.take())

    assert [job and job.task_name for job in taken] == [
        *("users.pack_days_0", None),
        *("users.pack_days_1", None),
        "users.pack_days_2",
    ]


@pytest.mark.parametrize(
    ("places", "share", "heavy"), [(1, 1, 1), (2, 1, 1), (3, 2, 1), (6, 4, 3)]
)
def test_shares_leave_a_third_to_others(places, share, heavy):
    assert find_share(places) == share
    assert find_shares_by_queue(places) == {
        "imports": heavy,
        "parsing": heavy,
        "packing": 1,
    }
