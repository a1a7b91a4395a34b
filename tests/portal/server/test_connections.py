"""What one client may hold of a process: over bare sockets, on the real server."""

from __future__ import annotations

import threading

import pytest

from portal.server import bodies, connections
from tests.portal.server.raw import END, TIMEOUT_S, Raw, chunk, request, serving


def echo(environ, start_response):
    """Answers with the body, and with what it was sent as headers."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    items = [
        (name.replace("HTTP_", "X-Saw-").replace("_", "-"), text)
        for name, text in environ.items()
        if name.startswith("HTTP_X_")
    ]
    start_response("200 OK", [("X-Path", environ["PATH_INFO"]), *items])
    return Body(body)


class Body(list[bytes]):
    """What a WSGI application returns: parts that are closed."""

    def __init__(self, *parts):
        super().__init__(parts)

    def close(self):
        pass


class Gate:
    """An application whose views wait until they are let go."""

    def __init__(self):
        self.begun = threading.Semaphore(0)
        self.go = threading.Event()
        self.calls = []

    def __call__(self, environ, start_response):
        path = environ["PATH_INFO"]
        self.calls.append(path)
        if path.startswith("/wait"):
            self.begun.release()
            assert self.go.wait(TIMEOUT_S)
        start_response("200 OK", [])
        return Body(path.encode())

    def wait_for(self, number):
        for _ in range(number):
            assert self.begun.acquire(timeout=TIMEOUT_S)


@pytest.fixture
def port():
    with serving(echo) as port:
        yield port


@pytest.fixture
def raw(port):
    opened = []

    def connect():
        opened.append(Raw(port))
        return opened[-1]

    yield connect
    for each in opened:
        each.close()


def test_requests_on_one_connection_are_answered_in_order(raw):
    client = raw()
    client.send(
        request("POST", "/one", "Content-Length: 3"),
        "abc",
        request("POST", "/two", "Transfer-Encoding: chunked"),
        chunk(b"de"),
        chunk(b"f"),
        END,
        request("GET", "/three%20%C3%A9"),
    )

    answers = [client.answer() for _ in range(3)]

    assert [each.content for each in answers] == [b"abc", b"def", b""]
    assert [each.headers["X-Path"] for each in answers] == [
        "/one",
        "/two",
        "/three Ã©",  # UTF-8 as latin-1: PEP 3333
    ]


def test_an_old_client_is_answered_and_its_connection_closed(raw):
    client = raw()
    client.send(request("POST", "/", "Content-Length: 2", version="1.0"), "ok")

    answer = client.answer()

    assert (answer.status, answer.content) == (200, b"ok")
    assert client.is_closed()


def test_a_head_has_the_length_and_no_body(raw):
    client = raw()
    client.send(request("HEAD", "/", "Content-Length: 2"), "ok", request("GET", "/"))

    assert client.answer("HEAD").headers["Content-Length"] == "2"
    assert client.answer().status == 200


@pytest.mark.parametrize(
    "head",
    [
        ["Content-Length: 3", "Transfer-Encoding: chunked"],
        ["Content-Length: 3", "Content-Length: 4"],
        ["Content-Length: +3"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: identity"],
        ["X : space before the colon"],
        [" folded: line"],
        [f"X-Long: {'x' * connections.HEADERS_MAX_BYTES}"],
        [f"X-{number}: y" * 1 for number in range(8000)],
    ],
    ids=lambda head: head[0][:40],
)
def test_a_request_that_two_servers_could_read_in_two_ways_is_refused(raw, head):
    client = raw()
    client.send(request("POST", "/", *head), "3\r\nabc\r\n0\r\n\r\n")

    assert client.rest().startswith(b"HTTP/1.1 400 ")


def test_a_header_that_passes_for_another_and_trailers_are_dropped(raw):
    client = raw()
    client.send(
        request(
            "POST",
            "/",
            "X_Real: forged",
            "X-Fine: a",
            "X-Fine: b",
            "Transfer-Encoding: chunked",
        ),
        chunk(b"body"),
        "0\r\nX-Late: forged\r\n\r\n",
    )

    answer = client.answer()

    saw = {name for name in answer.headers if name.startswith("x-saw")}
    assert (answer.content, saw) == (b"body", {"x-saw-x-fine"})
    assert answer.headers["X-Saw-X-FINE"] == "a,b"


def test_a_body_is_asked_for_before_it_is_sent(raw):
    client = raw()
    client.send(request("PUT", "/", "Content-Length: 2", "Expect: 100-continue"))
    assert client.file.read(25) == b"HTTP/1.1 100 Continue\r\n\r\n"

    client.send("ok")

    assert client.answer().content == b"ok"


def test_an_offer_of_http_2_is_ignored_and_the_body_read(raw):
    client = raw()
    # As Java's client sends it: the body in a packet of its own.
    offer = "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAE"
    body = b"a\r\nUpgrade: h2c\r\n"
    client.send(request("POST", "/one", f"Content-Length: {len(body)}", *offer))
    client.send(body)
    first = client.answer()
    client.send(request("POST", "/two", "UPGRADE : h2c", "Content-Length: 2"), "ok")

    assert (first.status, first.content) == (200, body)
    assert not [name for name in first.headers if "upgrade" in name.lower()]
    # A blank before the colon is refused as ever (RFC 9112, 5.1).
    assert client.answer().status == 400


def test_a_packed_body_is_refused_and_not_run(raw):
    client = raw()
    client.send(
        request("POST", "/v2/user", "Content-Encoding: gzip", "Content-Length: 4"),
        b"\x1f\x8b\x08\x00",
    )

    answer = client.answer()

    assert (answer.status, answer.headers["Accept-Encoding"]) == (415, "identity")
    assert b'"code":"unsupported_content_coding"' in answer.content
    assert "X-Path" not in answer.headers
    assert client.is_closed()


def test_a_packed_body_reaches_a_view_that_unpacks_it(raw):
    client = raw()
    for path, coding in (("/phone/uploads", "gzip"), ("/phone/uploads", "br")):
        client.send(
            request(
                *("POST", path, f"Content-Encoding: {coding}", "Content-Length: 4")
            ),
            b"\x1f\x8b\x08\x00",
        )

    assert client.answer().headers["X-Path"] == "/phone/uploads"
    assert client.answer().status == 415


def test_a_body_that_comes_too_slowly_is_refused(raw, monkeypatch):
    monkeypatch.setattr(bodies, "START_S", 0.1)
    monkeypatch.setattr(bodies, "LEAST_BYTES_PER_S", 1e9)
    stalled, drips = raw(), raw()
    stalled.send(request("POST", "/v2/user", "Content-Length: 9"), "half")
    drips.send(request("POST", "/v2/user", "Transfer-Encoding: chunked"), chunk(b"a"))

    answers = [stalled.answer(), drips.answer()]

    assert {(each.status, each.headers["X-Path"]) for each in answers} == {(408, None)}
    assert all(b'"code":"body_too_slow"' in each.content for each in answers)


def test_a_body_of_a_fair_rate_ends_at_the_bound_of_all(raw, monkeypatch):
    monkeypatch.setattr(bodies, "TOTAL_S", 0.1)
    client = raw()
    client.send(request("POST", "/", "Content-Length: 600000"), b"x" * 500_000)

    assert client.answer().status == 408


@pytest.mark.parametrize(
    "sent",
    [
        [request("POST", "/cut", "Content-Length: 9"), b"half"],
        [request("POST", "/cut", "Transfer-Encoding: chunked"), chunk(b"half")],
        [request("POST", "/cut", "Transfer-Encoding: chunked"), b"ff\r\nhalf"],
    ],
    ids=["by length", "between chunks", "in a chunk"],
)
def test_what_was_cut_off_is_never_run(sent):
    gate = Gate()
    with serving(gate) as port:
        client = Raw(port)
        client.send(*sent)
        client.close()
        other = Raw(port)
        other.send(request("GET", "/after"))
        assert other.answer().status == 200
        other.close()

    assert gate.calls == ["/after"]


def test_headers_that_do_not_end_are_cut_off(raw, monkeypatch):
    monkeypatch.setattr(connections, "HEADERS_S", 0.1)
    monkeypatch.setattr(connections, "SWEEP_S", 0.05)
    silent, dripping = raw(), raw()
    dripping.send("GET / HTTP/1.1\r\nX-Slow:")

    assert dripping.rest().startswith(b"HTTP/1.1 408 ")
    assert silent.is_closed()


def test_a_connection_that_asks_for_nothing_more_is_closed(raw, monkeypatch):
    monkeypatch.setattr(connections, "IDLE_S", 0.1)
    monkeypatch.setattr(connections, "SWEEP_S", 0.05)
    client = raw()
    client.send(request("GET", "/"))
    assert client.answer().status == 200

    client.send("\r\n")  # which begins no request

    assert client.is_closed()


def test_an_answer_that_is_not_taken_is_cut_off(monkeypatch):
    monkeypatch.setattr(connections, "STALL_S", 0.1)
    monkeypatch.setattr(connections, "SWEEP_S", 0.05)
    length = 64 * 1024 * 1024

    def large(environ, start_response):
        start_response("200 OK", [])
        return Body(b"x" * length)

    with serving(large) as port:
        client = Raw(port)
        client.send(request("GET", "/"))
        while connections._open:
            threading.Event().wait(0.01)

        assert len(client.rest()) < length
        client.close()


def test_stalled_bodies_hold_no_thread():
    with serving(echo, threads=1) as port:
        stalled = [Raw(port) for _ in range(8)]
        for each in stalled:
            each.send(request("POST", "/", "Content-Length: 9"), "half")
        client = Raw(port)
        client.send(request("POST", "/", "Content-Length: 2"), "ok")

        assert client.answer().content == b"ok"
        for each in (*stalled, client):
            each.close()


def test_health_is_answered_while_every_thread_is_at_work():
    gate = Gate()
    with serving(gate, threads=2) as port:
        busy = [Raw(port) for _ in range(4)]
        for each in busy:
            each.send(request("GET", "/wait"))
        gate.wait_for(2)
        client = Raw(port)
        client.send(request("GET", "/healthz"), request("GET", "/readyz"))

        assert client.answer().content == b'{"status":"ok"}'
        assert client.answer().content == b"/readyz"
        gate.go.set()
        assert [each.answer().content for each in busy] == [b"/wait"] * 4
        for each in (*busy, client):
            each.close()


def test_one_that_is_gone_before_its_turn_is_not_run():
    gate = Gate()
    with serving(gate, threads=1) as port:
        busy, gone, last = Raw(port), Raw(port), Raw(port)
        busy.send(request("GET", "/wait/1"))
        gate.wait_for(1)
        gone.send(request("GET", "/gone"))
        last.send(request("GET", "/healthz"))
        assert last.answer().status == 200  # so the server has seen what came before
        gone.close()
        last.send(request("GET", "/healthz"), request("GET", "/last"))
        assert last.answer().status == 200
        gate.go.set()
        assert last.answer().content == b"/last"
        for each in (busy, last):
            each.close()

    assert gate.calls == ["/wait/1", "/last"]


def test_an_address_at_its_limit_loses_what_waits_and_nothing_at_work():
    gate = Gate()
    with serving(gate, threads=2, per_address=3) as port:
        first, second, idle = Raw(port), Raw(port), Raw(port)
        for each in (first, second):
            each.send(request("GET", "/wait"))
        gate.wait_for(2)
        idle.send(request("GET", "/healthz"))
        assert idle.answer().status == 200

        third = Raw(port)
        third.send(request("GET", "/wait"))
        assert idle.is_closed()
        third.send(request("GET", "/healthz"))  # behind the one that waits its turn
        over = Raw(port)

        assert over.rest().startswith(b"HTTP/1.1 503 ")
        gate.go.set()
        answers = [first.answer(), second.answer(), third.answer()]
        assert [each.content for each in answers] == [b"/wait"] * 3
        for each in (first, second, third, idle, over):
            each.close()


def test_a_full_process_closes_what_waits_of_who_has_most():
    with serving(echo, in_all=2) as port:
        old, body, new = Raw(port), Raw(port), None
        old.send(request("GET", "/"))
        assert old.answer().status == 200
        body.send(request("POST", "/", "Content-Length: 2"), "o")
        body_seen = Raw(port)  # the third: the idle one goes, not the body on its way
        body_seen.send(request("GET", "/"))
        assert body_seen.answer().status == 200

        assert old.is_closed()
        body.send("k")
        assert body.answer().content == b"ok"
        for each in (old, body, body_seen, new):
            if each:
                each.close()


def test_more_than_may_wait_for_a_thread_are_told_to_come_back(monkeypatch):
    monkeypatch.setattr("portal.server.application.MOST_WAITING", 1)
    gate = Gate()
    with serving(gate, threads=1) as port:
        clients = [Raw(port) for _ in range(3)]
        clients[0].send(request("GET", "/wait"))
        gate.wait_for(1)
        for each in clients[1:]:
            each.send(request("GET", "/v2/user", "Connection: close"))
        refused = clients[2].answer()

        assert (refused.status, refused.headers["Retry-After"]) == (503, "1")
        assert b'"code":"busy"' in refused.content
        gate.go.set()
        assert clients[1].answer().content == b"/v2/user"
        for each in clients:
            each.close()

    assert gate.calls == ["/wait", "/v2/user"]


SYNC = "/api/v1/sdk/users/1/sync"


def test_uploads_wait_for_a_thread_of_their_own_and_a_team_for_its_share(monkeypatch):
    monkeypatch.setattr("portal.server.application.MOST_UPLOADS_WAITING", 2)
    monkeypatch.setattr("portal.server.application.MOST_UPLOADS_OF_ONE_TEAM", 2)
    gate = Gate()

    def application(environ, start_response):
        if environ["PATH_INFO"] == SYNC:
            environ["portal.team"] = environ["HTTP_AUTHORIZATION"][0]
            if environ["QUERY_STRING"]:
                gate.begun.release()
                assert gate.go.wait(TIMEOUT_S)
        return gate(environ, start_response)

    with serving(application, threads=1) as port:
        clients = []

        def upload(token, query=""):
            clients.append(Raw(port))
            clients[-1].send(
                request(
                    *("POST", f"{SYNC}{query}", "Content-Length: 2"),
                    *(f"Authorization: {token}", "Connection: close"),
                ),
                b"{}",
            )
            return clients[-1]

        # The team of a caller is known from its last call.
        assert [upload(each).answer().status for each in ("a1", "a2", "a3")] == [
            200
        ] * 3
        first = upload("a1", "?wait")
        gate.wait_for(1)
        second = upload("a2")
        refused = upload("a3").answer()
        of_another_team = upload("b1")
        full = upload("b2").answer()
        clients.append(Raw(port))
        clients[-1].send(request("GET", "/v2/user"))
        # Others wait for none of them, nor does a call without a body.
        assert clients[-1].answer().content == b"/v2/user"
        clients[-1].send(request("GET", SYNC, "Authorization: a1"))
        assert clients[-1].answer().status == 200

        for each in (refused, full):
            assert (each.status, each.headers["Retry-After"]) == (503, "5")
        gate.go.set()
        for each in (first, second, of_another_team):
            assert each.answer().status == 200
        assert upload("a3").answer().status == 200
        for each in clients:
            each.close()

    assert len(gate.calls) == 9


class Parts:
    """An answer in parts."""

    streaming = True

    def __init__(self, parts):
        self.parts, self.closed = parts, threading.Event()

    def __iter__(self):
        return iter(self.parts)

    def close(self):
        self.closed.set()


def streaming(parts):
    def view(environ, start_response):
        start_response("200 OK", [])
        return parts

    return view


def test_parts_arrive_whole_and_as_they_are_made():
    go = threading.Event()

    def made():
        yield b"first"
        assert go.wait(TIMEOUT_S)
        yield b"x" * 3_000_000

    parts = Parts(made())
    with serving(streaming(parts), threads=1) as port:
        client = Raw(port)
        client.send(request("GET", "/"))
        head = client.file.read1(4096)
        while b"first" not in head:
            head += client.file.read1(4096)
        go.set()
        client.send(request("GET", "/healthz", "Connection: close"))
        rest = client.rest()

        assert rest.count(b"x") >= 3_000_000
        assert b"0\r\n\r\nHTTP/1.1 200 OK" in rest
        assert parts.closed.is_set()
        client.close()


def test_a_client_that_does_not_take_its_parts_holds_no_thread():
    large = Parts(iter([b"x" * 1_000_000] * 40))
    with serving(
        lambda environ, start: (
            streaming(large) if environ["PATH_INFO"] == "/large" else echo
        )(environ, start),
        threads=1,
    ) as port:
        slow, client = Raw(port), Raw(port)
        slow.send(request("GET", "/large"))
        assert large.closed.wait(TIMEOUT_S)  # made, though nothing of it was read
        client.send(request("GET", "/"))

        assert client.answer().status == 200
        assert len(slow.answer().content) == 40_000_000
        for each in (slow, client):
            each.close()


def test_parts_that_nobody_takes_any_more_are_not_made():
    go = threading.Event()

    def endless():
        yield b"begun"
        assert go.wait(TIMEOUT_S)
        while True:
            yield b"more"

    parts = Parts(endless())
    with serving(streaming(parts), threads=1) as port:
        gone, other = Raw(port), Raw(port)
        gone.send(request("GET", "/"))
        assert gone.file.readline() == b"HTTP/1.1 200 OK\r\n"
        gone.close()
        other.send(request("GET", "/healthz"))
        assert other.answer().status == 200
        go.set()

        assert parts.closed.wait(TIMEOUT_S)
        other.close()


def test_parts_that_break_off_leave_an_answer_that_is_not_whole(caplog):
    def broken():
        yield b"begun"
        raise LookupError("a name of a patient")

    with serving(streaming(Parts(broken()))) as port:
        client = Raw(port)
        client.send(request("GET", "/"))
        found = client.rest()
        client.close()

    assert b"begun" in found
    assert not found.endswith(b"0\r\n\r\n")


def test_a_fault_outside_of_every_view_is_a_500():
    def broken(environ, start_response):
        raise LookupError("a name of a patient")

    with serving(broken) as port:
        client = Raw(port)
        client.send(request("GET", "/v2/user"))
        answer = client.answer()
        client.close()

    assert (answer.status, b"patient" in answer.content) == (500, False)
