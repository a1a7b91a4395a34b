"""A database that dies and comes back, under real web processes and workers."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import threading
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest
from django.conf import settings as django_settings
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache.backends.db import DatabaseCache
from django.db import OperationalError, connection, connections
from django.test import Client
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.contrib.django.utils import connector_params
from procrastinate.exceptions import ConnectorException
from psycopg import errors

from accounts.api import auth
from accounts.models import AuditEntry
from accounts.operations.api_keys.api_keys import clear_api_key_cache
from accounts.operations.audit import entries as audit
from accounts.webhooks.models import Event
from labs.models import Order
from portal.lib import idempotency
from portal.lib.database.outages import DatabaseAway, is_database_outage
from portal.lib.embedded.programs import ServerUnavailable
from portal.lib.idempotency import HEADER, IdempotentAnswer
from portal.lib.jobs.jobs import _BEAT, _RESCUE, enqueue_job
from portal.lib.jobs.worker_database import WorkerDatabase
from portal.lib.storage import list_stored_files
from reports.models import ReportFile
from tests.clients import ApiClient
from tests.factories.accounts import (
    ACTOR,
    make_api_key,
    make_member,
    make_team,
    make_tenant,
)
from tests.factories.labs import ADDRESS, PATIENT, make_lab_test
from tests.factories.users import make_user
from tests.factories.webhooks import make_endpoint
from tests.jobs import empty_queue, queued
from tests.portal.lib import counting
from tests.portal.lib.worker_process import start_worker, wait_until
from tests.portal.outages.nodes import ANSWER_TIMEOUT_S, WebNode
from tests.private_server import entered, make_private_server
from tests.reports.uploads import stored_files, upload
from users.models import ImportJob, User
from users.operations.imports.files import FOLDER as IMPORTS_FOLDER
from users.operations.imports.submission import ImportRequest, start_health_data_import

pytestmark = pytest.mark.long

AWAY = {"detail": "The database is not available. Try again shortly."}
AWAY["code"] = "unavailable"
LOST = "the database is away"
BACK = "the database is back"
OF_LISTENERS = (
    "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'"
)
LISTENS = f"SELECT count(*) > 0 {OF_LISTENERS}"
CUT_LISTENERS = f"SELECT bool_and(pg_terminate_backend(pid)) {OF_LISTENERS}"


@pytest.fixture(scope="module")
def running(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        made = make_private_server()
    yield made
    made.remove()


@pytest.fixture
def server(running, transactional_db):
    """A server with the schema, which this process's connection uses too."""
    with entered(running):
        connection.ensure_connection()
        yield running
        if not running._answers():
            running.start()


@contextmanager
def web_node(**environment):
    # Connections are kept, as in production.
    key = django_settings.SECRET_KEY  # which signs the session
    node = WebNode("web-outage", CONN_MAX_AGE="", SECRET_KEY=key, **environment)
    try:
        wait_until(node.answers, seconds=ANSWER_TIMEOUT_S)
        yield node
    finally:
        node.kill()


class Visitor:
    """Someone with an API key, and somebody who is signed in."""

    def __init__(self, node):
        team = make_team()
        self.tenant = make_tenant(team=team)
        self.key = make_api_key(tenant=self.tenant)
        client = Client()
        client.force_login(make_member(team=team, email="alice@assay.example"))
        name = django_settings.SESSION_COOKIE_NAME
        self.cookie = f"{name}={client.cookies[name].value}"
        self.page = f"/t/{team.slug}/sandbox/users/"
        self.node = node

    def ask(self, path, body=None, **headers):
        """Status, Retry-After and body, over a connection of its own."""
        fields = {"x_service_api_key": self.key, **headers}
        if not path.startswith("/v2"):
            fields = {"cookie": self.cookie}
        with self.node.send(path, body, **fields) as client:
            reply = client.getresponse()
            return reply.status, reply.headers.get("Retry-After"), reply.read()

    def create(self, name, key=None):
        body = json.dumps({"client_user_id": name}).encode()
        named = {"content_type": "application/json"}
        if key:
            named["x_idempotency_key"] = key
        return self.ask("/v2/user", body, **named)

    def statuses(self):
        return [self.ask(path)[0] for path in ("/v2/user", self.page)]


@pytest.mark.timeout(300)
def test_a_dead_database_is_503_and_the_first_request_after_its_return_200(server):
    with web_node() as node:
        visitor = Visitor(node)
        before = visitor.statuses()
        server.kill()
        away = [visitor.ask(path) for path in ("/v2/user", visitor.page) * 2]
        refused = visitor.create("mbr_1")
        ready, alive = node.call("/readyz"), node.call("/healthz")
        server.start()
        after = visitor.statuses()
        server.stop()
        server.start()
        again = visitor.statuses()

    assert (before, after, again) == ([200, 200],) * 3
    assert [(status, wait) for status, wait, _ in away] == [(503, "5")] * 4
    assert [json.loads(away[place][2]) for place in (0, 2)] == [AWAY] * 2
    assert b"The database is not available." in away[1][2]
    assert (refused[0], json.loads(refused[2])) == (503, AWAY)
    assert (ready[0], json.loads(ready[1])["failed"]) == (503, ["database"])
    assert alive[0] == 200
    assert not User.objects.for_tenant(visitor.tenant).exists()


def end_session(other):
    """End the server process of this thread's connection, over another one."""
    pid = connection.connection.info.backend_pid
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        assert cursor.fetchone() == (True,)


@pytest.fixture
def other(transactional_db):
    """Another connection to the test's database."""
    made = connections.create_connection("default")
    made.settings_dict = connection.settings_dict
    yield made
    made.close()


class Scene(NamedTuple):
    """Somebody with a key, who orders for a user, and a second connection."""

    api: ApiClient
    tenant: Any
    body: dict[str, Any]
    other: Any
    entries: int

    def order(self, key="k"):
        return self.api.post("/v3/order", self.body, headers={HEADER: key})


@pytest.fixture
def scene(other):
    tenant = make_tenant()
    user, panel = make_user(tenant=tenant), make_lab_test(tenant=tenant)
    make_endpoint(tenant=tenant)
    client = ApiClient(make_api_key(tenant=tenant))
    client.raise_request_exception = False
    body = {
        "user_id": str(user.uuid),
        "order_set": {"lab_test_ids": [str(panel.pk)]},
        "patient_details": PATIENT,
        "patient_address": ADDRESS,
    }
    empty_queue()
    yield Scene(client, tenant, body, other, AuditEntry.unscoped.count())
    empty_queue()


@contextmanager
def lost_before(owner, name, other):
    """End the session just before the first call of this; what it wraps is real."""
    kept = getattr(owner, name)
    ended = []

    def lose(*given, **named):
        if not ended:
            ended.append(end_session(other))
        return kept(*given, **named)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(owner, name, lose)
        yield
    assert len(ended) == 1, "it was not called"


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (connection, "_commit"),
        (audit, "Jsonb"),  # what follows is psycopg's own cursor
        (Order, "save"),
    ],
    ids=["at the commit", "at a raw statement", "at a statement of Django"],
)
def test_a_session_lost_in_an_order_is_503_and_nothing_is_kept_or_emitted(
    scene, owner, name
):
    with lost_before(owner, name, scene.other):
        reply = scene.order()

    assert (reply.status_code, reply["Retry-After"], reply.json()) == (503, "5", AWAY)
    connection.close()
    assert Order.unscoped.count() == Event.unscoped.count() == 0
    assert queued() == []
    assert AuditEntry.unscoped.count() == scene.entries
    # The claim of the key was given up over a new connection.
    assert IdempotentAnswer.unscoped.count() == 0
    assert scene.order().status_code == 200
    assert Order.unscoped.count() == 1


def test_a_session_lost_while_a_job_is_enqueued_is_503(scene):
    path = f"/v3/order/{scene.order().json()['order']['id']}/test?delay=1"
    entries, waiting = AuditEntry.unscoped.count(), queued()

    with lost_before(DjangoConnector, "_wrap_json", scene.other):
        reply = scene.api.post(path)

    assert (reply.status_code, reply["Retry-After"], reply.json()) == (503, "5", AWAY)
    connection.close()
    assert queued() == waiting
    assert AuditEntry.unscoped.count() == entries
    assert scene.api.post(path).status_code == 200
    assert len(queued()) == len(waiting) + 1


@contextmanager
def unconfirmed_commit():
    """Let the next commit be made, and its confirmation be lost."""
    commit, made = connection._commit, []

    def lose():
        commit()
        if not made:
            made.append(True)
            connection.connection.close()
            commit()  # which fails now

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(connection, "_commit", lose)
        yield
    assert made


def test_an_upload_whose_commit_was_not_confirmed_keeps_its_file(scene):
    user = make_user(tenant=scene.tenant)

    with unconfirmed_commit():
        reply = upload(scene.api, user=user)

    assert (reply.status_code, reply["Retry-After"], reply.json()) == (503, "5", AWAY)
    (file,) = ReportFile.unscoped.all()
    assert [path.name for path in stored_files()] == [Path(file.stored_as).name]
    assert [entry.name for entry in queued()] == ["reports.parse"]


def test_an_import_whose_commit_was_not_confirmed_keeps_its_file(scene):
    user = make_user(tenant=scene.tenant)
    line = b'{"resource": "heartrate", "timestamp": "2026-03-01T10:00Z", "value": 60}'

    with unconfirmed_commit(), pytest.raises(OperationalError):
        start_health_data_import(
            user=user, actor=ACTOR, request=ImportRequest("beats.ndjson", [line])
        )

    (job,) = ImportJob.unscoped.all()
    assert [file.name for file in list_stored_files(IMPORTS_FOLDER)] == [job.stored_as]


def test_a_session_lost_after_the_commit_answers_what_was_done(scene):
    with lost_before(idempotency, "_give_up", scene.other):
        reply = scene.order()

    assert reply.status_code == 200
    connection.close()
    assert Order.unscoped.count() == 1
    assert scene.order().content == reply.content
    assert Order.unscoped.count() == 1


@pytest.mark.parametrize(
    ("owner", "name", "path"),
    [
        (auth, "find_api_key_grant", "/v2/user"),
        (SessionStore, "load", "/"),
        (DatabaseCache, "add", "/accounts/login/"),
    ],
    ids=["key", "session", "cache"],
)
def test_a_kept_connection_that_breaks_before_the_first_query_is_503(
    scene, owner, name, path
):
    web = Client(raise_request_exception=False)
    clear_api_key_cache()
    if path.startswith("/v2"):
        ask = partial(scene.api.get, path)
    elif name == "load":
        web.cookies[django_settings.SESSION_COOKIE_NAME] = "a" * 32
        ask = partial(web.get, path)
    else:
        ask = partial(web.post, path, {"login": "x@assay.example", "password": "x"})
    connection.ensure_connection()

    with lost_before(owner, name, scene.other):
        reply = ask()

    assert (reply.status_code, reply["Retry-After"]) == (503, "5")
    connection.close()
    assert ask().status_code in {200, 302}


@pytest.mark.usefixtures("_one_connection")
def test_a_connection_that_died_while_idle_is_replaced_before_it_is_used(scene):
    assert scene.api.get("/v2/user").status_code == 200
    end_session(scene.other)
    clear_api_key_cache()

    assert [scene.api.get("/v2/user").status_code for _ in range(2)] == [200, 200]


def caused(error, cause):
    """An error raised from another."""
    try:
        raise error from cause
    except type(error) as raised:
        return raised


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (psycopg.OperationalError("connection refused"), True),
        (errors.AdminShutdown(), True),
        (errors.CrashShutdown(), True),
        (errors.CannotConnectNow(), True),
        (errors.TooManyConnections(), True),
        (errors.ConnectionFailure(), True),
        (DatabaseAway("the tenant can't be set"), True),
        (ServerUnavailable("it does not start"), True),
        (caused(OperationalError(), errors.AdminShutdown()), True),
        (caused(ConnectorException(), psycopg.OperationalError()), True),
        (
            caused(
                LookupError(), caused(OperationalError(), errors.IdleSessionTimeout())
            ),
            True,
        ),
        (errors.InternalError_("server closed the connection unexpectedly"), True),
        (errors.InternalError_("cache lookup failed for relation 1"), False),
        (errors.QueryCanceled(), False),
        (errors.DeadlockDetected(), False),
        (errors.DiskFull(), False),
        (errors.UniqueViolation(), False),
        (caused(ConnectorException(), errors.ForeignKeyViolation()), False),
        (OperationalError(), False),
        (LookupError(), False),
        (None, False),
    ],
    ids=lambda part: type(part).__name__ if not isinstance(part, bool) else None,
)
def test_what_counts_as_a_database_that_is_away(error, is_one):
    assert is_database_outage(error) is is_one


class LoggedWorker:
    """A worker as a process of its own, whose log lines are kept."""

    def __init__(self):
        self.process = start_worker(stderr=subprocess.PIPE)
        self.lines = []
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.decode())

    def has_said(self, words):
        return any(words in line for line in self.lines)

    def stop(self):
        """SIGTERM; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def end(self):
        self.process.kill()
        self.process.wait()
        self._reading.join()
        self.process.stderr.close()


@contextmanager
def logged_worker():
    worker = LoggedWorker()
    try:
        yield worker
    finally:
        worker.end()


@pytest.fixture
def job_tenant(server):
    empty_queue()
    counting.make_tables()
    yield make_tenant()
    connection.close()
    counting.drop_tables()


def unfinished():
    return sum(entry.status in {"todo", "doing"} for entry in queued())


def test_a_worker_outlives_its_database_and_does_each_job_once(
    server, job_tenant, tmp_path
):
    release = tmp_path / "release"
    enqueue_job("tests.hold", tenant=job_tenant, number=0, until=str(release))
    for number in range(1, 30):
        enqueue_job("tests.count", tenant=job_tenant, number=number, seconds=0.05)

    with logged_worker() as worker:
        wait_until(lambda: len(counting.starts()) >= 8)
        server.kill()
        wait_until(lambda: worker.has_said(LOST))
        release.touch()  # it ends while its end can't be written
        server.start()
        wait_until(lambda: not unfinished())
        for number in range(30, 35):
            enqueue_job("tests.count", tenant=job_tenant, number=number)
        wait_until(lambda: not unfinished())
        code = worker.stop()

    runs = Counter(counting.starts())
    attempts = {entry.inputs["number"]: entry.attempts for entry in queued()}
    assert counting.counted() == list(range(1, 35))
    assert {entry.status for entry in queued()} == {"succeeded"}
    assert runs[0] == attempts[0] == 1
    # Only the one job whose own statement the outage met ran again.
    assert sum(number > 1 for number in attempts.values()) <= 1
    assert all(runs[number] <= attempts[number] for number in attempts)
    assert code == 0
    own = [line for line in worker.lines if "portal.lib.jobs.jobs" in line]
    assert sum(LOST in line for line in own) == sum(BACK in line for line in own) == 1
    assert not worker.has_said("Traceback")


def test_a_worker_that_waits_for_its_database_ends_at_once_when_told(
    server, job_tenant
):
    with logged_worker() as worker:
        enqueue_job("tests.count", tenant=job_tenant, number=1)
        wait_until(lambda: not unfinished())
        server.kill()
        wait_until(lambda: worker.has_said(LOST))
        code = worker.stop()
        server.start()

    assert (code, worker.has_said("Traceback")) == (0, False)


def test_a_worker_may_start_before_its_database(server, job_tenant):
    enqueue_job("tests.count", tenant=job_tenant, number=1)
    server.stop()

    with logged_worker() as worker:
        wait_until(lambda: worker.has_said(LOST))
        server.start()
        wait_until(lambda: not unfinished())
        code = worker.stop()

    assert (code, counting.counted()) == (0, [1])
    assert sum(BACK in line for line in worker.lines) == 1


@pytest.mark.django_db
def test_a_worker_that_was_removed_for_dead_takes_its_place_again():
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id")
        (worker,) = cursor.fetchone()
        cursor.execute(
            "INSERT INTO procrastinate_jobs (task_name, queue_name, status, worker_id)"
            " VALUES ('tests.count', 'default', 'doing', %s) RETURNING id",
            [worker],
        )
        (held,) = cursor.fetchone()
        cursor.execute("DELETE FROM procrastinate_workers")
        cursor.execute(_BEAT, {"worker_id": worker, "running": [held]})
        cursor.execute("SELECT id, worker_id, status::text FROM procrastinate_jobs")

        assert cursor.fetchall() == [(held, worker, "doing")]
        cursor.execute("SELECT id FROM procrastinate_workers")
        assert cursor.fetchall() == [(worker,)]


@pytest.mark.parametrize(
    ("of_others", "timeout", "status"),
    # A server that has run for less than the timeout was away for all workers.
    [(True, 0.0, "todo"), (False, 0.0, "doing"), (True, 1e9, "doing")],
)
@pytest.mark.django_db
def test_jobs_of_others_are_left_alone_just_after_an_outage(of_others, timeout, status):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO procrastinate_jobs (task_name, queue_name, status)"
            " VALUES ('tests.count', 'default', 'doing')"
        )
        cursor.execute(
            _RESCUE, {"lost": [], "of_others": of_others, "timeout": timeout}
        )
        cursor.execute("SELECT status::text FROM procrastinate_jobs")

        assert cursor.fetchall() == [(status,)]


class WatchedDatabase(WorkerDatabase):
    """Counts how often it was asked for a pool that it had not."""

    missed = 0

    @property
    def pool(self):
        self.missed += self._async_pool is None
        return super().pool


async def until(condition):
    async with asyncio.timeout(20):
        while not await condition():
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("transactional_db")
def test_a_listener_that_is_cut_off_while_the_pool_is_made_anew_goes_on():
    items = []
    connection.ensure_connection()

    async def hear(**notification):
        items.append(notification)

    async def scenario():
        reachable = asyncio.Event()
        reachable.set()

        async def revive(_opened):
            await reachable.wait()

        database = WatchedDatabase(connector_params(), revive=revive)
        other = await psycopg.AsyncConnection.connect(
            **connector_params(), autocommit=True
        )
        await database.open_async()
        pool = database._async_pool
        listening = asyncio.create_task(database.listen_notify(hear, ["outages"]))

        async def listens():
            return (await (await other.execute(LISTENS)).fetchone())[0]

        async def meet_outage():
            if database._async_pool is pool:
                raise psycopg.OperationalError

        async def has_missed():
            return database.missed or listening.done()

        async def has_heard():
            await other.execute("NOTIFY outages, 'back'")
            return items or listening.done()

        await until(listens)
        reachable.clear()
        noticing = asyncio.create_task(database._retry_while_away(meet_outage))
        await other.execute(CUT_LISTENERS)
        await until(has_missed)
        reachable.set()
        await noticing
        await until(has_heard)
        while not listening.done():  # a cancellation meets a message, and is lost
            listening.cancel()
            await asyncio.sleep(0.01)
        await database.close_async()
        await other.close()

    asyncio.run(scenario())

    assert items[0] == {"channel": "outages", "payload": "back"}
