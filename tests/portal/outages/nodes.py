"""Web nodes, workers and a deliverer as processes that share the test's database.

A web node is what deploy/start makes of it; workers and deliverers are forks of the
test's own process, which has loaded everything already. Each tells PostgreSQL its name,
by which a test sees what it waits for.
"""

from __future__ import annotations

import asyncio
import http.client
import multiprocessing
import os
import signal
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, Protocol

from django.conf import settings
from django.db import connection, transaction

from accounts.webhooks.management.commands.deliver_webhooks import deliver
from portal.lib.jobs.jobs import run_worker
from tests import fence
from tests.jobs import forget_periodic_jobs
from tests.portal.lib.worker_process import shorten_pulse, surroundings, wait_until
from tests.private_server import HOST, free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# More than a start takes on a busy machine.
ANSWER_TIMEOUT_S = 90
STUCK = """
SELECT count(*) FROM pg_stat_activity
WHERE application_name = %s AND wait_event_type = 'Lock'
    AND datname = current_database()
"""


class Node(Protocol):
    """A process, with all that it started."""

    def kill(self) -> None:
        """kill -9; returns once it is gone."""


class StartedNode:
    """`deploy/start` of a part, in a session of its own.

    `log` gets what it writes to stderr.
    """

    def __init__(
        self,
        name: str,
        part: str,
        *options: str,
        log: IO[bytes] | None = None,
        **environment: str,
    ) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [Path(settings.BASE_DIR, "deploy/start"), part, *options],
            env={
                **surroundings(),
                "LOG_LEVEL": "CRITICAL",
                "PGAPPNAME": name,
                **environment,
            },
            stderr=log,
            start_new_session=True,
        )

    def kill(self) -> None:
        # Its workers would outlive it.
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class WebNode(StartedNode):
    """`deploy/start web` at a port of its own; `environment` replaces what is set."""

    def __init__(
        self, name: str, *, log: IO[bytes] | None = None, **environment: str
    ) -> None:
        self.port = free_port()
        super().__init__(
            name,
            "web",
            "--log-level",
            "error",
            log=log,
            **{
                "ALLOWED_HOSTS": HOST,
                "STATICFILES_COLLECTED": "false",
                "API_CALL_LOG_DAYS": "0",
                # A test holds requests for as long as it needs.
                "LOCK_TIMEOUT": str(ANSWER_TIMEOUT_S),
                "STATEMENT_TIMEOUT": str(ANSWER_TIMEOUT_S),
                "WEB_HOST": HOST,
                "WEB_PORT": str(self.port),
                "WEB_WORKERS": "1",
                **environment,
            },
        )

    def call(
        self, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """POST a body, or GET; status and body. Raises OSError, HTTPException."""
        with self.send(path, body, **headers) as client:
            reply = client.getresponse()
            return reply.status, reply.read()

    @contextmanager
    def send(
        self, path: str, body: bytes | None = None, **headers: str
    ) -> Iterator[http.client.HTTPConnection]:
        """Send a request; its answer is not read."""
        client = http.client.HTTPConnection(HOST, self.port, timeout=ANSWER_TIMEOUT_S)
        try:
            named = {name.replace("_", "-"): text for name, text in headers.items()}
            client.request("GET" if body is None else "POST", path, body, named)
            yield client
        finally:
            client.close()

    def answers(self) -> bool:
        with suppress(OSError, http.client.HTTPException):
            return self.call("/healthz")[0] == 200
        return False


class ForkedNode:
    """A worker or a deliverer."""

    def __init__(self, name: str, work: Callable[[], object]) -> None:
        self.name = name
        context = multiprocessing.get_context("fork")
        self.process = context.Process(target=self._run, args=(work,))
        self.process.start()

    def _run(self, work: Callable[[], object]) -> None:
        os.setsid()
        os.environ["PGAPPNAME"] = self.name
        connection.connection = None  # the test's own
        fence.use_production_fence()
        work()

    def kill(self) -> None:
        # With the processes that read reports.
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid or 0, signal.SIGKILL)
        self.process.kill()
        self.process.join()


def work_on_jobs() -> None:
    forget_periodic_jobs()
    shorten_pulse()
    run_worker(concurrency=2)


def deliver_webhooks() -> None:
    asyncio.run(deliver(until_idle=False))


class Nodes(NamedTuple):
    """All that runs; replacements take the places of the dead."""

    webs: list[WebNode]
    workers: list[ForkedNode]
    deliverers: list[ForkedNode]


@contextmanager
def running_nodes() -> Iterator[Nodes]:
    """Two web nodes, two workers and a deliverer; what is left of them is killed."""
    nodes = Nodes([], [], [])
    try:
        nodes.deliverers.append(ForkedNode("deliverer-0", deliver_webhooks))
        for number in range(2):
            nodes.workers.append(ForkedNode(f"worker-{number}", work_on_jobs))
            nodes.webs.append(WebNode(f"web-{number}"))
        for web in nodes.webs:
            wait_until(web.answers, seconds=ANSWER_TIMEOUT_S)
        yield nodes
    finally:
        for kind in nodes:
            for node in kind:
                node.kill()


@contextmanager
def held(table: str) -> Iterator[Callable[[str, int], None]]:
    """Let nobody write into a table; call it to wait until so many of a node want to.

    They wait in the middle of their transactions, until this ends.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table} IN SHARE MODE")

        def wait_for(name: str, number: int) -> None:
            def are_there() -> bool:
                cursor.execute("SELECT pg_stat_clear_snapshot()")
                cursor.execute(STUCK, [name])
                return bool(cursor.fetchone()[0] >= number)

            wait_until(are_there)

        yield wait_for
