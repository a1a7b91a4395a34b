"""Menstrual cycles of an Apple Health export, built from its daily entries."""

from __future__ import annotations

from bisect import bisect_right
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from users.states import SourceType
from users.states.imports import DropReason
from users.wearables.formats.rows import Origin, SkippedRows, SummaryRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FLOW = "MenstrualFlow"
_BY_HAND = Origin(str(SourceType.APP))
# Ours: without a sign in the file, bleeding after so many days starts a cycle.
_CYCLE_MIN = timedelta(days=14)
# Ours: a day or two without a log are still of the period.
_PERIOD_GAP = timedelta(days=3)
_FLOWS = {
    "Unspecified": "unspecified",
    "None": "none",
    "Light": "light",
    "Medium": "medium",
    "Heavy": "heavy",
}
_TESTS = {
    "Negative": "negative",
    "Positive": "positive",
    "Indeterminate": "indeterminate",
}
_SURGES = {
    **_TESTS,
    "LuteinizingHormoneSurge": "luteinizing_hormone_surge",
    "EstrogenSurge": "estrogen_surge",
}
_MUCUS = {
    "Dry": "dry",
    "Sticky": "sticky",
    "Creamy": "creamy",
    "Watery": "watery",
    "EggWhite": "egg_white",
}
_CONTRACEPTIVES = {
    "Unspecified": "unspecified",
    "Implant": "implant",
    "Injection": "injection",
    "IntrauterineDevice": "iud",
    "IntravaginalRing": "intravaginal_ring",
    "Oral": "oral",
    "Patch": "patch",
}
# By the category: the list, its key, and its values by how HealthKit's own ends.
_WORDS: dict[str, tuple[str, str, dict[str, str]]] = {
    FLOW: ("menstrual_flow", "flow", _FLOWS),
    "CervicalMucusQuality": ("cervical_mucus", "quality", _MUCUS),
    "OvulationTestResult": ("ovulation_test", "test_result", _SURGES),
    "PregnancyTestResult": ("home_pregnancy_test", "test_result", _TESTS),
    "ProgesteroneTestResult": ("home_progesterone_test", "test_result", _TESTS),
    "Contraceptive": ("contraceptive", "type", _CONTRACEPTIVES),
}
_DEVIATIONS = {
    "PersistentIntermenstrualBleeding": "persistent_intermenstrual_bleeding",
    "ProlongedMenstrualPeriods": "prolonged_menstrual_periods",
    "IrregularMenstrualCycles": "irregular_menstrual_cycles",
    "InfrequentMenstrualCycles": "infrequent_menstrual_cycles",
}
_BLEEDING = "IntermenstrualBleeding"
SEXUAL_ACTIVITY = "SexualActivity"
LOGS = frozenset({*_WORDS, *_DEVIATIONS, _BLEEDING, SEXUAL_ACTIVITY})


class Cycles:
    """Entries until the end of the file; some hundred a year."""

    def __init__(self) -> None:
        self._logs: list[tuple[date, str, dict[str, Any]]] = []
        self._starts: set[date] = set()

    def add(self, name: str, at: str, value: str, metadata: Mapping[str, str]) -> bool:
        """Add an entry of LOGS at its ISO time; return whether its value is known."""
        try:
            day = date.fromisoformat(at[:10])
        except ValueError:
            return False
        read = _read(name, value, metadata)
        if read is None:
            return False
        listed, keys = read
        self._logs.append((day, listed, keys))
        if name == FLOW and metadata.get("HKMenstrualCycleStart") in ("1", "true"):
            self._starts.add(day)
        return True

    def add_temperature(self, at: str, celsius: float) -> None:
        """Add a basal temperature, which is also a sample."""
        try:
            day = date.fromisoformat(at[:10])
        except ValueError:
            return
        self._logs.append((day, "basal_body_temperature", {"value": celsius}))

    def rows(self) -> Iterator[SummaryRow | SkippedRows]:
        """Yield the cycles with their entries."""
        bleeding = sorted(
            {
                day
                for day, listed, keys in self._logs
                if listed == "menstrual_flow" and keys["flow"] != "none"
            }
        )
        starts = _starts(bleeding, self._starts)
        logs: list[list[tuple[date, str, dict[str, Any]]]] = [[] for _ in starts]
        before = 0
        for log in sorted(self._logs, key=_by_day):
            place = bisect_right(starts, log[0]) - 1
            if place >= 0:
                logs[place].append(log)
            elif log[1] != "basal_body_temperature":
                before += 1
        if before:
            yield SkippedRows(DropReason.OUTSIDE_CYCLES, "Cycle tracking", before)
        for place, start in enumerate(starts):
            after = starts[place + 1] if place + 1 < len(starts) else None
            last = max(day for day, _, _ in logs[place])
            yield _cycle(
                start,
                _period_end(start, bleeding, after),
                after - timedelta(days=1) if after else last,
                logs[place],
            )


def _read(
    name: str, value: str, metadata: Mapping[str, str]
) -> tuple[str, dict[str, Any]] | None:
    """Return the list and keys of an entry; None if incomplete."""
    if name in _DEVIATIONS:
        return "detected_deviations", {"deviation": _DEVIATIONS[name]}
    if name == _BLEEDING:
        return "intermenstrual_bleeding", {}
    if name == SEXUAL_ACTIVITY:
        protected = metadata.get("HKSexualActivityProtectionUsed")
        if protected is None:
            return None
        return "sexual_activity", {"protection_used": protected in ("1", "true")}
    listed, key, words = _WORDS[name]
    # The longest that fits: HKCategoryValueVaginalBleedingNone ends as ...None.
    ends = [word for word in words if value.endswith(word)]
    if not ends:
        return None
    return listed, {key: words[max(ends, key=len)]}


def _starts(bleeding: list[date], told: set[date]) -> list[date]:
    """Return the first days of cycles: those marked, and those after long gaps."""
    starts: list[date] = []
    before: date | None = None
    for day in bleeding:
        if before is None or day in told or day - before >= _CYCLE_MIN:
            starts.append(day)
        before = day
    return starts


def _period_end(start: date, bleeding: list[date], after: date | None) -> date:
    end = start
    for day in bleeding[bisect_right(bleeding, start) :]:
        if day - end > _PERIOD_GAP or (after is not None and day >= after):
            break
        end = day
    return end


def _by_day(log: tuple[date, str, dict[str, Any]]) -> tuple[date, str, str]:
    day, listed, keys = log
    return day, listed, str(sorted(keys.items()))


def _cycle(
    start: date,
    period_end: date,
    cycle_end: date,
    logs: list[tuple[date, str, dict[str, Any]]],
) -> SummaryRow:
    element: dict[str, Any] = {
        "period_start": start.isoformat(),
        "period_end": period_end.isoformat(),
        "cycle_end": cycle_end.isoformat(),
        "is_predicted": False,
    }
    rows = 0
    for day, listed, keys in logs:
        entry = {"date": day.isoformat(), **keys}
        rows += listed != "basal_body_temperature"
        if entry not in element.setdefault(listed, []):
            element[listed].append(entry)
    return SummaryRow("menstrual_cycle", _BY_HAND, element, rows)
