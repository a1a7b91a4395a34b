"""Send what twins push: lost, doubled, shuffled and late, as a test asks."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

if TYPE_CHECKING:
    from collections.abc import Callable

_TIMEOUT_SECONDS = 2
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Push:
    """A message to an address; `headers` make it the source's own."""

    url: str
    body: bytes
    content_type: str = "application/x-www-form-urlencoded"
    headers: tuple[tuple[str, str], ...] = ()


def send_push(method: str, push: Push) -> int:
    """Send a message and return the status, 0 where nobody answers."""
    headers = {"Content-Type": push.content_type, **dict(push.headers)}
    body = push.body if method == "POST" else None
    asked = Request(push.url, data=body, headers=headers, method=method)  # noqa: S310 - what the portal gave
    try:
        with urlopen(asked, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310 - as above
            return int(answer.status)
    except HTTPError as error:
        return error.code
    except (URLError, OSError):
        return 0


@dataclass
class PushSender:
    """Messages of a twin that wait to be sent, and what goes wrong with them.

    `lost` and `doubled` are shares from 0 to 1. A source that `repeats` sends what was
    lost again, the next time. `late` keeps that many of the newest back for the next
    time. `statuses` holds what was answered.
    """

    send: Callable[[str, Push], int] = send_push
    lost: float = 0.0
    doubled: float = 0.0
    is_shuffled: bool = False
    repeats: bool = False
    late: int = 0
    chance: random.Random = field(default_factory=lambda: random.Random(7))  # noqa: S311 - no secret
    waiting: list[Push] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    losses: int = 0

    def check(self, url: str) -> bool:
        """Return whether an address answers HEAD."""
        return 200 <= self.send("HEAD", Push(url, b"")) < 300

    def deliver(self) -> None:
        """Send what waits; what is not answered is sent again, a few times."""
        going = self.waiting[: len(self.waiting) - self.late or None]
        self.waiting = self.waiting[len(going) :]
        self.late = 0
        batch = []
        for push in going:
            if self.chance.random() < self.lost:
                self.losses += 1
                if self.repeats:
                    self.waiting.append(push)
                continue
            batch += [push] * (2 if self.chance.random() < self.doubled else 1)
        if self.is_shuffled:
            self.chance.shuffle(batch)
        for push in batch:
            for _attempt in range(_ATTEMPTS):
                status = self.send("POST", push)
                self.statuses.append(status)
                if 0 < status < 400:
                    break
