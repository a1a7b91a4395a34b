"""Find the endpoint, delivery or replay of a page's URL, or raise Http404."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

from django.http import Http404

from accounts.webhooks.queries.health import find_webhook_endpoint
from accounts.webhooks.queries.log import find_webhook_delivery
from accounts.webhooks.queries.replays import find_replay

if TYPE_CHECKING:
    from accounts.web.requests import TenantRequest
    from accounts.webhooks.models import Delivery, Endpoint, Replay


def get_endpoint_or_404(request: TenantRequest, endpoint_id: str) -> Endpoint:
    """Return the endpoint of a page's URL. Raises: Http404."""
    found = find_webhook_endpoint(tenant=request.tenant, uuid=_uuid(endpoint_id))
    if found is None:
        raise Http404
    return found


def get_delivery_or_404(
    request: TenantRequest, endpoint_id: str, message_id: str
) -> Delivery:
    """Return the delivery of a page's URL, its endpoint loaded. Raises: Http404."""
    endpoint = get_endpoint_or_404(request, endpoint_id)
    found = find_webhook_delivery(endpoint=endpoint, message_id=message_id)
    if found is None:
        raise Http404
    found.endpoint = endpoint
    return found


def get_replay_or_404(
    request: TenantRequest, endpoint_id: str, replay_id: str
) -> Replay:
    """Return the replay of a page's URL. Raises: Http404."""
    endpoint = get_endpoint_or_404(request, endpoint_id)
    found = find_replay(endpoint=endpoint, uuid=_uuid(replay_id))
    if found is None:
        raise Http404
    return found


def get_endpoint_display_name(endpoint: Endpoint) -> str:
    """Return the first line of an endpoint's description, else its host."""
    first, _, _ = endpoint.description.partition("\n")
    return first[:60] or get_endpoint_host(endpoint)


def get_endpoint_host(endpoint: Endpoint) -> str:
    """Return the host of an endpoint's URL."""
    return urlsplit(endpoint.url).netloc


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Http404 from None
