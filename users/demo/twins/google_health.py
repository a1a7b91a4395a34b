"""The twin of Google Health: reconciled points by pages, daily sums, and webhooks.

After its discovery document, as of users.gateways.google_health.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar

from users.demo.twins.pushes import Push
from users.demo.twins.rest import RestTwin, TwinAnswer, TwinCall

Point = dict[str, Any]
_DATA = "/v4/users/me/"
_SCOPES = " ".join(
    f"https://www.googleapis.com/auth/googlehealth.{name}.readonly"
    for name in ("activity_and_fitness", "health_metrics_and_measurements", "sleep")
)
_FILTER = re.compile(r'(\w+)\.([\w.]+) >= "([^"]+)" AND \1\.\2 < "([^"]+)"')
_SUMMED = {
    "steps": ("steps", "count", "countSum", True),
    "distance": ("distance", "millimeters", "millimetersSum", True),
    "floors": ("floors", "count", "countSum", True),
    "active-energy-burned": ("activeEnergyBurned", "kcal", "kcalSum", False),
    "total-calories": ("totalCalories", "kcal", "kcalSum", False),
}
_SESSION_PAGE, _PAGE = 25, 10_000
_SUM_DAYS = {"total-calories": 14}


@dataclass
class GoogleHealthTwin(RestTwin):
    """The RestTwin of Google Health; `push_url` is of its subscriber.

    Refresh tokens are used again, as Google's are. `limits` are those of a user.
    """

    name: ClassVar[str] = "Google Health"
    sign_in_path: ClassVar[str] = "/o/oauth2/v2/auth"
    token_path: ClassVar[str] = "/token"  # noqa: S105 - a path
    limits: ClassVar[tuple[tuple[int, int], ...]] = ((300, 60),)

    user_id: Any = "8105551234567890"
    points: dict[str, list[Point]] = field(default_factory=dict)
    is_linked: bool = True
    push_url: str = ""
    made: int = 0

    def count_most_calls(self, seconds: int) -> int:
        """As of RestTwin, of calls for data: a sign-in is of no user yet."""
        times = sorted(at for at, _, path, _ in self.log if "/dataTypes/" in path)
        return max(
            (sum(at - seconds < each <= at for each in times) for at in times),
            default=0,
        )

    def add(self, kind: str, key: str, block: Point) -> Point:
        """Add a point of a data type."""
        self.made += 1
        name = f"users/{self.user_id}/dataTypes/{kind}/dataPoints/{self.made:016x}"
        point = {"dataPointName": name, key: block}
        self.points.setdefault(kind, []).append(point)
        return point

    def add_interval(
        self, kind: str, start: datetime, minutes: int, value: Any
    ) -> None:
        """Add a value of an interval, such as of steps."""
        key, name, _sum, is_text = _SUMMED[kind]
        interval = _flat(start, start + timedelta(minutes=minutes))
        written = str(value) if is_text else value
        self.add(kind, key, {"interval": interval, name: written})

    def add_sample(self, kind: str, key: str, at: datetime, **values: Any) -> None:
        """Add a value of a moment, such as a heart rate."""
        told = {"physicalTime": _write(at), "utcOffset": _offset(at)}
        self.add(kind, key, {"sampleTime": told, **values})

    def add_sleep(self, start: datetime, end: datetime, **metadata: Any) -> Point:
        """Add a sleep of two stages."""
        minutes = int((end - start).total_seconds()) // 60
        middle = start + (end - start) / 4
        stages = [
            {**_flat(start, middle), "type": "DEEP"},
            {**_flat(middle, end), "type": "LIGHT"},
        ]
        summary = {
            "minutesAsleep": str(minutes),
            "minutesAwake": "0",
            "minutesInSleepPeriod": str(minutes),
            "minutesToFallAsleep": "7",
            "stagesSummary": [
                {"type": "DEEP", "minutes": str(minutes // 4), "count": "1"},
                {
                    "type": "LIGHT",
                    "minutes": str(minutes - minutes // 4),
                    "count": "1",
                },
            ],
        }
        return self.add(
            "sleep",
            "sleep",
            {
                "interval": _flat(start, end),
                "type": "STAGES",
                "stages": stages,
                "summary": summary,
                "metadata": {"processed": True, "mainSleep": True} | metadata,
            },
        )

    def add_exercise(self, start: datetime, minutes: int) -> Point:
        """Add a run."""
        return self.add(
            "exercise",
            "exercise",
            {
                "interval": _flat(start, start + timedelta(minutes=minutes)),
                "exerciseType": "RUNNING",
                "displayName": "Run",
                "activeDuration": f"{minutes * 60}s",
                "metricsSummary": {
                    "averageHeartRateBeatsPerMinute": "143",
                    "caloriesKcal": 11.5 * minutes,
                    "distanceMillimeters": 170_000.0 * minutes,
                    "steps": str(160 * minutes),
                },
            },
        )

    def remove(self, point: Point) -> None:
        """Remove a point, as its user does."""
        for kept in self.points.values():
            if point in kept:
                kept.remove(point)

    def announce(
        self, kind: str, start: datetime, end: datetime, operation: str = "UPSERT"
    ) -> None:
        """Queue a notification of a change between two times."""
        interval = {"startTime": _write(start), "endTime": _write(end)}
        self._queue(
            {
                "data": {
                    "version": "1",
                    "healthUserId": self.user_id,
                    "operation": operation,
                    "dataType": kind,
                    "intervals": [{"physicalTimeInterval": interval}],
                }
            }
        )

    def verify(self) -> tuple[int, int]:
        """Verify the subscriber; return what was answered with and without secret."""
        body = b'{"type": "verification"}'
        known, unknown = (
            Push(self.push_url, body, "application/json", headers)
            for headers in (self._headers, ())
        )
        return self.sender.send("POST", known), self.sender.send("POST", unknown)

    def give_tokens(self, *, now: float) -> dict[str, Any]:
        """As of RestTwin; the refresh token stays, and comes the first time alone."""
        kept = self.refresh_token
        given = super().give_tokens(now=now) | {"scope": _SCOPES}
        self._spent.clear()
        if kept:
            self.refresh_token = kept
            del given["refresh_token"]
        return given

    def serve_application(self, call: TwinCall) -> TwinAnswer | None:
        """As of RestTwin: a token that is taken back."""
        if call.path != "/revoke":
            return None
        if call.form.get("token") not in (self.refresh_token, self.access_token):
            return TwinAnswer(400, {"error": "invalid_token"})
        self.revoke_consent()
        return TwinAnswer(200, {})

    def read(self, call: TwinCall) -> TwinAnswer:
        """As of RestTwin."""
        if not self.is_linked:
            reason = {"reason": "ACCOUNT_NOT_LINKED"}
            error = {"status": "FAILED_PRECONDITION", "details": [reason]}
            return TwinAnswer(400, {"error": error})
        path = call.path.removeprefix(_DATA)
        if path == "identity":
            return TwinAnswer(
                200, {"name": "users/me/identity", "healthUserId": self.user_id}
            )
        found = re.fullmatch(r"dataTypes/([\w-]+)/dataPoints:(\w+)", path)
        if found and found[2] == "reconcile":
            return self._reconcile(found[1], call.query)
        if found and found[2] == "dailyRollUp":
            return self._sum(found[1], json.loads(call.content))
        return TwinAnswer(404, {})

    def _reconcile(self, kind: str, query: dict[str, str]) -> TwinAnswer:
        asked = _FILTER.fullmatch(query.get("filter", ""))
        if asked is None or asked[1] != kind.replace("-", "_"):
            return TwinAnswer(400, {"error": {"status": "INVALID_ARGUMENT"}})
        most = _SESSION_PAGE if kind in ("sleep", "exercise") else _PAGE
        size = min(int(query.get("pageSize", most)), most)
        found = [
            (at, each)
            for each in self.points.get(kind, [])
            if asked[3] <= (at := _find_time(each, asked[2])) < asked[4]
        ]
        found.sort(key=lambda pair: pair[0], reverse=True)
        first = int(query.get("pageToken", "0"))
        body: dict[str, Any] = {
            "dataPoints": [each for _, each in found[first : first + size]]
        }
        if first + size < len(found):
            body["nextPageToken"] = str(first + size)
        return TwinAnswer(200, body)

    def _sum(self, kind: str, asked: dict[str, Any]) -> TwinAnswer:
        first, last = (_read_day(asked["range"][key]) for key in ("start", "end"))
        if (last - first).days > _SUM_DAYS.get(kind, 90):
            return TwinAnswer(400, {"error": {"status": "INVALID_ARGUMENT"}})
        key, name, total, is_text = _SUMMED[kind]
        sums: dict[date, float] = {}
        for each in self.points.get(kind, []):
            day = date.fromisoformat(_find_time(each, "interval.civil_start_time")[:10])
            if first <= day < last:
                sums[day] = sums.get(day, 0) + float(each[key][name])
        return TwinAnswer(
            200,
            {
                "rollupDataPoints": [
                    {
                        "civilStartTime": _civil(day),
                        "civilEndTime": _civil(day + timedelta(days=1)),
                        key: {total: str(round(value)) if is_text else value},
                    }
                    for day, value in sorted(sums.items(), reverse=True)
                ]
            },
        )

    @property
    def _headers(self) -> tuple[tuple[str, str], ...]:
        secret = self.push_url.rstrip("/").rsplit("/", 1)[-1]
        return (("Authorization", f"Bearer {secret}"),)

    def _queue(self, said: dict[str, Any]) -> None:
        body = json.dumps(said).encode()
        self.sender.waiting.append(
            Push(self.push_url, body, "application/json", self._headers)
        )


def _find_time(point: Point, path: str) -> str:
    """Return the time of a point that a filter names, as it is compared."""
    block = next(value for key, value in point.items() if key != "dataPointName")
    if path == "date":
        return _read_day({"date": block["date"]}).isoformat()
    if path == "sample_time.physical_time":
        return str(block["sampleTime"]["physicalTime"])
    interval = block["interval"]
    if path == "interval.end_time":
        return str(interval["endTime"])
    if path == "interval.start_time":
        return str(interval["startTime"])
    offset = timedelta(seconds=int(interval["startUtcOffset"].removesuffix("s")))
    local = datetime.fromisoformat(interval["startTime"]) + offset
    return local.replace(tzinfo=None).isoformat()


def _read_day(told: dict[str, Any]) -> date:
    day = told["date"]
    return date(day["year"], day["month"], day["day"])


def _civil(day: date) -> dict[str, Any]:
    return {"date": {"year": day.year, "month": day.month, "day": day.day}}


def _flat(start: datetime, end: datetime) -> dict[str, str]:
    return {
        "startTime": _write(start),
        "startUtcOffset": _offset(start),
        "endTime": _write(end),
        "endUtcOffset": _offset(end),
    }


def _write(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _offset(moment: datetime) -> str:
    return f"{int((moment.utcoffset() or timedelta(0)).total_seconds())}s"
