"""Limit API calls by key and by IP address, and send the rate limit headers.

`RateLimit-Policy` and `RateLimit` are those of the IETF draft "RateLimit header fields
for HTTP" (draft-ietf-httpapi-ratelimit-headers-10). Where no limit is set nothing is
counted and no header is sent (contract 1.7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from rest_framework.exceptions import Throttled
from rest_framework.throttling import BaseThrottle

from accounts.operations.api_keys.api_keys import KeyGrant
from accounts.operations.api_keys.call_limits import (
    WINDOW,
    Window,
    count_call_against_rate_limit,
)
from portal.lib.web.proxies import find_client_network

if TYPE_CHECKING:
    from rest_framework.request import Request


class CallThrottle(BaseThrottle):
    """Count a call for its address and key, and return what is left.

    A refused call counts as any other. Those from where the key may not be used count
    by themselves, so that whoever stole it takes no call from its owner. Raises: 429
    with `Retry-After` for a call over either limit.
    """

    def allow_request(self, request: Request, view: Any) -> bool:
        windows: dict[str, Window] = {}
        if settings.API_CALLS_PER_ADDRESS:
            address = request.META.get("REMOTE_ADDR") or None
            windows["address"] = _count_address(address)
        grant = request.auth
        if isinstance(grant, KeyGrant) and not _find_exceeded(windows):
            limit = grant.calls_per_minute or settings.API_CALLS_PER_KEY
            if limit:
                windows["key"] = count_call_against_rate_limit(
                    subject=_subject(grant), limit=limit
                )
        if windows:
            view.headers.update(_describe_windows(windows))
        self.over = _find_exceeded(windows)
        return self.over is None

    def wait(self) -> float | None:
        return self.over.seconds if self.over else None


def count_call_without_valid_key(address: str | None) -> None:
    """Count a call without a valid key against its IP address.

    Raises: 429 where there have been too many, valid ones included.
    """
    if not settings.API_CALLS_PER_ADDRESS:
        return
    window = _count_address(address)
    if window.is_over:
        raise Throttled(wait=window.seconds)


def _subject(grant: KeyGrant) -> str:
    is_admitted = grant.admits(grant.actor.address)
    return f"key:{grant.key_id}{'' if is_admitted else ':elsewhere'}"


def _count_address(address: str | None) -> Window:
    return count_call_against_rate_limit(
        subject=f"address:{find_client_network(address)}",
        limit=settings.API_CALLS_PER_ADDRESS,
    )


def _find_exceeded(windows: dict[str, Window]) -> Window | None:
    return next((window for window in windows.values() if window.is_over), None)


def _describe_windows(windows: dict[str, Window]) -> dict[str, str]:
    span = int(WINDOW.total_seconds())
    return {
        "RateLimit-Policy": ", ".join(
            f'"{name}";q={window.limit};w={span}' for name, window in windows.items()
        ),
        "RateLimit": ", ".join(
            f'"{name}";r={window.left};t={window.seconds}'
            for name, window in windows.items()
        ),
    }
