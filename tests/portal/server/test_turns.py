from __future__ import annotations

import asyncio
import select
import threading
from collections import deque
from contextlib import ExitStack

import pytest

from portal.server import answers, pacing, threads
from tests.portal.server.raw import TIMEOUT_S, Raw, request
from tests.portal.server.test_connections import Body, Gate, serving

EXPLORER = "/t/a/sandbox/users/1/explorer/"


def test_a_team_that_does_its_worst_leaves_threads_and_turns_to_others():
    gate = Gate()

    def application(environ, start_response):
        environ["portal.team"] = environ["HTTP_X_SERVICE_API_KEY"][0]
        if environ["QUERY_STRING"]:
            gate.begun.release()
            assert gate.go.wait(30)
        return gate(environ, start_response)

    with serving(application, threads=3) as port, ExitStack() as stack:

        def call(key, path):
            client = Raw(port)
            stack.callback(client.close)
            client.send(
                request("GET", path, f"x-service-api-key: {key}", "Connection: close")
            )
            return client

        for key in ("a1", "a2", "b1"):  # whose they are is known from now on
            assert call(key, "/v2/user").answer().status == 200
        # Of its heavy calls one is at work, of all its calls two of three threads.
        held = [call("a1", f"{EXPLORER}?wait")]
        gate.wait_for(1)
        held += [call("a2", f"{EXPLORER}?wait") for _ in range(15)]
        assert call("a2", "/light").answer().content == b"/light"
        over = call("a1", EXPLORER).answer()
        held.append(call("a1", "/slow?wait"))
        gate.wait_for(1)
        late = call("a1", "/late")
        assert call("b1", EXPLORER).answer().content == EXPLORER.encode()
        assert call("b1", "/v2/user").answer().content == b"/v2/user"
        before = list(gate.calls)
        gate.go.set()
        for client in (*held, late):
            assert client.answer().status == 200

    assert (over.status, over.headers["Retry-After"]) == (503, "2")
    assert b'"code":"busy"' in over.content or b"busy" in over.content.lower()
    assert before == [*["/v2/user"] * 3, "/light", EXPLORER, "/v2/user"]
    assert len(gate.calls) == len(before) + len(held) + 1


@pytest.fixture
def clock(monkeypatch):
    now = [1000.0]
    for module in (pacing, threads):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


def test_a_team_that_has_spent_its_time_rests_while_another_calls(clock):
    gate = Gate()

    def application(environ, start_response):
        environ["portal.team"] = environ["HTTP_X_SERVICE_API_KEY"]
        clock[0] += float(environ["QUERY_STRING"] or 0)  # what it lasts
        return gate(environ, start_response)

    with serving(application, threads=4) as port, ExitStack() as stack:

        def call(key, path):
            client = Raw(port)
            stack.callback(client.close)
            client.send(
                request("GET", path, f"x-service-api-key: {key}", "Connection: close")
            )
            return client

        def ask(key, *paths):
            for path in paths:
                assert call(key, path).answer().status == 200
            return list(gate.calls)

        for key in "ab":
            ask(key, "/known", "/known")
        ask("a", "/long?3")  # two seconds were saved: it owes one
        resting = call("a", "/resting")
        while_it_rests = ask("b", "/b", "/b", "/b")
        clock[0] += 2.1  # of which it earns half
        ask("b", "/b")
        assert resting.answer().status == 200
        # It has less than a second: its calls run one by one, of three threads it may.
        held = [call("a", "/wait/1"), call("a", "/wait/2")]
        gate.wait_for(1)
        one_by_one = ask("b", "/b", "/b")
        gate.go.set()
        assert [each.answer().status for each in held] == [200, 200]
        clock[0] += pacing.BESIDE_S + 1  # nobody else calls any more
        alone = ask("a", "/long?3", "/long?3", "/last")

    known = ["/known"] * 4
    assert while_it_rests == [*known, "/long", "/b", "/b", "/b"]
    assert len([each for each in one_by_one if each.startswith("/wait")]) == 1
    assert alone[-3:] == ["/long", "/long", "/last"]


@pytest.mark.parametrize("status", ["401 Unauthorized", "429 Too Many Requests"])
def test_refusals_are_held_back_by_no_thread_and_up_to_a_bound(monkeypatch, status):
    held, go = threading.Event(), threading.Event()

    async def hold(seconds):
        assert seconds == answers.HELD_S
        held.set()
        await asyncio.get_running_loop().run_in_executor(None, go.wait, TIMEOUT_S)

    monkeypatch.setattr(answers, "sleep", hold)
    monkeypatch.setattr(answers, "monotonic", lambda: 60.0)
    monkeypatch.setattr(answers, "_sent_at_once", deque())
    monkeypatch.setattr(answers, "AT_ONCE_A_SECOND", 2)
    monkeypatch.setattr(answers, "MOST_HELD", 1)

    def application(environ, start_response):
        is_refused = environ["PATH_INFO"] == "/refused"
        start_response(status if is_refused else "200 OK", [("Retry-After", "7")])
        return Body(b"answered")

    with serving(application, threads=1) as port, ExitStack() as stack:

        def call(path):
            client = Raw(port)
            stack.callback(client.close)
            client.send(request("GET", path, "Connection: close"))
            return client

        replies = [call("/refused").answer() for _ in range(2)]
        assert not held.is_set()
        first = call("/refused")
        assert held.wait(TIMEOUT_S)
        assert call("/other").answer().status == 200
        second = call("/refused").answer()
        assert select.select([first.socket], [], [], 0)[0] == []
        go.set()
        replies += [first.answer(), second]

    for reply in replies:
        assert (reply.status, reply.headers["Retry-After"], reply.content) == (
            int(status[:3]),
            "7",
            b"answered",
        )
