"""Check that a team's events reach it before the team goes live."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from accounts.declarations.go_live import GoLiveResult
from accounts.webhooks.operations.testing import send_test_event
from accounts.webhooks.queries.health import list_webhook_endpoints
from portal.lib.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accounts.models import Tenant
    from accounts.webhooks.models import Endpoint
    from portal.lib.actor import Actor

# Endpoints that one try sends a test event to.
TRIED_ENDPOINTS = 5


def read_webhooks(tenant: Tenant) -> GoLiveResult:
    """Report how the endpoints that are not disabled took their last event."""
    endpoints = list_webhook_endpoints(tenant)
    enabled = [each for each in endpoints if each.disabled_at is None]
    if not enabled:
        return GoLiveResult("disabled" if endpoints else "missing")
    if failing := [each for each in enabled if each.first_failed_at]:
        return GoLiveResult("failing", {"hosts": _name_hosts(failing)})
    if unused := [each for each in enabled if each.last_success_at is None]:
        return GoLiveResult("unused", {"hosts": _name_hosts(unused)})
    return GoLiveResult("accepted", {"hosts": _name_hosts(enabled)})


def send_go_live_test_events(tenant: Tenant, actor: Actor) -> None:
    """Send a test event to each endpoint that is not disabled.

    `read_webhooks` sees how they were taken, once the deliverer has sent them.
    """
    enabled = [each for each in list_webhook_endpoints(tenant) if not each.disabled_at]
    for endpoint in enabled[:TRIED_ENDPOINTS]:
        # One that was disabled just now needs no test.
        with suppress(DomainError):
            send_test_event(endpoint=endpoint, actor=actor)


def _name_hosts(endpoints: Iterable[Endpoint]) -> str:
    # Never the path: receivers put secrets into it.
    hosts = {urlsplit(endpoint.url).hostname or "" for endpoint in endpoints}
    return ", ".join(sorted(hosts))
