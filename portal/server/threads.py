"""Threads that requests wait for, and whose turn it is."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, OrderedDict
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from portal.lib.budgets import AFTER_ANSWER, TEAM, find_share
from portal.server.pacing import Pace

if TYPE_CHECKING:
    from collections.abc import Callable

    from portal.lib.budgets import Budget

    _Waiting = tuple["Place", Callable[[], None]]

_CALLERS_MAX = 10_000
_KEYS = ("HTTP_AUTHORIZATION", "HTTP_X_SERVICE_API_KEY", "HTTP_X_PHONE_TOKEN")
_SESSIONS = ("__Host-sessionid", "sessionid")


class Place(NamedTuple):
    """What a request counts with: its team, or its caller, and a budget if heavy."""

    group: str
    is_team: bool
    budget: Budget | None


class Threads:
    """A few threads that take requests in turns, and how many may wait for them.

    The next request is of the group with fewest at work, then of the one that was
    served longest ago. A team has at most its share of the threads at work
    (`find_share`), and of a heavy kind what its budget says; beside other teams also
    no more of their time than `time_of_one` (see `Pace`); the rest waits. An address,
    which may be a proxy's, has no share to keep to.
    `most_of_one`: how many one group may have at work or waiting; None for as many as
    there are. A caller's group is the team that its last answered call was of (`TEAM`);
    until the first it is its address. All but the threads' own work is of the event
    loop.
    """

    def __init__(
        self,
        size: int,
        name: str,
        *,
        most_waiting: int,
        most_of_one: int | None = None,
        time_of_one: float = 0,
        retry_after_s: int = 1,
    ) -> None:
        self.pool = ThreadPoolExecutor(size, thread_name_prefix=name)
        self._retry_after_s = retry_after_s
        self._size, self._share = size, find_share(size)
        self._at_most = size + most_waiting
        self._of_one = self._at_most if most_of_one is None else most_of_one
        self._held = 0
        self._held_by: Counter[str | Place] = Counter()
        self._teams: OrderedDict[str, str] = OrderedDict()
        # Of the threads, behind the lock. Groups are in the order of their last turn.
        self._turn = threading.Condition()
        self._pace = Pace(time_of_one)
        self._is_watched = False
        self._waiting: OrderedDict[str, list[_Waiting]] = OrderedDict()
        self._at_work: Counter[str | Place] = Counter()

    def find_place(self, environ: dict[str, Any], budget: Budget | None) -> Place:
        """Return what a request counts with."""
        caller = _find_caller(environ)
        if team := self._teams.get(caller):
            return Place(team, True, budget)
        return Place(f"at {environ.get('REMOTE_ADDR', '')}", False, budget)

    def find_wait(self, place: Place) -> int:
        """Return the seconds after which one more may come; 0 where there is room."""
        budget = place.budget
        if budget is not None and self._held_by[place] >= budget.held:
            return budget.retry_after_s
        has_room = self._held < self._at_most
        if has_room and self._held_by[place.group] < self._of_one:
            return 0
        return self._retry_after_s

    def take(self, place: Place, run: Callable[[], None]) -> None:
        """Run in a thread when it is the request's turn."""
        self._held += 1
        _count(self._held_by, place, 1)
        with self._turn:
            if place.is_team:
                self._pace.note_call(place.group)
            self._waiting.setdefault(place.group, []).append((place, run))
            self._turn.notify()
        self.pool.submit(self._work)

    def give_back(self, place: Place, environ: dict[str, Any]) -> None:
        """Count a request no more, and learn whose team its caller is of."""
        self._held -= 1
        _count(self._held_by, place, -1)
        team, caller = environ.get(TEAM), _find_caller(environ)
        if team and caller:
            self._teams[caller] = team
            self._teams.move_to_end(caller)
            if len(self._teams) > _CALLERS_MAX:
                self._teams.popitem(last=False)

    def _work(self) -> None:
        """Run requests until none may run; each that waits has brought one call."""
        while True:
            with self._turn:
                chosen = self._wait_for_turn()
            if chosen is None:
                return
            place, run = chosen
            begun = monotonic()
            try:
                run()
            finally:
                with self._turn:
                    _count(self._at_work, place, -1)
                    if place.is_team:
                        self._pace.spend(place.group, monotonic() - begun)

    def _wait_for_turn(self) -> _Waiting | None:
        """Take out the next request; while all that may be next rest, one thread waits.

        None: another thread will see to what is left.
        """
        while True:
            chosen, rest = self._choose()
            if chosen is not None or rest is None:
                return chosen
            if self._is_watched:
                self._turn.notify()  # this rest may be the shortest
                return None
            self._is_watched = True
            self._turn.wait(rest)
            self._is_watched = False

    def _choose(self) -> tuple[_Waiting | None, float | None]:
        """Take out the request whose turn it is; else the seconds until one's may be.

        None of both: none may run before another ends.
        """
        best: tuple[int, str, int] | None = None
        shortest: float | None = None
        for group, requests in self._waiting.items():
            at_work, at_most, rest = self._at_work[group], self._size, 0.0
            if requests[0][0].is_team:
                at_most, rest = self._pace.find_bounds(group, self._share)
            if at_work >= at_most or (best is not None and at_work >= best[0]):
                continue
            number = self._find_first(requests)
            if number is None:
                continue
            if rest:
                shortest = rest if shortest is None else min(rest, shortest)
            else:
                best = (at_work, group, number)
        if best is None:
            return None, shortest
        _, group, number = best
        waiting = self._waiting[group].pop(number)
        self._waiting.move_to_end(group)
        if not self._waiting[group]:
            del self._waiting[group]
        _count(self._at_work, waiting[0], 1)
        return waiting, None

    def _find_first(self, requests: list[_Waiting]) -> int | None:
        """Return the number of the first request that its budget lets run."""
        for number, (place, _run) in enumerate(requests):
            budget = place.budget
            if budget is None or self._at_work[place] < budget.at_once:
                return number
        return None


def _count(counts: Counter[str | Place], place: Place, change: int) -> None:
    for key in (place.group,) if place.budget is None else (place.group, place):
        counts[key] += change
        if not counts[key]:
            del counts[key]


def finish_after(run: Callable[[], None], environ: dict[str, Any]) -> None:
    """Answer a request, then do what it left until then."""
    environ[AFTER_ANSWER] = []
    try:
        run()
    finally:
        finish(environ)


def finish(environ: dict[str, Any]) -> None:
    """Do what a request left to be done once it is answered."""
    left: list[Callable[[], None]] = environ[AFTER_ANSWER]
    while left:
        left.pop()()


def _find_caller(environ: dict[str, Any]) -> str:
    """Return what stands for a request's key, token or session; empty without one."""
    given = next((environ[name] for name in _KEYS if environ.get(name)), None)
    if given is None and (cookies := environ.get("HTTP_COOKIE")):
        given = _find_session(cookies)
    if not given:
        return ""
    # Kept for long: the token itself is not.
    return hashlib.sha256(str(given).encode("utf-8", "surrogateescape")).hexdigest()


def _find_session(cookies: str) -> str | None:
    for cookie in cookies.split(";"):
        name, _, value = cookie.strip().partition("=")
        if name in _SESSIONS:
            return value
    return None
