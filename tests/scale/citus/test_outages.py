"""Servers of a cluster die or come while clients send: nothing lost, nothing half."""

from __future__ import annotations

import threading

import pytest
from django.db import OperationalError, connection, transaction

from tests.clients import ApiClient
from tests.factories.accounts import make_api_key
from tests.factories.users import make_user
from tests.portal.lib.worker_process import wait_until
from tests.scale.citus.traffic import BATCH, Traffic, count_stored, push_batch

# One for each shard at least, so that each worker has some.
USERS = 6
WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE application_name = 'dying' AND wait_event_type = {}
"""
PREPARED = "SELECT count(*) FROM pg_prepared_xacts"


@pytest.fixture
def traffic(cluster, alice_tenant):
    users = [make_user(tenant=alice_tenant) for _ in range(USERS)]
    made = Traffic(make_api_key(tenant=alice_tenant), users)
    yield made
    made.give_up()


def test_a_lost_worker_is_answered_with_503_and_takes_nothing_along(cluster, traffic):
    traffic.wait_for_more(200, 20)
    cluster.workers[0].kill()
    traffic.wait_for_more(503, 20)
    cluster.workers[0].start()
    traffic.wait_for_more(200, 40)
    traffic.stop()

    assert traffic.statuses.keys() == {200, 503}
    assert traffic.list_differences() == []


def test_a_new_worker_takes_its_part_while_clients_send(cluster, traffic):
    traffic.wait_for_more(200, 20)
    added = cluster.add_worker()
    with cluster.connect_as_superuser() as opened:
        opened.execute("SELECT citus_rebalance_start()")
        opened.execute("SELECT citus_rebalance_wait()")
        (moved,) = opened.execute(
            "SELECT count(*) FROM citus_shards WHERE nodeport = %s AND"
            " table_name = 'users_sample'::regclass",
            [added.port],
        ).fetchone()
    traffic.wait_for_more(200, 20)
    traffic.stop()

    assert moved > 0
    assert traffic.statuses.keys() == {200}
    assert traffic.list_differences() == []


def say(*statements):
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def commit_in_vain(change):
    """Make a change whose commit never returns, as the server dies."""
    try:
        with pytest.raises(OperationalError):
            transaction.atomic(change)()
    finally:
        connection.close()


class DyingPush:
    """A push in a session of its own, whose commit stops at a given point.

    Before its own commit: where it would announce something, as another session holds
    that lock. Behind it: where it waits for a standby that is not there.
    """

    def __init__(self, cluster, user, key):
        self.cluster, self.user, self.key = cluster, user, key

    def run(self, wait_event_type, *, is_waiting_for_standby):
        thread = threading.Thread(target=self._push, args=[is_waiting_for_standby])
        thread.start()
        with self.cluster.connect_as_superuser() as opened:
            statement = WAITING.format(f"'{wait_event_type}'")
            wait_until(lambda: opened.execute(statement).fetchone() == (1,))
        self.cluster.coordinator.kill()
        thread.join()
        self.cluster.coordinator.start()
        # Which of the prepared were to be committed the coordinator now says.
        for worker in self.cluster.workers:
            with worker.connect("postgres", self.cluster.database) as opened:
                wait_until(
                    lambda opened=opened: opened.execute(PREPARED).fetchone() == (0,)
                )
        return count_stored(self.user)

    def _push(self, is_waiting_for_standby):
        on = "on" if is_waiting_for_standby else "local"
        client = ApiClient(self.key)

        def push():
            say("SET application_name = dying", f"SET synchronous_commit = {on}")
            assert push_batch(client, self.user.uuid, 0) == 200
            say("NOTIFY dying")

        commit_in_vain(push)


@pytest.fixture
def dying(cluster, alice_tenant):
    """A push of a user, and a coordinator whose commits wait if they want to."""
    user = make_user(tenant=alice_tenant)
    push = DyingPush(cluster, user, make_api_key(tenant=alice_tenant))
    name = cluster.database
    with cluster.connect_as_superuser() as opened:
        opened.execute(f"ALTER DATABASE {name} SET synchronous_commit = local")
        opened.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    # All of its processes know it from the start; a reload reaches them one by one.
    cluster.coordinator.restart()
    yield push
    with cluster.connect_as_superuser() as opened:
        opened.execute("ALTER SYSTEM RESET synchronous_standby_names")
        opened.execute(f"ALTER DATABASE {name} RESET synchronous_commit")
    cluster.coordinator.restart()


@pytest.fixture
def announcing(cluster):
    """A session that holds the lock of announcements, and is not done with it."""

    def announce():
        say("SET application_name = announcing", "SET synchronous_commit = on")
        # What writes nothing beside an announcement waits for no standby.
        say("SELECT pg_logical_emit_message(true, 'announcing', '')", "NOTIFY dying")

    def start():
        thread.start()
        statement = WAITING.replace("dying", "announcing").format("'IPC'")
        with cluster.connect_as_superuser() as opened:
            wait_until(lambda: opened.execute(statement).fetchone() == (1,))

    thread = threading.Thread(target=commit_in_vain, args=[announce])
    yield start
    thread.join()


def test_a_coordinator_that_dies_before_its_commit_leaves_nothing(dying, announcing):
    announcing()

    assert dying.run("Lock", is_waiting_for_standby=False) == (0, 0)


def test_a_coordinator_that_dies_behind_its_commit_leaves_all(dying):
    assert dying.run("IPC", is_waiting_for_standby=True) == (BATCH, BATCH)
