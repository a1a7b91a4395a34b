"""Orders: places, steps, cancellations, simulation and results in any order."""

from __future__ import annotations

import itertools
from collections import deque
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from labs.operations.order_status.status import advance_order, lock_order
from labs.operations.results.deliveries import store_result_delivery
from labs.queries.orders.orders import get_order_with_details
from tests.factories.accounts import ACTOR
from tests.factories.labs import ADDRESS, PATIENT, make_lab_test
from tests.factories.results import delivery, make_reported_result
from tests.factories.users import make_user
from tests.labs.holdings import holdings
from tests.outbox import emitted
from tests.state_machines.contract import (
    METHODS,
    REGISTRABLE,
    read_cancellable,
    read_moves,
    read_terminal,
    read_tops,
)
from tests.state_machines.machine import (
    Machine,
    efforts,
    nothing_changes,
    refusal_of,
    walk,
)

TOPS, MOVES = read_tops(), read_moves()
CANCELLABLE, TERMINAL = read_cancellable(), read_terminal()
# Contract 6.13: what a simulated walk does not pass by itself.
DETOURS = {
    *("requisition_bypassed", "problem_in_transit_customer", "problem_in_transit_lab"),
    *("lab_processing_blocked", "appointment_cancelled"),
}
PROOFS = ("draw_completed", "delivered_to_lab")  # D24
SHIPMENTS = (
    *("transit_customer", "out_for_delivery", "with_customer", "transit_lab"),
    *("problem_in_transit_customer", "problem_in_transit_lab", "delivered_to_lab"),
    *("failure_to_deliver_to_customer", "failure_to_deliver_to_lab", "lost"),
)
EVERY_LOW = sorted({low for _, low in TOPS})


class OrderMachine(Machine):
    """One order and what the contract says that it may become."""

    def __init__(self, world) -> None:
        super().__init__()
        self.tenant, self.api, self.user, self.panels = world
        self.values = itertools.count(70)
        self.history: list[str] = []

    @initialize(kind=st.sampled_from((*METHODS, REGISTRABLE)))
    def place(self, kind) -> None:
        self.moves = MOVES[kind]
        self.method = kind.split(" ")[0]
        self.is_registered = kind != REGISTRABLE
        self.has_results = self.is_final = False
        body = {
            "user_id": str(self.user.uuid),
            "order_set": {"lab_test_ids": [str(self.panels[self.method].pk)]},
            "patient_details": PATIENT,
            "patient_address": ADDRESS,
        }
        path, self.history = "/v3/order", ["ordered"]
        if not self.is_registered:
            shipping = {**ADDRESS, "receiver_name": "Ada Example"}
            shipping["phone_number"] = "+15550101"
            body = {
                "user_id": str(self.user.uuid),
                "lab_test_id": str(self.panels["testkit"].pk),
                "shipping_details": shipping,
            }
            path, self.history = f"{path}/testkit", ["ordered", "awaiting_registration"]
        order = self.call("post", path, body)
        self.id, self.sample_id = order["id"], order["sample_id"]

    @property
    def low(self) -> str:
        return self.history[-1]

    @property
    def path(self) -> str:
        return f"/v3/order/{self.id}"

    def full(self, low: str) -> str:
        top = TOPS.get((self.method, low), "received")
        return f"{top}.{self.method}.{low}"

    def order(self):
        found = get_order_with_details(tenant=self.tenant, order_id=self.id)
        found.tenant = self.tenant
        return lock_order(found)

    def call(self, method, path, body=None):
        reply = getattr(self.api, method)(path, body)
        assert reply.status_code == 200, reply.content
        return reply.json()["order"]

    def refused(self, method, path, body=None):
        with nothing_changes(lambda: holdings(self.tenant)):
            reply = getattr(self.api, method)(path, body)
            assert reply.status_code == 400, reply.content

    def expect(self, is_allowed, to, method, path, body=None):
        """Call, and expect the step `to` of an allowed call, nothing of another."""
        self.wait(minutes=1)
        if not is_allowed:
            self.refused(method, path, body)
            return
        self.call(method, path, body)
        self.history.append(to)

    @rule(data=st.data())
    def report(self, data) -> None:
        """A step as the lab or the installation takes it, legal or not."""
        legal = sorted(self.moves[self.low])
        low = data.draw(
            st.one_of(
                *([st.sampled_from(legal)] if legal else []), st.sampled_from(EVERY_LOW)
            )
        )
        self.wait(minutes=1)

        def act():
            return advance_order(order=self.order(), actor=ACTOR, to=low)

        if low not in self.moves[self.low]:
            with nothing_changes(lambda: holdings(self.tenant)):
                assert refusal_of(act) == "transition_not_allowed"
            return
        assert refusal_of(act) is None
        self.history.append(low)

    @rule(status=st.sampled_from(SHIPMENTS))
    def ship(self, status) -> None:
        """A step of a kit's way, by the API."""
        at = timezone.now() + timedelta(minutes=1)  # when the call is made
        body = {"status": status, "occurred_at": at.isoformat()}
        is_allowed = self.method == "testkit" and status in self.moves[self.low]
        path = f"{self.path}/shipment_events"
        self.expect(is_allowed, status, "post", path, body)

    @rule()
    def cancel(self) -> None:
        is_allowed = self.low in CANCELLABLE[self.method]
        self.expect(is_allowed, "cancelled", "post", f"{self.path}/cancel")

    @rule()
    def complete_draw(self) -> None:
        is_allowed = self.method == "on_site_collection" and (
            "draw_completed" in self.moves[self.low]
        )
        path = f"{self.path}/draw_completed"
        self.expect(is_allowed, "draw_completed", "patch", path)

    @precondition(lambda self: self.sample_id)
    @rule()
    def register(self) -> None:
        """Bind a kit to its patient: once, before it is on its way back."""
        is_allowed = not self.is_registered and self.low in {
            *("awaiting_registration", "with_customer"),
        }
        body = {"sample_id": self.sample_id, "patient_details": PATIENT}
        body["patient_address"] = ADDRESS
        path = "/v3/order/testkit/register"
        if is_allowed:
            self.is_registered = True
        self.expect(is_allowed, "registered", "post", path, body)

    @rule(final=st.booleans())
    def deliver(self, final) -> None:
        """Results of the lab, new ones each time."""
        self.wait(minutes=1)
        given = delivery(
            make_reported_result(text=str(next(self.values))),
            status="final" if final else "partial",
        )

        def act():
            return store_result_delivery(
                order=self.order(), actor=ACTOR, delivery=given
            )

        steps = self.steps_of_results(self.is_final or final)
        if steps is None:
            with nothing_changes(lambda: holdings(self.tenant)):
                assert refusal_of(act) == "results_not_expected"
            return
        assert refusal_of(act) is None
        self.has_results, self.is_final = True, self.is_final or final
        self.history += steps

    def steps_of_results(self, is_final):
        """D24: results move an order through what they prove; None: they are held."""
        if self.low in {"completed", "corrected"}:
            return ["corrected"] if self.has_results else []
        is_kit = self.method == "testkit"
        goal = "completed" if is_final or is_kit else "partial_results"
        ways = [[goal], *([proof, goal] for proof in PROOFS)]
        for way in ways:
            steps = itertools.pairwise([self.low, *way])
            if all(after in self.moves.get(old, ()) for old, after in steps):
                # A kit has no partial results: it is where they prove it to be.
                return way if is_final or not is_kit else way[:-1]
        return None

    @rule(low=st.sampled_from(EVERY_LOW), default=st.booleans())
    def simulate(self, low, default) -> None:
        """The sandbox's walk: each step legal, the last the goal, the shortest way."""
        self.wait(minutes=1)
        goal = "completed" if default else low
        query = "" if default else f"?final_status={self.full(low)}"
        nearest = self.distance(goal)
        with_detours = self.distance(goal, frozenset())
        before = holdings(self.tenant)
        reply = self.api.post(f"{self.path}/test{query}")
        if reply.status_code == 400:
            assert nearest is None, (self.history, goal, reply.content)
            assert holdings(self.tenant) == before
            return
        assert reply.status_code == 200, reply.content
        assert with_detours is not None
        shown = self.api.get(self.path).json()["events"]
        walked = [event["status"].split(".")[2] for event in shown][len(self.history) :]
        for old, after in itertools.pairwise([self.low, *walked]):
            assert after in self.moves[old], (old, walked)
        assert walked[-1] == goal
        self.is_registered |= "registered" in walked
        reports = {"partial_results", "completed", "corrected"}
        self.has_results |= not reports.isdisjoint(walked)
        self.is_final |= not {"completed", "corrected"}.isdisjoint(walked)
        self.history += walked

    def distance(self, goal, detours=frozenset(DETOURS)):
        """How many legal steps it is to a goal; None if there is no way."""
        waiting, seen = deque([(self.low, 0)]), set()
        while waiting:
            here, steps = waiting.popleft()
            for after in self.moves[here]:
                if after == goal:
                    return steps + 1
                if after not in seen | detours:
                    seen.add(after)
                    waiting.append((after, steps + 1))
        return None

    @invariant()
    def it_is_what_the_contract_says(self) -> None:
        if not self.history:
            return
        passed = [self.full(low) for low in self.history]
        shown = self.api.get(self.path).json()
        assert [event["status"] for event in shown["events"]] == passed
        assert shown["last_event"]["status"] == passed[-1]
        assert shown["status"] == passed[-1].split(".")[0]
        sent = [
            (envelope["event_type"], envelope["data"]["last_event"]["status"])
            for envelope in emitted(self.tenant)
            if envelope["event_type"].startswith("labtest.order.")
            and envelope["data"]["id"] == self.id
        ]
        # Results that take no step are sent with the status that the order has.
        steps = [one for one, _ in itertools.groupby(sent)]
        kinds = ["created"] + ["updated"] * (len(passed) - 1)
        expected = [
            (f"labtest.order.{kind}", status)
            for kind, status in zip(kinds, passed, strict=True)
        ]
        assert steps == [one for one, _ in itertools.groupby(expected)]

    @invariant()
    def there_is_one_end(self) -> None:
        if self.history:
            assert not TERMINAL & set(self.history[:-1])


@efforts(walks=4, steps=20)
@pytest.mark.django_db
def test_an_order_is_what_the_contract_says(effort, alice_tenant, alice_api):
    alice_tenant.partial_webhooks_enabled = True
    alice_tenant.save()
    panels = {
        method: make_lab_test(tenant=alice_tenant, method=method) for method in METHODS
    }
    world = alice_tenant, alice_api, make_user(tenant=alice_tenant), panels

    class Orders(OrderMachine):
        def __init__(self) -> None:
            super().__init__(world)

    walk(Orders, effort)
