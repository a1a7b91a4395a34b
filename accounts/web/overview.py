"""What the overview says of a team's own set-up.

Must not be here: a key, or a member.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone

from accounts.queries import live_api_keys
from accounts.states import Area
from accounts.web.api_keys import KeyRow, key_row
from portal.lib.registry import AttentionItem, OverviewPart, Urgency
from portal.lib.web import page_url

if TYPE_CHECKING:
    from portal.lib.web import TenantRequest


def overview_part(request: TenantRequest) -> OverviewPart:
    """That no key works, or that one soon ends, for those who can make one."""
    tenant = request.tenant
    if not request.rights.allow(Area.API_KEYS, write=True):
        return OverviewPart()
    now = timezone.now()
    rows = [key_row(key, now) for key in live_api_keys(tenant=tenant, at=now)]
    if rows:
        return OverviewPart(
            attention=tuple(_ends(request, row) for row in rows if row.expires_in)
        )
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


def _ends(request: TenantRequest, row: KeyRow) -> AttentionItem:
    key = row.key
    return AttentionItem(
        urgency=Urgency.SETUP,
        since=key.created_at,
        family="warn",
        icon="key",
        title="An API key expires soon",
        detail=f"{key.label} ends in {row.expires_in}: rotate it before",
        url=page_url(request, "team:api_key", api_key_id=key.pk),
    )
