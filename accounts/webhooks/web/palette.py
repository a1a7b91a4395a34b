"""Find endpoints and deliveries for the command palette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.declarations.pages import Hit
from accounts.webhooks.queries.health import list_webhook_endpoints
from accounts.webhooks.queries.log import list_event_deliveries
from accounts.webhooks.web.finding import get_endpoint_display_name, get_endpoint_host
from portal.lib.ids import is_complete_uuid
from portal.lib.web.views import page_url

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest

HITS = 6


def find_webhooks_for_command_palette(request: TenantRequest, text: str) -> list[Hit]:
    """Find endpoints by name, host or ID, and deliveries by message ID."""
    search = text.lower()
    hits = [
        Hit(
            words=get_endpoint_display_name(endpoint),
            url=page_url(request, "webhooks:endpoint", endpoint_id=endpoint.uuid),
            detail=get_endpoint_host(endpoint),
            is_exact=is_complete_uuid(text, endpoint.uuid),
        )
        for endpoint in list_webhook_endpoints(request.tenant)
        if search in get_endpoint_display_name(endpoint).lower()
        or search in get_endpoint_host(endpoint).lower()
        or str(endpoint.uuid).startswith(search)
    ]
    hits += [
        Hit(
            words=_("%(type)s to %(endpoint)s")
            % {
                "type": delivery.event_type,
                "endpoint": get_endpoint_display_name(delivery.endpoint),
            },
            url=page_url(
                request,
                "webhooks:delivery",
                endpoint_id=delivery.endpoint.uuid,
                message_id=text,
            ),
            is_exact=True,
        )
        for delivery in list_event_deliveries(tenant=request.tenant, message_id=text)
    ]
    return hits[:HITS]
