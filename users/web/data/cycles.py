"""A menstrual cycle as shown: its days, calendar and facts.

What no source says but a reader looks for (the fertile window, the shift of the
temperature) is worked out here, by rules that are written down.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.lib.languages import write_within_sentence
from portal.lib.translation import gettext_lazy
from portal.ui.body_charts import CycleDay, draw_menstrual_cycle_chart
from portal.ui.dates import write_date
from portal.ui.pills import format_wire_value_as_words
from users.states import (
    CervicalMucusQuality,
    Contraceptive,
    CycleDeviation,
    HomeTest,
    MenstrualFlow,
    OvulationTest,
)
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.utils.safestring import SafeString

    from portal.lib.choices import OpenChoices
    from users.queries import SummaryRow
    from users.wearables.providers import Provider

_DAY = timedelta(days=1)
_FLOW_LEVELS = {
    MenstrualFlow.LIGHT: 1,
    MenstrualFlow.MEDIUM: 2,
    MenstrualFlow.HEAVY: 3,
    MenstrualFlow.NONE: 0,
}
_POSITIVE = {
    OvulationTest.POSITIVE,
    OvulationTest.LUTEINIZING_HORMONE_SURGE,
}
# Ours, the usual rule of the symptothermal method: the temperature has shifted once
# three readings in a row lie above the six before them.
_BEFORE_SHIFT, _AFTER_SHIFT = 6, 3
_ABOVE_COVERED = 0.05
# Ours: ovulation follows the first positive test by a day; the five days before it and
# the day itself are fertile.
_FERTILE_FROM, _FERTILE_TO = -4, 1
_WEEK = 7


@dataclass(frozen=True, slots=True)
class Shift:
    """The rise of the temperature after ovulation."""

    since: date
    by: float
    cover_line: float


@dataclass(frozen=True)
class Cycle:
    """One stored menstrual cycle and the one after it; `today` is the user's."""

    row: SummaryRow
    later: SummaryRow | None
    today: date

    @property
    def provider(self) -> Provider:
        return find_provider(self.row.provider)

    @cached_property
    def start(self) -> date:
        return date.fromisoformat(self.row.body["period_start"])

    @cached_property
    def period_end(self) -> date:
        return date.fromisoformat(self.row.body["period_end"])

    @cached_property
    def end(self) -> date:
        return date.fromisoformat(self.row.body["cycle_end"])

    @property
    def length(self) -> int:
        """Return the length in days."""
        return (self.end - self.start).days + 1

    @property
    def is_predicted(self) -> bool:
        return bool(self.row.body["is_predicted"])

    @property
    def is_running(self) -> bool:
        return self.start <= self.today <= self.end

    @property
    def day_number(self) -> int:
        """Return today's day of the cycle, from 1."""
        return (self.today - self.start).days + 1

    @cached_property
    def days(self) -> list[CycleDay]:
        """Return every day of the cycle."""
        return [self._day(self.start + n * _DAY) for n in range(self.length)]

    @cached_property
    def weeks(self) -> list[CycleDay]:
        """Return the days of whole weeks around the cycle, Monday first."""
        first = self.start - self.start.weekday() * _DAY
        last = self.end + (_WEEK - 1 - self.end.weekday()) * _DAY
        return [self._day(first + n * _DAY) for n in range((last - first).days + 1)]

    @property
    def months(self) -> str:
        """Return the months of the cycle."""
        first, last = (write_date(day, "F") for day in (self.start, self.end))
        if first == last:
            return first
        return _("%(first)s to %(last)s") % {"first": first, "last": last}

    @property
    def says(self) -> str:
        """Return the finding in words."""
        parts = [
            _("Cycle of %(length)d days from %(start)s")
            % {"length": self.length, "start": _day(self.start)}
        ]
        if flow := self.row.body["menstrual_flow"]:
            parts.append(
                ngettext("%(days)d day of flow", "%(days)d days of flow", len(flow))
                % {"days": len(flow)}
            )
        if fertile := self._fertile:
            parts.append(_("fertile window %(span)s") % {"span": _span(*fertile)})
        return ", ".join(parts) + "."

    @property
    def chart(self) -> SafeString:
        cover_line = self.shift.cover_line if self.shift else None
        return draw_menstrual_cycle_chart(
            self.days, says=self.says, cover_line=cover_line
        )

    @property
    def table(self) -> list[CycleDay]:
        """Return the days with entries."""
        return [day for day in self.days if day.words]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of the cycle by name."""
        body = self.row.body
        period = (self.period_end - self.start).days + 1
        spotted = _dates(body["intermenstrual_bleeding"])
        heaviest = [
            day.date
            for day in self.days
            if day.flow_level == max(_FLOW_LEVELS.values())
        ]
        positive = [day.date for day in self.days if day.is_positive]
        facts = [
            (
                _("Period"),
                ngettext("%(span)s, %(days)d day", "%(span)s, %(days)d days", period)
                % {"span": _span(self.start, self.period_end), "days": period},
            ),
            (_("Heaviest"), _list_days(heaviest)),
            (
                _("Ovulation test"),
                _("Positive %(days)s") % {"days": _list_days(positive)}
                if positive
                else "",
            ),
            (
                _("Temperature"),
                _("Up %(degrees).2f °C since %(day)s")
                % {"degrees": self.shift.by, "day": _day(self.shift.since)}
                if self.shift
                else "",
            ),
            (_("Spotting"), _list_days(spotted)),
            *(
                (name, _logged(body[key], value, kind))
                for name, key, value, kind in _LOGS
            ),
            (_("Sexual activity"), _activity(body["sexual_activity"])),
        ]
        if self.later is not None:
            start = _day(date.fromisoformat(self.later.body["period_start"]))
            if self.later.body["is_predicted"]:
                start = _("%(day)s, predicted") % {"day": start}
            facts.append((_("Next period"), start))
        return [(name, said) for name, said in facts if said]

    @property
    def nothing_logged(self) -> str:
        """Return the names of empty lists in one line."""
        names = [name for key, name in _LISTS.items() if not self.row.body[key]]
        return ", ".join(map(str, names)).capitalize()

    @cached_property
    def shift(self) -> Shift | None:
        """Return the temperature shift, if the readings show one."""
        known = sorted(self._temperatures.items())
        for index in range(_BEFORE_SHIFT, len(known) - _AFTER_SHIFT + 1):
            before = [value for _at, value in known[index - _BEFORE_SHIFT : index]]
            after = [value for _at, value in known[index:]]
            if min(after[:_AFTER_SHIFT]) > max(before):
                return Shift(
                    since=known[index][0],
                    by=sum(after) / len(after) - sum(before) / len(before),
                    cover_line=max(before) + _ABOVE_COVERED,
                )
        return None

    @cached_property
    def _temperatures(self) -> dict[date, float]:
        return {
            day: entry["value"]
            for day, entry in self._entries("basal_body_temperature").items()
        }

    @cached_property
    def _logs(self) -> dict[str, dict[date, dict[str, Any]]]:
        return {key: self._entries(key) for key in _LISTS}

    @cached_property
    def _fertile(self) -> tuple[date, date] | None:
        positive = [
            day
            for day, entry in self._logs["ovulation_test"].items()
            if entry["test_result"] in _POSITIVE
        ]
        if not positive:
            return None
        first = min(positive)
        return first + _FERTILE_FROM * _DAY, first + _FERTILE_TO * _DAY

    @cached_property
    def _predicted(self) -> tuple[date, date] | None:
        """Return the days of a predicted period: this cycle's or the next one's."""
        if self.is_predicted:
            return self.start, self.period_end
        if self.later is not None and self.later.body["is_predicted"]:
            body = self.later.body
            return date.fromisoformat(body["period_start"]), date.fromisoformat(
                body["period_end"]
            )
        return None

    def _entries(self, key: str) -> dict[date, dict[str, Any]]:
        """Return the entries of a list by day; the last of several."""
        return {date.fromisoformat(each["date"]): each for each in self.row.body[key]}

    def _day(self, day: date) -> CycleDay:
        logs = {key: entries.get(day) for key, entries in self._logs.items()}
        flow, test = logs["menstrual_flow"], logs["ovulation_test"]
        predicted, fertile = self._predicted, self._fertile
        return CycleDay(
            date=day,
            number=(day - self.start).days + 1,
            flow=write_within_sentence(_label(MenstrualFlow, flow["flow"]))
            if flow
            else "",
            flow_level=_FLOW_LEVELS.get(flow["flow"], 2) if flow else 0,
            temperature=self._temperatures.get(day),
            test=write_within_sentence(_label(OvulationTest, test["test_result"]))
            if test
            else "",
            is_positive=bool(test and test["test_result"] in _POSITIVE),
            is_spotting=logs["intermenstrual_bleeding"] is not None,
            is_fertile=bool(fertile and fertile[0] <= day <= fertile[1]),
            is_predicted=bool(predicted and predicted[0] <= day <= predicted[1]),
            is_today=day == self.today,
            other=tuple(
                write_within_sentence(f"{name} {_label(kind, entry[value])}")
                for name, key, value, kind in _LOGS
                if (entry := logs[key])
            ),
        )


_LISTS = {
    "menstrual_flow": gettext_lazy("flow"),
    "basal_body_temperature": gettext_lazy("temperature"),
    "ovulation_test": gettext_lazy("ovulation test"),
    "intermenstrual_bleeding": gettext_lazy("spotting"),
    "cervical_mucus": gettext_lazy("mucus"),
    "contraceptive": gettext_lazy("contraceptive"),
    "home_pregnancy_test": gettext_lazy("pregnancy test"),
    "home_progesterone_test": gettext_lazy("progesterone test"),
    "sexual_activity": gettext_lazy("sexual activity"),
    "detected_deviations": gettext_lazy("deviations"),
}
_LOGS: tuple[tuple[str, str, str, type[OpenChoices]], ...] = (
    (gettext_lazy("Mucus"), "cervical_mucus", "quality", CervicalMucusQuality),
    (gettext_lazy("Contraceptive"), "contraceptive", "type", Contraceptive),
    (gettext_lazy("Pregnancy test"), "home_pregnancy_test", "test_result", HomeTest),
    (
        gettext_lazy("Progesterone test"),
        "home_progesterone_test",
        "test_result",
        HomeTest,
    ),
    (gettext_lazy("Deviations"), "detected_deviations", "deviation", CycleDeviation),
)


def _label(kind: type[OpenChoices], value: str) -> str:
    known = kind.known(value)
    return str(known.label) if known else format_wire_value_as_words(value)


def _logged(
    entries: Sequence[dict[str, Any]], value: str, kind: type[OpenChoices]
) -> str:
    """Describe the last entry of a kind, and how many more there are."""
    if not entries:
        return ""
    last = max(entries, key=lambda entry: entry["date"])
    text = f"{_label(kind, last[value])}, {_day(date.fromisoformat(last['date']))}"
    return text if len(entries) == 1 else f"{text}, {_number_of_days(entries)}"


def _activity(entries: Sequence[dict[str, Any]]) -> str:
    if not entries:
        return ""
    protected = sum(bool(entry["protection_used"]) for entry in entries)
    return _("%(days)s, %(protected)d with protection") % {
        "days": _number_of_days(entries),
        "protected": protected,
    }


def _number_of_days(entries: Sequence[dict[str, Any]]) -> str:
    number = len({entry["date"] for entry in entries})
    return ngettext("%(days)d day", "%(days)d days", number) % {"days": number}


def _dates(entries: Iterable[dict[str, Any]]) -> list[date]:
    return sorted(date.fromisoformat(entry["date"]) for entry in entries)


def _day(value: date) -> str:
    return write_date(value, "j M")


def _span(first: date, last: date) -> str:
    if first == last:
        return _day(first)
    return _("%(first)s to %(last)s") % {"first": _day(first), "last": _day(last)}


def _list_days(days: Sequence[date]) -> str:
    """Name one or two days; name a longer run by its number and its ends."""
    match days:
        case []:
            return ""
        case [day]:
            return _day(day)
        case [first, last]:
            return _("%(first)s and %(last)s") % {
                "first": _day(first),
                "last": _day(last),
            }
    return _("%(days)d days, %(span)s") % {
        "days": len(days),
        "span": _span(days[0], days[-1]),
    }
