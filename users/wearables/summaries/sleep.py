"""Sleep, and the stages of a sleep (contract 4.3, 4.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portal.lib.periods import find_time_zone_by_name
from portal.lib.translation import gettext_lazy
from users.states import SleepStage, SleepState, SleepType
from users.wearables.readings import Field, ListOf, Record, refuse_parsed_value
from users.wearables.resources import Place, SummaryResource, derive_summary_id
from users.wearables.summaries.places import (
    BPM,
    DATED,
    OFFSET,
    PERCENT,
    SECONDS,
    check_session_times,
    fill_date_from_calendar_date,
    fill_missing_timezone_offset,
    get_local_date,
)
from users.wearables.values import (
    AlwaysNull,
    Choice,
    Day,
    Id,
    Moment,
    Number,
    WholeNumber,
    Zone,
)

if TYPE_CHECKING:
    from users.wearables.readings import Context

_STAGE_CODES = "Codes: " + ", ".join(
    f"{stage.value} {stage.name.lower()}" for stage in SleepStage
)
_ASLEEP = ("light", "rem", "deep")


def _place_sleep(body: dict[str, Any], context: Context) -> Place:
    """Place a sleep by the local date of waking.

    What the source leaves out follows from the rest: the duration, and time asleep.
    """
    start, end = check_session_times(body, "bedtime_start", "bedtime_stop")
    fill_missing_timezone_offset(body, start, context)
    if body["calendar_date"] is None:
        body["calendar_date"] = get_local_date(end, body["timezone_offset"]).isoformat()
    if body["duration"] is None:
        body["duration"] = int((end - start).total_seconds())
    if body["total"] is None:
        staged = sum(body[stage] for stage in _ASLEEP)
        body["total"] = staged or max(0, body["duration"] - body["awake"])
    calendar_date = fill_date_from_calendar_date(body)
    return Place(body["bedtime_start"], calendar_date, calendar_date, start, end)


SLEEP = SummaryResource(
    slug="sleep",
    name=gettext_lazy("Sleep"),
    key="sleep",
    record=Record(
        (
            DATED,
            Field("calendar_date", Day(), filled=True),
            Field("bedtime_start", Moment(), required=True),
            Field("bedtime_stop", Moment(), required=True),
            Field("type", Choice(SleepType), default=str(SleepType.UNKNOWN)),
            OFFSET,
            Field("duration", SECONDS, filled=True),
            Field("total", SECONDS, filled=True),
            Field("awake", SECONDS, default=0),
            Field("light", SECONDS, default=0),
            Field("rem", SECONDS, default=0),
            Field("deep", SECONDS, default=0),
            Field("score", WholeNumber(1, 100)),
            Field("recovery_readiness_score", WholeNumber(0, 100)),
            Field("hr_lowest", BPM),
            Field("hr_average", BPM),
            Field("hr_resting", BPM),
            Field("efficiency", PERCENT),
            Field("latency", SECONDS),
            Field("temperature_delta", Number(-20, 20, "degree Celsius")),
            Field("skin_temperature", Number(0, 60, "degree Celsius")),
            Field("hr_dip", Number(-100, 100, "percent")),
            Field("state", Choice(SleepState)),
            Field("average_hrv", Number(0, 1000, "ms, rmssd")),
            Field("respiratory_rate", Number(0, 100, "per minute")),
            # In lists it is always null; the streams have an address of their own.
            Field("sleep_stream", AlwaysNull(), ours=True),
        )
    ),
    place=_place_sleep,
)


def _place_sleep_cycle(body: dict[str, Any], context: Context) -> Place:
    """Place a sleep cycle by the local date of waking (contract 1.5)."""
    start, end = check_session_times(body, "session_start", "session_end")
    _check_stages(body, (end - start).total_seconds())
    body["time_zone"] = body["time_zone"] or context.time_zone
    key = start.isoformat()
    body["sleep_id"] = body["sleep_id"] or str(
        derive_summary_id(context.user_uuid, context.provider, "sleep", f"key:{key}")
    )
    waking = end.astimezone(find_time_zone_by_name(body["time_zone"])).date()
    return Place(
        key=key,
        calendar_date=waking,
        last_date=waking,
        starts_at=start,
        ends_at=end,
    )


def _check_stages(body: dict[str, Any], length_seconds: float) -> None:
    starts = body["stage_start_offset_second"]
    ends = body["stage_end_offset_second"]
    if not len(body["stage_type"]) == len(starts) == len(ends):
        refuse_parsed_value(
            "The stage arrays must have the same length.", "value_error", "stage_type"
        )
    before = 0
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if start < before:
            at = ("stage_start_offset_second", index)
            refuse_parsed_value(
                "The stage must not start before the previous one ends.",
                "value_error",
                *at,
            )
        if not start < end <= length_seconds:
            at = ("stage_end_offset_second", index)
            refuse_parsed_value(
                "The stage must end within the session.", "value_error", *at
            )
        before = end


_OFFSETS = ListOf(WholeNumber(note="Seconds from session_start"), max_length=5000)

SLEEP_CYCLE = SummaryResource(
    slug="sleep_cycle",
    name=gettext_lazy("Sleep cycle"),
    key="sleep_cycle",
    record=Record(
        (
            Field("sleep_id", Id(), filled=True),
            Field("session_start", Moment(bare=True), required=True),
            Field("session_end", Moment(bare=True), required=True),
            Field("stage_start_offset_second", _OFFSETS, required=True),
            Field("stage_end_offset_second", _OFFSETS, required=True),
            Field(
                "stage_type",
                ListOf(
                    WholeNumber(codes=tuple(SleepStage), note=_STAGE_CODES),
                    max_length=5000,
                ),
                required=True,
            ),
            Field("time_zone", Zone(), filled=True),
        )
    ),
    place=_place_sleep_cycle,
    source_keys=("device_id", "provider", "type"),
    twins=(("source_provider", "provider"), ("source_type", "type")),
)
