"""What a comparison of two APIs found: counts by resource, rules, and what differs."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

# Each unexplained difference is counted; so many of them are listed.
LISTED_MAX = 1000
# Why a difference is one that has to be, or what is written otherwise here, by rule.
RULES = {
    "series_without_resource": (
        "Assay has no resource for this series type, or one of another measure:"
        " its hrv is RMSSD, not SDNN."
    ),
    "daily_total": (
        "A daily total is not a sample: it would count twice beside the samples of the"
        " day. The day's activity has it."
    ),
    "half_of_a_blood_pressure": (
        "A blood pressure has a systolic and a diastolic value."
    ),
    "score_of_the_platform": (
        "Assay keeps what was measured, not a platform's scores of it."
    ),
    "same_identity": (
        "Assay keeps one element of a resource, source, source type and time: the last"
        " one counts (specification 2.4)."
    ),
    "unknown_provider": "Assay does not know this source.",
    "one_second_interval": (
        "Assay has a start and an end for this resource; the platform has one time. It"
        " is the start, and the end is one second later."
    ),
    "other_unit": "The same quantity in another unit: glucose in mmol/L, not mg/dL.",
    "out_of_range": "The value is outside of what the resource can be at all.",
    "deleted_there": "The user was deleted there while the APIs were compared.",
    "own_ids": (
        "IDs of teams, users, labs, lab tests, markers, accounts and events are this"
        " server's. Orders, their transactions and shipments keep theirs."
    ),
    "no_requisition": "The link to the requisition stays with the platform.",
    "no_appointment": "Appointments stay with the platform.",
    "lab_not_in_catalogue": (
        "The catalog here has no lab with this slug. Import the lab's catalog, then"
        " import again."
    ),
    "marker_not_in_catalogue": (
        "The catalog here has no test with this code of the lab: the order's test is"
        " without it. Its results are here."
    ),
    "needs_consent": (
        "The source works there and has to be connected here again: its permission is"
        " of the platform's application."
    ),
    "source_of_data_only": (
        "Data came from this source without a connection; it is not connected here."
    ),
}


@dataclass(slots=True)
class ResourceParity:
    """Elements of one resource: how many there, here, equal and explained by rule.

    `converted` are those compared as they are written here, by rule.
    """

    theirs: int = 0
    ours: int = 0
    equal: int = 0
    fields: int = 0
    explained: Counter[str] = field(default_factory=Counter)
    converted: Counter[str] = field(default_factory=Counter)
    unexplained: int = 0


@dataclass(slots=True)
class Difference:
    """A difference that no rule explains: without a field, one side has no element."""

    user: str
    resource: str
    key: str
    name: str
    theirs: Any
    ours: Any


@dataclass(slots=True)
class Parity:
    """The whole report."""

    platform: str
    users: int = 0
    resources: dict[str, ResourceParity] = field(default_factory=dict)
    by_field: Counter[tuple[str, str]] = field(default_factory=Counter)
    listed: list[Difference] = field(default_factory=list)

    @property
    def unexplained(self) -> int:
        """Return how many differences no rule explains."""
        return sum(each.unexplained for each in self.resources.values())

    def of(self, resource: str) -> ResourceParity:
        """Return the counts of a resource."""
        return self.resources.setdefault(resource, ResourceParity())

    def build_payload(self, *, made_at: datetime) -> dict[str, Any]:
        """Return the report as JSON data."""
        used = Counter[str]()
        for each in self.resources.values():
            used += each.explained + each.converted
        return {
            "platform": self.platform,
            "made_at": made_at.isoformat(),
            "users": self.users,
            "unexplained": self.unexplained,
            "resources": {
                name: asdict(each)
                | {
                    "explained": dict(sorted(each.explained.items())),
                    "converted": dict(sorted(each.converted.items())),
                }
                for name, each in sorted(self.resources.items())
            },
            "rules": {
                name: {"sentence": RULES[name], "count": count}
                for name, count in sorted(used.items())
            },
            "fields": [
                {"resource": resource, "field": name, "count": count}
                for (resource, name), count in sorted(self.by_field.items())
            ],
            "differences": [
                {
                    "user": each.user,
                    "resource": each.resource,
                    "key": each.key,
                    "field": each.name,
                    "theirs": each.theirs,
                    "ours": each.ours,
                }
                for each in self.listed
            ],
        }
