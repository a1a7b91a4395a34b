"""The demo's webhooks: a receiver on this machine and endpoints that post to it."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from accounts.webhooks.operations.endpoints import (
    change_endpoint,
    create_endpoint,
    delete_endpoint,
)
from accounts.webhooks.queries.health import list_webhook_endpoints
from portal.lib.actor import Actor
from portal.lib.errors import DomainError
from portal.lib.secrets.encryption import UnreadableSecret, decrypt_secret

if TYPE_CHECKING:
    from accounts.models import Tenant

ACTOR = Actor.system("demo")
HOST = "127.0.0.1"
PORTS_TRIED = 100
# By these words demo knows its endpoints again.
WORKS = "Demo: received by manage.py listen"
FAILS = "Demo: answers 500 to everything"
# What it gets of the demo's data, which has some hundreds of events more.
AT_FIRST = ["daily.data.menstrual_cycle.", "lab_report.", "labtest.", "provider."]
FAILING_TYPES = ["lab_report."]


def find_free_receiver_port(*, kept: int, beside: int) -> int | None:
    """Find a free port for the webhook receiver: the last run's, else one nearby.

    Never `beside`, the port of the web server, which has yet to take it. None where
    none of the PORTS_TRIED ports after `beside` is free.
    """
    after = range(beside + 1, min(beside + 1 + PORTS_TRIED, 65_536))
    ports = [port for port in (kept, *after) if port not in {0, beside}]
    return next((port for port in ports if _is_free(port)), None)


def demo_webhook_log_path() -> Path:
    """Return the file in which the receiver logs what it receives."""
    return Path(settings.VAR_DIR) / "webhooks.log"


def register_demo_webhook_receiver(*, tenant: Tenant, port: int, fails: bool) -> None:
    """Make the tenant's endpoints post to the receiver, where they do not yet.

    A new one gets some types only, until `subscribe_demo_receiver_to_all_events`: the
    demo's data is about to be loaded. `fails` adds one that never succeeds, for its
    diagnosis.
    """
    _register(tenant, WORKS, f"http://{HOST}:{port}/{tenant.team.slug}", types=AT_FIRST)
    if fails:
        _register(
            tenant, FAILS, f"http://{HOST}:{port}/status/500", types=FAILING_TYPES
        )


def subscribe_demo_receiver_to_all_events(*, tenant: Tenant) -> None:
    """Subscribe the receiver to every event type, unless its types were changed."""
    for endpoint in list_webhook_endpoints(tenant):
        if endpoint.description == WORKS and endpoint.filter_types == AT_FIRST:
            change_endpoint(endpoint=endpoint, actor=ACTOR, filter_types=None)


def _register(tenant: Tenant, words: str, url: str, *, types: list[str]) -> None:
    for endpoint in list_webhook_endpoints(tenant):
        if endpoint.description != words:
            continue
        try:
            decrypt_secret(endpoint.secret)
        except UnreadableSecret:
            # The key that opened it is lost with var: nothing can be signed with it.
            delete_endpoint(endpoint=endpoint, actor=ACTOR)
            continue
        if endpoint.url != url:
            change_endpoint(endpoint=endpoint, actor=ACTOR, url=url)
        return
    with suppress(DomainError):  # a team that has all it may have goes without
        create_endpoint(
            tenant=tenant, actor=ACTOR, url=url, description=words, filter_types=types
        )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError):
            return False
    return True
