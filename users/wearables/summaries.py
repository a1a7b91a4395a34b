"""The summary resources of contract 4: their fields, identity and dates.

Must not be here: what all of them share (resources), or the database.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from users.states import (
    CervicalMucusQuality,
    Contraceptive,
    CycleDeviation,
    HomeTest,
    MenstrualFlow,
    OvulationTest,
    SleepStage,
)
from users.wearables.readings import (
    Choice,
    Day,
    Field,
    Flag,
    Id,
    ListOf,
    Moment,
    Number,
    Record,
    Whole,
    Zone,
    refuse,
)
from users.wearables.resources import Place, SummaryResource, summary_id

if TYPE_CHECKING:
    from users.wearables.readings import Context, Kind

# Ours: a predicted cycle lies ahead, but no app predicts further.
_PREDICTED_AHEAD = timedelta(days=731)
# Ours: no one sleeps longer in one session; what claims to is a source's mistake.
_LONGEST_SESSION = timedelta(days=3)
# Ours: what claims to be longer is the mistake of a source.
_LONGEST_CYCLE = timedelta(days=731)
_CYCLE_DAY = Day(ahead=_PREDICTED_AHEAD)
_STAGE_CODES = "Codes: " + ", ".join(
    f"{stage.value} {stage.label.lower()}" for stage in SleepStage
)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, datetime.min.time(), UTC)


def _days(name: str, **kinds: Kind) -> Field:
    """A list of what was logged, each entry with its date; [] without any."""
    entry = Record(
        (
            Field("date", _CYCLE_DAY, required=True),
            *(Field(key, kind, required=True) for key, kind in kinds.items()),
        )
    )
    return Field(name, ListOf(entry), default=())


def _place_menstrual_cycle(body: dict[str, Any], _context: Context) -> Place:
    """Found by the days from the period's start to the cycle's end (contract 1.5)."""
    period_start, period_end, cycle_end = (
        date.fromisoformat(body[name])
        for name in ("period_start", "period_end", "cycle_end")
    )
    if period_end < period_start:
        refuse("The period ends before it starts.", "value_error", "period_end")
    if cycle_end < period_end:
        refuse("The cycle ends before the period does.", "value_error", "cycle_end")
    if cycle_end - period_start > _LONGEST_CYCLE:
        refuse("The cycle is too long.", "less_than_equal", "cycle_end")
    return Place(
        key=body["period_start"],
        calendar_date=period_start,
        last_date=cycle_end,
        starts_at=_midnight(period_start),
    )


MENSTRUAL_CYCLE = SummaryResource(
    slug="menstrual_cycle",
    name="Menstrual cycle",
    key="menstrual_cycle",
    record=Record(
        (
            Field("period_start", _CYCLE_DAY, required=True),
            Field("period_end", _CYCLE_DAY, required=True),
            Field("cycle_end", _CYCLE_DAY, required=True),
            Field("is_predicted", Flag(), default=False),
            _days("menstrual_flow", flow=Choice(MenstrualFlow)),
            _days("cervical_mucus", quality=Choice(CervicalMucusQuality)),
            _days("intermenstrual_bleeding"),
            _days("contraceptive", type=Choice(Contraceptive)),
            _days("detected_deviations", deviation=Choice(CycleDeviation)),
            _days("ovulation_test", test_result=Choice(OvulationTest)),
            _days("home_pregnancy_test", test_result=Choice(HomeTest)),
            _days("home_progesterone_test", test_result=Choice(HomeTest)),
            _days("sexual_activity", protection_used=Flag()),
            _days("basal_body_temperature", value=Number(25, 45, "degree Celsius")),
        )
    ),
    place=_place_menstrual_cycle,
    is_span=True,
    source_keys=("app_id", "device_id", "provider", "type"),
    twins=(
        ("source_provider", "provider"),
        ("source_type", "type"),
        ("source_app_id", "app_id"),
    ),
)


def _place_sleep_cycle(body: dict[str, Any], context: Context) -> Place:
    """Found by the date of waking where the person slept (contract 1.5)."""
    start, end = (
        datetime.fromisoformat(body[name]).replace(tzinfo=UTC)
        for name in ("session_start", "session_end")
    )
    if end <= start:
        refuse("The session ends before it starts.", "value_error", "session_end")
    if end - start > _LONGEST_SESSION:
        refuse("The session is too long.", "less_than_equal", "session_end")
    _check_stages(body, (end - start).total_seconds())
    body["time_zone"] = body["time_zone"] or context.time_zone
    key = start.isoformat()
    body["sleep_id"] = body["sleep_id"] or str(
        summary_id(context.user_uuid, context.provider, "sleep", f"key:{key}")
    )
    waking = end.astimezone(ZoneInfo(body["time_zone"])).date()
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
        refuse("The stage arrays differ in length.", "value_error", "stage_type")
    before = 0
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if start < before:
            at = ("stage_start_offset_second", index)
            refuse("The stage starts before the one before ends.", "value_error", *at)
        if not start < end <= length_seconds:
            at = ("stage_end_offset_second", index)
            refuse("The stage ends outside of the session.", "value_error", *at)
        before = end


_OFFSETS = ListOf(Whole(note="Seconds from session_start"), max_length=5000)

SLEEP_CYCLE = SummaryResource(
    slug="sleep_cycle",
    name="Sleep cycle",
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
                    Whole(codes=tuple(SleepStage), note=_STAGE_CODES), max_length=5000
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

SUMMARIES: dict[str, SummaryResource] = {
    resource.slug: resource for resource in (MENSTRUAL_CYCLE, SLEEP_CYCLE)
}
