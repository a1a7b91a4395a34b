"""Deliveries of webhooks: attempts, retries, disabling and replays in any order."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from django.db import connection, transaction
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from accounts.webhooks.delivery.leases import lease_due_deliveries
from accounts.webhooks.delivery.outcomes import (
    AttemptOutcome,
    record_delivery_outcomes,
)
from accounts.webhooks.delivery.sending import SendOutcome
from accounts.webhooks.models import Attempt, Delivery, Endpoint, Event
from accounts.webhooks.operations.endpoints import change_endpoint, delete_endpoint
from accounts.webhooks.operations.replay import (
    cancel_delivery_retries,
    resend_delivery,
)
from accounts.webhooks.schedule import compute_retry_wait
from accounts.webhooks.states import DeliveryFault
from tests.factories.accounts import ACTOR
from tests.factories.webhooks import make_endpoint, make_event
from tests.outbox import emitted_types
from tests.state_machines.contract import read_ladder
from tests.state_machines.machine import (
    Machine,
    efforts,
    nothing_changes,
    refusal_of,
    walk,
)

LADDER = read_ladder()  # contract 8.5: 8 attempts, 7 waits
EXHAUSTED = "message.attempt.exhausted"
DAY = 86_400
HALF_A_DAY = DAY // 2


class OneConnection:
    """The test's own connection, as the deliverer holds one: for its statements."""

    async def execute(self, statement, values=None):
        return _Rows(connection.connection.execute(statement, values))

    @asynccontextmanager
    async def transaction(self):
        with transaction.atomic():
            yield

    @asynccontextmanager
    async def cursor(self, row_factory=None):
        with connection.connection.cursor(row_factory=row_factory) as cursor:
            yield _Rows(cursor)


def run(work):
    """Run a coroutine that waits for nothing: the connection is not asynchronous."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits")


class _Rows:
    def __init__(self, cursor) -> None:
        self._cursor = cursor

    async def execute(self, statement, values=None):
        self._cursor.execute(statement, values)
        return self

    async def fetchall(self):
        return self._cursor.fetchall()


@dataclass
class Sent:
    """The model of a delivery (contract 8.5)."""

    pk: int
    status: str
    is_about_exhaustion: bool = False
    step: int = 0  # attempts of this round
    attempts: int = 0
    due_in: float = 0.0
    history: list[str] = field(default_factory=list)


class DeliveryMachine(Machine):
    """One endpoint and what is sent to it.

    The database's clock stands still in a transaction: time passes here by making all
    that is kept older.
    """

    def __init__(self, tenant) -> None:
        super().__init__()
        self.tenant = tenant

    @initialize()
    def begin(self) -> None:
        self.endpoint = make_endpoint(tenant=self.tenant)
        self.is_disabled = self.is_deleted = False
        self.sent: list[Sent] = []
        self.exhausted = 0
        # Seconds since each failure after the last success, and since the five days
        # began: with failures of one day that lie half a day apart.
        self.failures: list[float] = []
        self.failing_for: float | None = None

    def rows(self):
        return Delivery.objects.for_tenant(self.tenant).order_by("pk")

    def written(self):
        return list(self.rows().values()), Event.objects.for_tenant(self.tenant).count()

    def fresh(self):
        found = Endpoint.objects.for_tenant(self.tenant).get(pk=self.endpoint.pk)
        found.tenant = self.tenant
        return found

    def delivery(self, sent):
        found = self.rows().select_related("event", "endpoint").get(pk=sent.pk)
        found.tenant = found.endpoint.tenant = self.tenant
        return found

    @rule(number=st.integers(1, 2))
    def emit(self, number) -> None:
        for _ in range(number):
            event = make_event(tenant=self.tenant)
            self.expect_delivery_of(event.pk)

    def expect_delivery_of(self, event, *, is_about_exhaustion=False):
        """A new message waits, is held for a disabled endpoint, goes to no deleted."""
        found = list(self.rows().filter(event_id=event))
        assert len(found) == (0 if self.is_deleted else 1)
        for row in found:
            status = "held" if self.is_disabled else "pending"
            self.sent.append(Sent(row.pk, status, is_about_exhaustion))

    @rule(seconds=st.sampled_from((6, 400, 2_000, 8_000, 20_000, 40_000, 2 * DAY)))
    def let_time_pass(self, seconds) -> None:
        ago = "- make_interval(secs => %s)"
        for table, columns in (
            ("webhooks_delivery", ("due_at", "leased_until", "created_at")),
            ("webhooks_attempt", ("started_at",)),
            (
                "webhooks_endpoint",
                ("first_failed_at", "failing_since", "last_success_at", "disabled_at"),
            ),
        ):
            told = ", ".join(f"{column} = {column} {ago}" for column in columns)
            with connection.cursor() as cursor:
                cursor.execute(f"UPDATE {table} SET {told}", [seconds] * len(columns))  # noqa: S608
        for each in self.sent:
            each.due_in -= seconds
        self.failures = [ago + seconds for ago in self.failures]
        if self.failing_for is not None:
            self.failing_for += seconds

    @rule(
        code=st.sampled_from((200, 204, 302, 410, 429, 500, None)),
        retry_after=st.sampled_from((None, 1, 3_600, 1_000_000)),
        chance=st.sampled_from((0.0, 0.5, 1.0)),
    )
    def attempt(self, code, retry_after, chance) -> None:
        """A deliverer sends all that is due, and the receiver answers so."""
        leases = run(
            lease_due_deliveries(OneConnection(), limit=100, per_endpoint=50, busy={})
        )
        is_open = not (self.is_disabled or self.is_deleted)
        due = [s for s in self.sent if s.status == "pending" and s.due_in <= 0]
        assert {lease.delivery for lease in leases} == (
            {each.pk for each in due} if is_open else set()
        )
        if not leases:
            return
        again = run(
            lease_due_deliveries(OneConnection(), limit=100, per_endpoint=50, busy={})
        )
        assert again == []
        retry_after = retry_after if code == 429 else None
        tries = [self.answer(lease, code, retry_after, chance) for lease in leases]
        run(record_delivery_outcomes(OneConnection(), tries))
        self.judge(due, code, retry_after, chance)

    @rule(seconds=st.sampled_from((8_000, 40_000)))
    def fail_to_the_end(self, seconds) -> None:
        """A receiver that is down: few walks come so far by single steps."""
        if self.is_disabled and not self.is_deleted:
            self.switch()
        for code in (200, *[500] * len(LADDER)):
            self.emit(1)
            self.let_time_pass(40_000)  # longer than any wait
            self.attempt(code, None, 0.0)
        self.let_time_pass(seconds)
        self.attempt(500, None, 0.0)

    @rule()
    def fail_for_days(self) -> None:
        """And one that is down for as long as its endpoint stays enabled."""
        for seconds in (HALF_A_DAY, 2 * DAY, 2 * DAY, 100_000):
            self.emit(1)
            self.attempt(500, None, 0.0)
            self.let_time_pass(seconds)
        self.emit(1)
        self.attempt(500, None, 0.0)

    def answer(self, lease, code, retry_after, chance):
        is_well = code is not None and 200 <= code < 300
        fault = None
        if not is_well:
            fault = DeliveryFault.STATUS if code else DeliveryFault.TIMEOUT
        with connection.cursor() as cursor:
            cursor.execute("SELECT extract(epoch FROM now())::float8")
            (now,) = cursor.fetchone()
        wait = None
        if fault and code != 410:
            wait = compute_retry_wait(
                lease.step + 1, retry_after_s=retry_after, chance=chance
            )
        outcome = SendOutcome(
            started_at=now,
            sent_timestamp=int(now),
            signature=f"v1,{lease.token}{lease.delivery}",
            fault=fault,
            code=code,
        )
        return AttemptOutcome(lease, outcome, wait)

    def judge(self, due, code, retry_after, chance):
        """What contract 8.5 says of these answers."""
        is_well = code is not None and 200 <= code < 300
        given_up = []
        for each in due:
            each.step += 1
            each.attempts += 1
            if is_well:
                each.status = "delivered"
            elif code == 410 or each.step > len(LADDER):
                each.status = "failed"
                given_up.append(each)
            else:
                wait = LADDER[each.step - 1]
                # Later by at most a tenth; Retry-After counts up to the next step.
                asked = min(retry_after or 0, LADDER[min(each.step, len(LADDER) - 1)])
                each.due_in = max(wait * (1 + 0.1 * chance), asked)
        if is_well:
            self.failures, self.failing_for = [], None
        else:
            self.failures.append(0.0)
            of_a_day = [ago for ago in self.failures if ago < DAY]
            if self.failing_for is None and max(of_a_day) >= HALF_A_DAY:
                self.failing_for = 0.0
        endpoint = self.fresh()
        if code == 410:
            assert (endpoint.disabled_by, bool(endpoint.disabled_at)) == ("gone", True)
        elif endpoint.disabled_at is not None:
            # After five days of nothing but failures, and not before.
            assert endpoint.disabled_by == "failing"
            assert self.failing_for is not None
            assert self.failing_for >= 5 * DAY
        elif self.failing_for is not None:
            assert self.failing_for < 5 * DAY
        if endpoint.disabled_at is not None:
            self.hold()
        told = [each for each in given_up if not each.is_about_exhaustion]
        self.exhausted += len(told)
        events = Event.objects.for_tenant(self.tenant).filter(event_type=EXHAUSTED)
        known = {row.event_id for row in self.rows() if row.pk in self.pks()}
        for pk in events.order_by("pk").values_list("pk", flat=True):
            if pk not in known and not self.is_deleted:
                self.expect_delivery_of(pk, is_about_exhaustion=True)

    def pks(self):
        return {each.pk for each in self.sent}

    def hold(self):
        self.is_disabled = True
        for each in self.sent:
            if each.status == "pending":
                each.status = "held"

    @rule()
    def switch(self) -> None:
        """A member disables or enables it: what was held stays so."""
        if self.is_deleted:
            with nothing_changes(self.written):
                assert refusal_of(self.disable) == "endpoint_deleted"
            return
        assert refusal_of(self.disable) is None
        if self.is_disabled:
            self.is_disabled = False
            self.failures, self.failing_for = [], None
        else:
            self.hold()

    def disable(self):
        change_endpoint(
            endpoint=self.fresh(), actor=ACTOR, disabled=not self.is_disabled
        )

    @rule(place=st.integers(0, 5), is_late=st.booleans())
    def delete(self, place, is_late) -> None:
        """Seldom: what waits is dropped."""
        if place or not is_late or len(self.sent) < 3 or self.is_deleted:
            return
        delete_endpoint(endpoint=self.fresh(), actor=ACTOR)
        self.is_deleted = True
        for each in self.sent:
            if each.status in ("pending", "held"):
                each.status = "dropped"

    @rule(place=st.integers(0, 3))
    def resend(self, place) -> None:
        """One is sent again under its id, in a round of its own."""
        if place >= len(self.sent):
            return
        each = self.sent[place]

        def act():
            resend_delivery(delivery=self.delivery(each), actor=ACTOR)

        if self.is_deleted or self.is_disabled:
            with nothing_changes(self.written):
                code = "endpoint_deleted" if self.is_deleted else "endpoint_disabled"
                assert refusal_of(act) == code
            return
        assert refusal_of(act) is None
        each.status, each.step, each.due_in = "pending", 0, 0.0

    @rule(place=st.integers(0, 3))
    def cancel(self, place) -> None:
        if place >= len(self.sent):
            return
        each = self.sent[place]

        def act():
            cancel_delivery_retries(delivery=self.delivery(each), actor=ACTOR)

        if each.status not in ("pending", "held"):
            with nothing_changes(self.written):
                assert refusal_of(act) == "transition_not_allowed"
            return
        assert refusal_of(act) is None
        each.status = "dropped"

    @invariant()
    def it_is_what_the_contract_says(self) -> None:
        if not hasattr(self, "sent"):
            return
        kept = {row.pk: row for row in self.rows()}
        assert {pk: row.status for pk, row in kept.items()} == {
            each.pk: each.status for each in self.sent
        }
        tried = Attempt.objects.for_tenant(self.tenant)
        for each in self.sent:
            row = kept[each.pk]
            assert (row.attempts, row.lease) == (each.attempts, None)
            assert tried.filter(delivery=row).count() == each.attempts
            is_over = each.status in ("delivered", "failed", "dropped")
            assert (row.finished_at is not None) == is_over
        assert emitted_types(self.tenant).count(EXHAUSTED) == self.exhausted


@efforts(walks=10, steps=25)
@pytest.mark.django_db
def test_a_delivery_is_what_the_contract_says(effort, alice_tenant):
    class Deliveries(DeliveryMachine):
        def __init__(self) -> None:
            super().__init__(alice_tenant)

    walk(Deliveries, effort)
