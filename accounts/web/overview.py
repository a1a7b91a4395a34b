"""What the overview says of a team's own set-up.

Must not be here: a key, or a member.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from accounts.queries import has_live_key
from accounts.states import Area
from portal.lib.registry import AttentionItem, OverviewPart, Urgency
from portal.lib.web import page_url

if TYPE_CHECKING:
    from portal.lib.web import TenantRequest


def overview_part(request: TenantRequest) -> OverviewPart:
    """That no key works, for those who can make one."""
    tenant = request.tenant
    if not request.rights.allow(Area.API_KEYS, write=True):
        return OverviewPart()
    if has_live_key(tenant=tenant, at=timezone.now()):
        return OverviewPart()
    place = tenant.get_environment_display().lower()
    item = AttentionItem(
        urgency=Urgency.SETUP,
        since=tenant.created_at,
        family="info",
        icon="key",
        title="No API key works here",
        detail=f"Your server needs one for the {place}",
        url=page_url(request, "team:api_keys"),
    )
    return OverviewPart(attention=(item,))
