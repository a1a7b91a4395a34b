"""What resources are called, by the names that events and introspection use."""

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
    """A resource of contract 3.4 as people call it; one we do not know in its words."""
    name = _NAMES.get(resource)
    return str(name) if name else resource.replace("_", " ").capitalize()
