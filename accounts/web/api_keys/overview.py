"""The overview's part about API keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.declarations.pages import AttentionItem, OverviewPart, Urgency
from accounts.queries import list_live_api_keys
from accounts.states import Area
from accounts.web.api_keys.views import KeyRow, build_api_key_row
from portal.lib.web.views import page_url

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest


def build_api_key_warnings(request: TenantRequest) -> OverviewPart:
    """Warn that no key works or one expires soon, for those who can create keys."""
    tenant = request.tenant
    if not request.rights.allow(Area.API_KEYS, write=True):
        return OverviewPart()
    now = timezone.now()
    rows = [
        build_api_key_row(key, now) for key in list_live_api_keys(tenant=tenant, at=now)
    ]
    if rows:
        return OverviewPart(
            attention=tuple(
                _describe_expiring_key(request, row) for row in rows if row.expires_in
            )
        )
    item = AttentionItem(
        urgency=Urgency.SETUP,
        since=tenant.created_at,
        family="info",
        icon="key",
        title=_("No active API key"),
        detail=(
            _("Your server needs one for the sandbox")
            if tenant.is_sandbox
            else _("Your server needs one for production")
        ),
        url=page_url(request, "team:api_keys"),
    )
    return OverviewPart(attention=(item,))


def _describe_expiring_key(request: TenantRequest, row: KeyRow) -> AttentionItem:
    key = row.key
    return AttentionItem(
        urgency=Urgency.SETUP,
        since=key.created_at,
        family="warn",
        icon="key",
        title=_("An API key expires soon"),
        detail=_("%(name)s expires in %(wait)s. Rotate it before then.")
        % {"name": key.label, "wait": row.expires_in},
        url=page_url(request, "team:api_key", api_key_id=key.pk),
    )
