"""Idempotency keys: one execution and its very bytes, whatever is sent in between."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from labs.models import Order
from portal.lib.idempotency import IdempotentAnswer
from tests.factories.labs import ADDRESS, PATIENT, make_lab_test
from tests.factories.users import make_user
from tests.outbox import emitted_types
from tests.state_machines.machine import Machine, efforts, walk

KEYS = st.sampled_from(("a", "a", "b", None, "x" * 256))
BODIES = st.sampled_from(("walk_in", "closed", "walk_in", "nobody", "unreadable"))
PLACES = st.sampled_from(("order", "order", "kit"))
PATHS = {"order": "/v3/order", "kit": "/v3/order/testkit"}
HOURS = (0.005, 1, 23, 25)


class IdempotencyMachine(Machine):
    """Two endpoints, a few keys and bodies (contract 1.6).

    The model: by endpoint and key, the body and the answer of the first execution.
    Orders are placed by executions alone, so that counting them counts executions.
    """

    def __init__(self, tenant, api) -> None:
        super().__init__()
        self.tenant, self.api = tenant, api

    @initialize()
    def begin(self) -> None:
        user, stranger = (
            make_user(tenant=self.tenant),
            "0" * 8 + "-0000" * 3 + "-" + "0" * 12,
        )
        self.open = make_lab_test(tenant=self.tenant)
        self.closed = make_lab_test(tenant=self.tenant)
        self.kit = make_lab_test(tenant=self.tenant, method="testkit")
        self.closed_kit = make_lab_test(tenant=self.tenant, method="testkit")
        self.is_closed = True
        self._close()
        self.bodies = {}
        shipping = {**ADDRESS, "receiver_name": "Ada Example"}
        shipping["phone_number"] = "+15550101"
        for place, rest in (
            ("order", {"patient_details": PATIENT, "patient_address": ADDRESS}),
            ("kit", {"shipping_details": shipping}),
        ):
            right, wrong = (
                (self.open, self.closed)
                if place == "order"
                else (self.kit, self.closed_kit)
            )
            bodies = {
                "walk_in": {"user_id": str(user.uuid), "lab_test_id": str(right.pk)},
                "closed": {"user_id": str(user.uuid), "lab_test_id": str(wrong.pk)},
                "nobody": {"user_id": stranger, "lab_test_id": str(right.pk)},
                "unreadable": {"user_id": 5, "lab_test_id": str(right.pk)},
            }
            for name, body in bodies.items():
                self.bodies[place, name] = orjson.dumps({**body, **rest})
        self.answers: dict[tuple[str, str], tuple[Any, ...]] = {}
        self.executing: dict[tuple[str, str], tuple[Any, ...]] = {}
        self.orders = 0

    def _close(self) -> None:
        status = "inactive" if self.is_closed else "active"
        for panel in (self.closed, self.closed_kit):
            type(panel).unscoped.filter(pk=panel.pk).update(status=status)

    @rule()
    def open_or_close(self) -> None:
        """What is refused now would be done later, and the other way round."""
        self.is_closed = not self.is_closed
        self._close()

    @rule(hours=st.sampled_from(HOURS))
    def let_time_pass(self, hours) -> None:
        self.wait(hours=hours)

    @rule(place=PLACES, key=st.sampled_from(("a", "b")), body=BODIES)
    def claim_and_die(self, place, key, body) -> None:
        """A worker that began and does not answer."""
        if (place, key) in self.answers or (place, key) in self.executing:
            return
        now = timezone.now()
        IdempotentAnswer.unscoped.update_or_create(
            tenant=self.tenant,
            endpoint=self.endpoint(place),
            key=key,
            defaults={
                "request_hash": hashlib.sha256(self.bodies[place, body]).digest(),
                "status": None,
                "body": None,
                "claimed_at": now,
                "kept_until": now + timedelta(hours=24),
            },
        )
        self.executing[place, key] = (body, now)

    def endpoint(self, place):
        """Its name as it is stored, learned from a call."""
        if not hasattr(self, "_names"):
            self._names = {}
        if place not in self._names:
            before = set(IdempotentAnswer.unscoped.values_list("pk", flat=True))
            self.post(place, "nobody", "learn")
            row = IdempotentAnswer.unscoped.exclude(pk__in=before).get()
            self._names[place] = row.endpoint
            row.delete()
        return self._names[place]

    def post(self, place, body, key, *, no_cache=False):
        headers = {} if key is None else {"x-idempotency-key": key}
        if no_cache:
            headers["x-idempotency-error"] = "no-cache"
        return self.api.generic(
            "POST",
            PATHS[place],
            self.bodies[place, body],
            "application/json",
            headers=headers,
        )

    @rule(place=PLACES, key=KEYS, body=BODIES, no_cache=st.booleans())
    def call(self, place, key, body, no_cache) -> None:
        now = timezone.now()
        reply = self.post(place, body, key, no_cache=no_cache)
        answer = reply.status_code, reply.content
        if body == "unreadable" or (key and len(key) > 255):
            # Not stored, and checked before anything else is looked at.
            assert answer[0] == 422
            return
        at = place, key
        claimed = self.executing.get(at) if key else None
        if claimed and now - claimed[1] < timedelta(seconds=60):
            assert answer[0] == (409 if claimed[0] == body else 422)
            return
        self.executing.pop(at, None)
        stored = self.answers.get(at) if key else None
        if stored and now - stored[2] < timedelta(hours=24):
            if stored[0] == body:
                assert answer == stored[1]
            else:
                assert answer[0] == 422
                assert reply.json()["detail"][0]["loc"] == [
                    "header",
                    "x-idempotency-key",
                ]
            return
        # It is executed: as the first, or as the first since the answer was let go.
        is_done = body == "walk_in" or (body == "closed" and not self.is_closed)
        assert (answer[0] == 200) == is_done, answer
        assert is_done or answer[0] in (400, 404)
        self.orders += is_done
        self.answers.pop(at, None)
        if key and (is_done or not no_cache):
            self.answers[at] = body, answer, now

    @rule(key=st.sampled_from(("a", "b")), hours=st.sampled_from((23, 25)))
    def call_again(self, key, hours) -> None:
        """One key at both endpoints, and hours later once more."""
        self.call("order", key, "walk_in", no_cache=False)
        self.call("kit", key, "walk_in", no_cache=False)
        self.wait(hours=hours)
        self.call("order", key, "walk_in", no_cache=False)

    @invariant()
    def each_execution_is_one_order(self) -> None:
        if not hasattr(self, "orders"):
            return
        assert Order.objects.for_tenant(self.tenant).count() == self.orders
        types = emitted_types(self.tenant)
        assert types.count("labtest.order.created") == self.orders


@efforts(walks=10, steps=18)
@pytest.mark.django_db
def test_a_key_is_executed_once(effort, alice_tenant, alice_api):
    class Idempotency(IdempotencyMachine):
        def __init__(self) -> None:
            super().__init__(alice_tenant, alice_api)

    walk(Idempotency, effort)
