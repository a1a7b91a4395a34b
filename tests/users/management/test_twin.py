from __future__ import annotations

from http.server import ThreadingHTTPServer

import pytest
from django.core.management import call_command


@pytest.mark.parametrize(
    ("provider", "addresses", "filled"),
    [
        (
            "withings",
            ["WITHINGS_API_URL", "WITHINGS_SIGN_IN_URL"],
            {"measures": 360, "nights": 180},
        ),
        ("oura", ["OURA_URL"], {"documents": 4}),
        ("dexcom", ["DEXCOM_API_URL"], {"records": 3}),
        ("strava", ["STRAVA_API_URL"], {"activities": 180}),
        ("whoop", ["WHOOP_API_URL"], {"sleeps": 180, "workouts": 60}),
        (
            "polar",
            ["POLAR_API_URL", "POLAR_SIGN_IN_URL", "POLAR_TOKEN_URL"],
            {"nights": 180, "days": 180, "exercises": 180},
        ),
        (
            "garmin",
            ["GARMIN_API_URL", "GARMIN_SIGN_IN_URL", "GARMIN_TOKEN_URL"],
            {"summaries": 3},
        ),
        (
            "google_health",
            [
                "GOOGLE_HEALTH_API_URL",
                "GOOGLE_HEALTH_SIGN_IN_URL",
                "GOOGLE_HEALTH_TOKEN_URL",
            ],
            {"points": 4},
        ),
        (
            "suunto",
            ["SUUNTO_API_URL", "SUUNTO_TOKEN_URL"],
            {"workouts": 180, "days": 180, "samples": 3},
        ),
    ],
)
def test_it_serves_half_a_year_and_says_how_the_portal_finds_it(
    monkeypatch, capsys, settings, provider, addresses, filled
):
    served = []
    monkeypatch.setattr(
        ThreadingHTTPServer, "serve_forever", lambda server: served.append(server)
    )

    call_command("twin", provider, port=0)

    said = dict(line.split("=", 1) for line in capsys.readouterr().out.split())
    (server,) = served
    twin = server.RequestHandlerClass.twin
    url = f"http://127.0.0.1:{server.server_port}"
    assert said == {
        **dict.fromkeys(addresses, url),
        f"{provider.upper()}_CLIENT_ID": "twin-id",
        f"{provider.upper()}_CLIENT_SECRET": "twin-secret",
        **{
            f"{provider.upper()}_{name.upper()}": value
            for name, value in getattr(twin, "more", {}).items()
        },
    }
    assert all(hasattr(settings, name) for name in said)
    assert {name: len(getattr(twin, name)) for name in filled} == filled
