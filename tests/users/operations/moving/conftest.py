from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.users.gateways.moving import servers
from tests.users.gateways.moving.servers import (
    connection,
    cycle,
    day,
    night,
    sample,
    source,
    workout,
)

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
PHONE = source("apple", "phone")


@pytest.fixture
def theirs(monkeypatch, time_machine, _one_connection):
    """An Open Wearables server with a full user, one of a phone, and an empty one."""
    time_machine.move_to(NOW, tick=False)
    server = servers.OpenWearablesServer()
    server.add_user(
        "0a000000-0000-4000-8000-000000000001",
        "team/u 1",
        connections=[
            connection("oura", account="oura-7"),
            connection("polar", status="revoked"),
        ],
        timeseries=[
            sample("heart_rate", "2026-03-01T08:00:00Z", 61),
            sample("heart_rate", "2026-03-01T08:01:00Z", 62),
            sample("blood_pressure_systolic", "2026-03-01T08:05:00Z", 118),
            # A page ends here: the second half of the measurement begins the next.
            sample("blood_pressure_diastolic", "2026-03-01T08:05:00Z", 76),
            sample("blood_pressure_systolic", "2026-03-01T08:05:01Z", 119),
            sample("steps", "2026-03-01T08:10:00Z", 240),
            sample("steps", "2026-03-01T00:00:00Z", 9000, is_daily_total=True),
            sample("blood_glucose", "2026-03-01T08:15:00Z", 90.078),
            sample("heart_rate_variability_sdnn", "2026-03-01T08:20:00Z", 42.5),
            sample(
                "weight", "2026-03-01T09:00:00Z", 71.4, source=source("unknown", None)
            ),
            sample("heart_rate", "2026-03-01T10:00:00Z", 4000),
        ],
        **{
            "events/workouts": [
                workout(
                    "1b000000-0000-4000-8000-000000000001",
                    "2026-03-02T06:00:00Z",
                    "2026-03-02T06:30:00Z",
                )
            ],
            "events/sleep": [
                night(
                    "2c000000-0000-4000-8000-000000000001",
                    "2026-03-02T21:00:00Z",
                    "2026-03-03T05:00:00Z",
                    sleep_stage_intervals=[
                        {
                            "stage": "light",
                            "start_time": "2026-03-02T21:00:00Z",
                            "end_time": "2026-03-03T01:00:00Z",
                        },
                        {
                            "stage": "deep",
                            "start_time": "2026-03-03T01:00:00Z",
                            "end_time": "2026-03-03T05:00:00Z",
                        },
                    ],
                )
            ],
            "events/menstrual-cycles": [
                cycle("3d000000-0000-4000-8000-000000000001", "2026-02-20T23:30:00Z")
            ],
            "summaries/activity": [day("2026-03-01")],
            "health-scores": [{"category": "sleep", "value": 80}] * 4,
        },
    )
    server.add_user(
        "0a000000-0000-4000-8000-000000000002",
        None,
        connections=[connection("apple")],
        timeseries=[
            sample("steps", "2026-03-08T08:00:00Z", 120, source=PHONE),
            sample("steps", "2026-03-08T09:00:00Z", 130, source=PHONE),
        ],
    )
    server.add_user("0a000000-0000-4000-8000-000000000003", "empty")
    server.add_user("0a000000-0000-4000-8000-000000000004", "empty", connections=[])
    servers.serve(monkeypatch, server)
    return server
