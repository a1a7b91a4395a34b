"""The calls of an endless day: what phones send and people read, and when it is due."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections import defaultdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

RESOURCES = ("heartrate", "steps", "body_temperature")
# Days before the simulated one that are rows.
HOT_DAYS = 7
# Of a hundred hours that a phone sends: sent again, and with a forgotten sample.
AGAIN, FORGOTTEN = 5, 2


class Call(NamedTuple):
    """A request that is due `at` seconds after the start."""

    at: float
    name: str
    method: str
    path: str
    body: bytes | None = None


class Day:
    """The simulated day, and how the wall's seconds become its."""

    def __init__(self, start: datetime, speed: float, hours: int) -> None:
        self.start, self.speed, self.hours = start, speed, hours
        self.seconds = hours * 3600 / speed
        self.began = time.monotonic()

    def due(self, at: timedelta) -> float:
        """Seconds of the wall from the beginning to a time of the day."""
        return at.total_seconds() / self.speed

    def wait_until(self, at: timedelta) -> float:
        """Sleep until then; return by how many seconds it is late."""
        left = self.began + self.due(at) - time.monotonic()
        if left > 0:
            time.sleep(left)
        return max(0.0, -left)


def plan(day: Day, people: list[str], team: str, reads: int) -> list[Call]:
    """All calls of the day, by when they are due."""
    draw = random.Random(35)  # noqa: S311 - the same in each run
    calls = []
    for person in people:
        minute = draw.randrange(60)
        for hour in range(day.hours):
            # Behind the hour that it sends.
            at = day.due(timedelta(hours=hour, minutes=minute))
            calls += _hour(day, draw, person, hour - 1, at)
    for minute in range(day.hours * 60):
        for _ in range(reads):
            at = day.due(timedelta(minutes=minute, seconds=draw.randrange(60)))
            calls.append(_read(day, draw, draw.choice(people), team, at))
    return sorted(calls)


def _hour(
    day: Day, draw: random.Random, person: str, hour: int, at: float
) -> Iterator[Call]:
    """What a phone sends of an hour, -1 is the last before the day."""
    start = day.start + timedelta(hours=hour)
    beats = [n for n in range(60) if draw.random() > 0.08]
    sent = {"heartrate": [_instant(start, n, draw.randint(55, 140)) for n in beats]}
    if 7 <= hour <= 21:
        walked = [n for n in range(60) if draw.random() > 0.6]
        sent["steps"] = [_interval(start, n, draw.randint(1, 120)) for n in walked]
    if hour >= 0 and hour % 4 == 3:
        early = start - timedelta(hours=3)
        sent["body_temperature"] = [
            _interval(early, n, round(36.5 + draw.random(), 1))
            for n in range(0, 240, 5)
        ]
    for slug, samples in sent.items():
        path = f"/v2/timeseries/{person}/{slug}"
        body = _body(samples)
        yield Call(at, f"push {slug}", "POST", path, body)
        if draw.randrange(100) < AGAIN:
            later = at + day.due(timedelta(minutes=5))
            yield Call(later, f"push {slug}", "POST", path, body)
    if draw.randrange(100) < FORGOTTEN:
        closed = day.start - timedelta(days=HOT_DAYS + 1, seconds=-30)
        late = _instant(closed, draw.randrange(1440), 60)
        path = f"/v2/timeseries/{person}/heartrate"
        yield Call(at, "push one late", "POST", path, _body([late]))


def _body(samples: list[dict[str, Any]]) -> bytes:
    return orjson.dumps(
        {"provider": "oura", "source_type": "ring", "data": samples},
    )


def _instant(start: datetime, minute: int, value: float) -> dict[str, Any]:
    moment = start + timedelta(minutes=minute)
    return {"timestamp": moment, "timezone_offset": 3600, "value": value}


def _interval(start: datetime, minute: int, value: float) -> dict[str, Any]:
    moment = start + timedelta(minutes=minute)
    end = moment + timedelta(minutes=1)
    return {"start": moment, "end": end, "timezone_offset": 3600, "value": value}


def _read(day: Day, draw: random.Random, person: str, team: str, at: float) -> Call:
    """What a team's system and its members look at."""
    latest = (day.start + timedelta(seconds=at * day.speed)).date()
    week = latest - timedelta(days=9)
    samples = f"/v2/timeseries/{person}/heartrate"
    sums = f"/v2/aggregate/{person}/heartrate?period=day"
    return draw.choice(
        (
            Call(at, "read a day", "GET", f"{samples}?start_date={latest}&limit=2000"),
            Call(
                at,
                "read ten days",
                "GET",
                f"{samples}?start_date={week}&end_date={latest}&limit=10000",
            ),
            Call(at, "sums of ten days", "GET", f"{sums}&start_date={week}"),
            Call(at, "users", "GET", "/v2/user?limit=100"),
            Call(at, "user", "GET", f"/v2/user/{person}"),
            Call(at, "overview page", "GET", f"/t/{team}/production/"),
            Call(at, "user page", "GET", f"/t/{team}/production/users/{person}/"),
        )
    )


class Calls:
    """What senders did: milliseconds by call and part of the day, and counts."""

    def __init__(self, day: Day) -> None:
        self.day = day
        self.times: dict[tuple[str, int], list[float]] = defaultdict(list)
        self.created = 0
        self.failed: dict[tuple[str, int], int] = defaultdict(int)
        self._lock = threading.Lock()

    def add(self, call: Call, took: float, status: int, answer: bytes) -> None:
        part = int(call.at / self.day.seconds * 6)
        with self._lock:
            self.times[call.name, min(part, 5)].append(took * 1000)
            if status != 200:
                self.failed[call.name, status] += 1
            elif call.method == "POST":
                self.created += orjson.loads(answer)["created"]


def send(port: int, headers: dict[str, str], due: Any, calls: Calls) -> None:
    """Make calls as they are due, over one connection kept open."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    while (call := due.get()) is not None:
        status, answer = 0, b""
        try:
            client.request(call.method, call.path, call.body, headers)
            reply = client.getresponse()
            answer, status = reply.read(), reply.status
        except (OSError, http.client.HTTPException):
            client.close()
        took = time.monotonic() - calls.day.began - call.at
        calls.add(call, took, status, answer)
    client.close()
