"""What views hand to components that need more than text: stages, slots, regions.

Frozen values that templates under components/ draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from portal.lib.translation import gettext_lazy
from portal.ui.gauges import draw_percentage_bar

if TYPE_CHECKING:
    from datetime import date, datetime

    from django.utils.safestring import SafeString


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a lifecycle, left to right. `note` stands where no time is known."""

    label: str
    state: Literal["done", "now", "ahead"] = "ahead"
    at: datetime | None = None
    note: str = ""
    has_problem: bool = False


@dataclass(frozen=True, slots=True)
class Happening:
    """One entry of a timeline. `raw` is the wire's own word, shown beneath.

    In a history the actor is named as the audit names it; `actor_name` is what people
    call a part of the system. `request` is the ID of the request that caused the entry.
    """

    label: str
    at: datetime
    icon: str = "check"
    kind: Literal["", "now", "ok", "warn", "bad"] = ""
    detail: str = ""
    raw: str = ""
    actor_kind: str = ""
    actor_label: str = ""
    actor_name: str = ""
    request: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A place to choose: `number` is on its pin, in the list and on the map above it.

    `miles` is None for one that comes to the patient.
    """

    key: str
    number: int
    name: str
    address: str
    miles: float | None
    first_free: str = ""


@dataclass(frozen=True, slots=True)
class SlotDay:
    """A day to choose; `free` counts what can still be booked, `none` says why none."""

    on: date
    free: int
    none: str = gettext_lazy("Closed")


@dataclass(frozen=True, slots=True)
class Slot:
    """A time to choose, in the place's own zone, HH:MM.

    `key` is what is sent for it; `key_id` tells it apart on the page, also where keys
    are made anew each time.
    """

    key: str
    time: str
    is_taken: bool = False
    key_id: str = ""


@dataclass(frozen=True, slots=True)
class Region:
    """A value's box on a page of a document, in the pixels of the page's picture."""

    key: str
    label: str
    x: float
    y: float
    width: float
    height: float
    is_unsure: bool = False


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page of a document: the address of its picture and its size in pixels."""

    url: str
    alt: str
    width: int
    height: int
    regions: tuple[Region, ...] = ()


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A value read from a document; `confidence` is a share, 0 to 100.

    `key` ties it to its region. `name` and `range` are as printed.
    """

    key: str
    name: str
    value: str
    unit: str
    range: str
    code: str
    confidence: int
    is_confirmed: bool = False

    @property
    def bar(self) -> SafeString:
        """The confidence, drawn."""
        return draw_percentage_bar(self.confidence, is_enough=self.is_confirmed)
