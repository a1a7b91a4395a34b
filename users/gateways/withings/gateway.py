"""Gateway to Withings: its services, limits and how each resource is read.

Not read: activity and workouts, ECG and temperatures, and nights by the minute.
"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from users.gateways.base import CallLimit, ClientCredentials
from users.gateways.cloud import CloudGateway, CloudResource
from users.gateways.withings import measures, nights
from users.gateways.withings.client import WithingsClient
from users.gateways.withings.measures import Kind, MeasureGroup
from users.gateways.withings.pushes import WithingsPushes
from users.gateways.withings.tokens import SCOPES, WithingsTokens
from users.states import SourceType

if TYPE_CHECKING:
    from datetime import date

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
    client: WithingsClient = window.client
    documents = client.fetch_all(
        "v2/sleep",
        "getsummary",
        {
            "startdateymd": window.first.isoformat(),
            "enddateymd": window.last.isoformat(),
            "data_fields": ",".join(nights.DATA_FIELDS),
        },
        key="series",
    )
    return nights.convert_withings_nights(documents, fallback=window.zone)


# By category of a notification, what it announces.
_ANNOUNCED = {
    1: ("weight", "fat", "body"),
    4: ("blood_pressure",),
    44: ("sleep",),
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
            ("body", _read_body, _METRICS),
            ("weight", _read_samples(Kind.WEIGHT, SourceType.SCALE), _METRICS),
            ("fat", _read_samples(Kind.FAT_RATIO, SourceType.SCALE), _METRICS),
            ("blood_pressure", _read_blood_pressure, _METRICS),
        )
    }
    # Ours: half a year, as of Oura.
    history = timedelta(days=180)
    limits = (CallLimit(calls=120, seconds=60),)
    reuses_refresh_tokens = True
    proven_by = "aiowithings 3.1.6"
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
