"""Limit sign-in attempts with growing waits that never lock a member out.

Tries of one account are counted in lanes: each device that its member has signed in
with has a lane of its own, all other devices share one. In a lane FREE_TRIES are let
through at once, then each has to wait twice as long as the one before, LONGEST_WAIT at
the most. While the shared lane waits, an address that has not tried lately may still
make one try: NEWCOMERS of them in an hour, so that a few attackers do not keep out a
member who comes with a new device. Unknown accounts are counted alike. Must not be
here: which device a request comes from (accounts.web.sign_in.known_devices).
"""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TypedDict

from allauth.core.internal.ratelimit import cache_lock
from django.core.cache import cache

FREE_TRIES = 5
FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(minutes=5)
# Addresses that a waiting lane lets through, each in its MEMORY.
NEWCOMERS = 20
# What a lane remembers: an address since its last try, all of it since anybody's.
MEMORY = timedelta(hours=1)
_BUSY_S = 1


class AttemptRecord(TypedDict):
    """The attempts on one subject: `failed` many, next at `free_at` (Unix seconds).

    `addresses` maps each to when it tried, and whether as a newcomer.
    """

    failed: int
    free_at: float
    addresses: dict[str, tuple[float, bool]]


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """Whether an attempt is allowed; it counts as failed until released.

    `wait` is how many seconds the next one has to wait, `left` how many come without a
    wait. The rest is how to give it back: its lane, whose it was, when that was free.
    """

    is_allowed: bool
    wait: int
    left: int
    key: str = ""
    address: str = ""
    is_newcomer: bool = False
    free_at: float = 0.0


def build_sign_in_subject_of_email(email: str) -> str:
    """Return the subject under which an email address is counted.

    The database compares addresses as capitals: ı and I are one letter there, and must
    not be two accounts here.
    """
    return f"email:{email.strip().upper().lower()}"


def count_sign_in_attempt(*, subject: str, device: str, address: str) -> SignInAttempt:
    """Count an attempt before it is made: many may run at once.

    `device` is a name of the known device it is made with, empty: of an unknown one;
    `address` where it comes from. Source: OWASP ASVS 2.2.1 (no more than 100 failed
    attempts an hour); NIST SP 800-63B, 5.2.2 (waits that grow, known devices apart).
    """
    key = _key(subject, device)
    with cache_lock(key) as is_locked:
        if not is_locked:
            return SignInAttempt(is_allowed=False, wait=_BUSY_S, left=0)
        now = time.time()
        lane = _read_record(key, now)
        before = lane["free_at"]
        is_newcomer = now < before
        if is_newcomer and (device or not _is_allowed_now(lane, address)):
            return SignInAttempt(is_allowed=False, wait=math.ceil(before - now), left=0)
        if not is_newcomer:
            lane["failed"] += 1
            lane["free_at"] = now + _wait_seconds(lane["failed"])
        # Who passed once counts as a newcomer as long as it is remembered.
        _, has_passed = lane["addresses"].get(address, (now, False))
        lane["addresses"][address] = (now, is_newcomer or has_passed)
        cache.set(key, lane, MEMORY.total_seconds())
    return SignInAttempt(
        is_allowed=True,
        wait=math.ceil(max(lane["free_at"] - now, 0)),
        left=max(FREE_TRIES - lane["failed"], 0),
        key=key,
        address=address,
        is_newcomer=is_newcomer,
        free_at=before,
    )


def uncount_correct_sign_in_attempt(taken: SignInAttempt) -> None:
    """Take back an attempt that was correct."""
    with cache_lock(taken.key) as is_locked:
        if not is_locked:
            return  # it stays counted, which only makes the lane slower
        lane = _read_record(taken.key, time.time())
        lane["addresses"].pop(taken.address, None)
        if not taken.is_newcomer:
            lane["failed"] = max(lane["failed"] - 1, 0)
            lane["free_at"] = taken.free_at
        cache.set(taken.key, lane, MEMORY.total_seconds())


def clear_sign_in_attempts(*, subject: str) -> None:
    """Clear a subject's unknown devices, after its member proved their identity."""
    cache.delete(_key(subject, ""))


def _read_record(key: str, now: float) -> AttemptRecord:
    fresh = AttemptRecord(failed=0, free_at=0.0, addresses={})
    lane: AttemptRecord = cache.get(key, fresh)
    forgotten = now - MEMORY.total_seconds()
    lane["addresses"] = {
        address: tried
        for address, tried in lane["addresses"].items()
        if tried[0] > forgotten
    }
    return lane


def _is_allowed_now(lane: AttemptRecord, address: str) -> bool:
    newcomers = sum(is_newcomer for _, is_newcomer in lane["addresses"].values())
    return address not in lane["addresses"] and newcomers < NEWCOMERS


def _wait_seconds(failed: int) -> float:
    """Return the seconds until the next attempt, after so many failures."""
    if failed < FREE_TRIES:
        return 0.0
    doubled: float = FIRST_WAIT.total_seconds() * 2 ** min(failed - FREE_TRIES, 10)
    return min(doubled, LONGEST_WAIT.total_seconds())


def _key(subject: str, device: str) -> str:
    return (
        "sign-in-tries:" + hashlib.sha256(f"{subject}\n{device}".encode()).hexdigest()
    )
