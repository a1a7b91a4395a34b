"""Definition of a timeseries resource: names, types, units and bounds.

One value of TimeseriesResource drives input, answers, events, aggregates and the
OpenAPI document.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from users.wearables.readings import Field

# Of each resource's number; series of open types are numbered by the database, above.
_SERIES_PER_RESOURCE = 100


class Group(OpenChoices):
    """The group of a resource in lists."""

    ACTIVITY = "activity", gettext_lazy("Activity")
    WORKOUTS = "workouts", gettext_lazy("Workouts")
    HEART = "heart", gettext_lazy("Heart")
    BREATHING = "breathing", gettext_lazy("Breathing")
    BODY = "body", gettext_lazy("Body")
    METABOLISM = "metabolism", gettext_lazy("Metabolism")
    WELLBEING = "wellbeing", gettext_lazy("Wellbeing")


class Aggregation(OpenChoices):
    """The aggregate of samples: a sum, a mean, or none."""

    SUM = "sum", gettext_lazy("Sum")
    MEAN = "mean", gettext_lazy("Mean")
    NONE = "none", gettext_lazy("None")


@dataclass(frozen=True, slots=True)
class TimeseriesResource:
    """One kind of sample (contract 5.2).

    `number` is part of stored keys: it is never changed and never given to another
    resource. `unit` is that of every stored value; `is_unit_fixed` says that clients
    accept no other text. A sample of an interval resource lasts from `start` to `end`,
    any other has a moment.

    `types` are the words of a required type, with numbers (1 to 99) that are part of
    stored keys too; `has_open_type` requires one of any text. A required type is part
    of a sample's identity (contract D21). Keys that a sample has besides are `extras`.
    `value_key` brings the value; None: an extra does (a note's text). `low` and `high`,
    both included, bound what the value can be at all.

    `takes_sport` and `takes_workout` say what a sample's source may tell, and
    `needs_workout` that it must tell both. `event_name` is the name in events where
    that is not the path's.
    """

    number: int
    slug: str
    name: str
    description: str
    group: Group
    unit: str
    aggregation: Aggregation
    is_unit_fixed: bool = False
    is_interval: bool = False
    types: Mapping[OpenChoices, int] = field(default_factory=dict)
    has_open_type: bool = False
    extras: tuple[Field, ...] = ()
    value_key: str | None = "value"
    is_whole: bool = False
    low: float = 0
    high: float = 1e9
    takes_sport: bool = False
    takes_workout: bool = False
    needs_workout: bool = False
    event_name: str = ""

    @property
    def has_typed_series(self) -> bool:
        """Return whether a type is required: each has a series of its own."""
        return bool(self.types) or self.has_open_type

    @property
    def event_resource(self) -> str:
        """Return the name in events, arrivals and introspection (contract 3.4)."""
        return self.event_name or self.slug

    def event_type(self, *, is_new: bool) -> str:
        """Return the event type of new or changed samples."""
        verb = "created" if is_new else "updated"
        return f"daily.data.{self.event_resource}.{verb}"

    @property
    def historical_event_type(self) -> str:
        """Return the event type of a completed backfill."""
        return f"historical.data.{self.event_resource}.created"

    @property
    def series(self) -> dict[int, str | None]:
        """Return the fixed type of each series of this resource; None without type.

        Empty where the type is open: the store numbers those.
        """
        if self.has_open_type:
            return {}
        first = self.number * _SERIES_PER_RESOURCE
        if not self.types:
            return {first: None}
        return {first + number: str(word) for word, number in self.types.items()}
