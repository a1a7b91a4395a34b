"""The twin of Dexcom: tokens of two hours, and values that come an hour late.

After its public reference, as of users.gateways.dexcom.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from users.demo.twins.rest import RestTwin, TwinAnswer, TwinCall

Record = dict[str, Any]
_DATA = "/v3/users/self/"
_WINDOW_MAX = timedelta(days=30)
_NAMES = {"egvs": "egv", "calibrations": "calibration", "events": "event"}
_TRANSMITTER = "c" * 64


@dataclass
class DexcomTwin(RestTwin):
    """The RestTwin of Dexcom; `delay` is that of the region, `unit` as well."""

    name: ClassVar[str] = "Dexcom"
    sign_in_path: ClassVar[str] = "/v2/oauth2/login"
    token_path: ClassVar[str] = "/v2/oauth2/token"  # noqa: S105 - a path
    access_seconds: ClassVar[int] = 7200
    limits: ClassVar[tuple[tuple[int, int], ...]] = ((60_000, 3600),)

    delay: timedelta = timedelta(hours=1)
    unit: str = "mg/dL"
    records: dict[str, list[Record]] = field(
        default_factory=lambda: {name: [] for name in _NAMES}
    )
    made: int = 0

    def add_glucose(
        self, at: datetime, value: float, *, offset: int = 0, **more: Any
    ) -> str:
        """Add a value of the sensor, shown `offset` hours from UTC."""
        record = {
            **self._record(at, offset),
            "transmitterTicks": int(at.timestamp()) % 8_640_000,
            "value": value,
            "status": "ok",
            "trend": "flat",
            "trendRate": 0.1,
            "unit": self.unit,
            "rateUnit": f"{self.unit}/min",
        }
        return self._add("egvs", record | more)

    def add_calibration(self, at: datetime, value: float, **more: Any) -> str:
        """Add a value of a meter, entered to calibrate the sensor."""
        record = self._record(at, 0) | {"value": value, "unit": self.unit}
        return self._add("calibrations", record | more)

    def add_event(self, at: datetime, **more: Any) -> str:
        """Add what the user entered, by default carbohydrates."""
        record = {
            **self._record(at, 0),
            "eventStatus": "created",
            "eventType": "carbs",
            "eventSubType": None,
            "value": "42.0",
            "unit": "grams",
        }
        return self._add("events", record | more)

    def read(self, call: TwinCall) -> TwinAnswer:
        """As of RestTwin."""
        name = call.path.removeprefix(_DATA)
        if name == "dataRange":
            return self._records("dataRange", None)
        if name == "devices":
            device = {
                "transmitterId": _TRANSMITTER,
                "transmitterGeneration": "g7",
                "displayDevice": "iOS",
                "displayApp": "G7",
                "lastUploadDate": _write(datetime.fromtimestamp(self.clock(), UTC)),
                "alertSchedules": [],
            }
            return self._records("device", [device])
        if name not in _NAMES:
            return TwinAnswer(404, {})
        try:
            first, last = (
                datetime.fromisoformat(call.query[key]).replace(tzinfo=UTC)
                for key in ("startDate", "endDate")
            )
        except (KeyError, ValueError):
            return TwinAnswer(400, {})
        if not timedelta(0) < last - first <= _WINDOW_MAX:
            return TwinAnswer(400, {})
        given = datetime.fromtimestamp(self.clock(), UTC) - self.delay
        found = [
            each
            for each in self.records[name]
            if first <= datetime.fromisoformat(each["systemTime"]) < last
            and datetime.fromisoformat(each["systemTime"]) <= given
        ]
        found.sort(key=lambda each: str(each["systemTime"]), reverse=True)
        return self._records(_NAMES[name], found)

    def _records(self, kind: str, records: list[Record] | None) -> TwinAnswer:
        body: Record = {
            "recordType": kind,
            "recordVersion": "3.0",
            "userId": f"{self.user_id:064x}",
        }
        return TwinAnswer(200, body if records is None else body | {"records": records})

    def _record(self, at: datetime, offset: int) -> Record:
        self.made += 1
        shown = at.astimezone(UTC) + timedelta(hours=offset)
        return {
            "recordId": str(UUID(int=self.made)),
            "systemTime": _write(at),
            "displayTime": f"{shown:%Y-%m-%dT%H:%M:%S}{offset:+03d}:00",
            "transmitterId": _TRANSMITTER,
            "transmitterGeneration": "g7",
            "displayDevice": "iOS",
            "displayApp": "G7",
        }

    def _add(self, name: str, record: Record) -> str:
        self.records[name].append(record)
        return str(record["recordId"])


def _write(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"
