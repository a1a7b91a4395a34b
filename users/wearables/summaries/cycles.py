"""Menstrual cycles (contract 4.2)."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from portal.lib.translation import gettext_lazy
from users.states import (
    CervicalMucusQuality,
    Contraceptive,
    CycleDeviation,
    HomeTest,
    MenstrualFlow,
    OvulationTest,
)
from users.wearables.readings import Field, ListOf, Record, refuse_parsed_value
from users.wearables.resources import Place, SummaryResource
from users.wearables.summaries.places import midnight_utc
from users.wearables.values import Choice, Day, Flag, Number

if TYPE_CHECKING:
    from users.wearables.readings import Context, Kind

# Ours: a predicted cycle lies ahead, but no app predicts further.
_PREDICTED_AHEAD = timedelta(days=731)
# Ours: what claims to be longer is the mistake of a source.
_LONGEST_CYCLE = timedelta(days=731)
_CYCLE_DAY = Day(ahead=_PREDICTED_AHEAD)


def _days(name: str, **kinds: Kind) -> Field:
    """Return the field of a list of dated entries; [] by default."""
    entry = Record(
        (
            Field("date", _CYCLE_DAY, required=True),
            *(Field(key, kind, required=True) for key, kind in kinds.items()),
        )
    )
    return Field(name, ListOf(entry), default=())


_LISTS = (
    *("menstrual_flow", "cervical_mucus", "intermenstrual_bleeding", "contraceptive"),
    *("detected_deviations", "ovulation_test", "home_pregnancy_test"),
    *("home_progesterone_test", "sexual_activity", "basal_body_temperature"),
)


def _place_menstrual_cycle(body: dict[str, Any], _context: Context) -> Place:
    """Place a cycle by the days from period start to cycle end (contract 1.5).

    A period or cycle that has not ended ends on the last day that the element tells of,
    as both are never null (D18); a later push of the same cycle moves it on.
    """
    period_start = date.fromisoformat(body["period_start"])
    if body["period_end"] is None:
        bled = [
            each["date"]
            for each in body["menstrual_flow"]
            if each["flow"] != MenstrualFlow.NONE
        ]
        body["period_end"] = max((body["period_start"], *bled))
    period_end = date.fromisoformat(body["period_end"])
    if body["cycle_end"] is None:
        entries = (each["date"] for name in _LISTS for each in body[name])
        body["cycle_end"] = max((body["period_end"], *entries))
    cycle_end = date.fromisoformat(body["cycle_end"])
    if period_end < period_start:
        refuse_parsed_value(
            "The period must end on or after its start.", "value_error", "period_end"
        )
    if cycle_end < period_end:
        refuse_parsed_value(
            "The cycle must end on or after the end of the period.",
            "value_error",
            "cycle_end",
        )
    if cycle_end - period_start > _LONGEST_CYCLE:
        refuse_parsed_value(
            f"The cycle must last at most {_LONGEST_CYCLE.days} days.",
            "less_than_equal",
            "cycle_end",
        )
    return Place(
        key=body["period_start"],
        calendar_date=period_start,
        last_date=cycle_end,
        starts_at=midnight_utc(period_start),
    )


MENSTRUAL_CYCLE = SummaryResource(
    slug="menstrual_cycle",
    name=gettext_lazy("Menstrual cycle"),
    key="menstrual_cycle",
    record=Record(
        (
            Field("period_start", _CYCLE_DAY, required=True),
            Field("period_end", _CYCLE_DAY, filled=True),
            Field("cycle_end", _CYCLE_DAY, filled=True),
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
