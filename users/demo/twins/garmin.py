"""The twin of Garmin: it pings or pushes, and refuses to be asked.

After public copies of its documents, as of users.gateways.garmin.client. What it does
after a failed message is documented; how far back it gives the past, and what it says
before that, is as clients report it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

from users.demo.twins.pushes import Push, PushSender
from users.demo.twins.rest import RestTwin, TwinAnswer, TwinCall

Summary = dict[str, Any]
_API = "/wellness-api/rest/"
_DAY_SECONDS = 86_400
_REQUEST_MAX_DAYS = {"activities": 30}
_PULL_SECONDS = 7 * _DAY_SECONDS
# Types that are asked for under another name.
_KINDS = {"respiration": "allDayRespiration", "pulseOx": "pulseox"}
_PERMISSIONS = ["ACTIVITY_EXPORT", "HEALTH_EXPORT", "HISTORICAL_DATA_EXPORT"]


@dataclass
class GarminTwin(RestTwin):
    """The RestTwin of Garmin; `push_url` is what was entered for its application.

    Types in `pinged` are pinged, the others pushed. Past data goes back `reach` from
    the first sign-in. `limits` are of days of past data.
    """

    name: ClassVar[str] = "Garmin"
    sign_in_path: ClassVar[str] = "/oauth2Confirm"
    token_path: ClassVar[str] = "/di-oauth2-service/oauth/token"  # noqa: S105 - a path
    access_seconds: ClassVar[int] = 86_400
    limits: ClassVar[tuple[tuple[int, int], ...]] = ()
    backfill_limit: ClassVar[tuple[int, int]] = (10_000, 60)

    user_id: Any = "4aac0000twin0000nobody0000000000"
    summaries: dict[str, list[Summary]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    pinged: set[str] = field(default_factory=lambda: {"activityFiles"})
    permissions: list[str] = field(default_factory=lambda: list(_PERMISSIONS))
    reach: timedelta = timedelta(days=30)
    push_url: str = ""
    sender: PushSender = field(default_factory=lambda: PushSender(repeats=True))
    made: int = 0

    def __post_init__(self) -> None:
        """Begin without requests for the past."""
        super().__post_init__()
        self.first_sign_in: float | None = None
        self.backfilled: dict[str, list[tuple[int, int]]] = {}
        self.days_taken: list[tuple[float, int]] = []
        # By pull token: until when it works, and what it is for.
        self._pulls: dict[str, tuple[float, list[Summary] | bytes]] = {}

    def count_most_calls(self, seconds: int) -> int:
        """Return the most days of past data asked for within any so many seconds."""
        most = 0
        for number, (at, _days) in enumerate(self.days_taken):
            within = [
                days
                for when, days in self.days_taken[: number + 1]
                if when > at - seconds
            ]
            most = max(most, sum(within))
        return most

    def add(self, kind: str, start: datetime, **fields: Any) -> Summary:
        """Add a summary of a type."""
        self.made += 1
        summary = {
            "summaryId": f"x-twin-{self.made:x}",
            "startTimeInSeconds": int(start.timestamp()),
            "startTimeOffsetInSeconds": 0,
        } | fields
        self.summaries.setdefault(kind, []).append(summary)
        return summary

    def add_night(self, start: datetime, end: datetime, **more: Any) -> Summary:
        """Add a night with its stages."""
        length = int((end - start).total_seconds())
        begins = int(start.timestamp())
        light = begins + length // 5
        return self.add(
            "sleeps",
            start,
            **{
                "calendarDate": end.date().isoformat(),
                "durationInSeconds": length - 600,
                "unmeasurableSleepInSeconds": 0,
                "deepSleepDurationInSeconds": length // 5,
                "lightSleepDurationInSeconds": length - length // 5 - 600,
                "remSleepInSeconds": 0,
                "awakeDurationInSeconds": 600,
                "sleepLevelsMap": {
                    "deep": [{"startTimeInSeconds": begins, "endTimeInSeconds": light}],
                    "light": [
                        {
                            "startTimeInSeconds": light,
                            "endTimeInSeconds": begins + length - 600,
                        }
                    ],
                    "awake": [
                        {
                            "startTimeInSeconds": begins + length - 600,
                            "endTimeInSeconds": begins + length,
                        }
                    ],
                },
                "validation": "ENHANCED_FINAL",
                "overallSleepScore": {"value": 84, "qualifierKey": "GOOD"},
            }
            | more,
        )

    def add_day(self, day: datetime, *, steps: int, **more: Any) -> Summary:
        """Add a day, which begins at `day`."""
        return self.add(
            "dailies",
            day,
            **{
                "calendarDate": day.date().isoformat(),
                "durationInSeconds": _DAY_SECONDS,
                "steps": steps,
                "distanceInMeters": steps * 0.75,
                "activeKilocalories": 320,
                "bmrKilocalories": 1700,
                "restingHeartRateInBeatsPerMinute": 58,
                "timeOffsetHeartRateSamples": {"28800": 62, "66600": 71},
            }
            | more,
        )

    def add_activity(
        self, start: datetime, *, minutes: int = 30, file: bytes = b"", **more: Any
    ) -> Summary:
        """Add an activity, and its file if there is one."""
        found = self.add(
            "activities",
            start,
            **{
                "activityId": 21_000_000_000 + self.made,
                "activityName": "Morning run",
                "activityType": "RUNNING",
                "deviceName": "forerunner255",
                "durationInSeconds": minutes * 60,
                "averageHeartRateInBeatsPerMinute": 143,
                "maxHeartRateInBeatsPerMinute": 166,
                "distanceInMeters": minutes * 170.0,
                "activeKilocalories": minutes * 11,
                "manual": False,
            }
            | more,
        )
        if file:
            self.files[str(found["activityId"])] = file
        return found

    def announce(self, kind: str, *summaries: Summary) -> None:
        """Queue a message of summaries: a ping or a push, as was chosen."""
        if kind not in self.pinged:
            items = [{"userId": self.user_id, **each} for each in summaries]
            self._queue({kind: items})
            return
        url = self._open_pull(kind, list(summaries))
        self._queue({kind: [{"userId": self.user_id, "callbackURL": url}]})

    def announce_file(self, activity: Summary) -> None:
        """Queue a ping of the file of an activity."""
        url = self._open_pull("activityFile", self.files[str(activity["activityId"])])
        ping = {
            "userId": self.user_id,
            "summaryId": activity["summaryId"],
            "fileType": "FIT",
            "activityId": activity["activityId"],
            "startTimeInSeconds": activity["startTimeInSeconds"],
            "manual": False,
            "callbackURL": url,
        }
        self._queue({"activityFiles": [ping]})

    def revoke_consent(self) -> None:
        """As of RestTwin, and say so."""
        super().revoke_consent()
        self._queue({"deregistrations": [{"userId": self.user_id}]})

    def change_permissions(self, *permissions: str) -> None:
        """Allow these alone, as in Garmin's own app, and say so."""
        self.permissions = list(permissions)
        said = {"userId": self.user_id, "permissions": self.permissions}
        self._queue({"userPermissionsChange": [said]})

    def give_tokens(self, *, now: float) -> dict[str, Any]:
        """As of RestTwin."""
        if self.first_sign_in is None:
            self.first_sign_in = now
        return super().give_tokens(now=now) | {
            "scope": "CONNECT_READ PARTNER_READ",
            "refresh_token_expires_in": 7_775_998,
        }

    def serve_application(self, call: TwinCall) -> TwinAnswer | None:
        """As of RestTwin: calls that bring a pull token."""
        name = call.path.removeprefix(_API)
        if "token" not in call.query and not name.startswith(("user/", "backfill/")):
            return TwinAnswer(
                400, {"errorMessage": "InvalidPullTokenException failure"}
            )
        return None

    def read(self, call: TwinCall) -> TwinAnswer:
        """As of RestTwin."""
        name = call.path.removeprefix(_API)
        match call.method, name:
            case "GET", "user/id":
                return TwinAnswer(200, {"userId": self.user_id})
            case "GET", "user/permissions":
                return TwinAnswer(200, self.permissions)
            case "DELETE", "user/registration":
                self.revoke_consent()
                return TwinAnswer(204)
            case "GET", path if path.startswith("backfill/"):
                return self._backfill(path.removeprefix("backfill/"), call.query)
            case "GET", _:
                return self._give(name, call.query["token"])
        return TwinAnswer(404, {"errorMessage": "not found"})

    def _give(self, name: str, token: str) -> TwinAnswer:
        until, found = self._pulls.get(token, (0.0, []))
        if until < self.clock():
            return TwinAnswer(
                400, {"errorMessage": "InvalidPullTokenException failure"}
            )
        if name == "activityFile":
            del self._pulls[token]
        return TwinAnswer(200, found)

    def _backfill(self, name: str, query: dict[str, str]) -> TwinAnswer:
        if "HISTORICAL_DATA_EXPORT" not in self.permissions:
            return TwinAnswer(412, {"errorMessage": "no permission"})
        first = int(query["summaryStartTimeInSeconds"])
        last = int(query["summaryEndTimeInSeconds"])
        days = max(-(-(last - first) // _DAY_SECONDS), 1)
        now = self.clock()
        most, seconds = self.backfill_limit
        if sum(n for at, n in self.days_taken if at > now - seconds) + days > most:
            return TwinAnswer(429, {"errorMessage": "rate limit"})
        begins = (self.first_sign_in or now) - self.reach.total_seconds()
        if days > _REQUEST_MAX_DAYS.get(name, 90) or first < begins - 1:
            said = f"start {first} before min start time of {int(begins)}"
            return TwinAnswer(400, {"errorMessage": said})
        asked = self.backfilled.setdefault(name, [])
        if any(start < last and first < end for start, end in asked):
            return TwinAnswer(409, {"errorMessage": "duplicate backfill"})
        asked.append((first, last))
        self.days_taken.append((now, days))
        kind = _KINDS.get(name, name)
        found = [
            each
            for each in self.summaries.get(kind, [])
            if first <= each["startTimeInSeconds"] < last
        ]
        if found:
            self.announce(kind, *found)
        for each in found if kind == "activities" else ():
            if str(each["activityId"]) in self.files:
                self.announce_file(each)
        return TwinAnswer(202)

    def _open_pull(self, name: str, found: list[Summary] | bytes) -> str:
        token = f"CPT{len(self._pulls) + self.made + len(self.log)}-{len(self._pulls)}"
        seconds = _DAY_SECONDS if name == "activityFile" else _PULL_SECONDS
        self._pulls[token] = (self.clock() + seconds, found)
        return f"{self.url}{_API}{name}?token={token}"

    def _queue(self, said: dict[str, Any]) -> None:
        headers = (
            ("User-Agent", "Garmin Health API"),
            ("garmin-client-id", self.client_id),
        )
        body = json.dumps(said).encode()
        self.sender.waiting.append(
            Push(self.push_url, body, "application/json", headers)
        )
