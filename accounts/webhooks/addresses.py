"""Which addresses webhooks may be posted to: public ones, and hosts named by a setting.

Pure but for the settings. Must not be here: sockets (sending).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from portal.lib import addresses
from portal.lib.addresses import AddressRefused, is_public_ip_address

if TYPE_CHECKING:
    from urllib.parse import SplitResult

__all__ = [
    "AddressRefused",
    "is_allowed_local_webhook_host",
    "is_public_ip_address",
    "parse_webhook_url",
]


def parse_webhook_url(url: str) -> SplitResult:
    """Take a URL apart; http is for hosts named in WEBHOOK_LOCAL_HOSTS alone.

    Raises: AddressRefused. Source: Ours: what is posted is health data.
    """
    return addresses.parse_and_check_url(url, local_hosts=settings.WEBHOOK_LOCAL_HOSTS)


def is_allowed_local_webhook_host(host: str) -> bool:
    """Return whether a setting allows this very host, whatever its address."""
    return host.lower() in settings.WEBHOOK_LOCAL_HOSTS
