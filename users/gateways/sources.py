"""The cloud sources that this release pulls from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.gateways.oura.gateway import OuraGateway

if TYPE_CHECKING:
    from users.gateways.base import SourceGateway

# By slug of the provider.
SOURCE_GATEWAYS: dict[str, SourceGateway] = {"oura": OuraGateway()}


def find_source_gateway(provider: str) -> SourceGateway | None:
    """Return the gateway of a source, None if it has none or is not configured."""
    gateway = SOURCE_GATEWAYS.get(provider)
    return gateway if gateway and gateway.is_configured else None
