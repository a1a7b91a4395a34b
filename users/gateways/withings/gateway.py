"""Gateway to Withings: its services, limits and how each resource is read.

Not read: ECG and its intervals, nerve health, segments of the body, skin temperature,
activity within a day, and heart rates of nights by the minute: a call gives one night,
and an application has 120 calls a minute.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    CallLimit,
    SourceTerms,
)
from users.gateways.cloud import CloudGateway, CloudResource
from users.gateways.withings import days, measures, nights
from users.gateways.withings.client import WithingsClient
from users.gateways.withings.measures import Kind, MeasureGroup
from users.gateways.withings.pushes import WithingsPushes
from users.gateways.withings.tokens import SCOPES, WithingsTokens
from users.states import SourceType
from users.states.terms import Permission, SourceUse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.gateways.base import Grant, PushProtocol
    from users.gateways.cloud import Elements, Window
    from users.gateways.http import SourceHttp

_DAY = timedelta(days=1)


def _read_groups(window: Window, first: date, last: date) -> list[MeasureGroup]:
    """Return the groups of measures of days in UTC, both inclusive."""
    client: WithingsClient = window.client
    documents = client.fetch_all(
        "measure",
        "getmeas",
        {
            "meastypes": ",".join(str(kind.value) for kind in Kind),
            "category": "1",
            "startdate": _epoch(first),
            "enddate": str(int(_epoch(last + _DAY)) - 1),
        },
        key="measuregrps",
    )
    return measures.read_withings_measure_groups(documents, fallback=window.zone)


def _epoch(day: date) -> str:
    return str(int(datetime.combine(day, time(), UTC).timestamp()))


def _read_body(window: Window) -> Elements:
    """Read bodies of whole days: those of the user begin before or after UTC's."""
    groups = _read_groups(window, window.first - _DAY, window.last + _DAY)
    return measures.convert_withings_bodies(
        groups, first=window.first, last=window.last
    )


def _read_samples(kind: Kind, device: SourceType) -> Any:
    def read(window: Window) -> Elements:
        groups = _read_groups(window, window.first, window.last)
        return measures.convert_withings_samples(groups, kind, device)

    return read


def _read_blood_pressure(window: Window) -> Elements:
    groups = _read_groups(window, window.first, window.last)
    return measures.convert_withings_blood_pressure(groups)


def _read_sleep(window: Window) -> Elements:
    return nights.convert_withings_nights(_read_nights(window), fallback=window.zone)


def _read_nights(window: Window) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    client: WithingsClient = window.client
    return client.fetch_all(
        "v2/sleep",
        "getsummary",
        {
            "startdateymd": window.first.isoformat(),
            "enddateymd": window.last.isoformat(),
            "data_fields": ",".join(nights.DATA_FIELDS),
        },
        key="series",
    )


def _read_intervals(kinds: tuple[Kind, ...], device: SourceType) -> Any:
    def read(window: Window) -> Elements:
        groups = _read_groups(window, window.first, window.last)
        return measures.convert_withings_intervals(groups, kinds, device)

    return read


def _read_pulses(window: Window) -> Elements:
    groups = _read_groups(window, window.first, window.last)
    return measures.convert_withings_pulses(groups)


def _read_days(
    window: Window, action: str, fields: tuple[str, ...], key: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the documents of days by the calendar, both inclusive."""
    client: WithingsClient = window.client
    return client.fetch_all(
        "v2/measure",
        action,
        {
            "startdateymd": window.first.isoformat(),
            "enddateymd": window.last.isoformat(),
            "data_fields": ",".join(fields),
        },
        key=key,
    )


def _read_activity(window: Window) -> Elements:
    return days.convert_withings_activity(
        _read_days(window, "getactivity", days.ACTIVITY_FIELDS, "activities")
    )


def _read_workouts(window: Window) -> Elements:
    return days.convert_withings_workouts(
        _read_days(window, "getworkouts", days.WORKOUT_FIELDS, "series"),
        fallback=window.zone,
    )


def _read_sleep_cycle(window: Window) -> Elements:
    """Read the stages of each night by itself: a call gives 24 hours at most."""
    client: WithingsClient = window.client
    found: dict[SourceType, list[dict[str, Any]]] = {}
    for night, _body in _read_nights(window):
        if not nights.is_withings_night(night):
            continue
        body = client.call(
            "v2/sleep",
            "get",
            {"startdate": str(night["startdate"]), "enddate": str(night["enddate"])},
        )
        parts = body.get("series") or []
        cycle = nights.convert_withings_stages(night, parts)
        if cycle:
            found.setdefault(nights.get_withings_night_source(night), []).append(cycle)
    return found


# By category of a notification, what it announces.
_ANNOUNCED = {
    1: ("weight", "fat", "body", "lean_body_mass", "heartrate"),
    2: ("body_temperature",),
    4: ("blood_pressure", "heartrate", "blood_oxygen"),
    16: ("activity", "workouts"),
    44: ("sleep", "sleep_cycle"),
}
_METRICS = (frozenset({"user.metrics"}),)
_ACTIVITY = (frozenset({"user.activity"}),)


class WithingsGateway(CloudGateway):
    """The SourceGateway of Withings."""

    name = "withings"
    cloud_resources = {
        name: CloudResource(read, scopes, is_complete=True)
        for name, read, scopes in (
            ("sleep", _read_sleep, _ACTIVITY),
            ("sleep_cycle", _read_sleep_cycle, _ACTIVITY),
            ("activity", _read_activity, _ACTIVITY),
            ("workouts", _read_workouts, _ACTIVITY),
            ("body", _read_body, _METRICS),
            ("weight", _read_samples(Kind.WEIGHT, SourceType.SCALE), _METRICS),
            ("fat", _read_samples(Kind.FAT_RATIO, SourceType.SCALE), _METRICS),
            (
                "lean_body_mass",
                _read_intervals((Kind.FAT_FREE_MASS,), SourceType.SCALE),
                _METRICS,
            ),
            ("blood_pressure", _read_blood_pressure, _METRICS),
            ("heartrate", _read_pulses, _METRICS),
            (
                "blood_oxygen",
                _read_samples(Kind.BLOOD_OXYGEN, SourceType.WATCH),
                _METRICS,
            ),
            # A thermometer gives both; the first is the one of the body.
            (
                "body_temperature",
                _read_intervals(
                    (Kind.BODY_TEMPERATURE, Kind.TEMPERATURE), SourceType.UNKNOWN
                ),
                _METRICS,
            ),
            ("vo2_max", _read_intervals((Kind.VO2_MAX,), SourceType.WATCH), _METRICS),
        )
    }
    # Ours: half a year, as of Oura.
    history = timedelta(days=180)
    limits = (CallLimit(calls=120, seconds=60),)
    reuses_refresh_tokens = True
    proven_by = "aiowithings 3.1.6"
    # As summarized by a public project that cites them, 2026-11-24: no unattended
    # queries without an agreement. Of the rest no public copy was found.
    terms = SourceTerms(
        url="https://www.withings.com/in/fr/legal/api-terms-of-use",
        checked_on=date(2026, 11, 24),
        permissions={SourceUse.UNATTENDED: Permission.FORBIDDEN},
    )
    # Ours: few values a day, several pages at most.
    window_days = 60

    @property
    def default_credentials(self) -> ClientCredentials:
        """As of CloudGateway."""
        return ClientCredentials(
            settings.WITHINGS_CLIENT_ID, settings.WITHINGS_CLIENT_SECRET
        )

    @property
    def tokens(self) -> WithingsTokens:
        """As of CloudGateway."""
        return WithingsTokens(
            settings.WITHINGS_API_URL,
            settings.WITHINGS_SIGN_IN_URL,
            self.credentials,
            self._meter,
        )

    @property
    def pushes(self) -> PushProtocol:
        """As of CloudGateway."""
        return WithingsPushes(settings.WITHINGS_API_URL, self.open_http, _ANNOUNCED)

    def granted_scopes(self, grant: Grant) -> frozenset[str]:
        """As of CloudGateway; all, where Withings did not say what was granted."""
        return frozenset(grant.scopes or SCOPES)

    def open_client(self, http: SourceHttp, grant: Grant) -> WithingsClient:
        """As of CloudGateway."""
        return WithingsClient(
            http=http,
            api_url=settings.WITHINGS_API_URL,
            access_token=grant.access_token,
        )
