"""kill -9 of listener, worker and database while a lab exchanges HL7 with us by MLLP.

Run `python -m tests.attacks.lab_exchange [--minutes 3] [--seed N] [--log FILE]`. The
lab is the client and server of the `hl7` package (tests/attacks/lab_peer.py): it takes
orders, keeps every seventh without an answer, and sends results, corrections and
documents. A process or the database is killed every few seconds, in random order.

At the end every order that was placed must be at the lab once, under one control id
and with the same bytes however often it was sent; and whatever the lab had acknowledged
must be stored once: two versions of the results, the corrected value, two versions of
the document. Prints what was exchanged, repeated, killed, lost and doubled. 1 on any
fault.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tests.bench.stage import private_database

if TYPE_CHECKING:
    from tests.attacks.lab_peer import LabPeer
    from tests.private_server import PrivateServer

MINUTES = 3.0
BETWEEN_KILLS_S = (2.0, 6.0)
# About what one connection carries, with every seventh order sent twice.
BETWEEN_ORDERS_S = 0.5
# Without anything exchanged: more than the longest wait of the queue.
PATIENCE_S = 120
KINDS = ("listener", "worker", "database")


def run(database: PrivateServer, *, minutes: float, seed: int, log: IO[bytes]) -> bool:
    """One run; whether nothing is at fault."""
    from tests.attacks.lab_peer import LabPeer
    from tests.labs.gateways.hl7.mllp.peers import free_port

    dice = random.Random(seed)  # noqa: S311 - no secret
    port, listen_port = free_port(), free_port()
    tenant, panel = set_up(port=port, listen_port=listen_port)
    peer = LabPeer(port=port, assay_port=listen_port)
    processes = Processes(database, log)
    killed: Counter[str] = Counter()
    began, placed, failed = time.monotonic(), 0, 0
    try:
        next_kill = began + 5
        while time.monotonic() < began + minutes * 60:
            if place_order(tenant, panel):
                placed += 1
            else:
                failed += 1
            if time.monotonic() > next_kill:
                kind = dice.choice(KINDS)
                processes.kill(kind)
                killed[kind] += 1
                next_kill = time.monotonic() + dice.uniform(*BETWEEN_KILLS_S)
            processes.replace_ended()
            time.sleep(BETWEEN_ORDERS_S)
        is_drained = drain(peer, processes)
    finally:
        processes.end()
        peer.end()
    faults = compare(peer, tenant)
    faults += ["not all was exchanged in time"] * (not is_drained)
    books = peer.books
    print(f"  kills: {dict(killed)}, ended by themselves: {dict(processes.ended)}")
    print(f"  orders: {placed} placed, {failed} refused by an outage")
    for what, counts in (("at the lab", books.orders), ("results sent", books.sent)):
        repeated = sum(number - 1 for number in counts.values())
        print(f"  {what}: {len(counts)} messages, repeated {repeated} times")
    print(f"  acknowledged by us: {len(books.acknowledged)}, not AA: {books.refused}")
    print(f"{time.monotonic() - began:.0f} s in all, seed {seed}")
    for fault in faults[:20]:
        print(f"FAULT: {fault}")
    print(f"  faults: {len(faults)}")
    return not faults and bool(books.acknowledged)


class Processes:
    """The listener and a worker, as deploy/start makes them."""

    def __init__(self, database: PrivateServer, log: IO[bytes]) -> None:
        self.ended: Counter[str] = Counter()
        self._database, self._log = database, log
        self._running = {
            "listener": self._start("mllp"),
            "worker": self._start("worker"),
        }

    def kill(self, kind: str) -> None:
        if kind == "database":
            from django.db import connection

            connection.close()
            self._database.restart()
        else:
            self._running[kind].kill()
            part = "mllp" if kind == "listener" else kind
            self._running[kind] = self._start(part)

    def replace_ended(self) -> None:
        for kind, node in self._running.items():
            if node.process.poll() is not None:
                self.ended[kind] += 1
                self._running[kind] = self._start(
                    "mllp" if kind == "listener" else kind
                )

    def end(self) -> None:
        for node in self._running.values():
            node.kill()

    def _start(self, part: str) -> Any:
        from tests.portal.outages.nodes import StartedNode

        return StartedNode(
            part,
            part,
            log=self._log,
            SECRET_KEY=os.environ["SECRET_KEY"],
            CONN_MAX_AGE="",
            LAB_GATEWAY="hl7",
            LAB_NETWORKS="127.0.0.0/8",
            LOG_LEVEL="WARNING",
        )


def set_up(*, port: int, listen_port: int) -> tuple[Any, Any]:
    """A production team whose lab account is connected to the peer."""
    from tests.factories.accounts import make_team, make_tenant
    from tests.factories.connections import make_hl7_connection
    from tests.factories.labs import (
        make_lab,
        make_lab_account,
        make_lab_test,
        make_marker,
    )

    tenant = make_tenant(team=make_team(), environment="production")
    lab = make_lab(tenant=tenant)
    account = make_lab_account(tenant=tenant, lab=lab)
    make_hl7_connection(
        tenant=tenant, account=account, port=port, listen_port=listen_port
    )
    marker = make_marker(lab=lab, provider_id="2345")
    return tenant, make_lab_test(tenant=tenant, lab=lab, markers=(marker,))


def place_order(tenant: Any, panel: Any) -> bool:
    """Place one order; False where the database was away."""
    from django.db import DatabaseError, InterfaceError, connection, transaction

    from tests.factories.labs import make_order

    try:
        with transaction.atomic():
            make_order(tenant=tenant, lab_test=panel)
    except (DatabaseError, InterfaceError):
        connection.close()
        return False
    return True


def drain(peer: LabPeer, processes: Processes) -> bool:
    """Wait until every order is at the lab and all its results are acknowledged.

    However long that takes while anything is exchanged.
    """
    from labs.models import Hl7OutboundMessage, Order

    deadline, before = time.monotonic() + PATIENCE_S, (0, 0)
    while time.monotonic() < deadline:
        processes.replace_ended()
        exchanged = len(peer.books.orders), len(peer.books.acknowledged)
        if exchanged != before:
            deadline, before = time.monotonic() + PATIENCE_S, exchanged
        with suppress(Exception):
            orders = Order.unscoped.count()
            open_ = Hl7OutboundMessage.unscoped.exclude(status="acknowledged").count()
            if not open_ and len(peer.books.values) >= orders and peer.is_done:
                return True
        time.sleep(0.5)
    return False


def compare(peer: LabPeer, tenant: Any) -> list[str]:
    """Compare both sides' books; what is lost or doubled, without health data."""
    from labs.models import (
        Hl7OutboundMessage,
        InboundMessage,
        InboundReport,
        LabDocument,
        Order,
        ResultVersion,
    )
    from labs.queries.results.results import find_current_result_version

    books, faults = peer.books, []
    orders = list(Order.objects.for_tenant(tenant))
    for order in orders:
        control_id = f"NW{order.sample_id}"
        if control_id not in books.orders:
            faults.append(f"order {order.pk} never came to the lab")
        versions = ResultVersion.unscoped.filter(order=order).count()
        documents = LabDocument.unscoped.filter(order=order).count()
        if (versions, documents) != (2, 2):
            faults.append(
                f"order {order.pk}: {versions} versions, {documents} documents"
            )
            continue
        current = find_current_result_version(order=order)
        values = [row.result for row in current.results.all()] if current else []
        if values != [books.values[order.sample_id]]:
            faults.append(f"order {order.pk}: not the corrected value")
    sent = Hl7OutboundMessage.unscoped.values_list("control_id", flat=True)
    if sorted(sent) != sorted(books.orders):
        faults.append(f"{len(sent)} queued, {len(books.orders)} at the lab")
    faults += [
        f"{control_id} came with other bytes"
        for control_id, contents in books.contents.items()
        if len(contents) != 1
    ]
    stored = Counter(
        InboundMessage.unscoped.filter(kind="ORU^R01").values_list(
            "control_id", "status"
        )
    )
    wanted = Counter((control_id, "taken") for control_id in books.sent)
    faults += [f"message {each} is lost" for each in wanted - stored]
    faults += [f"message {each} is too many" for each in stored - wanted]
    unmatched = InboundReport.unscoped.exclude(status="matched").count()
    faults += [f"{unmatched} reports came to no order"] * bool(unmatched)
    return faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10_000))
    parser.add_argument(
        "--log", default=os.devnull, help="a file for what the processes log"
    )
    given = parser.parse_args()
    with Path(given.log).open("ab") as log, private_database() as database:
        is_well = run(database, minutes=given.minutes, seed=given.seed, log=log)
    if not is_well:
        sys.exit("FAILED")
    print("nothing lost, nothing doubled")


if __name__ == "__main__":
    main()
