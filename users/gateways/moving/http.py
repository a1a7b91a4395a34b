"""Calls to a platform at the team's own rate, which obey its Retry-After."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from users.gateways.moving.base import PlatformUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

# Ours: a platform that is restarted is back by then.
ATTEMPTS = 8
LONGEST_WAIT_S = 120.0
TIMEOUT_S = 60


@dataclass(slots=True)
class Pace:
    """Spaces calls to at most `rate` a second; waits are of `sleep`."""

    rate: float
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    _next: float = field(default=0.0, init=False)

    def wait_turn(self) -> None:
        """Wait until the next call may go out."""
        now = self.clock()
        if self._next > now:
            self.sleep(self._next - now)
        self._next = max(now, self._next) + 1 / self.rate

    def wait_after(self, attempt: int, retry_after: str) -> None:
        """Wait before a call is repeated: as asked, else twice as long each time."""
        asked = float(retry_after) if retry_after.isdecimal() else 2.0**attempt
        self.sleep(min(asked, LONGEST_WAIT_S))


class PlatformHttp:
    """GET calls with a key in a header; the address is the operator's own.

    Redirects are not followed: they would carry the key elsewhere. Raises:
    PlatformUnavailable for what no repetition mended.
    """

    def __init__(
        self,
        *,
        base_url: str,
        headers: dict[str, str],
        pace: Pace,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._pace = pace
        self._client = httpx.Client(
            base_url=base_url,
            headers=headers,
            timeout=TIMEOUT_S,
            follow_redirects=False,
            transport=transport,
        )

    def get(self, path: str, params: dict[str, Any] | None = None) -> Any:
        """Return the JSON of a path."""
        for attempt in range(ATTEMPTS):
            self._pace.wait_turn()
            try:
                answer = self._client.get(path, params=params)
            except httpx.TransportError:
                self._pace.wait_after(attempt, "")
                continue
            if answer.status_code == 429 or answer.status_code >= 500:
                retry_after = answer.headers.get("retry-after", "")
                self._pace.wait_after(attempt, retry_after)
                continue
            if not answer.is_success:
                raise PlatformUnavailable(f"status_{answer.status_code}")
            try:
                return answer.json()
            except ValueError:
                raise PlatformUnavailable("no_json") from None
        raise PlatformUnavailable("no_answer")
