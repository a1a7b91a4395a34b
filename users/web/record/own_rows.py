"""Rows of the timeline that this app knows: nights, workouts, readings, breaks."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.declarations.user_record import (
    ENTRIES_AT_MOST,
    RecordAttention,
    RecordEntry,
    RecordPart,
    RecordRow,
)
from portal.lib.periods import find_day_start
from portal.lib.web.views import page_url
from portal.ui.body_charts import format_duration
from portal.ui.dates import write_date
from portal.ui.pills import format_wire_value_as_words
from users.queries.data.record_entries import list_sessions, list_source_breaks
from users.states import (
    ConnectionFault,
    ConnectionStatus,
    EntryKind,
    PauseCause,
    explain_connection_status,
)
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from accounts.declarations.user_record import RecordSpan
    from accounts.web.requests import TenantRequest
    from users.analysis.daily_readings import DayOutOfRange
    from users.models import Connection
    from users.queries.data.annotations import NumberedAnnotation
    from users.queries.data.record_entries import Session, SourceBreak

# Ours: what a full bar is of a night and of a workout, in seconds.
_FULL_NIGHT, _FULL_WORKOUT = 9 * 3600, 2 * 3600
_SLEEP, _WORKOUTS = "sleep", "workouts"


def build_own_part(
    request: TenantRequest,
    span: RecordSpan,
    *,
    connections: Sequence[Connection],
    out_of_range: Sequence[DayOutOfRange],
    annotations: Sequence[NumberedAnnotation],
) -> RecordPart:
    """Return what members wrote, nights, workouts, readings and breaks; two queries."""
    sessions = list_sessions(
        tenant=request.tenant,
        user_key=span.user_key,
        first=span.first,
        last=span.last,
        limit=2 * ENTRIES_AT_MOST,
    )
    breaks = list_source_breaks(
        tenant=request.tenant,
        user_key=span.user_key,
        start=span.start,
        end=span.end,
    )
    return RecordPart(
        rows=(
            RecordRow(
                rank=5,
                title=_("Annotations"),
                shape="stretches",
                hue="written",
                entries=tuple(_annotation(request, span, each) for each in annotations),
            ),
            RecordRow(
                rank=10,
                title=_("Nights"),
                shape="bars",
                hue="night",
                entries=tuple(
                    _night(request, span, each, sources)
                    for each, sources in _merge(sessions, _SLEEP)
                ),
            ),
            RecordRow(
                rank=20,
                title=_("Workouts"),
                shape="bars",
                hue="work",
                entries=tuple(
                    _workout(request, span, each, sources)
                    for each, sources in _merge(sessions, _WORKOUTS)
                ),
            ),
            RecordRow(
                rank=30,
                title=_("Out of range"),
                shape="dots",
                entries=tuple(_reading(request, span, each) for each in out_of_range),
            ),
            RecordRow(
                rank=90,
                title=_("Source breaks"),
                shape="stretches",
                entries=tuple(_break(request, span, each) for each in breaks),
            ),
        ),
        attention=tuple(
            _broken(request, span, each)
            for each in connections
            if each.status == ConnectionStatus.ERROR
        ),
    )


def _merge(sessions: Sequence[Session], kind: str) -> list[tuple[Session, str]]:
    """Return the sessions of a kind with their sources; one of several sources is one.

    Of those that overlap the longest counts.
    """
    kept: list[tuple[Session, list[str]]] = []
    found = [each for each in sessions if each.kind == kind]
    for each in sorted(
        found, key=lambda one: (one.starts_at - _end(one), one.provider)
    ):
        for other, providers in kept:
            is_same = each.starts_at < _end(other) and other.starts_at < _end(each)
            if is_same and each.provider not in providers:
                providers.append(each.provider)
                break
        else:
            kept.append((each, [each.provider]))
    return [
        (each, ", ".join(find_provider(slug).name for slug in providers))
        for each, providers in kept
    ]


def _end(each: Session) -> datetime:
    return each.ends_at or each.starts_at


def _annotation(
    request: TenantRequest, span: RecordSpan, each: NumberedAnnotation
) -> RecordEntry:
    written = each.annotation
    return RecordEntry(
        at=find_day_start(written.first_day, span.zone),
        until=find_day_start(written.last_day + timedelta(days=1), span.zone),
        day=written.first_day,
        title=written.text,
        detail=_("%(kind)s, %(days)s") % {"kind": each.kind, "days": each.days},
        icon="pin",
        url=page_url(request, "users:annotations", user_id=span.user_uuid),
    )


def _night(
    request: TenantRequest, span: RecordSpan, each: Session, sources: str
) -> RecordEntry:
    asleep = each.asleep or 0.0
    end = _end(each)
    return RecordEntry(
        at=end,
        day=each.day,
        title=_("Sleep, %(length)s") % {"length": format_duration(asleep)},
        detail=_("%(start)s to %(end)s, %(source)s")
        % {
            "start": f"{each.starts_at.astimezone(span.zone):%H:%M}",
            "end": f"{end.astimezone(span.zone):%H:%M}",
            "source": sources,
        },
        icon="moon",
        url=page_url(request, "users:summaries", user_id=span.user_uuid),
        size=asleep / _FULL_NIGHT,
    )


def _workout(
    request: TenantRequest, span: RecordSpan, each: Session, sources: str
) -> RecordEntry:
    seconds = (_end(each) - each.starts_at).total_seconds()
    return RecordEntry(
        at=each.starts_at,
        day=each.day,
        title=_("%(name)s, %(length)s")
        % {
            "name": each.title or each.sport or _("Workout"),
            "length": format_duration(seconds),
        },
        detail=_("Highest %(rate)d bpm, %(source)s")
        % {"rate": each.highest, "source": sources}
        if each.highest
        else sources,
        icon="pulse",
        url=page_url(
            request, "users:workout", user_id=span.user_uuid, workout_id=each.id
        ),
        size=seconds / _FULL_WORKOUT,
    )


def _reading(
    request: TenantRequest, span: RecordSpan, each: DayOutOfRange
) -> RecordEntry:
    unit = each.resource.unit
    extremes = [
        text % {"value": f"{value:.3g} {unit}"}
        for text, value in (
            (_("lowest %(value)s"), each.low),
            (_("highest %(value)s"), each.high),
        )
        if value is not None
    ]
    return RecordEntry(
        # Of a day, not of a moment: it stands at its end.
        at=min(_day_end(span, each), timezone.now()),
        day=each.day,
        title=_("%(resource)s out of range") % {"resource": each.resource.name},
        detail=f"{', '.join(extremes)}, {find_provider(each.provider).name}",
        icon="alert",
        family="warn",
        url=page_url(request, "users:explorer", user_id=span.user_uuid)
        + f"?series={each.resource.slug}",
    )


def _break(request: TenantRequest, span: RecordSpan, each: SourceBreak) -> RecordEntry:
    source = find_provider(each.provider).name
    is_paused = each.kind == EntryKind.PAUSED
    length = "" if each.until is None else _length(each.until - each.since)
    return RecordEntry(
        at=each.since,
        until=each.until or min(timezone.now(), span.end),
        title=(_("%(source)s paused") if is_paused else _("%(source)s stopped"))
        % {"source": source},
        detail=", ".join(filter(None, (_describe_cause(each), length))),
        icon="link",
        family="mute" if is_paused or each.until else "bad",
        url=page_url(
            request,
            "users:source",
            user_id=span.user_uuid,
            provider=each.provider,
        ),
        is_open=each.until is None,
    )


def _describe_cause(each: SourceBreak) -> str:
    known = (
        PauseCause.known(each.cause)
        if each.kind == EntryKind.PAUSED
        else ConnectionFault.known(each.cause)
    )
    return str(known.label) if known else format_wire_value_as_words(each.cause)


def _broken(
    request: TenantRequest, span: RecordSpan, connection: Connection
) -> RecordAttention:
    since = connection.errored_at or connection.created_on
    condition = explain_connection_status(
        connection.status,
        error_type=connection.error_type,
        pause_cause=connection.pause_cause,
    )
    local = since.astimezone(span.zone)
    return RecordAttention(
        rank=40,
        since=since,
        label=find_provider(connection.provider).name,
        status=connection.status,
        number=_length(timezone.now() - since),
        unit=_("since %(day)s") % {"day": write_date(local, "j M, H:i")},
        detail=str(condition.sentence),
        url=page_url(
            request,
            "users:source",
            user_id=span.user_uuid,
            provider=connection.provider,
        ),
    )


def _length(gap: timedelta) -> str:
    """Return a length in days, or in hours where it is shorter."""
    if gap.days:
        return ngettext("%(number)d day", "%(number)d days", gap.days) % {
            "number": gap.days
        }
    return _("%(number)d h") % {"number": gap.seconds // 3600}


def _day_end(span: RecordSpan, each: DayOutOfRange) -> datetime:
    start = find_day_start(each.day + timedelta(days=1), span.zone)
    return start - timedelta(minutes=1)
