"""The twin of Suunto: a subscription key, pages by offset, and signed pushes.

After public documents and the clients of others, as of users.gateways.suunto.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from users.demo.twins.pushes import Push
from users.demo.twins.rest import RestTwin, TwinAnswer, TwinCall
from users.gateways.suunto.client import KEY_HEADER
from users.gateways.suunto.pushes import SIGNATURE_HEADER, sign_suunto_push

Record = dict[str, Any]
_WINDOW_MAX = timedelta(days=28)
_KINDS = ("sleep", "recovery", "activity")
_SUMS = ("/247samples/daily-activity-statistics", "/247/daily-activity-statistics")
# As Azure's gateway says it.
_WRONG_KEY = (
    "Access denied due to invalid subscription key. Make sure to provide a valid key"
    " for an active subscription."
)


@dataclass
class SuuntoTwin(RestTwin):
    """The RestTwin of Suunto; `push_url` is entered by hand."""

    name: ClassVar[str] = "Suunto"
    sign_in_path: ClassVar[str] = "/oauth/authorize"
    token_path: ClassVar[str] = "/oauth/token"  # noqa: S105 - a path
    access_seconds: ClassVar[int] = 86_399

    more: dict[str, str] = field(
        default_factory=lambda: {
            "subscription_key": "twin-key",
            "notification_secret": "twin-notifications",
        }
    )
    username: str = "twin-nobody"
    push_url: str = ""
    workouts: list[Record] = field(default_factory=list)
    samples: dict[str, list[Record]] = field(
        default_factory=lambda: {kind: [] for kind in _KINDS}
    )
    # Of a day, its steps and joules.
    days: dict[str, tuple[int, int]] = field(default_factory=dict)
    made: int = 0

    def add_workout(
        self, start: datetime, *, minutes: int = 40, offset: int = 0, **more: Any
    ) -> Record:
        """Add a run, `offset` hours from UTC; return it."""
        self.made += 1
        at = int(start.timestamp()) * 1000
        record: Record = {
            "workoutId": 90_000_000 + self.made,
            "workoutKey": f"{self.made:024x}",
            "activityId": 22,
            "startTime": at,
            "stopTime": at + minutes * 60_000,
            "totalTime": minutes * 60 - 60.5,
            "timeOffsetInMinutes": offset * 60,
            "totalDistance": 8012.4,
            "totalAscent": 96.0,
            "totalDescent": 95.0,
            "maxAltitude": 140.2,
            "minAltitude": 88.0,
            "stepCount": 6120,
            "energyConsumption": 530,
            "avgSpeed": 3.42,
            "maxSpeed": 5.1,
            "hrdata": {"workoutAvgHR": 148, "workoutMaxHR": 171, "max": 190},
        } | more
        self.workouts.append(record)
        return record

    def add_sleep(self, start: datetime, end: datetime, **more: Any) -> Record:
        """Add a sleep as the watch computed it; its ID is that of its start."""
        seconds = (end - start).total_seconds()
        entry = {
            "SleepId": int(start.timestamp()),
            "BedtimeStart": _write(start),
            "BedtimeEnd": _write(end),
            "Duration": seconds,
            "DeepSleepDuration": round(seconds * 0.2),
            "LightSleepDuration": round(seconds * 0.55),
            "REMSleepDuration": round(seconds * 0.2),
            "SleepQualityScore": 78,
            "HRAvg": 52.0,
            "HRMin": 45.0,
            "AvgHRV": 58,
            "IsNap": False,
        } | more
        return self._add("sleep", start, entry)

    def add_recovery(self, at: datetime, balance: float) -> Record:
        """Add what the watch had of the body's resources."""
        return self._add("recovery", at, {"Balance": balance, "StressState": 1})

    def add_activity(self, at: datetime, **entry: Any) -> Record:
        """Add a sample of the day."""
        sample = {"HR": 71, "StepCount": 340, "EnergyConsumption": 125_600}
        return self._add("activity", at, sample | entry)

    def announce(self, kind: str, record: Record) -> None:
        """Queue a push with its signature."""
        told = {"workout": record} if kind == "WORKOUT" else {"samples": [record]}
        said = {"type": f"{kind}_CREATED", "username": self.username} | told
        body = json.dumps(said).encode()
        signed = sign_suunto_push(self.more["notification_secret"], body)
        headers = ((SIGNATURE_HEADER, signed),)
        push = Push(self.push_url, body, "application/json", headers)
        self.sender.waiting.append(push)

    def is_client(self, call: TwinCall, form: dict[str, str]) -> bool:  # noqa: ARG002 - by a header
        """As of RestTwin."""
        pair = base64.b64encode(f"{self.client_id}:{self.client_secret}".encode())
        return call.headers.get("authorization") == f"Basic {pair.decode()}"

    def give_tokens(self, *, now: float) -> dict[str, Any]:
        """As of RestTwin."""
        return super().give_tokens(now=now) | {
            "scope": "workout",
            "user": self.username,
        }

    def serve_application(self, call: TwinCall) -> TwinAnswer | None:
        """As of RestTwin: what ends a grant, and who has no subscription."""
        if call.path == "/oauth/deauthorize":
            if not call.bearer or call.bearer != self.access_token:
                return TwinAnswer(401, {"error": "invalid_token"})
            self.revoke_consent()
            return TwinAnswer(200)
        if call.headers.get(KEY_HEADER.lower()) != self.more["subscription_key"]:
            return TwinAnswer(401, {"statusCode": 401, "message": _WRONG_KEY})
        return None

    def read(self, call: TwinCall) -> TwinAnswer:
        """As of RestTwin."""
        kind, query = call.path.removeprefix("/247samples/"), call.query
        if call.path in ("/v3/workouts/", "/v3/workouts"):
            first, last = float(query["since"]), float(query.get("until", "inf"))
            found = [e for e in self.workouts if first <= e["startTime"] <= last]
            found.sort(key=lambda each: -int(each["startTime"]))
            at = int(query.get("offset", "0"))
            page = found[at : at + int(query.get("limit", "50"))]
            return TwinAnswer(200, {"error": None, "payload": page, "metadata": {}})
        if call.path in _SUMS:
            return self._sum_days(query)
        if kind not in _KINDS:
            return TwinAnswer(404, {"statusCode": 404, "message": "Resource not found"})
        since, until = (
            datetime.fromtimestamp(int(query[name]) / 1000, UTC)
            for name in ("from", "to")
        )
        if not timedelta(0) <= until - since <= _WINDOW_MAX:
            return TwinAnswer(400, {"error": "interval"})
        within = [
            each
            for each in self.samples[kind]
            if since <= datetime.fromisoformat(each["timestamp"]) <= until
        ]
        return TwinAnswer(200, within)

    def _sum_days(self, query: dict[str, str]) -> TwinAnswer:
        first, last = query["startdate"][:10], query["enddate"][:10]
        days = [day for day in sorted(self.days) if first <= day <= last]
        sums = [
            {
                "Name": name,
                "Aggregation": "sum",
                "Sources": [
                    {
                        "Name": "suunto-twin",
                        "Samples": [
                            {
                                "TimeISO8601": f"{day}T12:00:00+00:00",
                                "Value": self.days[day][number],
                            }
                            for day in days
                        ],
                    }
                ],
            }
            for number, name in enumerate(("stepcount", "energyconsumption"))
        ]
        return TwinAnswer(200, sums)

    def _add(self, kind: str, at: datetime, entry: Record) -> Record:
        sample = {"timestamp": _write(at), "entryData": entry}
        self.samples[kind].append(sample)
        return sample


def _write(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")
