"""A workout: its facts, heart rate zones and stream."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
from django.http import Http404
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.operations.audit.entries import record_read
from accounts.states import Area
from accounts.web.rights import require_right
from portal.lib.translation import gettext_lazy
from portal.lib.web.views import render_page
from portal.ui.body_charts import format_duration
from portal.ui.charts import draw_route
from portal.ui.dates import write_date
from portal.ui.series_chart import Curve, Mark, draw_time_series_chart
from users.analysis.workout_zones import fill_missing_workout_zones
from users.queries import user_overview, workout_stream
from users.queries.data.records import find_summary_of_any_kind
from users.wearables.providers import find_provider
from users.wearables.streams import CHANNELS, PAUSE_SECONDS
from users.wearables.summaries import WORKOUTS
from users.web.explorer.series import format_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.http import HttpResponse
    from django.utils.safestring import SafeString

    from accounts.web.requests import TenantRequest
    from users.queries import SummaryRow, WorkoutStreamRow
    from users.wearables.providers import Provider

# What is drawn of a channel; a stream may have a point for each second of a day.
_STRETCHES = 400
_DRAWN = {
    "heartrate": (gettext_lazy("Heart rate"), "heart"),
    "velocity_smooth": (gettext_lazy("Speed"), "glucose"),
    "altitude": (gettext_lazy("Altitude"), "temp"),
    "cadence": (gettext_lazy("Cadence"), "steps"),
    "power": (gettext_lazy("Power"), "sleep"),
    "temperature": (gettext_lazy("Temperature"), "temp"),
    "resistance": (gettext_lazy("Resistance"), "steps"),
    "distance": (gettext_lazy("Distance"), "glucose"),
}
_UNITS = {channel.name: channel.unit for channel in CHANNELS}
_ZONES = ("50–60%", "60–70%", "70–80%", "80–90%", "≥ 90%")


@dataclass(frozen=True, slots=True)
class Workout:
    """A stored workout, in its local time."""

    row: SummaryRow

    @property
    def provider(self) -> Provider:
        return find_provider(self.row.provider)

    @property
    def name(self) -> str:
        sport: dict[str, Any] = self.row.body.get("sport") or {}
        return str(self.row.body.get("title") or sport.get("name") or _("Workout"))

    @property
    def start(self) -> datetime:
        return self._moment("time_start")

    @property
    def end(self) -> datetime:
        return self._moment("time_end")

    @property
    def when(self) -> str:
        """Return start and end in local time, in words."""
        start, end = self.start, self.end
        return _("%(start)s to %(end)s") % {
            "start": write_date(start, "D j M Y, H:i"),
            "end": f"{end:%H:%M}",
        }

    @property
    def length(self) -> str:
        return format_duration((self.end - self.start).total_seconds())

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Return the facts from its source, by name."""
        body = self.row.body
        items = [
            (name, f"{format_number(body[key])} {unit}".strip())
            for name, key, unit in _FACTS
            if body.get(key) is not None
        ]
        moving = body.get("moving_time")
        return ([(_("Moving"), format_duration(moving))] if moving else []) + items

    @property
    def zones(self) -> list[tuple[str, str]]:
        """Return the time in each heart rate zone; empty if unknown."""
        seconds = self.row.body.get("hr_zones") or []
        return [
            (
                _("Zone %(number)d, %(share)s") % {"number": place, "share": share},
                format_duration(each or 0),
            )
            for place, (share, each) in enumerate(
                zip(_ZONES, seconds, strict=False), start=1
            )
        ]

    @property
    def explorer_query(self) -> str:
        """Return the query string of its range in the explorer."""
        start = (self.start - timedelta(minutes=30)).astimezone(UTC)
        end = (self.end + timedelta(minutes=30)).astimezone(UTC)
        return (
            f"?series=heartrate&series=workouts&start={start:%Y-%m-%dT%H:%M:%SZ}"
            f"&end={end:%Y-%m-%dT%H:%M:%SZ}"
        )

    def _moment(self, name: str) -> datetime:
        offset = self.row.body.get("timezone_offset") or 0
        clock = timezone(timedelta(seconds=offset))
        return datetime.fromisoformat(self.row.body[name]).astimezone(clock)


_FACTS = (
    (gettext_lazy("Distance"), "distance", "m"),
    (gettext_lazy("Energy"), "calories", "kcal"),
    (gettext_lazy("Heart rate, mean"), "average_hr", "bpm"),
    (gettext_lazy("Heart rate, maximum"), "max_hr", "bpm"),
    (gettext_lazy("Speed, mean"), "average_speed", "m/s"),
    (gettext_lazy("Speed, maximum"), "max_speed", "m/s"),
    (gettext_lazy("Elevation gain"), "total_elevation_gain", "m"),
    (gettext_lazy("Highest point"), "elev_high", "m"),
    (gettext_lazy("Lowest point"), "elev_low", "m"),
    (gettext_lazy("Power, mean"), "average_watts", "W"),
    (gettext_lazy("Power, maximum"), "max_watts", "W"),
    (gettext_lazy("Steps"), "steps", ""),
)


@dataclass(frozen=True, slots=True)
class ChannelChart:
    """A channel of a stream: its chart and finding."""

    name: str
    unit: str
    finding: str
    chart: SafeString


@require_GET
@require_right(Area.USERS)
def show_workout(request: TenantRequest, user_id: str, workout_id: str) -> HttpResponse:
    overview = user_overview(tenant=request.tenant, user_id=_uuid(user_id))
    user = overview.user
    found = find_summary_of_any_kind(user=user, summary_id=_uuid(workout_id))
    if found is None or found.kind != WORKOUTS.slug:
        raise Http404
    (row,) = fill_missing_workout_zones(user=user, resource=WORKOUTS, rows=[found.row])
    shown = Workout(row)
    # A stream is large and a route says where somebody lives: each is read only when
    # it is asked for, and told apart in the audit.
    wants_map = request.GET.get("stream") == "map"
    wants_stream = wants_map or "stream" in request.GET
    subjects = ["workouts", *(["workout_stream"] * wants_stream)]
    for subject in [*subjects, *(["workout_route"] * wants_map)]:
        record_read(
            tenant=request.tenant,
            actor=request.actor,
            subject=subject,
            subject_id=row.id,
            user_uuid=user.uuid,
        )
    stored = (
        workout_stream(tenant=request.tenant, workout_id=row.id)
        if wants_stream
        else None
    )
    channels = _channels(stored)
    return render_page(
        request,
        "users/workout.html",
        overview=overview,
        tab="explorer",
        workout=shown,
        wants_stream=wants_stream,
        wants_map=wants_map,
        has_stream=bool(channels),
        channels=list(_charts(channels, shown)),
        has_route=bool(channels.get("lat") and channels.get("lng")),
        route=_route(channels) if wants_map else None,
    )


def _channels(stored: WorkoutStreamRow | None) -> dict[str, Any]:
    """Return the channels of a stream by name; none without a stream."""
    if stored is None or stored.content is None:
        return {}
    channels: dict[str, Any] = orjson.loads(gzip.decompress(stored.content))
    return channels


def _charts(channels: dict[str, Any], shown: Workout) -> Iterator[ChannelChart]:
    times = channels.get("time") or []
    if not times:
        return
    start = datetime.fromtimestamp(times[0], UTC)
    end = datetime.fromtimestamp(max(times[-1], times[0] + 1), UTC)
    for name, (title, hue) in _DRAWN.items():
        values = channels.get(name)
        if not values or all(value is None for value in values):
            continue
        known = [value for value in values if value is not None]
        unit = _UNITS[name].removesuffix(" from start")
        finding = _("Low %(low)s, high %(high)s, mean %(mean)s") % {
            "low": format_number(min(known)),
            "high": format_number(max(known)),
            "mean": format_number(sum(known) / len(known)),
        }
        curve = Curve(
            name=title,
            unit=unit,
            hue=hue,
            marks=list(_marks(times, values)),
            joins=timedelta(seconds=PAUSE_SECONDS),
        )
        yield ChannelChart(
            title,
            unit,
            finding,
            draw_time_series_chart(
                [curve],
                [],
                start=start,
                end=end,
                zone=shown.start.tzinfo or UTC,
                says=_("%(channel)s during the workout: %(finding)s")
                % {"channel": title, "finding": finding},
            ),
        )


def _marks(times: Sequence[int], values: Sequence[float | None]) -> Iterator[Mark]:
    """Yield a mark for each point, or for each of _STRETCHES intervals."""
    known = [
        (at, value)
        for at, value in zip(times, values, strict=False)
        if value is not None
    ]
    length = max(1.0, (known[-1][0] - known[0][0]) / _STRETCHES)
    cells: dict[int, list[tuple[int, float]]] = {}
    for at, value in known:
        cells.setdefault(int((at - known[0][0]) // length), []).append((at, value))
    for points in cells.values():
        inside = [value for _, value in points]
        yield Mark(
            datetime.fromtimestamp(points[0][0], UTC),
            datetime.fromtimestamp(points[-1][0], UTC),
            sum(inside) / len(inside),
            min(inside),
            max(inside),
        )


def _route(channels: dict[str, Any]) -> SafeString | None:
    places = [
        (lat, lng)
        for lat, lng in zip(
            channels.get("lat") or [], channels.get("lng") or [], strict=False
        )
        if lat is not None and lng is not None
    ]
    return (
        draw_route(places, says=_("Route of the workout")) if len(places) > 1 else None
    )


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
