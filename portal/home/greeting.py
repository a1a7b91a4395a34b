"""The words at the top of the overview: a greeting and the day, where the member is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from portal.ui.dates import write_date

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import Member, Team

_NOON, _EVENING = 12, 18


@dataclass(frozen=True, slots=True)
class Greeting:
    """`day` is the weekday, the day and the month."""

    words: str
    day: str


def greet_member(*, member: Member, team: Team, now: datetime) -> Greeting:
    """Greet a member by name, by the clock of their own zone or else their team's."""
    there = now.astimezone(ZoneInfo(member.time_zone or team.time_zone))
    if there.hour < _NOON:
        words = _("Good morning")
    elif there.hour < _EVENING:
        words = _("Good afternoon")
    else:
        words = _("Good evening")
    return Greeting(
        words=_("%(greeting)s, %(name)s") % {"greeting": words, "name": member.name}
        if member.name
        else words,
        day=write_date(there, "l j F"),
    )
