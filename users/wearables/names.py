"""Display names of resources, by their names in events and introspection."""

from __future__ import annotations

from portal.lib.translation import gettext_lazy
from users.wearables.streams import STREAM_RESOURCE
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES

_NAMES = {
    **{each.event_resource: each.name for each in TIMESERIES.values()},
    **{slug: each.name for slug, each in SUMMARIES.items()},
    STREAM_RESOURCE: gettext_lazy("Workout streams"),
}


def resource_name(resource: str) -> str:
    """Return the display name of a resource (contract 3.4), also of an unknown one."""
    name = _NAMES.get(resource)
    return str(name) if name else resource.replace("_", " ").capitalize()
