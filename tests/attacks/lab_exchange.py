"""kill -9 of listener, worker and database while labs exchange HL7 with us by MLLP.

Run `python -m tests.attacks.lab_exchange [--minutes 3] [--engine COMMAND] [--seed N]
[--between-orders 0.5] [--between-kills 4] [--log FILE]`. The lab is the client and
server of the `hl7` package (tests/attacks/lab_peer.py): it takes orders, keeps every
seventh without an answer, and sends results, corrections and documents. Its team's own
system takes the results by MLLP. With `--engine` a second team's lab is behind an
integration engine by others, over TLS (tests/attacks/lab_engine.py), and its own system
takes the results by SFTP; the engine is killed as well. A process or the database is
killed every few seconds, in random order.

At the end every order that was placed must be at its lab once, under one control id and
with the same bytes however often it was sent; whatever the lab had acknowledged must be
stored once: two versions of the results, the corrected value, two versions of the
document; and the own system must have each version and document once, in order, with
the same bytes. Prints what was exchanged, repeated, killed, lost and doubled. 1 on any
fault.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tests.bench.stage import private_database

if TYPE_CHECKING:
    from tests.attacks.lab_engine import EngineLab
    from tests.attacks.lab_peer import LabPeer
    from tests.attacks.own_systems import MllpSystem, SftpSystem
    from tests.private_server import PrivateServer

MINUTES = 3.0
# A kill every so many seconds, by half more or less.
BETWEEN_KILLS_S = 4.0
# About what one connection carries, with every seventh order sent twice.
BETWEEN_ORDERS_S = 0.5
# Without anything exchanged: more than the longest wait of the queue (LONGEST_WAIT_S).
PATIENCE_S = 330
# Of an order: results, their correction, and a document of each.
MESSAGES_OUT = 4
KINDS = ("listener", "worker", "database")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A team with its lab and its own system."""

    name: str
    tenant: Any
    panel: Any
    lab: LabPeer | EngineLab
    own: MllpSystem | SftpSystem


def run(
    database: PrivateServer, options: argparse.Namespace, *, log: IO[bytes]
) -> bool:
    """One run; whether nothing is at fault."""
    dice = random.Random(options.seed)  # noqa: S311 - no secret
    killed: Counter[str] = Counter()
    began, placed, failed, number = time.monotonic(), 0, 0, 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        exchanges = set_up(stack, folder, options.engine)
        processes = Processes(database, log)
        stack.callback(processes.end)
        engines = {"engine": exchanges[1].lab} if options.engine else {}
        next_kill = began + 5
        while time.monotonic() < began + options.minutes * 60:
            number += 1
            if place_order(exchanges[number % len(exchanges)]):
                placed += 1
            else:
                failed += 1
            if time.monotonic() > next_kill:
                kind = dice.choice([*KINDS, *engines])
                if kind in engines:
                    engines[kind].kill()
                else:
                    processes.kill(kind)
                killed[kind] += 1
                wait_s = options.between_kills * dice.uniform(0.5, 1.5)
                next_kill = time.monotonic() + wait_s
            processes.replace_ended()
            time.sleep(options.between_orders)
        is_drained = drain(exchanges, processes)
    faults = [fault for each in exchanges for fault in compare(each)]
    faults += ["not all was exchanged in time"] * (not is_drained)
    print(f"  kills: {dict(killed)}, ended by themselves: {dict(processes.ended)}")
    print(f"  orders: {placed} placed, {failed} refused by an outage")
    for each in exchanges:
        report(each)
    print(f"{time.monotonic() - began:.0f} s in all, seed {options.seed}")
    for fault in faults[:20]:
        print(f"FAULT: {fault}")
    print(f"  faults: {len(faults)}")
    return not faults and all(each.lab.books.acknowledged for each in exchanges)


def report(exchange: Exchange) -> None:
    books = exchange.lab.books
    for what, counts in (
        ("orders at the lab", books.orders),
        ("results of the lab", books.sent),
        ("results at the own system", exchange.own.books.counts),
    ):
        repeated = sum(number - 1 for number in counts.values())
        print(
            f"  {exchange.name}, {what}: {len(counts)} messages,"
            f" repeated {repeated} times"
        )
    print(
        f"  {exchange.name}, acknowledged by us: {len(books.acknowledged)},"
        f" not AA: {dict(books.refused)}"
    )


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
        from django.conf import settings

        from tests.portal.outages.nodes import StartedNode

        return StartedNode(
            part,
            part,
            log=self._log,
            SECRET_KEY=os.environ["SECRET_KEY"],
            CONN_MAX_AGE="",
            LAB_GATEWAY="hl7",
            LAB_NETWORKS="127.0.0.0/8",
            MLLP_CERTIFICATE=settings.MLLP_CERTIFICATE,
            MLLP_KEY=settings.MLLP_KEY,
            LOG_LEVEL="WARNING",
        )


def set_up(stack: ExitStack, folder: Path, engine: str) -> list[Exchange]:
    """The teams, their labs and systems; a second team with an engine."""
    from django.conf import settings

    from tests.attacks.lab_engine import EngineLab
    from tests.attacks.lab_peer import LabPeer
    from tests.attacks.own_systems import MllpSystem, running_sftp_system
    from tests.labs.gateways.hl7.mllp.peers import make_identity
    from tests.labs.operations.connections.sftp_server import PASSWORD, USER
    from tests.private_server import free_port

    ours = make_identity(folder, "ours")
    settings.MLLP_CERTIFICATE, settings.MLLP_KEY = ours.certificate, ours.key
    port, listen_port, own_port = free_port(), free_port(), free_port()
    lab, own = LabPeer(port=port, assay_port=listen_port), MllpSystem(own_port)
    stack.callback(lab.end)
    stack.callback(own.end)
    tenant, panel = set_up_team(
        lab={"port": port, "listen_port": listen_port}, own={"port": own_port}
    )
    exchanges = [Exchange("hl7 and MLLP", tenant, panel, lab, own)]
    if not engine:
        return exchanges
    identity = make_identity(folder, "lab")
    api_port, port, listen_port = free_port(), free_port(), free_port()
    other = EngineLab(
        engine,
        folder=folder / "engine",
        ports=(api_port, port, listen_port),
        lab=identity,
        assay=ours,
    )
    stack.callback(other.end)
    files = stack.enter_context(running_sftp_system(folder / "sftp"))
    tenant, panel = set_up_team(
        lab={
            "port": port,
            "listen_port": listen_port,
            "is_unencrypted": False,
            "peer_certificates": identity.pem,
        },
        own={
            "transport": "sftp",
            "port": files.server.port,
            "is_unencrypted": False,
            "user_name": USER,
            "secret": PASSWORD,
            "host_key": files.server.host_key,
            "incoming_folder": "/from-lab",
            "outgoing_folder": "/to-lab",
        },
    )
    return [*exchanges, Exchange("engine and SFTP", tenant, panel, other, files)]


def set_up_team(*, lab: dict[str, Any], own: dict[str, Any]) -> tuple[Any, Any]:
    """A production team whose lab account and own system are connected."""
    from labs.models import Hl7Connection
    from portal.lib.secrets.encryption import encrypt_secret
    from tests.factories.accounts import make_team, make_tenant
    from tests.factories.connections import make_hl7_connection
    from tests.factories.labs import (
        make_lab,
        make_lab_account,
        make_lab_test,
        make_marker,
    )

    tenant = make_tenant(team=make_team(), environment="production")
    found = make_lab(tenant=tenant)
    account = make_lab_account(tenant=tenant, lab=found)
    make_hl7_connection(tenant=tenant, account=account, **lab)
    if "secret" in own:
        own = {**own, "secret": encrypt_secret(own["secret"])}
    Hl7Connection(
        **{
            "tenant": tenant,
            "transport": "mllp",
            "host": "127.0.0.1",
            "is_unencrypted": True,
            **own,
        }
    ).save(force_insert=True)
    marker = make_marker(lab=found, provider_id="2345")
    return tenant, make_lab_test(tenant=tenant, lab=found, markers=(marker,))


def place_order(exchange: Exchange) -> bool:
    """Place one order; False where the database was away."""
    from django.db import DatabaseError, InterfaceError, connection, transaction

    from tests.factories.labs import make_order

    try:
        with transaction.atomic():
            make_order(tenant=exchange.tenant, lab_test=exchange.panel)
    except (DatabaseError, InterfaceError):
        connection.close()
        return False
    return True


def drain(exchanges: list[Exchange], processes: Processes) -> bool:
    """Wait until all is at the labs, with us and at the own systems, and answered.

    However long that takes while anything is exchanged.
    """
    deadline, before = time.monotonic() + PATIENCE_S, []
    while time.monotonic() < deadline:
        processes.replace_ended()
        exchanged = [
            number
            for each in exchanges
            for number in (
                len(each.lab.books.orders),
                len(each.lab.books.acknowledged),
                len(each.own.books.counts),
            )
        ]
        if exchanged != before:
            deadline, before = time.monotonic() + PATIENCE_S, exchanged
        with suppress(Exception):
            if all(map(is_exchanged, exchanges)):
                return True
        time.sleep(2)
    return False


def is_exchanged(exchange: Exchange) -> bool:
    """Return whether all of a team's messages are answered, in all directions."""
    from labs.models import Hl7OutboundMessage, Order

    orders = Order.objects.for_tenant(exchange.tenant).count()
    rows = Hl7OutboundMessage.objects.for_tenant(exchange.tenant)
    sent = rows.filter(connection__account=None)
    return (
        len(exchange.lab.books.values) >= orders
        and exchange.lab.is_done
        and not rows.exclude(status="acknowledged").exists()
        and sent.count() >= MESSAGES_OUT * orders
    )


def compare(exchange: Exchange) -> list[str]:
    """Compare the books of all sides; what is lost or doubled, without health data."""
    from labs.models import Order

    orders = list(Order.objects.for_tenant(exchange.tenant))
    return [
        f"{exchange.name}: {fault}"
        for fault in (
            *compare_orders(exchange, orders),
            *compare_messages(exchange),
            *compare_results_out(exchange, orders),
        )
    ]


def compare_orders(exchange: Exchange, orders: list[Any]) -> list[str]:
    from labs.models import LabDocument, ResultVersion
    from labs.queries.results.results import find_current_result_version

    books, faults = exchange.lab.books, []
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
    return faults


def compare_messages(exchange: Exchange) -> list[str]:
    from labs.models import Hl7OutboundMessage, InboundMessage, InboundReport

    tenant, books = exchange.tenant, exchange.lab.books
    sent = Hl7OutboundMessage.objects.for_tenant(tenant).exclude(
        connection__account=None
    )
    control_ids = sorted(sent.values_list("control_id", flat=True))
    faults = []
    if control_ids != sorted(books.orders):
        faults.append(f"{len(control_ids)} queued, {len(books.orders)} at the lab")
    faults += list_changed_contents(books.contents)
    messages = InboundMessage.objects.for_tenant(tenant).filter(kind="ORU^R01")
    stored = Counter(messages.values_list("control_id", "status"))
    wanted = Counter((control_id, "taken") for control_id in books.sent)
    faults += [f"message {each} is lost" for each in wanted - stored]
    faults += [f"message {each} is too many" for each in stored - wanted]
    reports = InboundReport.objects.for_tenant(tenant)
    unmatched = reports.exclude(status="matched").count()
    faults += [f"{unmatched} reports came to no order"] * bool(unmatched)
    return faults


def compare_results_out(exchange: Exchange, orders: list[Any]) -> list[str]:
    from tests.attacks.lab_peer import DOCUMENTS

    labs, own = exchange.lab.books, exchange.own.books
    faults = list_changed_contents(own.contents)
    by_order: dict[str, list[Any]] = {}
    for each in own.received:
        by_order.setdefault(each.order, []).append(each)
    for order in orders:
        received = by_order.pop(str(order.pk), [])
        results = [each for each in received if not each.document]
        documents = [each for each in received if each.document]
        if [each.status for each in results] != ["F", "C"]:
            faults.append(f"order {order.pk}: {len(results)} results sent on")
        elif results[-1].value != labs.values[order.sample_id]:
            faults.append(f"order {order.pk}: not the corrected value sent on")
        # Two documents that are checked at once may be sent in either order.
        if {each.document for each in documents} != set(DOCUMENTS):
            faults.append(f"order {order.pk}: {len(documents)} documents sent on")
        elif len(documents) != len(DOCUMENTS):
            faults.append(f"order {order.pk}: a document was doubled")
    faults += [f"results of no order {order}" for order in by_order]
    return faults


def list_changed_contents(contents: dict[str, set[str]]) -> list[str]:
    return [
        f"{control_id} came with other bytes"
        for control_id, found in contents.items()
        if len(found) != 1
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--between-orders", type=float, default=BETWEEN_ORDERS_S)
    parser.add_argument("--between-kills", type=float, default=BETWEEN_KILLS_S)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10_000))
    parser.add_argument(
        "--engine", default="", help="the command `messagefoundry`, for a second lab"
    )
    parser.add_argument(
        "--log", default=os.devnull, help="a file for what the processes log"
    )
    given = parser.parse_args()
    with Path(given.log).open("ab") as log, private_database() as database:
        is_well = run(database, given, log=log)
    if not is_well:
        sys.exit("FAILED")
    print("nothing lost, nothing doubled")


if __name__ == "__main__":
    main()
