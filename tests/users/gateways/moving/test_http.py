from __future__ import annotations

import httpx
import pytest

from users.gateways.moving.base import PlatformUnavailable
from users.gateways.moving.http import ATTEMPTS, Pace, PlatformHttp


class Clock:
    def __init__(self):
        self.now, self.waits = 0.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.waits.append(round(seconds, 3))
        self.now += seconds


def client(clock, answers, rate=4):
    left = iter(answers)

    def handle(_request):
        answer = next(left)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return PlatformHttp(
        base_url="https://theirs.test/",
        headers={"x-key": "k"},
        pace=Pace(rate, sleep=clock.sleep, clock=clock),
        transport=httpx.MockTransport(handle),
    )


def test_calls_are_spaced_and_a_slow_one_needs_no_wait():
    clock = Clock()
    http = client(clock, [httpx.Response(200, json={"n": n}) for n in range(4)])

    assert [http.get("a")["n"], http.get("a")["n"]] == [0, 1]
    clock.now += 10
    assert [http.get("a")["n"], http.get("a")["n"]] == [2, 3]

    assert clock.waits == [0.25, 0.25]


def test_a_refusal_for_now_is_repeated_as_asked_and_a_broken_call_ever_slower():
    clock = Clock()
    slow_down = httpx.Response(429, headers={"retry-after": "7"})
    too_long = httpx.Response(503, headers={"retry-after": "9999"})
    broken = httpx.ConnectError("down")
    http = client(clock, [slow_down, too_long, broken, httpx.Response(200, json=[])])

    assert http.get("a") == []

    assert clock.waits == [7, 120, 4]


def test_what_no_repetition_mends_is_a_short_code_without_the_answer():
    clock = Clock()
    answers = [
        httpx.Response(401, text="key k is wrong"),
        httpx.Response(302, headers={"location": "https://elsewhere.test"}),
        httpx.Response(200, text="<html>"),
        *[httpx.Response(502)] * ATTEMPTS,
    ]
    http = client(clock, answers)

    reasons = []
    for _ in range(4):
        with pytest.raises(PlatformUnavailable) as refused:
            http.get("a")
        reasons.append(str(refused.value))

    assert reasons == ["status_401", "status_302", "no_json", "no_answer"]
