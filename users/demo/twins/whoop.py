"""The twin of WHOOP: hourly tokens, records by pages of 25, and signed pushes.

After its public reference, as of users.gateways.whoop.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from users.demo.twins.pushes import Push
from users.demo.twins.rest import RestTwin, TwinAnswer, TwinCall
from users.gateways.applications import ClientCredentials
from users.gateways.whoop.pushes import sign_whoop_push

Record = dict[str, Any]
_DATA = "/developer/v2/"
_PAGE_MAX = 25
_SCOPE = (
    "offline read:profile read:sleep read:recovery read:workout read:body_measurement"
)


@dataclass
class WhoopTwin(RestTwin):
    """The RestTwin of WHOOP; `push_url` is what was entered for its application."""

    name: ClassVar[str] = "WHOOP"
    sign_in_path: ClassVar[str] = "/oauth/oauth2/auth"
    token_path: ClassVar[str] = "/oauth/oauth2/token"  # noqa: S105 - a path
    limits: ClassVar[tuple[tuple[int, int], ...]] = ((100, 60), (10_000, 86_400))

    sleeps: list[Record] = field(default_factory=list)
    recoveries: list[Record] = field(default_factory=list)
    workouts: list[Record] = field(default_factory=list)
    push_url: str = ""
    # How many records were ever made: an ID is never used again.
    made: int = 0

    def add_sleep(
        self, start: datetime, end: datetime, *, offset: str = "+00:00", **more: Any
    ) -> str:
        """Add a sleep that was scored, and its recovery; return its ID."""
        record = self._record(start, end, offset)
        bed = int((end - start).total_seconds()) * 1000
        record |= {
            "cycle_id": 90_000 + len(self.sleeps),
            "nap": False,
            "score": {
                "stage_summary": {
                    "total_in_bed_time_milli": bed,
                    "total_awake_time_milli": bed // 10,
                    "total_no_data_time_milli": 0,
                    "total_light_sleep_time_milli": bed // 2,
                    "total_slow_wave_sleep_time_milli": bed // 5,
                    "total_rem_sleep_time_milli": bed // 5,
                    "sleep_cycle_count": 4,
                    "disturbance_count": 7,
                },
                "sleep_needed": {
                    "baseline_milli": 28_800_000,
                    "need_from_sleep_debt_milli": 0,
                    "need_from_recent_strain_milli": 0,
                    "need_from_recent_nap_milli": 0,
                },
                "respiratory_rate": 15.5,
                "sleep_performance_percentage": 88.0,
                "sleep_consistency_percentage": 71.0,
                "sleep_efficiency_percentage": 90.0,
            },
        } | more
        self.sleeps.append(record)
        self.recoveries.append(
            {
                "cycle_id": record["cycle_id"],
                "sleep_id": record["id"],
                "user_id": self.user_id,
                "created_at": record["created_at"],
                "updated_at": record["updated_at"],
                "start": record["start"],
                "end": record["end"],
                "score_state": "SCORED",
                "score": {
                    "user_calibrating": False,
                    "recovery_score": 64.0,
                    "resting_heart_rate": 52.0,
                    "hrv_rmssd_milli": 61.5,
                    "spo2_percentage": 96.1,
                    "skin_temp_celsius": 33.7,
                },
            }
        )
        return str(record["id"])

    def add_workout(
        self, start: datetime, end: datetime, *, offset: str = "+00:00", **more: Any
    ) -> str:
        """Add a workout that was scored; return its ID."""
        record = self._record(start, end, offset) | {
            "sport_name": "running",
            "score": {
                "strain": 8.2,
                "average_heart_rate": 123,
                "max_heart_rate": 146,
                "kilojoule": 1569.3,
                "percent_recorded": 100.0,
                "distance_meter": 1772.7,
                "altitude_gain_meter": 46.6,
                "altitude_change_meter": -0.8,
                "zone_durations": {
                    "zone_zero_milli": 300_000,
                    "zone_one_milli": 600_000,
                    "zone_two_milli": 900_000,
                    "zone_three_milli": 900_000,
                    "zone_four_milli": 600_000,
                    "zone_five_milli": 300_000,
                },
            },
        }
        self.workouts.append(record | more)
        return str(record["id"])

    def remove(self, record_id: str) -> None:
        """Remove a sleep with its recovery, or a workout, as its user does."""
        for name in ("sleeps", "workouts"):
            kept = [each for each in getattr(self, name) if each["id"] != record_id]
            setattr(self, name, kept)
        self.recoveries = [
            each for each in self.recoveries if each["sleep_id"] != record_id
        ]

    def announce(self, kind: str, record_id: str) -> None:
        """Queue a push, such as of sleep.updated."""
        body = json.dumps(
            {
                "user_id": self.user_id,
                "id": record_id,
                "type": kind,
                "trace_id": str(UUID(int=len(self.sender.waiting) + 1)),
            }
        ).encode()
        stamp = str(int(self.clock() * 1000))
        credentials = ClientCredentials(self.client_id, self.client_secret)
        headers = (
            ("X-WHOOP-Signature", sign_whoop_push(credentials, stamp, body)),
            ("X-WHOOP-Signature-Timestamp", stamp),
        )
        push = Push(self.push_url, body, "application/json", headers)
        self.sender.waiting.append(push)

    def give_tokens(self, *, now: float) -> dict[str, Any]:
        """As of RestTwin."""
        return super().give_tokens(now=now) | {"scope": _SCOPE}

    def read(self, call: TwinCall) -> TwinAnswer:
        """As of RestTwin."""
        name = call.path.removeprefix(_DATA)
        match call.method, name:
            case "DELETE", "user/access":
                self.revoke_consent()
                return TwinAnswer(204)
            case "GET", "user/profile/basic":
                profile = {
                    "user_id": self.user_id,
                    "email": "twin@assay.example",
                    "first_name": "Twin",
                    "last_name": "Nobody",
                }
                return TwinAnswer(200, profile)
            case "GET", "user/measurement/body":
                body = {
                    "height_meter": 1.8288,
                    "weight_kilogram": 90.7185,
                    "max_heart_rate": 200,
                }
                return TwinAnswer(200, body)
            case "GET", "activity/sleep":
                return self._page(self.sleeps, call.query)
            case "GET", "activity/workout":
                return self._page(self.workouts, call.query)
            case "GET", "recovery":
                return self._page(self.recoveries, call.query)
        return TwinAnswer(404, {})

    def _record(self, start: datetime, end: datetime, offset: str) -> Record:
        self.made += 1
        return {
            "id": str(UUID(int=self.made)),
            "user_id": self.user_id,
            "created_at": _write(end + timedelta(minutes=3)),
            "updated_at": _write(end + timedelta(minutes=5)),
            "start": _write(start),
            "end": _write(end),
            "timezone_offset": offset,
            "score_state": "SCORED",
        }

    def _page(self, records: list[Record], query: dict[str, str]) -> TwinAnswer:
        limit = int(query.get("limit", "10"))
        if not 1 <= limit <= _PAGE_MAX:
            return TwinAnswer(400, {})
        first, last = query.get("start", ""), query.get("end", "9999")
        found = [each for each in records if each["end"] >= first]
        found = [each for each in found if each["start"] < last]
        found.sort(key=lambda each: str(each["start"]), reverse=True)
        at = int(query.get("nextToken", "0"))
        shown = [dict(each) for each in found[at : at + limit]]
        body: dict[str, Any] = {"records": shown}
        if at + limit < len(found):
            body["next_token"] = str(at + limit)
        return TwinAnswer(200, body)


def _write(moment: datetime) -> str:
    at = moment.astimezone(UTC)
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"
