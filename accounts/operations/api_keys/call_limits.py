"""Count calls per rate limit window, exactly over all processes.

Each counted call is one statement on an unlogged table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from accounts.models import CallWindow
from portal.lib.database import rows

WINDOW = timedelta(minutes=1)
# A subject that made no call for so long is forgotten.
_FORGET_AFTER = timedelta(hours=1)
# A window begins with its first call and not by the clock, so that callers do not all
# start anew together.
_COUNT = """
INSERT INTO accounts_callwindow AS held (subject, started_at, calls)
VALUES (%(subject)s, %(at)s, 1)
ON CONFLICT (subject) DO UPDATE SET
    started_at = CASE WHEN held.started_at <= %(ended)s
        THEN excluded.started_at ELSE held.started_at END,
    calls = CASE WHEN held.started_at <= %(ended)s THEN 1 ELSE held.calls + 1 END
RETURNING started_at, calls
"""


@dataclass(frozen=True, slots=True)
class Window:
    """The state after a call: `calls` of `limit`, until `ends_at`."""

    limit: int
    calls: int
    ends_at: datetime
    at: datetime

    @property
    def is_over(self) -> bool:
        """Return whether this call exceeded the limit."""
        return self.calls > self.limit

    @property
    def left(self) -> int:
        """Return how many more calls are allowed."""
        return max(0, self.limit - self.calls)

    @property
    def seconds(self) -> int:
        """Return the whole seconds until the window ends, at least one."""
        return max(1, math.ceil((self.ends_at - self.at).total_seconds()))


# Who is known to be over a limit, so that refusals cost no statement.
REMEMBERED_AT_MOST = 10_000
_spent: dict[tuple[str, int], Window] = {}


def clear_rate_limit_cache() -> None:
    """Clear this process's cache of exceeded limits."""
    _spent.clear()


def count_call_against_rate_limit(*, subject: str, limit: int) -> Window:
    """Count a call of `subject` before it is served.

    The count is exact over processes: of all that count at once, `limit` in a window
    are not over. Source: Ours (contract 1.7: a team may set a limit on a key).
    """
    at = timezone.now()
    spent = _spent.get((subject, limit))
    if spent is not None and at < spent.ends_at:
        return Window(limit, spent.calls, spent.ends_at, at)
    ((started_at, calls),) = rows.fetch_rows(
        _COUNT, {"subject": subject, "at": at, "ended": at - WINDOW}
    )
    window = Window(limit, calls, started_at + WINDOW, at)
    if window.is_over:
        _cache_window(subject, window)
    return window


def _cache_window(subject: str, window: Window) -> None:
    if len(_spent) >= REMEMBERED_AT_MOST:
        _spent.clear()
    _spent[subject, window.limit] = window


def delete_old_rate_limit_windows() -> int:
    """Delete windows that ended long ago; return how many."""
    ended = timezone.now() - _FORGET_AFTER
    deleted, _ = CallWindow.objects.filter(started_at__lt=ended).delete()
    return deleted
