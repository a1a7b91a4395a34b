"""The twin of Oura: collections by day with next_token, subscriptions, signed pushes.

After its public reference, as of users.gateways.oura.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar

from users.demo.twins.pushes import Push
from users.demo.twins.rest import RestTwin, TwinAnswer, TwinCall
from users.gateways.applications import ClientCredentials
from users.gateways.oura.pushes import sign_oura_push

Document = dict[str, Any]
_DATA = "/v2/usercollection/"
_SUBSCRIPTIONS = "/v2/webhook/subscription"
_PAGE = 50
_HEART_RATE_DAYS_MAX = timedelta(days=30)
_SUBSCRIBED_FOR = timedelta(days=90)
_CONTRIBUTORS = (
    "deep_sleep",
    "efficiency",
    "latency",
    "rem_sleep",
    "restfulness",
    "timing",
    "total_sleep",
)


@dataclass
class OuraTwin(RestTwin):
    """The RestTwin of Oura; `documents` by collection."""

    name: ClassVar[str] = "Oura"
    sign_in_path: ClassVar[str] = "/oauth/authorize"
    token_path: ClassVar[str] = "/oauth/token"  # noqa: S105 - a path
    access_seconds: ClassVar[int] = 86_400
    limits: ClassVar[tuple[tuple[int, int], ...]] = ((5000, 300),)

    documents: dict[str, list[Document]] = field(default_factory=dict)
    subscriptions: list[Document] = field(default_factory=list)
    # How many subscriptions were ever made: an ID is never used again.
    made: int = 0

    def add(self, collection: str, document: Document) -> None:
        """Add a document to a collection."""
        self.documents.setdefault(collection, []).append(document)

    def add_night(self, start: datetime, end: datetime, **more: Any) -> str:
        """Add a night with its day's score; return its ID."""
        length = int((end - start).total_seconds())
        day = end.date().isoformat()
        night_id = f"night-{start:%Y%m%d%H%M}"
        phases = "2" * (length // 600) + "1" * (length // 600)
        self.add(
            "sleep",
            {
                "id": night_id,
                "day": day,
                "type": "long_sleep",
                "bedtime_start": start.isoformat(),
                "bedtime_end": end.isoformat(),
                "average_breath": 14.5,
                "average_heart_rate": 58.25,
                "average_hrv": 41,
                "awake_time": 0,
                "deep_sleep_duration": length // 2,
                "light_sleep_duration": length - length // 2,
                "rem_sleep_duration": 0,
                "total_sleep_duration": length,
                "time_in_bed": length,
                "efficiency": 100,
                "latency": 120,
                "lowest_heart_rate": 49,
                "low_battery_alert": False,
                "period": 0,
                "heart_rate": None,
                "hrv": {
                    "interval": 300.0,
                    "items": [41.0, 43.0],
                    "timestamp": start.isoformat(),
                },
                "movement_30_sec": None,
                "readiness": None,
                "readiness_score_delta": None,
                "restless_periods": 12,
                "sleep_algorithm_version": "v2",
                "sleep_analysis_reason": "foreground_sleep_analysis",
                "sleep_phase_5_min": phases,
                "sleep_score_delta": None,
                "app_sleep_phase_5_min": phases,
                "ring_id": "ring-1",
            }
            | more,
        )
        self.add(
            "daily_sleep",
            {
                "id": f"daily-{day}",
                "day": day,
                "score": 82,
                "contributors": dict.fromkeys(_CONTRIBUTORS, 80),
                "timestamp": f"{day}T00:00:00+00:00",
            },
        )
        return night_id

    def add_day(self, day: date, *, steps: int = 8123) -> None:
        """Add a day of activity."""
        at = f"{day.isoformat()}T04:00:00+00:00"
        contributors = (
            "meet_daily_targets",
            "move_every_hour",
            "recovery_time",
            "stay_active",
            "training_frequency",
            "training_volume",
        )
        self.add(
            "daily_activity",
            {
                "id": f"activity-{day.isoformat()}",
                "day": day.isoformat(),
                "timestamp": at,
                "score": 80,
                "active_calories": 512,
                "total_calories": 2410,
                "target_calories": 400,
                "steps": steps,
                "equivalent_walking_distance": 7300,
                "target_meters": 7000,
                "meters_to_target": 0,
                "average_met_minutes": 1.6,
                "high_activity_met_minutes": 60,
                "medium_activity_met_minutes": 120,
                "low_activity_met_minutes": 180,
                "sedentary_met_minutes": 10,
                "high_activity_time": 600,
                "medium_activity_time": 1800,
                "low_activity_time": 10_800,
                "sedentary_time": 30_000,
                "resting_time": 30_000,
                "non_wear_time": 0,
                "inactivity_alerts": 1,
                "contributors": dict.fromkeys(contributors, 80),
                "class_5_min": None,
                "met": {"interval": 60.0, "items": [0.9], "timestamp": at},
            },
        )

    def add_heart_rate(self, at: datetime, bpm: int) -> None:
        """Add a heart rate."""
        moment = at.astimezone(UTC)
        self.add(
            "heartrate",
            {
                "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S.000Z}",
                "timestamp_unix": int(moment.timestamp() * 1000),
                "bpm": bpm,
                "source": "awake",
            },
        )

    def add_workout(self, start: datetime, *, minutes: int = 45) -> str:
        """Add a workout; return its ID."""
        workout_id = f"workout-{start:%Y%m%d%H%M}"
        self.add(
            "workout",
            {
                "id": workout_id,
                "day": start.date().isoformat(),
                "activity": "running",
                "calories": 301.5,
                "distance": 5200.0,
                "intensity": "moderate",
                "label": None,
                "source": "confirmed",
                "start_datetime": start.isoformat(),
                "end_datetime": (start + timedelta(minutes=minutes)).isoformat(),
            },
        )
        return workout_id

    def remove(self, collection: str, document_id: str) -> None:
        """Remove a document, as its user does."""
        kept = self.documents.get(collection, [])
        self.documents[collection] = [e for e in kept if e.get("id") != document_id]

    def announce(self, data_type: str, event_type: str, document_id: str) -> None:
        """Queue a push to whoever subscribed to this."""
        body = json.dumps(
            {
                "event_type": event_type,
                "data_type": data_type,
                "object_id": document_id,
                "event_time": f"{self._now():%Y-%m-%dT%H:%M:%S+00:00}",
                "user_id": str(self.user_id),
            }
        ).encode()
        stamp = str(int(self.clock()))
        credentials = ClientCredentials(self.client_id, self.client_secret)
        headers = (
            ("x-oura-timestamp", stamp),
            ("x-oura-signature", sign_oura_push(credentials, stamp, body)),
        )
        for each in self.subscriptions:
            if (each["data_type"], each["event_type"]) == (data_type, event_type):
                push = Push(each["callback_url"], body, "application/json", headers)
                self.sender.waiting.append(push)

    def serve_application(self, call: TwinCall) -> TwinAnswer | None:
        """As of RestTwin: subscriptions, and the revocation of a token."""
        if call.path == "/oauth/revoke":
            self.revoke_consent()
            return TwinAnswer(200, {})
        if not call.path.startswith(_SUBSCRIPTIONS):
            return None
        known = self.client_id, self.client_secret
        if (
            call.headers.get("x-client-id"),
            call.headers.get("x-client-secret"),
        ) != known:
            return TwinAnswer(401, {"title": "Unauthorized"})
        path = call.path.removeprefix(_SUBSCRIPTIONS)
        if call.method == "GET":
            return TwinAnswer(200, [dict(each) for each in self.subscriptions])
        ends = f"{self._now() + _SUBSCRIBED_FOR:%Y-%m-%dT%H:%M:%S+00:00}"
        if call.method == "PUT":
            named = path.removeprefix("/renew/")
            (kept,) = (each for each in self.subscriptions if each["id"] == named)
            kept["expiration_time"] = ends
            return TwinAnswer(200, dict(kept))
        asked = json.loads(call.content)
        asked.pop("verification_token")
        self.made += 1
        made = asked | {"id": f"sub-{self.made}", "expiration_time": ends}
        self.subscriptions.append(made)
        return TwinAnswer(201, dict(made))

    def read(self, call: TwinCall) -> TwinAnswer:
        """As of RestTwin."""
        name = call.path.removeprefix(_DATA)
        query = call.query
        if name == "personal_info":
            return TwinAnswer(
                200,
                {
                    "id": str(self.user_id),
                    "age": 36,
                    "weight": 61.5,
                    "height": 1.68,
                    "biological_sex": "female",
                    "email": None,
                },
            )
        found = self.documents.get(name, [])
        if name == "heartrate":
            first, last = (
                datetime.fromisoformat(query[f"{end}_datetime"])
                for end in ("start", "end")
            )
            if last - first > _HEART_RATE_DAYS_MAX:
                return TwinAnswer(400, {"detail": "too long"})
            found = [
                each
                for each in found
                if first <= datetime.fromisoformat(each["timestamp"]) < last
            ]
        elif "start_date" in query:
            first_day, last_day = query["start_date"], query["end_date"]
            found = [each for each in found if first_day <= each["day"] < last_day]
        at = int(query.get("next_token", "0"))
        token = str(at + _PAGE) if at + _PAGE < len(found) else None
        return TwinAnswer(200, {"data": found[at : at + _PAGE], "next_token": token})

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self.clock(), UTC)
