"""The twin of Strava: tokens of six hours, pages of 200, and unsigned pushes.

After its public reference, as of users.gateways.strava.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode

from users.demo.twins.pushes import Push
from users.demo.twins.rest import RestTwin, TwinAnswer, TwinCall

Record = dict[str, Any]
_DATA = "/api/v3/"
_SUBSCRIPTIONS = "/api/v3/push_subscriptions"
_PAGE_MAX = 200
_FIRST_ID = 12_000_000_000
# By the error of RFC 6749 that it would be, what Strava says is wrong.
_FAULTS = {
    "invalid_client": {"resource": "Application", "field": "", "code": "invalid"},
    "invalid_grant": {
        "resource": "RefreshToken",
        "field": "refresh_token",
        "code": "invalid",
    },
}


@dataclass
class StravaTwin(RestTwin):
    """The RestTwin of Strava; an application has one subscription, or none."""

    name: ClassVar[str] = "Strava"
    sign_in_path: ClassVar[str] = "/oauth/authorize"
    token_path: ClassVar[str] = "/oauth/token"  # noqa: S105 - a path
    access_seconds: ClassVar[int] = 21_600
    limits: ClassVar[tuple[tuple[int, int], ...]] = ((100, 900), (1000, 86_400))

    activities: list[Record] = field(default_factory=list)
    subscription: Record = field(default_factory=dict)
    # How many activities were ever made: an ID is never used again.
    made: int = 0

    def add_activity(
        self, start: datetime, *, minutes: int = 40, offset: int = 0, **more: Any
    ) -> int:
        """Add a run, `offset` hours from UTC; return its ID."""
        self.made += 1
        local = start.astimezone(UTC) + timedelta(hours=offset)
        record: Record = {
            "id": _FIRST_ID + self.made,
            "resource_state": 2,
            "athlete": {"id": self.user_id, "resource_state": 1},
            "name": "Morning Run",
            "type": "Run",
            "sport_type": "TrailRun",
            "start_date": _write(start),
            "start_date_local": _write(local.replace(tzinfo=UTC)),
            "timezone": "(GMT+00:00) Etc/UTC",
            "utc_offset": float(offset * 3600),
            "elapsed_time": minutes * 60,
            "moving_time": minutes * 60 - 60,
            "distance": 8012.4,
            "total_elevation_gain": 96.0,
            "elev_high": 140.2,
            "elev_low": 88.0,
            "average_speed": 3.42,
            "max_speed": 5.1,
            "has_heartrate": True,
            "average_heartrate": 148.6,
            "max_heartrate": 171.0,
            "manual": False,
            "private": False,
            "trainer": False,
            "commute": False,
            "map": {"id": f"a{self.made}", "summary_polyline": ""},
        } | more
        self.activities.append(record)
        return int(record["id"])

    def remove(self, activity_id: int) -> None:
        """Remove an activity, as its athlete does."""
        self.activities = [e for e in self.activities if e["id"] != activity_id]

    def announce(self, aspect: str, object_id: int, **updates: str) -> None:
        """Queue a push of an activity; of the athlete if it is their ID."""
        if not self.subscription:
            return
        body = {
            "object_type": "athlete" if object_id == self.user_id else "activity",
            "object_id": object_id,
            "aspect_type": aspect,
            "updates": updates,
            "owner_id": self.user_id,
            "subscription_id": self.subscription["id"],
            "event_time": int(self.clock()),
        }
        push = Push(
            self.subscription["callback_url"],
            json.dumps(body).encode(),
            "application/json",
        )
        self.sender.waiting.append(push)

    def answer(self, call: TwinCall) -> TwinAnswer:
        """As of RestTwin; a refusal of tokens is said in Strava's own way."""
        answer = super().answer(call)
        fault = (answer.body or {}).get("error") if call.path == self.token_path else ""
        if fault not in _FAULTS:
            return answer
        body = {"message": "Bad Request", "errors": [_FAULTS[fault]]}
        return TwinAnswer(answer.status, body)

    def give_tokens(self, *, now: float) -> dict[str, Any]:
        """As of RestTwin."""
        return super().give_tokens(now=now) | {"expires_at": int(self.expires_at)}

    def serve_application(self, call: TwinCall) -> TwinAnswer | None:
        """As of RestTwin: the subscription, and the revocation of a token."""
        if call.path in ("/oauth/deauthorize", "/api/v3/oauth/deauthorize"):
            token = call.form.get("access_token") or call.bearer
            if (
                not token
                or token != self.access_token
                or self.clock() > (self.expires_at)
            ):
                return TwinAnswer(401, {"message": "Authorization Error"})
            self.revoke_consent()
            return TwinAnswer(200, {"access_token": token})
        if call.path != _SUBSCRIPTIONS:
            return None
        form = call.form or call.query
        if not self.is_client(call, form):
            return TwinAnswer(401, {"message": "Authorization Error"})
        if call.method == "GET":
            return TwinAnswer(200, [self.subscription] if self.subscription else [])
        if self.subscription:
            error = {"resource": "PushSubscription", "code": "already exists"}
            return TwinAnswer(400, {"message": "Bad Request", "errors": [error]})
        query = urlencode(
            {
                "hub.mode": "subscribe",
                "hub.challenge": "15f7d1a91c1f40f8a748fd134752feb3",
                "hub.verify_token": form["verify_token"],
            }
        )
        url = form["callback_url"]
        if self.sender.send("GET", Push(f"{url}?{query}", b"")) != 200:
            error = {"resource": "PushSubscription", "code": "not verifiable"}
            return TwinAnswer(400, {"message": "Bad Request", "errors": [error]})
        self.subscription = {
            "id": 120_475,
            "application_id": 1,
            "callback_url": url,
            "created_at": _write(datetime.fromtimestamp(self.clock(), UTC)),
            "updated_at": _write(datetime.fromtimestamp(self.clock(), UTC)),
        }
        return TwinAnswer(201, {"id": self.subscription["id"]})

    def read(self, call: TwinCall) -> TwinAnswer:
        """As of RestTwin."""
        name, query = call.path.removeprefix(_DATA), call.query
        if name == "athlete":
            athlete = {"id": self.user_id, "firstname": "Twin", "lastname": "Nobody"}
            return TwinAnswer(200, athlete)
        if name != "athlete/activities":
            return TwinAnswer(404, {"message": "Record Not Found"})
        size = min(int(query.get("per_page", "30")), _PAGE_MAX)
        first, last = float(query.get("after", "0")), float(query.get("before", "inf"))
        found = [each for each in self.activities if first < _second(each) < last]
        found.sort(key=_second, reverse=True)
        at = (int(query.get("page", "1")) - 1) * size
        return TwinAnswer(200, found[at : at + size])


def _second(activity: Record) -> float:
    return datetime.fromisoformat(str(activity["start_date"])).timestamp()


def _write(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
