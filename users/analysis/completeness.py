"""Prove, by source, resource and day, that nothing of a user is missing.

A day counts once it is over in the user's time zone and sources had time to sync: then
a read that covers all of it says what there is. Every poll reaches back over the one
before, so that what was read has no holes between its first and last moment.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from django.utils import timezone

from portal.lib.database import rows as rows_of
from portal.lib.periods import find_day_start, find_time_zone_by_name
from users.gateways.sources import list_push_only_providers
from users.models import Announcement, Connection, Pull, SourceDay, SourceGrant
from users.queries import list_live_user_connections
from users.queries.data.freshness import find_summary_extents
from users.states import PULL_EVERY, ConnectionStatus, DayState, PullStatus
from users.store.extents import find_days_with_samples
from users.store.held_series import list_stored_series
from users.wearables.names import resource_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from users.models import User

# Ours: what the calendar and an answer may show at once.
DAYS_MAX = 92
# Ours: how long after midnight a device may still bring what it recorded before.
CLOSES_AFTER = timedelta(hours=6)
# Ours: what comes later than this after a day has closed was missing for a while.
_LATE = timedelta(days=1)
_DAY = timedelta(days=1)
_WITHOUT_DAYS = {"profile"}
# A poll that begins after the one before had ended left days that its source no longer
# lists: what is proven begins with the last of such.
_REACHED = """
    SELECT resource,
        coalesce(
            max(range_start) FILTER (WHERE range_start > before), min(range_start)
        ),
        max(range_end)
    FROM (
        SELECT resource, range_start, range_end, max(range_end) OVER (
            PARTITION BY resource ORDER BY range_end, id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
        FROM users_pull
        WHERE connection_id = %(connection)s AND status = %(success)s
            AND NOT is_announced
    ) polls
    GROUP BY resource
"""


@dataclass(frozen=True, slots=True)
class CompletenessDay:
    """One day of a resource; `number` counts what the source has of it.

    `read_at` is when that was last changed by a read, `announced_at` when the source
    last announced a change of the day.
    """

    day: date
    state: DayState
    number: int | None = None
    read_at: datetime | None = None
    announced_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ResourceCompleteness:
    """The days of a resource; `asked_again_at` and `error_type` are of a hole in it.

    `read_until` is the moment up to which everything was read.
    """

    resource: str
    days: tuple[CompletenessDay, ...]
    read_until: datetime | None = None
    asked_again_at: datetime | None = None
    error_type: str = ""

    @property
    def name(self) -> str:
        """Return the display name."""
        return resource_name(self.resource)

    def count(self, *states: DayState) -> int:
        """Return how many days are in these states."""
        return sum(each.state in states for each in self.days)

    @property
    def complete(self) -> int:
        """Return how many days are proven."""
        return self.count(
            DayState.COMPLETE, DayState.FILLED_LATER, DayState.SOURCE_HAS_NONE
        )


@dataclass(frozen=True, slots=True)
class SourceCompleteness:
    """A live source of a user; one that `is_read` can prove what it has."""

    connection: Connection
    is_read: bool
    resources: tuple[ResourceCompleteness, ...]


@dataclass(frozen=True, slots=True)
class _Read:
    """What is known of one resource of one connection."""

    first: datetime | None = None
    until: datetime | None = None
    rows: Mapping[date, SourceDay] = field(default_factory=dict)
    announced: Sequence[Announcement] = ()
    latest: Pull | None = None
    error_type: str = ""


def prove_completeness(
    *, user: User, first: date, last: date, provider: str | None = None
) -> list[SourceCompleteness]:
    """Return the state of each day from `first` to `last` by source and resource.

    Days are of the user's fallback time zone. Sources that are not read, such as
    phones, this API and those that are push-only, prove nothing: their days with data
    are received. At most DAYS_MAX days, which the caller checked. Source: Ours (issue
    "Sources", 5).
    """
    zone = find_time_zone_by_name(user.fallback_time_zone or "UTC")
    live = [
        each
        for each in list_live_user_connections(user=user)
        if provider is None or each.provider == provider
    ]
    granted = set(
        SourceGrant.objects.for_tenant(user.tenant)
        .filter(connection__in=live)
        .exclude(connection__provider__in=list_push_only_providers())
        .values_list("connection", flat=True)
    )
    days = [first + number * _DAY for number in range((last - first).days + 1)]
    received = _find_received_days(user, days, zone)
    sources = []
    for connection in live:
        if connection.pk in granted:
            resources = prove_connection_completeness(
                connection=connection, user=user, days=days, zone=zone
            )
        else:
            resources = tuple(
                _list_received(resource, found, days)
                for (slug, resource), found in sorted(received.items())
                if slug == connection.provider
            )
        sources.append(
            SourceCompleteness(connection, connection.pk in granted, resources)
        )
    return sources


def prove_connection_completeness(
    *, connection: Connection, user: User, days: Sequence[date], zone: tzinfo
) -> tuple[ResourceCompleteness, ...]:
    """Return the state of these ascending days by resource, for a source that is read.

    `zone` is the user's. Five queries, none without days.
    """
    if not days:
        return ()
    return tuple(
        _prove_resource(connection, resource, read, days, zone)
        for resource, read in sorted(_find_reads(connection, user, days).items())
    )


def _find_reads(
    connection: Connection, user: User, days: Sequence[date]
) -> dict[str, _Read]:
    pulls = Pull.objects.for_tenant(user.tenant).filter(
        connection=connection, is_announced=False
    )
    reached = {
        resource: (first, until)
        for resource, first, until in rows_of.fetch_rows(
            _REACHED, {"connection": connection.pk, "success": PullStatus.SUCCESS.value}
        )
    }
    latest = {
        pull.resource: pull
        for pull in pulls.order_by("resource", "-id").distinct("resource")
    }
    rows: dict[str, dict[date, SourceDay]] = defaultdict(dict)
    kept = SourceDay.objects.for_tenant(user.tenant).filter(
        connection=connection, day__range=(days[0], days[-1])
    )
    for row in kept.defer("keys"):
        rows[row.resource][row.day] = row
    announced: dict[str, list[Announcement]] = defaultdict(list)
    words = Announcement.objects.for_tenant(user.tenant).filter(
        connection=connection,
        last_at__date__gte=days[0] - _DAY,
        first_at__date__lte=days[-1] + _DAY,
    )
    for word in words.order_by("at"):
        announced[word.resource].append(word)
    error_type = next((e.error_type for e in latest.values() if e.error_type), "")
    available = [
        resource
        for resource, each in connection.resource_availability.items()
        if each.get("status") == "available"
    ]
    return {
        resource: _Read(
            *reached.get(resource, (None, None)),
            rows=rows[resource],
            announced=announced[resource],
            latest=latest.get(resource),
            # A source that is away fails the first, and the others wait.
            error_type=error_type,
        )
        for resource in {*available, *reached} - _WITHOUT_DAYS
    }


def _prove_resource(
    connection: Connection,
    resource: str,
    read: _Read,
    days: Sequence[date],
    zone: tzinfo,
) -> ResourceCompleteness:
    now = timezone.now()
    proven = tuple(_prove_day(connection, read, day, zone, now) for day in days)
    error_type, asked_again_at = "", None
    if any(each.state == DayState.MISSING for each in proven):
        own = read.latest.error_type if read.latest else ""
        error_type = connection.error_type or own or read.error_type
        if connection.status == ConnectionStatus.CONNECTED:
            last = read.latest.scheduled_at if read.latest else now - PULL_EVERY
            asked_again_at = max(last + PULL_EVERY, now)
    return ResourceCompleteness(
        resource, proven, read.until, asked_again_at, error_type
    )


def _prove_day(
    connection: Connection, read: _Read, day: date, zone: tzinfo, now: datetime
) -> CompletenessDay:
    starts, ends = find_day_start(day, zone), find_day_start(day + _DAY, zone)
    closes = ends + CLOSES_AFTER
    row = read.rows.get(day)
    words = [each for each in read.announced if each.last_at >= starts]
    words = [each for each in words if each.first_at < ends]
    number = row.number if row else 0
    if read.first is not None and starts < read.first and not number:
        state = DayState.NOT_READ
    elif now < closes:
        state = DayState.OPEN
    elif (
        any(each.pull_id is None for each in words)
        or read.until is None
        or read.until < closes
    ):
        state = DayState.MISSING
    elif not number:
        state = DayState.SOURCE_HAS_NONE
    elif (
        row is not None
        and row.read_at > closes + _LATE
        and connection.created_on < starts
    ):
        state = DayState.FILLED_LATER
    else:
        state = DayState.COMPLETE
    return CompletenessDay(
        day,
        state,
        number,
        row.read_at if row else None,
        max((each.at for each in words), default=None),
    )


def _find_received_days(
    user: User, days: list[date], zone: tzinfo
) -> dict[tuple[str, str], set[date]]:
    """Return the days with data by provider and resource; four queries."""
    found: dict[tuple[str, str], set[date]] = defaultdict(set)
    series = list_stored_series(user=user)
    edges = [find_day_start(day, zone) for day in (*days, days[-1] + _DAY)]
    with_samples = find_days_with_samples(
        user_id=user.pk, extents=[each.extent for each in series], edges=edges
    )
    for each in series:
        numbers = with_samples.get((each.extent.series, each.extent.feed), ())
        key = (each.source.provider, each.resource.event_resource)
        found[key] |= {days[number] for number in numbers}
    for summary in find_summary_extents(user=user, start=days[0], end=days[-1]):
        found[summary.provider, summary.kind] |= set(summary.days)
    return found


def _list_received(
    resource: str, received: set[date], days: list[date]
) -> ResourceCompleteness:
    return ResourceCompleteness(
        resource,
        tuple(
            CompletenessDay(
                day, DayState.RECEIVED if day in received else DayState.NOT_READ
            )
            for day in days
        ),
    )
