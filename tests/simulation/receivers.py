"""Receivers of webhooks, which refuse, time out or take what a deliverer sends."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from django.db import connection

from accounts.webhooks.delivery.leases import lease_due_deliveries
from accounts.webhooks.delivery.outcomes import (
    AttemptOutcome,
    record_delivery_outcomes,
)
from accounts.webhooks.delivery.sending import SendOutcome
from accounts.webhooks.models import Delivery
from accounts.webhooks.schedule import compute_retry_wait
from accounts.webhooks.states import DeliveryFault
from portal.lib.tenancy import across_tenants
from tests.state_machines.test_deliveries import OneConnection, run

if TYPE_CHECKING:
    from random import Random

    from accounts.webhooks.delivery.leases import Lease

HOUR = 3600


class Receiver:
    """One for all endpoints; `accepted` counts by delivery."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self.accepted: Counter[int] = Counter()

    def deliver_due(self) -> None:
        """Send all that is due: each is taken, refused, or taken by a dying sender."""
        age_deliveries(self.dice.choice((10, 600, 7 * HOUR)))
        fates = ("taken", "refused", "timeout", "killed")
        self._send([self.dice.choices(fates, (6, 2, 1, 1))[0] for _ in range(500)])

    def deliver_all(self) -> None:
        """Take everything until nothing waits."""
        for _ in range(10):
            age_deliveries(48 * HOUR)
            if not self._send(["taken"] * 500):
                return
        raise AssertionError("deliveries do not end")

    def _send(self, fates: list[str]) -> int:
        with across_tenants(why="a deliverer works for all"):
            return self._send_leased(fates)

    def _send_leased(self, fates: list[str]) -> int:
        leases = run(
            lease_due_deliveries(OneConnection(), limit=500, per_endpoint=500, busy={})
        )
        outcomes = []
        for lease, fate in zip(leases, fates, strict=False):
            if fate in ("taken", "killed"):
                self.accepted[lease.delivery] += 1
            if fate != "killed":  # the answer is known to nobody
                outcomes.append(self._answer(lease, fate))
        run(record_delivery_outcomes(OneConnection(), outcomes))
        return len(leases)

    def _answer(self, lease: Lease, fate: str) -> AttemptOutcome:
        with connection.cursor() as cursor:
            cursor.execute("SELECT extract(epoch FROM now())::float8")
            (now,) = cursor.fetchone()
        fault, code = {
            "taken": (None, 200),
            "refused": (DeliveryFault.STATUS, 500),
            "timeout": (DeliveryFault.TIMEOUT, None),
        }[fate]
        wait = None
        if fault:
            wait = compute_retry_wait(lease.step + 1, retry_after_s=None, chance=0.5)
        outcome = SendOutcome(
            started_at=now,
            sent_timestamp=int(now),
            signature=f"v1,{lease.token}{lease.delivery}",
            fault=fault,
            code=code,
        )
        return AttemptOutcome(lease, outcome, wait)


def age_deliveries(seconds: int) -> None:
    """Let time pass for deliveries: the database's clock stands still in here."""
    ago = "- make_interval(secs => %s)"
    why = "time passes for all"
    with across_tenants(why=why), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE webhooks_delivery SET"  # noqa: S608 - the parts are ours
            f" due_at = due_at {ago}, leased_until = leased_until {ago}",
            [seconds, seconds],
        )


def list_unsettled() -> list[tuple[int, str]]:
    """Deliveries that are not delivered, of all tenants."""
    return [
        (pk, status)
        for pk, status in Delivery.unscoped.values_list("pk", "status")
        if status != "delivered"
    ]
