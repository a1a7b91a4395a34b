"""The platforms that a team can move in from, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.gateways.moving.http import PlatformHttp
from users.gateways.moving.open_wearables import KEY_HEADER, OpenWearables
from users.gateways.moving.original import Original, OriginalClient

if TYPE_CHECKING:
    from collections.abc import Callable

    from users.gateways.moving.base import Platform, ResourceNames
    from users.gateways.moving.http import Pace


class ClientMissing(Exception):
    """The published client that a platform is read through is not installed."""


def open_platform(
    name: str, *, url: str, key: str, pace: Pace, resources: ResourceNames
) -> Platform:
    """Return a platform at an address. Raises: ClientMissing; KeyError."""
    return PLATFORMS[name](url, key, pace, resources)


def _open_open_wearables(
    url: str, key: str, pace: Pace, _resources: ResourceNames
) -> Platform:
    http = PlatformHttp(
        base_url=url.rstrip("/") + "/", headers={KEY_HEADER: key}, pace=pace
    )
    return OpenWearables(http)


def _open_original(
    url: str, key: str, pace: Pace, resources: ResourceNames
) -> Platform:
    try:
        return Original(OriginalClient(url, key, pace), resources)
    except ImportError:
        raise ClientMissing(
            "Install the platform's published client: uv sync --group original"
        ) from None


PLATFORMS: dict[str, Callable[[str, str, Pace, ResourceNames], Platform]] = {
    "open-wearables": _open_open_wearables,
    "original": _open_original,
}
