"""The cloud sources that this release pulls from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from users.gateways.base import NO_METER, NO_PUSH_KEYS
from users.gateways.dexcom.gateway import DexcomGateway
from users.gateways.garmin.gateway import GarminGateway
from users.gateways.google_health.gateway import GoogleHealthGateway
from users.gateways.oura.gateway import OuraGateway
from users.gateways.polar.gateway import PolarGateway
from users.gateways.strava.gateway import StravaGateway
from users.gateways.suunto.gateway import SuuntoGateway
from users.gateways.whoop.gateway import WhoopGateway
from users.gateways.withings.gateway import WithingsGateway

if TYPE_CHECKING:
    from users.gateways.applications import ClientCredentials
    from users.gateways.base import (
        Meter,
        PushKeys,
        SourceGateway,
    )

# By slug of the provider.
SOURCE_GATEWAYS: dict[str, SourceGateway] = {
    gateway.name: gateway
    for gateway in (
        OuraGateway(),
        WithingsGateway(),
        WhoopGateway(),
        PolarGateway(),
        DexcomGateway(),
        StravaGateway(),
        GarminGateway(),
        GoogleHealthGateway(),
        SuuntoGateway(),
    )
}


def list_gateway_providers() -> list[str]:
    """List the slugs of the sources that have a gateway."""
    return list(SOURCE_GATEWAYS)


def list_push_only_providers() -> list[str]:
    """List the slugs of the sources that send data and can't be asked for it."""
    return [slug for slug, each in SOURCE_GATEWAYS.items() if each.is_push_only]


def find_provider_gateway(provider: str) -> SourceGateway | None:
    """Return the gateway of a source, also where no application is known."""
    return SOURCE_GATEWAYS.get(provider)


def find_source_gateway(
    provider: str,
    credentials: ClientCredentials | None = None,
    meter: Meter = NO_METER,
    keys: PushKeys = NO_PUSH_KEYS,
) -> SourceGateway | None:
    """Return the gateway of a source, for an application or the installation's own.

    None if the source has no gateway, or the installation no application there.
    """
    gateway = find_provider_gateway(provider)
    if gateway is None:
        return None
    credentials = credentials or gateway.credentials
    needed = [each.name for each in gateway.credential_fields if each.is_required]
    if not credentials.client_id or not credentials.client_secret:
        return None
    if not all(credentials.more.get(name) for name in needed):
        return None
    return gateway.with_credentials(credentials, meter, keys)
