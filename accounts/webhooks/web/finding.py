"""What the pages' addresses name: an endpoint, a delivery, a replay, or 404.

Must not be here: what a page shows of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

from django.http import Http404

from accounts.webhooks.queries.health import find_webhook_endpoint
from accounts.webhooks.queries.log import find_webhook_delivery
from accounts.webhooks.queries.replays import find_replay

if TYPE_CHECKING:
    from accounts.webhooks.models import Delivery, Endpoint, Replay
    from portal.lib.web import TenantRequest


def get_endpoint_or_404(request: TenantRequest, endpoint_id: str) -> Endpoint:
    """The endpoint of a page."""
    found = find_webhook_endpoint(tenant=request.tenant, uuid=_uuid(endpoint_id))
    if found is None:
        raise Http404
    return found


def get_delivery_or_404(
    request: TenantRequest, endpoint_id: str, message_id: str
) -> Delivery:
    """The delivery of a page, its endpoint with its tenant."""
    endpoint = get_endpoint_or_404(request, endpoint_id)
    found = find_webhook_delivery(endpoint=endpoint, message_id=message_id)
    if found is None:
        raise Http404
    found.endpoint = endpoint
    return found


def get_replay_or_404(
    request: TenantRequest, endpoint_id: str, replay_id: str
) -> Replay:
    """The replay of a page."""
    endpoint = get_endpoint_or_404(request, endpoint_id)
    found = find_replay(endpoint=endpoint, uuid=_uuid(replay_id))
    if found is None:
        raise Http404
    return found


def get_endpoint_display_name(endpoint: Endpoint) -> str:
    """What a team calls an endpoint: the first line said of it, else its host."""
    first, _, _ = endpoint.description.partition("\n")
    return first[:60] or get_endpoint_host(endpoint)


def get_endpoint_host(endpoint: Endpoint) -> str:
    """Return the host that an endpoint is at."""
    return urlsplit(endpoint.url).netloc


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
