"""The profile and daily values of an Apple Health export."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from users.states import SourceType
from users.wearables.formats.rows import Origin, SummaryRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MERGED = Origin(str(SourceType.MULTIPLE_SOURCES))
_BODY = {
    "BodyMass": "weight",
    "BodyFatPercentage": "fat",
    "BodyMassIndex": "body_mass_index",
    "LeanBodyMass": "lean_body_mass_kilogram",
    "WaistCircumference": "waist_circumference_centimeter",
}
_HEART = {
    "RestingHeartRate": "resting_bpm",
    "WalkingHeartRateAverage": "avg_walking_bpm",
}
_SEXES = {"Female": "female", "Male": "male", "Other": "other"}


class Days:
    """Daily values until the end of the file; later values replace earlier ones."""

    def __init__(self) -> None:
        self._body: dict[str, dict[str, tuple[str, float]]] = defaultdict(dict)
        self._activity: dict[str, dict[str, Any]] = defaultdict(dict)
        self._profile: dict[str, Any] = {}
        self._height_at = ""

    def add_person(self, attributes: Mapping[str, str]) -> None:
        """Add the profile entered by the owner."""
        born = attributes.get("HKCharacteristicTypeIdentifierDateOfBirth")
        if born:
            self._profile["birth_date"] = born
        sex = attributes.get("HKCharacteristicTypeIdentifierBiologicalSex", "")
        if sex.removeprefix("HKBiologicalSex") in _SEXES:
            self._profile["sex"] = _SEXES[sex.removeprefix("HKBiologicalSex")]

    def add_height(self, at: str, centimeters: float) -> None:
        """Add a height; the latest counts."""
        if at >= self._height_at:
            self._height_at = at
            self._profile["height"] = round(centimeters)

    def add_body(self, name: str, at: str, value: float) -> None:
        """Add a body measure in its resource's unit; ignore others."""
        key = _BODY.get(name)
        if key is not None:
            day = self._body[at[:10]]
            if key not in day or at >= day[key][0]:
                day[key] = (at, value)

    def add_heart(self, name: str, at: str, rate: float) -> bool:
        """Add a daily heart rate; return whether it is one."""
        key = _HEART.get(name)
        if key is not None:
            self._activity[at[:10]].setdefault("heart_rate", {})[key] = rate
        return key is not None

    def add_rings(self, day: str, calories: float | None) -> None:
        """Add the activity rings of a day."""
        if calories:
            self._activity[day]["calories_active"] = calories

    def rows(self) -> Iterator[SummaryRow]:
        """Yield the profile, then body and activity by day, with their row counts."""
        if self._profile:
            yield SummaryRow("profile", _MERGED, self._profile, 0)
        for day, measures in sorted(self._body.items()):
            element = {key: value for key, (_, value) in sorted(measures.items())}
            yield SummaryRow("body", _MERGED, {"calendar_date": day, **element}, 0)
        for day, totals in sorted(self._activity.items()):
            yield SummaryRow("activity", _MERGED, {"calendar_date": day, **totals}, 0)
