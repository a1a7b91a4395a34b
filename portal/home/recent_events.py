"""The card of the overview that counts recent events by type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.declarations.pages import OverviewCard, OverviewPart
from accounts.states import Area
from accounts.webhooks.queries import count_recent_event_types

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest

# Of so many last events the types are shown.
EVENTS = 500
TYPES_SHOWN = 8


def build_recent_events_overview(request: TenantRequest) -> OverviewPart:
    """List the event types sent most recently, for members who may read events."""
    if not request.rights.allow(Area.WEBHOOKS):
        return OverviewPart()
    types = count_recent_event_types(tenant=request.tenant, among=EVENTS)
    shown = {
        "types": types[:TYPES_SHOWN],
        "more": len(types[TYPES_SHOWN:]),
        "among": EVENTS,
    }
    card = OverviewCard(50, "portal/_recent_events.html", shown)
    return OverviewPart(cards=(card,))
