"""Budgets of calls to sources, shared by all processes.

One row for each limit of an application holds when the next call is due (GCRA), so that
a burst is allowed and no window of the limit ever holds more calls than it may.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from portal.lib.database import rows
from users.gateways.base import CallLimit, SourceUnavailable
from users.models import SourceBudget

if TYPE_CHECKING:
    from collections.abc import Sequence

# Of a limit's calls so many may go out at once; the others are spread over its window.
_BURST_SHARE = 5
# Of a source that says that calls are too many, but not for how long.
_USUAL_BLOCK = timedelta(minutes=1)
# A call that is due within this is waited for, again where others were faster.
_LONGEST_WAIT = timedelta(seconds=2)
_WAITS_MAX = 20
# Ours: what a user is asked for one after the other, once there is room again.
_PAGE_CALLS = 4
LONGEST_HOLD = _WAITS_MAX * _LONGEST_WAIT
# Rows of a source without limits of its own count calls and keep its blocks.
_LONGEST_LIMIT = timedelta(days=1)
_UNLIMITED = CallLimit(calls=1_000_000, seconds=60)

_TAKE = b"""
    INSERT INTO users_sourcebudget AS kept
        (provider, client_id, account, seconds, next_at, day, used)
    VALUES (%(provider)s, %(client_id)s, %(account)s, %(seconds)s,
        %(now)s::timestamptz + %(taken)s::interval, %(day)s, %(units)s)
    ON CONFLICT (provider, client_id, account, seconds) DO UPDATE SET
        next_at = GREATEST(kept.next_at, %(now)s) + %(taken)s::interval,
        day = excluded.day,
        used = CASE WHEN kept.day = excluded.day THEN kept.used + excluded.used
            ELSE excluded.used END
    WHERE kept.next_at <= %(now)s::timestamptz + %(burst)s::interval
        AND (kept.blocked_until IS NULL OR kept.blocked_until <= %(now)s)
    RETURNING used
"""


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """Calls of an application today (UTC), and until when none goes out."""

    used_today: int
    blocked_until: datetime | None


@dataclass(frozen=True, slots=True)
class CallBudget:
    """The Meter of one application at a source."""

    provider: str
    client_id: str
    limits: Sequence[CallLimit]
    longest_wait: timedelta = _LONGEST_WAIT

    def take(self, account: str = "", *, units: int = 1) -> None:
        """As of Meter; in the caller's transaction, so call it outside of any.

        Waits for a call that is due soon, so that a page list comes to its end: to
        begin it anew would spend the budget on what was read already.
        """
        shared = [each for each in self.limits if not each.is_per_user]
        of_user = [each for each in self.limits if each.is_per_user and account]
        for limit in (*(shared or (_UNLIMITED,)), *of_user):
            for _ in range(_WAITS_MAX):
                of = _hash(account) if limit.is_per_user else ""
                wait = self._take(limit, of, units)
                if wait is None:
                    break
                if wait > self.longest_wait:
                    # A page takes a few calls: with one at a time none would end.
                    room = _interval(limit) * (_PAGE_CALLS - 1)
                    wait += room if limit.is_per_user else timedelta(0)
                    raise SourceUnavailable("budget_spent", retry_after=wait)
                pause(wait.total_seconds())
            else:
                raise SourceUnavailable("budget_spent", retry_after=self.longest_wait)

    def block(self, wait: timedelta | None) -> None:
        """As of Meter; never shortens a longer block.

        Of the application, whose limits the source counts.
        """
        until = timezone.now() + (wait or _USUAL_BLOCK)
        for kept in self._rows():
            if kept.blocked_until is None or kept.blocked_until < until:
                kept.blocked_until = until
                kept.save(update_fields=["blocked_until"])

    def read_use(self) -> BudgetUse:
        """Return how much was used."""
        now = timezone.now()
        kept = self._rows()
        today = now.astimezone(UTC).date()
        blocks = [each.blocked_until for each in kept if each.blocked_until]
        return BudgetUse(
            max((each.used for each in kept if each.day == today), default=0),
            max((each for each in blocks if each > now), default=None),
        )

    def _rows(self) -> list[SourceBudget]:
        mine = SourceBudget.objects.filter(
            provider=self.provider, client_id=self.client_id, account=""
        )
        return list(mine.order_by("seconds"))

    def _take(self, limit: CallLimit, account: str, units: int) -> timedelta | None:
        """Take a call; return how long to wait where there is none.

        One of several units has to fit into the burst as a whole.
        """
        now = timezone.now()
        interval = _interval(limit)
        burst = max(limit.calls // _BURST_SHARE - units + 1, 0)
        with rows.open_database_cursor() as opened:
            opened.execute(
                _TAKE,
                {
                    "provider": self.provider,
                    "client_id": self.client_id,
                    "account": account,
                    "seconds": limit.seconds,
                    "now": now,
                    "day": now.astimezone(UTC).date(),
                    "taken": interval * units,
                    "units": units,
                    "burst": interval * burst,
                },
            )
            if opened.fetchone():
                return None
        kept = SourceBudget.objects.get(
            provider=self.provider,
            client_id=self.client_id,
            account=account,
            seconds=limit.seconds,
        )
        due = kept.next_at - interval * burst
        if kept.blocked_until:
            due = max(due, kept.blocked_until)
        return max(due - now, timedelta(milliseconds=1))


def _interval(limit: CallLimit) -> timedelta:
    """Return the time between spread calls: with a burst they keep to the limit."""
    spread = limit.calls - limit.calls // _BURST_SHARE - 1
    return timedelta(seconds=limit.seconds) / max(spread, 1)


def delete_old_user_budgets() -> int:
    """Delete budgets of users who were not asked for a day; return how many."""
    old = SourceBudget.objects.exclude(account="")
    removed, _ = old.filter(next_at__lt=timezone.now() - _LONGEST_LIMIT).delete()
    return removed


def _hash(account: str) -> str:
    """Return what stands for a user's ID at a source, which is nobody's business."""
    return hashlib.sha256(account.encode()).hexdigest()[:32]


def pause(seconds: float) -> None:
    """Wait for the next call of a budget."""
    time.sleep(seconds)
