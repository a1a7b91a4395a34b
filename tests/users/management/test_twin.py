from __future__ import annotations

from http.server import ThreadingHTTPServer

from django.core.management import call_command


def test_it_serves_half_a_year_and_says_how_the_portal_finds_it(monkeypatch, capsys):
    served = []
    monkeypatch.setattr(
        ThreadingHTTPServer, "serve_forever", lambda server: served.append(server)
    )

    call_command("twin", "withings", port=0)

    said = dict(line.split("=", 1) for line in capsys.readouterr().out.split())
    (server,) = served
    twin = server.RequestHandlerClass.twin
    assert said == {
        "WITHINGS_API_URL": f"http://127.0.0.1:{server.server_port}",
        "WITHINGS_SIGN_IN_URL": f"http://127.0.0.1:{server.server_port}",
        "WITHINGS_CLIENT_ID": "twin-id",
        "WITHINGS_CLIENT_SECRET": "twin-secret",
    }
    assert (len(twin.measures), len(twin.nights)) == (360, 180)
