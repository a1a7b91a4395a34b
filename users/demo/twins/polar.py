"""The twin of Polar AccessLink: registration, lists by day, and one signed webhook.

After its public reference, as of users.gateways.polar.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar

from users.demo.twins.pushes import Push
from users.demo.twins.rest import RestTwin, TwinAnswer, TwinCall
from users.gateways.applications import ClientCredentials
from users.gateways.polar.client import build_basic_header
from users.gateways.polar.pushes import sign_polar_push

Document = dict[str, Any]
_DATA = "/v3/"
_LISTED = timedelta(days=28)
_YEAR = timedelta(days=365)


@dataclass
class PolarTwin(RestTwin):
    """The RestTwin of Polar. Days are those of the device's clock, in UTC here."""

    name: ClassVar[str] = "Polar"
    sign_in_path: ClassVar[str] = "/oauth2/authorization"
    token_path: ClassVar[str] = "/v2/oauth2/token"  # noqa: S105 - a path
    access_seconds: ClassVar[int] = 31_535_999
    # 500 and 5000, and 20 and 100 of the one user.
    limits: ClassVar[tuple[tuple[int, int], ...]] = ((520, 900), (5100, 86_400))

    is_registered: bool = False
    has_consented: bool = True
    nights: list[Document] = field(default_factory=list)
    recharges: list[Document] = field(default_factory=list)
    days: list[Document] = field(default_factory=list)
    exercises: list[Document] = field(default_factory=list)
    heart_rates: list[Document] = field(default_factory=list)
    webhook: Document | None = None
    key: str = ""

    def add_night(self, start: datetime, end: datetime, **more: Any) -> None:
        """Add a night and its recharge, by the clock of its offset."""
        length = int((end - start).total_seconds())
        day = end.date().isoformat()
        middle = start + (end - start) / 2
        self.nights.append(
            {
                "polar_user": self._user_link,
                "date": day,
                "sleep_start_time": start.isoformat(),
                "sleep_end_time": end.isoformat(),
                "device_id": "1111AAAA",
                "continuity": 2.1,
                "continuity_class": 2,
                "light_sleep": length // 2,
                "deep_sleep": length // 5,
                "rem_sleep": length // 5,
                "unrecognized_sleep_stage": 0,
                "sleep_score": 80,
                "total_interruption_duration": length // 10,
                "sleep_charge": 3,
                "sleep_goal": 28_800,
                "sleep_rating": 3,
                "short_interruption_duration": 500,
                "long_interruption_duration": 300,
                "sleep_cycles": 6,
                "group_duration_score": 100.0,
                "group_solidity_score": 75.0,
                "group_regeneration_score": 54.2,
                "hypnogram": {f"{start:%H:%M}": 3, f"{middle:%H:%M}": 4},
                "heart_rate_samples": {f"{start:%H:%M}": 61},
            }
            | more
        )
        self.recharges.append(
            {
                "polar_user": self._user_link,
                "date": day,
                "heart_rate_avg": 58,
                "beat_to_beat_avg": 1034,
                "heart_rate_variability_avg": 44,
                "breathing_rate_avg": 14.1,
                "nightly_recharge_status": 4,
                "ans_charge": 1.5,
                "ans_charge_status": 4,
                "hrv_samples": {f"{start:%H:%M}": 41, f"{middle:%H:%M}": 47},
                "breathing_samples": {f"{start:%H:%M}": 13.4},
            }
        )

    def add_day(self, day: date, *, steps: int = 8823) -> None:
        """Add a day of activity."""
        self.days.append(
            {
                "start_time": f"{day.isoformat()}T00:00:00",
                "end_time": f"{day.isoformat()}T23:59:59",
                "active_duration": "PT3H11M",
                "inactive_duration": "PT18H23M30S",
                "daily_activity": 89.1,
                "calories": 2500,
                "active_calories": 700,
                "steps": steps,
                "inactivity_alert_count": 1,
                "distance_from_steps": 4590.5,
                "samples": {"date": day.isoformat(), "inactivity_stamps": []},
            }
        )

    def add_heart_rates(self, day: date, rates: dict[str, int]) -> None:
        """Add continuous heart rates of a day, by clock time."""
        samples = [
            {"heart_rate": rate, "sample_time": at} for at, rate in rates.items()
        ]
        self.heart_rates.append(
            {
                "polar_user": self._user_link,
                "date": day.isoformat(),
                "heart_rate_samples": samples,
            }
        )

    def add_exercise(self, start: datetime, *, minutes: int = 45, **more: Any) -> str:
        """Add an exercise, uploaded when it ended; return its ID."""
        offset = int((start.utcoffset() or timedelta(0)).total_seconds()) // 60
        exercise_id = f"ex{len(self.exercises):04d}"
        uploaded = (start + timedelta(minutes=minutes)).astimezone(UTC)
        self.exercises.append(
            {
                "id": exercise_id,
                "upload_time": f"{uploaded:%Y-%m-%dT%H:%M:%SZ}",
                "polar_user": self._user_link,
                "device": "Polar Vantage",
                "device_id": "1111AAAA",
                "start_time": f"{start:%Y-%m-%dT%H:%M:%S}",
                "start_time_utc_offset": offset,
                "duration": f"PT{minutes}M",
                "calories": 530,
                "distance": 8600.0,
                "heart_rate": {"average": 129, "maximum": 147},
                "training_load": 143.2,
                "sport": "RUNNING",
                "has_route": False,
                "detailed_sport_info": "RUNNING",
            }
            | more
        )
        return exercise_id

    def announce(self, event: str, **named: str) -> None:
        """Queue a push, with a `date` or an `entity_id`."""
        if self.webhook is None or event not in self.webhook["events"]:
            return
        said = {"event": event, "user_id": self.user_id, "timestamp": self._now()}
        body = json.dumps(said | named).encode()
        headers = (
            ("Polar-Webhook-Event", event),
            ("Polar-Webhook-Signature", sign_polar_push(self.key, body)),
        )
        push = Push(self.webhook["url"], body, "application/json", headers)
        self.sender.waiting.append(push)

    def is_client(self, call: TwinCall, form: dict[str, str]) -> bool:  # noqa: ARG002 - by a header
        """As of RestTwin."""
        wanted = build_basic_header(
            ClientCredentials(self.client_id, self.client_secret)
        )
        return call.headers.get("authorization") == wanted["Authorization"]

    def give_tokens(self, *, now: float) -> dict[str, Any]:
        """As of RestTwin; Polar gives no refresh token."""
        given = super().give_tokens(now=now) | {"x_user_id": self.user_id}
        self.refresh_token = ""
        del given["refresh_token"]
        return given

    def serve_application(self, call: TwinCall) -> TwinAnswer | None:
        """As of RestTwin: webhooks."""
        name = call.path.removeprefix(_DATA)
        if not name.startswith("webhooks"):
            return None
        if not self.is_client(call, {}):
            return TwinAnswer(401, {"title": "Unauthorized"})
        match call.method, name.removeprefix("webhooks"):
            case "GET", "":
                listed = [self.webhook] if self.webhook else []
                return TwinAnswer(200, {"data": listed})
            case "POST", "":
                return self._make_webhook(json.loads(call.content))
            case "POST", "/activate" if self.webhook:
                self.webhook["active"] = True
                return TwinAnswer(200)
            case "DELETE", path if self.webhook and path == f"/{self.webhook['id']}":
                self.webhook = None
                return TwinAnswer(204)
        return TwinAnswer(404, {"errorType": "not_found"})

    def read(self, call: TwinCall) -> TwinAnswer:
        """As of RestTwin."""
        name = call.path.removeprefix(_DATA)
        if not self.has_consented:
            return TwinAnswer(403, {"errorType": "forbidden"})
        match call.method, name:
            case "POST", "users":
                if self.is_registered:
                    return TwinAnswer(409, {"errorType": "conflict"})
                self.is_registered = True
                return TwinAnswer(200, self._user)
            case "DELETE", path if path == f"users/{self.user_id}":
                self.is_registered = False
                self.revoke_consent()
                return TwinAnswer(204)
        if not self.is_registered:
            return TwinAnswer(403, {"errorType": "forbidden"})
        match call.method, name:
            case "GET", path if path == f"users/{self.user_id}":
                return TwinAnswer(200, self._user)
            case "GET", "exercises":
                return TwinAnswer(200, self._uploaded())
            case "GET", "users/sleep":
                return TwinAnswer(200, {"nights": self._listed(self.nights)})
            case "GET", "users/nightly-recharge":
                return TwinAnswer(200, {"recharges": self._listed(self.recharges)})
            case "GET", "users/activities":
                return self._ranged(call.query, self.days, _day_of, "")
            case "GET", "users/continuous-heart-rate":
                return self._ranged(
                    call.query, self.heart_rates, _date_of, "heart_rates"
                )
        return TwinAnswer(404, {"errorType": "not_found"})

    @property
    def _user(self) -> Document:
        return {
            "polar-user-id": self.user_id,
            "member-id": str(self.user_id),
            "registration-date": "2026-01-01T12:00:00.000Z",
            "first-name": "Twin",
            "last-name": "Nobody",
        }

    @property
    def _user_link(self) -> str:
        return f"https://www.polaraccesslink.com/v3/users/{self.user_id}"

    def _now(self) -> str:
        return f"{datetime.fromtimestamp(self.clock(), UTC):%Y-%m-%dT%H:%M:%SZ}"

    def _today(self) -> date:
        return datetime.fromtimestamp(self.clock(), UTC).date()

    def _listed(self, documents: list[Document]) -> list[Document]:
        first = (self._today() - _LISTED).isoformat()
        return [dict(each) for each in documents if each["date"] > first]

    def _uploaded(self) -> list[Document]:
        first = (self._today() - timedelta(days=30)).isoformat()
        return [dict(each) for each in self.exercises if each["upload_time"] >= first]

    def _ranged(
        self,
        query: dict[str, str],
        documents: list[Document],
        day_of: Any,
        key: str,
    ) -> TwinAnswer:
        first = date.fromisoformat(query["from"])
        last = date.fromisoformat(query["to"])
        is_far = first < self._today() - _YEAR
        if is_far or last < first or last - first >= _LISTED:
            return TwinAnswer(400, {"errorType": "bad_request"})
        found = [
            dict(each)
            for each in documents
            if first.isoformat() <= day_of(each) <= last.isoformat()
        ]
        return TwinAnswer(200, {key: found} if key else found)

    def _make_webhook(self, asked: Document) -> TwinAnswer:
        if self.webhook is not None:
            return TwinAnswer(409, {"errorType": "conflict"})
        ping = json.dumps({"timestamp": self._now(), "event": "PING"}).encode()
        headers = (("Polar-Webhook-Event", "PING"),)
        sent = Push(asked["url"], ping, "application/json", headers)
        if self.sender.send("POST", sent) != 200:
            return TwinAnswer(400, {"errorType": "ping_failed"})
        self.key = secrets.token_hex(16)
        self.webhook = {
            "id": "abdf33",
            "events": asked["events"],
            "url": asked["url"],
            "active": True,
        }
        made = {**self.webhook, "signature_secret_key": self.key}
        return TwinAnswer(201, {"data": made})


def _day_of(document: Document) -> str:
    return str(document["start_time"])[:10]


def _date_of(document: Document) -> str:
    return str(document["date"])
