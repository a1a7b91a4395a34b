"""An installation as real processes, each kind of which can be killed at its work.

Two web nodes with two processes each, two workers, a deliverer and a database of its
own.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from django.db import connection

from accounts.webhooks.queries.deliverers import DELIVERER_NAME
from tests.bench.stage import processes_below
from tests.portal.outages.nodes import StartedNode, WebNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.accounts.webhooks.delivery.storms import StormReceiver
    from tests.attacks.careful_clients import Traffic
    from tests.private_server import PrivateServer

WEB_PROCESSES = 2
READY_TIMEOUT_S = 90
MOMENT_TIMEOUT_S = 20
POLL_S = 0.003
# Tests hold requests for as long as they like; here production's own bounds count.
WEB = {
    "API_CALL_LOG_DAYS": "",
    "LOCK_TIMEOUT": "",
    "STATEMENT_TIMEOUT": "",
    "WEB_WORKERS": str(WEB_PROCESSES),
}
CONNECTED = """
SELECT count(*) FROM pg_stat_activity
WHERE application_name = %s AND datname = current_database()
"""
# In a transaction that has written something.
WRITING = f"{CONNECTED} AND backend_xid IS NOT NULL"


class Installation:
    """Starts all parts; `kill` kills one of a kind and starts another in its place."""

    def __init__(
        self,
        database: PrivateServer,
        receivers: Sequence[StormReceiver],
        traffic: Traffic,
        log: IO[bytes],
    ) -> None:
        self.database = database
        self.receivers = receivers
        self.traffic = traffic
        self.exits: Counter[str] = Counter()
        self.faults: list[str] = []
        self._options = {
            "log": log,
            "CONN_MAX_AGE": "",
            "SECRET_KEY": os.environ["SECRET_KEY"],
            "WEBHOOK_LOCAL_HOSTS": os.environ["WEBHOOK_LOCAL_HOSTS"],
        }
        self.webs = [WebNode(f"web-{n}", **WEB, **self._options) for n in range(2)]
        self.workers = [self._start(f"worker-{n}", "worker") for n in range(2)]
        self.deliverers = [self._start("deliverer-0", "deliverer")]
        self.kinds: dict[str, Callable[[random.Random], bool]] = {
            "web node": self._kill_web,
            "web process": self._kill_web_process,
            "worker": self._kill_worker,
            "deliverer": self._kill_deliverer,
            "database": self._kill_database,
        }

    def kill(self, kind: str, dice: random.Random) -> bool:
        """Kill one in the middle of its work; whether it was seen to be so."""
        return self.kinds[kind](dice)

    def end(self) -> None:
        for node in [*self.webs, *self.workers, *self.deliverers]:
            node.kill()

    def replace_ended(self) -> None:
        """Start again what ended by itself, as systemd would, and keep count."""
        for nodes in (self.workers, self.deliverers):
            for place, node in enumerate(nodes):
                if node.process.poll() is not None:
                    self.exits[f"{node.name}, code {node.process.returncode}"] += 1
                    part = node.name.partition("-")[0]
                    nodes[place] = self._start(node.name, part)
        for place, web in enumerate(self.webs):
            if web.process.poll() is not None:
                self.faults.append(f"{web.name} ended by itself")
                self._start_web(place)

    def wait_until_ready(self, nodes: Sequence[StartedNode] = ()) -> None:
        """Wait until these, by default all, take work."""
        for node in nodes or [*self.webs, *self.workers, *self.deliverers]:
            if not self.poll(lambda node=node: self._is_ready(node), READY_TIMEOUT_S):
                raise AssertionError(f"{node.name} does not start")

    def poll(self, condition: Callable[[], object], seconds: float) -> bool:
        """Whether it came true in time; what ended meanwhile is started again."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            self.replace_ended()
            time.sleep(POLL_S)
        return True

    def _is_ready(self, node: StartedNode) -> bool:
        if isinstance(node, WebNode):
            return len(_web_processes(node)) == WEB_PROCESSES and node.answers()
        is_deliverer = node.name.startswith("deliverer")
        return _count(CONNECTED, DELIVERER_NAME if is_deliverer else node.name) > 0

    def _kill_web(self, dice: random.Random) -> bool:
        place = dice.randrange(len(self.webs))
        was_at_work = self._meet(self.webs[place])
        self.traffic.note_kill("web node")
        self.webs[place].kill()
        self._start_web(place)
        return was_at_work

    def _kill_web_process(self, dice: random.Random) -> bool:
        """The node itself has to start another."""
        web = self.webs[dice.randrange(len(self.webs))]
        was_at_work = self._meet(web)
        killed = dice.choice(_web_processes(web))
        self.traffic.note_kill("web process")
        os.kill(killed, signal.SIGKILL)

        def is_replaced() -> bool:
            found = _web_processes(web)
            return killed not in found and len(found) == WEB_PROCESSES

        if not self.poll(is_replaced, READY_TIMEOUT_S):
            self.faults.append(f"{web.name} has started no process for a dead one")
        return was_at_work

    def _kill_worker(self, dice: random.Random) -> bool:
        place = dice.randrange(len(self.workers))
        was_at_work = self._meet(self.workers[place])
        self.traffic.note_kill("worker")
        self.workers[place].kill()
        self.workers[place] = self._start(self.workers[place].name, "worker")
        return was_at_work

    def _kill_deliverer(self, _: random.Random) -> bool:
        self.wait_until_ready(self.deliverers)
        with self._held_answers():
            seen = self._receipts()
            was_at_work = self.poll(lambda: self._receipts() > seen, MOMENT_TIMEOUT_S)
            self.traffic.note_kill("deliverer")
            self.deliverers[0].kill()
        self.deliverers[0] = self._start(self.deliverers[0].name, "deliverer")
        return was_at_work

    def _kill_database(self, _: random.Random) -> bool:
        self.wait_until_ready(self.webs[:1])
        was_at_work = self.poll(
            lambda: any(_count(WRITING, web.name) for web in self.webs),
            MOMENT_TIMEOUT_S,
        )
        connection.close()
        self.traffic.note_kill("database")
        self.database.restart()
        return was_at_work

    def _meet(self, node: StartedNode) -> bool:
        """Wait until it is in the middle of a transaction, a web node of a request."""
        self.wait_until_ready([node])
        is_web = isinstance(node, WebNode)
        return self.poll(
            lambda: (
                _count(WRITING, node.name)
                and (not is_web or self.traffic.under_way[node.name])
            ),
            MOMENT_TIMEOUT_S,
        )

    @contextmanager
    def _held_answers(self) -> Iterator[None]:
        for receiver in self.receivers:
            receiver.hold_answers()
        try:
            yield
        finally:
            for receiver in self.receivers:
                receiver.answer_again()

    def _receipts(self) -> int:
        return sum(receiver.receipts.total() for receiver in self.receivers)

    def _start(self, name: str, part: str) -> StartedNode:
        return StartedNode(name, part, **self._options)

    def _start_web(self, place: int) -> None:
        self.webs[place] = WebNode(self.webs[place].name, **WEB, **self._options)


def _web_processes(web: WebNode) -> list[int]:
    """Those that answer, not the one that starts them or what else it needs."""
    found = []
    for pid in processes_below(web.process.pid)[1:]:
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in command:
            found.append(pid)
    return found


def _count(query: str, name: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query, [name])
        return cursor.fetchone()[0]
