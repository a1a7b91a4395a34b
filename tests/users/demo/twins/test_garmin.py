"""The twin of Garmin, against a client that others wrote (django-garmin, unchanged)."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("healthdatamodel.schemas")
BACK = "https://assay.example/connect/back/garmin/"
NOON = datetime(2026, 3, 9, 12, tzinfo=UTC)
DAY = timedelta(days=1)
_SCRIPT = Path(__file__).with_name("garmin_client.py")


def test_it_signs_in_reads_messages_and_is_refused_as_we_are(garmin):
    garmin.clock = lambda: NOON.timestamp()
    garmin.pinged.add("sleeps")
    garmin.announce("dailies", garmin.add_day(NOON - DAY, steps=7000))
    garmin.announce("sleeps", garmin.add_night(NOON - DAY, NOON - DAY / 2))
    garmin.announce("activities", garmin.add_activity(NOON - DAY))
    garmin.announce("stressDetails", garmin.add("stressDetails", NOON - DAY))
    messages = b"\n".join(push.body for push in garmin.sender.waiting)

    ran = subprocess.run(
        [sys.executable, str(_SCRIPT), garmin.url, garmin.issue_code(BACK), BACK],
        input=messages,
        capture_output=True,
        check=False,
        timeout=60,
    )

    assert ran.returncode == 0, ran.stderr.decode()
    assert json.loads(ran.stdout) == {
        "user_id": garmin.user_id,
        "permissions": ["ACTIVITY_EXPORT", "HEALTH_EXPORT", "HISTORICAL_DATA_EXPORT"],
        # Steps, energy at rest and active, distance, pulse at rest, two heart rates;
        # three stages; one workout.
        "counts": [{"dailies": 7}, {"sleeps": 3}, {"activities": 1}, {}],
        "refused": "HTTP 400: InvalidPullTokenException failure",
        "status": "revoked",
    }
    assert (garmin.trades, garmin.replays, garmin.access_token) == (2, 0, "")
    assert garmin.backfilled == {"dailies": [(1772323200, 1773014400)]}
