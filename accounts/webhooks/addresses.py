"""Parse endpoint URLs and allow only public addresses or hosts in a setting.

Pure but for the settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from portal.lib.network import addresses
from portal.lib.network.addresses import AddressRefused, is_public_ip_address

if TYPE_CHECKING:
    from urllib.parse import SplitResult

__all__ = [
    "AddressRefused",
    "is_allowed_local_webhook_host",
    "is_public_ip_address",
    "parse_webhook_url",
]


def parse_webhook_url(url: str) -> SplitResult:
    """Parse an endpoint URL; allow http only for hosts in WEBHOOK_LOCAL_HOSTS.

    Raises: AddressRefused. Source: Ours: what is posted is health data.
    """
    return addresses.parse_and_check_url(url, local_hosts=settings.WEBHOOK_LOCAL_HOSTS)


def is_allowed_local_webhook_host(host: str) -> bool:
    """Return whether WEBHOOK_LOCAL_HOSTS allows this host, at any address."""
    return host.lower() in settings.WEBHOOK_LOCAL_HOSTS
