from __future__ import annotations

from contextlib import ExitStack

from tests.portal.server.raw import Raw, request
from tests.portal.server.test_connections import Gate, serving

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
