"""A laboratory behind an integration engine that others wrote, which may be killed.

The engine is MessageFoundry, a program of its own that `--engine` names (tried with
0.2.1; its license is the AGPL, so it is no dependency). It takes our orders by MLLP
with TLS into a folder, and sends the files of another folder to us, each until it is
acknowledged. Our part is the lab behind it, which reads the one folder and fills the
other.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import hl7

from tests.attacks.lab_peer import HOST, Books, make_results

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from tests.labs.gateways.hl7.mllp.peers import Identity

POLL_S = 0.2
CONFIGURATION = """
from messagefoundry import MLLP, File, RetryPolicy, Send, handler, inbound, outbound
from messagefoundry import router

OWN = {{"tls": True, "tls_cert_file": {certificate!r}, "tls_key_file": {key!r}}}
inbound(
    "IB_ASSAY_OML",
    MLLP(port={port}, receive_timeout=None, tls_ca_file={trusted!r}, **OWN),
    router="orders",
)
outbound("FILE-OUT_LIS_OML", File(directory={orders!r}, filename="{{MSH-10}}.hl7"))
inbound(
    "FILE-IN_LIS_ORU",
    File(directory={results!r}, poll_seconds=0.5, after_read="delete"),
    router="results",
)
outbound(
    "OB_ASSAY_ORU",
    MLLP(host={host!r}, port={assay_port}, tls_ca_file={trusted!r}, **OWN),
    retry=RetryPolicy(backoff_seconds=0.5, max_backoff_seconds=5.0),
)

@router("orders")
def route_orders(msg):
    return ["to_lis"]

@handler("to_lis")
def to_lis(msg):
    return Send("FILE-OUT_LIS_OML", msg)

@router("results")
def route_results(msg):
    return ["to_assay"]

@handler("to_assay")
def to_assay(msg):
    return Send("OB_ASSAY_ORU", msg)
"""
DELIVERED = """
SELECT m.control_id FROM queue q JOIN messages m ON m.id = q.message_id
WHERE q.destination_name = 'OB_ASSAY_ORU' AND q.status = 'done'
"""


class EngineLab:
    """Runs the engine and the lab behind it until `end`."""

    def __init__(
        self,
        command: str,
        *,
        folder: Path,
        ports: tuple[int, int, int],
        lab: Identity,
        assay: Identity,
    ) -> None:
        """ports: of the engine's API, of its listener, and ours for this lab."""
        self.books = Books()
        self._command, self._folder = command, folder
        self._api_port, port, assay_port = ports
        self._orders, self._results = folder / "orders", folder / "results"
        for each in (self._orders, self._results, folder / "config"):
            each.mkdir(parents=True)
        (folder / "environments").mkdir()
        (folder / "environments/dev.toml").touch()
        (folder / "config/lab.py").write_text(
            CONFIGURATION.format(
                certificate=lab.certificate,
                key=lab.key,
                trusted=assay.certificate,
                orders=str(self._orders),
                results=str(self._results),
                host=HOST,
                port=port,
                assay_port=assay_port,
            )
        )
        self._start()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether all results of the orders it has are acknowledged."""
        self._enter_delivered()
        return set(self.books.sent) <= set(self.books.acknowledged)

    def kill(self) -> None:
        """kill -9, and start it again: what it holds is on disk."""
        self._stop()
        self._start()

    def end(self) -> None:
        self._ending.set()
        self._thread.join(30)
        self._stop()

    def _start(self) -> None:
        self._log = (self._folder / "engine.log").open("ab")
        self._process: subprocess.Popen[Any] = subprocess.Popen(
            [
                *(self._command, "serve", "--config", "config", "--env", "dev"),
                *("--db", "engine.db", "--port", str(self._api_port)),
            ],
            cwd=self._folder,
            env={"PATH": os.environ["PATH"]},
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )

    def _stop(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._log.close()

    def _work(self) -> None:
        while not self._ending.wait(POLL_S):
            for path in sorted(self._orders.glob("*.hl7")):
                self._take(path)

    def _take(self, path: Path) -> None:
        # The engine writes our line ends as they are.
        message = hl7.parse(path.read_bytes().decode())
        control_id = self.books.enter_order(message)
        if self.books.is_first(control_id):
            for result_id, content in make_results(message, self.books):
                self.books.sent[result_id] += 1
                written = self._results / f"{result_id}.tmp"
                written.write_bytes(content)
                written.replace(written.with_suffix(".hl7"))
        path.unlink()

    def _enter_delivered(self) -> None:
        found = f"file:{self._folder / 'engine.db'}?mode=ro"
        with suppress(sqlite3.Error), closing(sqlite3.connect(found, uri=True)) as read:
            for (control_id,) in read.execute(DELIVERED):
                self.books.acknowledged[control_id] = 1
