"""kill -9 of every kind of process while careful clients call: nothing lost or doubled.

Run `python -m tests.attacks.kills [--kills 22] [--minutes 3] [--seed N] [--log FILE]
[--standby | --full-disk]`.
On a PostgreSQL of its own run two web nodes, two workers and a deliverer, as
`deploy/start` makes them; clients of two teams create users, send samples, place orders
and upload reports through both nodes, and receivers of signed webhooks fail every
fourth POST. In random order a whole web node, one of its processes, a worker, the
deliverer or the database with all its processes is killed, each in the middle of a
request, transaction or POST; the kills are spread over so many minutes. Clients repeat
what got no answer.

With --standby the database has one: a kill of it is the loss of its machine with all
its files, and the standby takes its address. With --full-disk the database and uploads
are on a disk of their own (a tmpfs, so as root), which is filled for some seconds while
clients go on, with what the server then makes of it: full disks count as kills.

At the end, once jobs and deliveries have ended, all that was acknowledged must be there
once: samples with their values, users, an order for each key with each of its steps,
reports read once with their own value, one event for each change, accepted by its
receiver under its signature. Keys repeated give the first answer, the audit's chain
fits, and clients saw nothing but 2xx, 409 of a key in use, 503 with Retry-After and
lost connections.

Prints each kill, then kills by kind, acknowledged, lost and doubled by kind, what was
answered, the longest answer and the time. 1 on any fault. Only the ladder of retries is
hastened; leases, heartbeats and claims of keys end in their own time.
"""

from __future__ import annotations

import argparse
import os
import random
import secrets
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tests.accounts.webhooks.delivery.storms import StormReceiver
from tests.attacks.small_disk import SMALL, SmallDisk, fill_disk, small_disk
from tests.attacks.standby import ReplicatedServer
from tests.bench.stage import private_database
from tests.bench.webhooks.storm import shorten_timers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.attacks.installation import Installation
    from tests.attacks.kept import Line, Team
    from tests.private_server import PrivateServer

KILLS, MINUTES = 22, 3.0
TEAMS, CLIENTS_PER_TEAM = 2, 3
FULL = "full disk"
# Calls that come through after a kill, before the next one.
CALLS_BETWEEN = 10
# More than a lease or the claim of a key, which are a minute each.
PATIENCE_S = 180


def run(
    database: PrivateServer,
    *,
    kinds: Sequence[str] = (),
    kills: int,
    minutes: float,
    seed: int,
    log: IO[bytes],
    disk: SmallDisk | None = None,
) -> bool:
    """One run; whether nothing is at fault."""
    from accounts.webhooks.signing import generate_signing_secret
    from tests.attacks.careful_clients import Traffic
    from tests.attacks.installation import Installation
    from tests.attacks.kept import compare_all

    began = time.monotonic()
    stopping, traffic = threading.Event(), Traffic()
    signing = [generate_signing_secret() for _ in range(TEAMS)]
    with ExitStack() as stack:
        receivers = [
            stack.enter_context(StormReceiver(secret, seed=seed + place))
            for place, secret in enumerate(signing)
        ]
        installation = Installation(database, receivers, traffic, log)
        stack.callback(installation.end)
        if disk is not None:
            installation.kinds[FULL] = partial(fill_disk, installation, disk)
        teams = [
            make_team_of_clients(installation, receiver, secret, seed=seed)
            for receiver, secret in zip(receivers, signing, strict=True)
        ]
        clients = [client for team in teams for client in team.clients]
        installation.wait_until_ready()
        pool = stack.enter_context(ThreadPoolExecutor(len(clients)))
        stack.callback(stopping.set)
        running = [pool.submit(client.run, stopping) for client in clients]
        killed = kill_in_turn(
            installation,
            random.Random(seed),  # noqa: S311 - no secret
            kinds or [*installation.kinds],
            kills=kills,
            minutes=minutes,
        )
        stopping.set()
        installation.wait_until_ready()
        traffic.give_up_at = time.monotonic() + PATIENCE_S
        installation.poll(lambda: all(each.done() for each in running), PATIENCE_S)
        for each in running:
            each.result(0)
        changed = sum(client.repeat_orders() for client in clients)
        waiting = drain(installation, teams)
        lines, faults = compare_all(teams)
    faults += installation.faults
    faults += [
        f"{len(times)} x {what}, {min(times):.1f} to {max(times):.1f} s before"
        for what, times in sorted(traffic.others.items())
    ]
    faults += [f"{changed} keys gave another answer later"] * bool(changed)
    faults += [f"{waiting} jobs and deliveries have not ended"] * bool(waiting)
    print_lines(killed, lines)
    for (what, status), count in sorted(traffic.answers.items()):
        print(f"  answers to {what:11} {status:10} {count:6}")
    for name, count in sorted(installation.exits.items()):
        print(f"  ended by itself and was started again: {name}, {count} x")
    print(f"  unanswered to the end: {count_unanswered(teams)}")
    print(f"longest answer {traffic.longest[0]:.1f} s, to {traffic.longest[1]}")
    print(f"{time.monotonic() - began:.0f} s in all, seed {seed}")
    faults += [example for line in lines for example in line.examples]
    for fault in faults:
        print(f"FAULT: {fault}")
    return not faults and not any(line.lost or line.doubled for line in lines)


def make_team_of_clients(
    installation: Installation, receiver: StormReceiver, secret: str, *, seed: int
) -> Team:
    """A team: users and samples of production, orders and reports of the sandbox."""
    from tests.attacks.careful_clients import Access, CarefulClient
    from tests.attacks.kept import Team
    from tests.factories.accounts import make_api_key, make_team, make_tenant
    from tests.factories.labs import make_lab_test
    from tests.factories.users import make_user
    from tests.factories.webhooks import make_endpoint

    team = make_team()
    production = make_tenant(team=team, environment="production")
    sandbox = make_tenant(team=team)
    for tenant in (production, sandbox):
        url = f"http://127.0.0.1:{receiver.port}/in"
        make_endpoint(tenant=tenant, url=url, secret=secret)
    access = Access(
        production=make_api_key(tenant=production),
        sandbox=make_api_key(tenant=sandbox),
        user_id=str(make_user(tenant=sandbox).uuid),
        lab_test_id=str(make_lab_test(tenant=sandbox).pk),
    )
    clients = [
        CarefulClient(
            f"{team.slug}-{place}",
            webs=installation.webs,
            access=access,
            traffic=installation.traffic,
            seed=seed,
        )
        for place in range(CLIENTS_PER_TEAM)
    ]
    return Team(production, sandbox, receiver, clients)


def kill_in_turn(
    installation: Installation,
    dice: random.Random,
    kinds: Sequence[str],
    *,
    kills: int,
    minutes: float,
) -> Counter[str]:
    """Kill so many, every kind as often as the others, and print each; by kind."""
    order = [kinds[place % len(kinds)] for place in range(kills)]
    dice.shuffle(order)
    traffic, began = installation.traffic, time.monotonic()
    for number, kind in enumerate(order, 1):
        due = began + minutes * 60 * number / kills
        enough = traffic.acknowledged + CALLS_BETWEEN
        is_served = installation.poll(
            lambda enough=enough: traffic.acknowledged >= enough, PATIENCE_S
        )
        installation.poll(lambda due=due: time.monotonic() >= due, minutes * 60)
        was_at_work = installation.kill(kind, dice)
        if not is_served:
            installation.faults.append(f"no calls came through before kill {number}")
        print(
            f"kill {number:2} {kind:11} at {time.monotonic() - began:4.0f} s,"
            f" {traffic.acknowledged:5} calls acknowledged, {traffic.met} under way"
            f"{'' if was_at_work else ', not at work'}",
            flush=True,
        )
    return Counter(order)


def drain(installation: Installation, teams: Sequence[Team]) -> int:
    """Wait until jobs and deliveries have ended; how many have not."""
    from tests.jobs import queued

    def waiting() -> int:
        jobs = sum(
            "tenant_pk" in entry.inputs and entry.status in {"todo", "doing"}
            for entry in queued()
        )
        return jobs + sum(
            shorten_timers(tenant) for team in teams for tenant in team[:2]
        )

    deadline, left = time.monotonic() + PATIENCE_S, waiting()
    while left and time.monotonic() < deadline:
        installation.replace_ended()
        time.sleep(0.5)
        left = waiting()
    return left


def count_unanswered(teams: Sequence[Team]) -> dict[str, int]:
    """How much was sent of which clients never learnt what became of it."""
    clients = [client for team in teams for client in team.clients]
    found: dict[str, Any] = {
        "users": [client.unknown_users for client in clients],
        "batches": [client.unknown_batches for client in clients],
        "orders": [client.unknown_keys for client in clients],
        "reports": [client.unknown_markers for client in clients],
    }
    return {what: sum(map(len, each)) for what, each in found.items()}


def print_lines(killed: Counter[str], lines: Sequence[Line]) -> None:
    print(f"\n{'killed':13}{'times':>12}")
    for kind, count in sorted(killed.items()):
        print(f"{kind:13}{count:12}")
    print(f"\n{'':13}{'acknowledged':>12}{'lost':>8}{'doubled':>8}")
    for line in lines:
        print(f"{line.what:13}{line.acknowledged:12}{line.lost:8}{line.doubled:8}")
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10_000))
    parser.add_argument("--standby", action="store_true")
    parser.add_argument("--full-disk", action="store_true")
    parser.add_argument("--only", nargs="+", default=[], help="of these kinds alone")
    parser.add_argument(
        "--log", default=os.devnull, help="a file for what the processes log"
    )
    given = parser.parse_args()
    if given.full_disk and os.geteuid() != 0:
        parser.error("--full-disk mounts a disk, which only root can")
    with ExitStack() as stack:
        log = stack.enter_context(Path(given.log).open("ab"))
        options: dict[str, Any] = {}
        disk: SmallDisk | None = None
        if given.standby:
            options = {"kind": ReplicatedServer}
        elif given.full_disk:
            disk = stack.enter_context(small_disk())
            options = {"options": SMALL, "folder": disk.folder}
            given.only = given.only or [FULL]
        database = stack.enter_context(private_database(**options))
        is_well = run(
            database,
            kinds=given.only,
            kills=given.kills,
            minutes=given.minutes,
            seed=given.seed,
            log=log,
            disk=disk,
        )
    if not is_well:
        sys.exit("FAILED")
    print("nothing lost, nothing doubled")


if __name__ == "__main__":
    main()
