"""Everything that happens in one simulated installation, drawn from one seed.

Teams' clients create users, send samples, place, simulate and cancel orders and delete
users; a member of the team works in the browser; strangers try what is not theirs;
receivers refuse, time out and answer; jobs are run in any order; the clock jumps by
minutes or days. Calls are aborted, killed at a commit, or lose their answer: then the
same call is made again until it is answered, as a careful client does. What was
answered is kept for the judge, and nothing else.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from unittest import mock
from uuid import UUID

import time_machine
from django.db import transaction
from django.utils import timezone

from labs.operations.results.deliveries import store_result_delivery
from labs.queries.orders.orders import get_order_with_details
from portal.lib.errors import DomainError
from portal.lib.tenancy import across_tenants, acting_for
from tests.factories.accounts import ACTOR
from tests.factories.labs import ADDRESS, PATIENT
from tests.factories.results import delivery, make_reported_result
from tests.fence import forget_requests
from tests.simulation.faults import Killed, killed_at_a_commit
from tests.simulation.receivers import Receiver
from tests.simulation.worker import run_due_jobs
from users.jobs import enqueue_due_erasures_pauses_and_expiries
from users.models import User
from users.store.packed.packing import pack_days_of_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client

    from accounts.models import Tenant
    from labs.gateways.results import ResultDelivery
    from tests.clients import ApiClient

NOW = datetime(2026, 3, 2, 16, tzinfo=UTC)
STEPS = 40
# Of one call; then nothing goes wrong any more.
MOST_FAULTS = 3
DAY = 86_400
SHIPMENTS = ("transit_customer", "with_customer", "transit_lab", "delivered_to_lab")


@dataclass
class Acknowledged:
    """What a team's clients were told is done."""

    users: dict[str, str] = field(default_factory=dict)  # client_user_id: user_id
    samples: dict[str, dict[str, float]] = field(
        default_factory=dict
    )  # user: at: value
    orders: dict[str, str] = field(default_factory=dict)  # key: id
    owners: dict[str, str] = field(default_factory=dict)  # order: user
    cancelled: set[str] = field(default_factory=set)  # orders
    deleted: dict[str, User] = field(default_factory=dict)  # user_id: as it was
    deletions: Counter[str] = field(default_factory=Counter)  # also those undone
    undone: Counter[str] = field(default_factory=Counter)
    # Of orders that a lab answers, no simulation: each value that changed something.
    results: dict[str, list[str]] = field(default_factory=dict)
    final: set[str] = field(default_factory=set)
    shipped: set[tuple[str, str]] = field(default_factory=set)  # order, step


@dataclass
class Side:
    """A team: its environment, its client, a member's browser, a panel, its books."""

    name: str
    tenant: Tenant
    api: ApiClient
    web: Client
    panels: tuple[str, str]  # walk-in, kit
    books: Acknowledged = field(default_factory=Acknowledged)


class World:
    """One run; `log` says what happened, in order."""

    def __init__(self, seed: int, sides: tuple[Side, Side]) -> None:
        self.seed = seed
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
                self.create_user(side)
                self.place_order(side)
                self.place_order(side)
            run_due_jobs(self.dice)
            actions: dict[Callable[[Side], None], int] = {
                self.send_samples: 10,
                self.place_order: 4,
                self.create_user: 2,
                self.simulate: 3,
                self.cancel: 2,
                self.cancel_in_browser: 1,
                self.delete_user: 2,
                self.undo_delete: 2,
                self.report_results: 8,
                self.ship: 5,
                self.wait: 4,
                self.pack: 2,
                self.sweep: 2,
                self.work: 5,
                self.deliver: 4,
                self.trespass: 2,
            }
            for _ in range(steps):
                (act,) = self.dice.choices([*actions], [*actions.values()])
                side = self.sides[self.dice.random() < 0.3]
                self.note(f"{act.__name__} of {side.name}")
                act(side)
            self.settle()

    def note(self, what: str) -> None:
        self.log.append(f"{timezone.now():%d %H:%M:%S} {what}")

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def pick(self, items: Any) -> Any:
        items = list(items)  # in the order of the calls: ids are drawn anew
        return self.dice.choice(items) if items else None

    def live_users(self, side: Side) -> list[str]:
        return [
            each for each in side.books.users.values() if each not in side.books.deleted
        ]

    # Calls that go wrong

    def call(self, send: Callable[[], Any]) -> Any:
        """Make a call until it is answered; the answer."""
        for turn in range(20):
            fates, chances = ("none", "lost", "aborted", "killed"), (14, 2, 1, 2)
            fate = self.dice.choices(fates, chances)[0]
            if turn >= MOST_FAULTS:
                fate = "none"
            if fate != "none":
                self.note(f"  {fate}")
            reply = self._try(send, fate)
            if reply is not None and reply.status_code not in (409, 503):
                return reply
            self.clock.shift(timedelta(seconds=self.dice.choice((1, 20, 61))))
        raise AssertionError("a call is never answered")

    def _try(self, send: Callable[[], Any], fate: str) -> Any:
        try:
            match fate:
                case "killed":
                    with killed_at_a_commit(self.dice):
                        send()
                    return None  # its answer was lost on the way
                case "aborted":
                    with transaction.atomic():
                        send()
                        raise Killed  # noqa: TRY301 - what it wrote goes
                case "lost":
                    send()
                    return None
                case _:
                    return send()
        except Killed:
            forget_requests()
            return None

    # What clients do

    def create_user(self, side: Side) -> None:
        name = f"{side.name}-{self.number()}"
        reply = self.call(lambda: side.api.post("/v2/user", {"client_user_id": name}))
        # 400 of a name that is taken: the first call was done, its answer lost.
        assert reply.status_code in (200, 400), reply.content
        body = reply.json()
        side.books.users[name] = body.get("detail", body)["user_id"]

    def send_samples(self, side: Side) -> None:
        """New moments, or other values for some that were sent."""
        user = self.pick(self.live_users(side))
        if user is None:
            return
        known = side.books.samples.setdefault(user, {})
        first = (timezone.now() - timedelta(days=self.dice.randint(1, 4))).replace(
            minute=0, second=0, microsecond=0
        )
        moments = {
            (first + timedelta(minutes=self.dice.randrange(90))).isoformat()
            for _ in range(self.dice.randint(1, 8))
        }
        if known and self.dice.random() < 0.5:
            moments.add(self.pick(known))
        batch = {at: float(self.dice.randint(40, 180)) for at in sorted(moments)}
        data = [
            {"timestamp": at, "timezone_offset": 0, "value": value}
            for at, value in batch.items()
        ]
        self.dice.shuffle(data)
        body = {"provider": "oura", "source_type": "ring", "data": data}
        path = f"/v2/timeseries/{user}/heartrate"
        reply = self.call(lambda: side.api.post(path, body))
        assert reply.status_code == 200, reply.content
        known |= batch

    def place_order(self, side: Side) -> None:
        user = self.pick(self.live_users(side))
        if user is None:
            return
        key = f"{side.name}-{self.number()}"
        method = self.dice.choice(("walk_in_test", "testkit"))
        panel = dict(zip(("walk_in_test", "testkit"), side.panels, strict=True))[method]
        order = self.send_order(side, key, user, panel)
        if self.dice.random() < 0.5:  # a lab answers it by hand
            side.books.results[order] = []
            goal = f"received.{method}.requisition_created"
            path = f"/v3/order/{order}/test?final_status={goal}"
            self.call(lambda: side.api.post(path))
        side.books.orders[key], side.books.owners[order] = order, user

    def send_order(self, side: Side, key: str, user: str, panel: str) -> str:
        body = {
            "user_id": user,
            "order_set": {"lab_test_ids": [panel]},
            "patient_details": PATIENT,
            "patient_address": ADDRESS,
        }
        headers = {"x-idempotency-key": key}
        reply = self.call(lambda: side.api.post("/v3/order", body, headers=headers))
        assert reply.status_code == 200, reply.content
        return str(reply.json()["order"]["id"])

    def open_orders(self, side: Side) -> list[str]:
        gone = side.books.deleted
        return [
            order
            for order in side.books.orders.values()
            if side.books.owners[order] not in gone
        ]

    def simulate(self, side: Side) -> None:
        by_hand = side.books.results
        simulated = [each for each in self.open_orders(side) if each not in by_hand]
        if order := self.pick(simulated):
            path = f"/v3/order/{order}/test?delay={self.dice.choice((1, 600))}"
            self.call(lambda: side.api.post(path))

    def cancel(self, side: Side) -> None:
        if order := self.pick(self.open_orders(side)):
            reply = self.call(lambda: side.api.post(f"/v3/order/{order}/cancel"))
            if reply.status_code == 200:
                side.books.cancelled.add(order)

    def cancel_in_browser(self, side: Side) -> None:
        if order := self.pick(self.open_orders(side)):
            team = side.tenant.team.slug
            path = f"/t/{team}/sandbox/orders/{order}/"
            shown = side.web.get(path)
            assert shown.status_code == 200, path
            self.call(lambda: side.web.post(f"{path}cancel/"))

    def delete_user(self, side: Side) -> None:
        users = self.live_users(side)
        if len(users) < 2:
            return
        user = self.pick(users)
        row = User.objects.for_tenant(side.tenant).get(uuid=user)
        reply = self.call(lambda: side.api.delete(f"/v2/user/{user}"))
        # 404: the first call was done, its answer lost.
        assert reply.status_code in (200, 404), reply.content
        side.books.deleted[user] = row
        side.books.deletions[user] += 1

    def undo_delete(self, side: Side) -> None:
        if user := self.pick(side.books.deleted):
            path = f"/v2/user/undo_delete?user_id={user}"
            reply = self.call(lambda: side.api.post(path))
            # Not deleted: the first call was done, its answer lost.
            code = "" if reply.status_code == 200 else reply.json().get("code")
            if code in ("", "user_not_deleted"):
                del side.books.deleted[user]
                side.books.undone[user] += 1
            else:
                assert code in ("undo_grace_over", "not_found"), reply.content

    # What laboratories and couriers do

    def report_results(self, side: Side) -> None:
        """A lab sends a result, preliminary or final; what was not taken it keeps."""
        books = side.books
        mine = [each for each in self.open_orders(side) if each in books.results]
        order = self.pick(mine)
        if order is None:
            return
        value = str(70 + self.number())
        is_final = order in books.final or self.dice.random() < 0.5
        given = delivery(
            make_reported_result(text=value),
            status="final" if is_final else "partial",
            reported_at=timezone.now(),
        )
        for turn in range(MOST_FAULTS + 1):
            fate = "killed" if turn < MOST_FAULTS and self.dice.random() < 0.2 else ""
            try:
                with (
                    acting_for(side.tenant),
                    killed_at_a_commit(self.dice) if fate else nullcontext(),
                ):
                    self._store(side, order, given)
            except Killed:
                self.note("  killed")
                continue
            except DomainError as refused:
                if refused.code != "results_not_expected":
                    raise
                return
            break
        books.results[order].append(value)
        if is_final:
            books.final.add(order)

    def _store(self, side: Side, order_id: str, given: ResultDelivery) -> None:
        order = get_order_with_details(tenant=side.tenant, order_id=UUID(order_id))
        order.tenant = side.tenant
        store_result_delivery(order=order, actor=ACTOR, delivery=given)

    def ship(self, side: Side) -> None:
        """A courier says where a kit is, right or wrong."""
        if order := self.pick(self.open_orders(side)):
            step = self.dice.choice(SHIPMENTS)
            body = {"status": step, "occurred_at": timezone.now().isoformat()}
            path = f"/v3/order/{order}/shipment_events"
            reply = self.call(lambda: side.api.post(path, body))
            if reply.status_code == 200:
                side.books.shipped.add((order, step))

    # What goes by itself

    def wait(self, side: Side) -> None:
        self.clock.shift(timedelta(seconds=self.dice.choice((30, 700, 7200, 2 * DAY))))

    def pack(self, side: Side) -> None:
        if user := self.pick(self.live_users(side)):
            row = User.objects.for_tenant(side.tenant).get(uuid=user)
            before = timezone.now() - timedelta(days=self.dice.randint(0, 2))
            self.call_quietly(lambda: pack_days_of_user(user_id=row.pk, before=before))

    def sweep(self, side: Side) -> None:
        self.call_quietly(self._sweep)

    def _sweep(self) -> None:
        with across_tenants(why="the hourly sweep is for all"):
            enqueue_due_erasures_pauses_and_expiries()

    def call_quietly(self, act: Callable[[], Any]) -> None:
        """What a job by the clock does; killed, it comes again the next time."""
        if self.dice.random() < 0.2:
            self.note("  killed")
            try:
                with killed_at_a_commit(self.dice):
                    act()
            except Killed:
                return
        else:
            act()

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
