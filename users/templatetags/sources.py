"""Filters that name and sum up sources on the tabs of a user's page.

Tags, so that other apps' tabs stand in the same shell without importing users.web.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django import template
from django.utils import timezone
from django.utils.translation import gettext as _

from users.analysis import heart_rate
from users.models.user import MANUAL
from users.states import ConnectionStatus
from users.wearables.names import resource_name
from users.wearables.providers import find_provider

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date, datetime

    from users.models import Connection
    from users.queries import UserOverview
    from users.wearables.providers import Provider

register = template.Library()

_WELL = timedelta(days=1)
_LATE = timedelta(days=3)


@register.filter
def describe_fallback_origin(slug: str) -> str:
    """Return the origin of a fallback in words."""
    if slug in {"", MANUAL}:
        return _("set by your team")
    return _("from %(source)s") % {"source": find_provider(slug).name}


@register.filter
def max_heart_rate_today(birth_date: date) -> int | None:
    """Return today's maximum heart rate (bpm) of a birth date."""
    return heart_rate.max_heart_rate(timezone.localdate(), birth_date)


@register.filter
def display_resource_name(slug: str) -> str:
    """Return the display name of a resource."""
    return resource_name(slug)


@register.filter
def source_by_slug(slug: str) -> Provider:
    """Return the source of a stored slug."""
    return find_provider(slug)


@register.filter
def last_data_time_from_source(overview: UserOverview, slug: str) -> datetime | None:
    """Return when this source of a user last sent data, or None."""
    return overview.last_data_by_source.get(slug)


@register.filter
def data_age_color(last: datetime | None) -> str:
    """Return the color of the dot that shows the age of the last data.

    Within a day is well, within three is late: a ring is charged, a phone left at home.
    Source: Ours (design guide).
    """
    if last is None:
        return "mute"
    age = timezone.now() - last
    return "ok" if age < _WELL else "warn" if age < _LATE else "bad"


@register.filter
def worst_connection_status(connections: Iterable[Connection]) -> str:
    """Return the worst status: an error before a pause before connected."""
    statuses = {connection.status for connection in connections}
    for status in (ConnectionStatus.ERROR, ConnectionStatus.PAUSED):
        if status in statuses:
            return status
    return min(statuses, default="")
