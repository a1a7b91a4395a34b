"""Everything that happens in one simulated installation, drawn from one seed.

Two teams' clients, which use the same ids and keys, create users, send samples, place,
simulate and cancel orders, book visits, upload reports and delete users; members sign
reports and work in the browser; strangers try what is not theirs; receivers refuse,
time out and answer; jobs are run in any order; the clock jumps by minutes or days.
Calls, operations and jobs are aborted, killed at a commit, find the disk full, are
overtaken by another process that does the same, or lose their answer: then the same
call is made again until it is answered, as a careful client does. What was answered is
kept for the judge, and nothing else.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

import time_machine
from django.db import OperationalError, transaction
from django.utils import timezone

from portal.lib.errors import DomainError
from portal.lib.tenancy import across_tenants, acting_for
from tests.fence import forget_requests
from tests.simulation.faults import Killed, fault
from tests.simulation.receivers import Receiver
from tests.simulation.visits import look_after_visits
from tests.simulation.worker import run_due_jobs
from users.jobs import enqueue_due_erasures_pauses_and_expiries
from users.models import User
from users.store.packed.packing import pack_days_of_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client

    from accounts.models import Tenant
    from tests.clients import ApiClient

    Action = Callable[["World", "Side"], None]

NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)
STEPS = 40
# Of one call; then nothing goes wrong any more.
MOST_FAULTS = 3
DAY = 86_400
# What becomes of a call, an operation, and how often. Aborted is before its commit,
# overtaken is by another process that does the same.
CALLS = {"none": 26, "lost": 4, "aborted": 2, "killed": 4, "full": 2, "overtaken": 3}
OPERATIONS = {"none": 16, "killed": 4, "full": 1, "overtaken": 1}


@dataclass
class Acknowledged:
    """What a team's clients were told is done."""

    users: dict[str, str] = field(default_factory=dict)  # client_user_id: user_id
    samples: dict[str, dict[str, float]] = field(
        default_factory=dict
    )  # user: at: value
    orders: dict[str, str] = field(default_factory=dict)  # key: id
    owners: dict[str, str] = field(default_factory=dict)  # order or report: user
    cancelled: set[str] = field(default_factory=set)  # orders
    deleted: dict[str, User] = field(default_factory=dict)  # user_id: as it was
    deletions: Counter[str] = field(default_factory=Counter)  # also those undone
    undone: Counter[str] = field(default_factory=Counter)
    # Of orders that a lab answers, no simulation: each value that changed something.
    results: dict[str, list[str]] = field(default_factory=dict)
    final: set[str] = field(default_factory=set)
    shipped: set[tuple[str, str]] = field(default_factory=set)  # order, step
    walk_ins: set[str] = field(default_factory=set)  # orders
    visits: dict[str, str] = field(default_factory=dict)  # visit: order
    moved: dict[str, str] = field(default_factory=dict)  # visit: its start
    cancelled_visits: set[str] = field(default_factory=set)
    reports: dict[str, str] = field(default_factory=dict)  # job: its value
    sent: Counter[str] = field(default_factory=Counter)  # uploads of a value
    signed: set[str] = field(default_factory=set)  # jobs
    rejected: set[str] = field(default_factory=set)


@dataclass
class Side:
    """A team: its environment, its client, a member's browser, a panel, its books."""

    name: str
    tenant: Tenant
    api: ApiClient
    web: Client
    panels: tuple[str, str]  # walk-in, kit
    books: Acknowledged = field(default_factory=Acknowledged)
    shown: dict[str, Any] = field(default_factory=dict)  # of the judge

    def live_users(self) -> list[str]:
        gone = self.books.deleted
        return [each for each in self.books.users.values() if each not in gone]

    def open_orders(self) -> list[str]:
        gone = self.books.deleted
        return [
            order
            for order in self.books.orders.values()
            if self.books.owners[order] not in gone
        ]


class Actions(NamedTuple):
    """What happens first, and then how often."""

    first: tuple[Action, ...]
    weights: dict[Action, int]


class World:
    """One run; `log` says what happened, in order."""

    def __init__(self, seed: int, sides: tuple[Side, Side], actions: Actions) -> None:
        self.seed, self.actions = seed, actions
        self.dice = random.Random(seed)  # noqa: S311 - no secret
        self.sides = sides
        self.receiver = Receiver(self.dice)
        self.log: list[str] = []
        self.numbers = 0

    def run(self, steps: int = STEPS) -> None:
        """Take so many steps, then let everything end in peace."""
        draw = random.Random(self.seed)  # noqa: S311 - as above
        with (
            time_machine.travel(NOW, tick=False) as self.clock,
            # Ids and jitter too, so that a seed plays the same again.
            mock.patch.object(os, "urandom", draw.randbytes),
            mock.patch.object(random, "_urandom", draw.randbytes),
        ):
            random.seed(self.seed)
            for side in self.sides:
                for act in self.actions.first:
                    act(self, side)
            run_due_jobs(self.dice)
            weights = self.actions.weights
            for _ in range(steps):
                (act,) = self.dice.choices([*weights], [*weights.values()])
                side = self.sides[self.dice.random() < 0.3]
                self.note(f"{act.__name__} of {side.name}")
                act(self, side)
            self.settle()

    def note(self, what: str) -> None:
        self.log.append(f"{timezone.now():%d %H:%M:%S} {what}")

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def pick(self, items: Any) -> Any:
        items = list(items)  # in the order of the calls: ids are drawn anew
        return self.dice.choice(items) if items else None

    # Calls that go wrong

    def call(self, send: Callable[[], Any]) -> Any:
        """Make a call until it is answered; the answer."""
        for turn in range(20):
            fate = self.draw_fate(turn, CALLS)
            reply = self._try(send, fate)
            if reply is not None and reply.status_code not in (409, 503):
                assert reply.status_code < 500, (reply.content, reply.exc_info)
                return reply
            self.clock.shift(timedelta(seconds=self.dice.choice((1, 20, 61))))
        raise AssertionError("a call is never answered")

    def call_and_die(self, send: Callable[[], Any]) -> None:
        """Make a call that is killed, by a client that never asks what became of it."""
        self.note("  killed, and nobody asks again")
        self._try(send, "killed")

    def draw_fate(self, turn: int, chances: dict[str, int]) -> str:
        (fate,) = self.dice.choices([*chances], [*chances.values()])
        if turn >= MOST_FAULTS or fate == "none":
            return "none"
        self.note(f"  {fate}")
        return fate

    def _try(self, send: Callable[[], Any], fate: str) -> Any:
        try:
            match fate:
                case "killed":
                    with fault(fate, self.dice, send):
                        send()
                    return None  # its answer was lost on the way
                case "aborted":
                    with transaction.atomic():
                        send()
                        raise Killed  # noqa: TRY301 - what it wrote goes
                case "lost":
                    send()
                    return None
                case "full" | "overtaken":
                    with fault(fate, self.dice, send):
                        return send()
                case _:
                    return send()
        except Killed:
            forget_requests()
            return None

    def operate(self, side: Side, act: Callable[[], Any]) -> str | None:
        """Have an operation done, again until it is; the code if it is refused."""
        for turn in range(20):
            fate = self.draw_fate(turn, OPERATIONS)
            try:
                with (
                    acting_for(side.tenant),
                    nullcontext() if fate == "none" else fault(fate, self.dice, act),
                ):
                    act()
            except (Killed, OperationalError):
                continue
            except DomainError as refused:
                return refused.code
            return None
        raise AssertionError("an operation is never done")

    # What goes by itself

    def wait(self, side: Side) -> None:
        self.clock.shift(timedelta(seconds=self.dice.choice((30, 700, 7200, 2 * DAY))))

    def pack(self, side: Side) -> None:
        if user := self.pick(side.live_users()):
            row = User.objects.for_tenant(side.tenant).get(uuid=user)
            before = timezone.now() - timedelta(days=self.dice.randint(0, 2))
            self.call_quietly(lambda: pack_days_of_user(user_id=row.pk, before=before))

    def sweep(self, side: Side) -> None:
        self.call_quietly(self._sweep)

    def _sweep(self) -> None:
        with across_tenants(why="the hourly sweep is for all"):
            enqueue_due_erasures_pauses_and_expiries()
        look_after_visits()

    def call_quietly(self, act: Callable[[], Any]) -> None:
        """What a job by the clock does; cut short, it comes again the next time."""
        fate = self.draw_fate(0, OPERATIONS)
        try:
            with nullcontext() if fate == "none" else fault(fate, self.dice, act):
                act()
        except (Killed, OperationalError):
            return

    def work(self, side: Side) -> None:
        for each in run_due_jobs(self.dice):
            self.note(f"  {each}")

    def deliver(self, side: Side) -> None:
        self.receiver.deliver_due()

    def trespass(self, side: Side) -> None:
        """The other team's client and browser try all that is known of this one."""
        other = self.sides[side is self.sides[0]]
        books = side.books
        paths = [f"/v2/user/{each}" for each in books.users.values()]
        paths += [f"/v2/timeseries/{each}/heartrate/grouped" for each in books.samples]
        paths += [f"/v3/order/{each}" for each in books.orders.values()]
        paths += [f"/v3/order/{each}/psc/appointment" for each in books.visits.values()]
        paths += [f"/lab_report/v1/parser/job/{each}" for each in books.reports]
        for path in self.dice.sample(paths, min(3, len(paths))):
            reply = other.api.get(path, {"start_date": "2026-01-01"})
            assert reply.status_code == 404, f"{other.name} reads {path}"

    def settle(self) -> None:
        """Nothing goes wrong any more, until all that waits has ended."""
        self.note("settle")
        for _ in range(4):
            self.clock.shift(timedelta(days=3))
            self._sweep()
            run_due_jobs(None)
        self.receiver.deliver_all()
