"""Gateway to Oura: credentials, tokens, and pulls by windows of days."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from users.gateways import oauth
from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    AccessExpired,
    CallLimit,
    Grant,
    PulledDevice,
    ResourceRefused,
    SourceTerms,
)
from users.gateways.cloud import CloudGateway
from users.gateways.oura.client import OuraClient
from users.gateways.oura.pushes import OuraPushes
from users.gateways.oura.resources import ALL_SCOPES, RESOURCES
from users.states import SourceType
from users.states.terms import Permission, SourceUse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from users.gateways.base import PushProtocol
    from users.gateways.http import SourceHttp

# How applications of the developer portal write scopes.
_SCOPE_PREFIX = "extapi:"
# Another word for the same scope, of applications of the older portal.
_OLD_SPO2 = "spo2Daily"


@dataclass(frozen=True, slots=True)
class Portal:
    """The Oura portal where the client is registered and users sign in."""

    authorise_url: str
    token_url: str
    revoke_url: str
    old_revoke_url: str
    api_url: str
    # Never the email address: nothing needs it.
    scopes: tuple[str, ...]


_API_URL = "https://api.ouraring.com"
_SIGN_IN_URL = "https://moi.ouraring.com/oauth/v2/ext"
# By OURA_PORTAL.
PORTALS = {
    "developer": Portal(
        authorise_url=f"{_SIGN_IN_URL}/oauth-authorize",
        token_url=f"{_SIGN_IN_URL}/oauth-token",
        revoke_url=f"{_SIGN_IN_URL}/oauth-revoke",
        old_revoke_url="",
        api_url=_API_URL,
        scopes=tuple(f"{_SCOPE_PREFIX}{name}" for name in sorted(ALL_SCOPES)),
    ),
    "cloud": Portal(
        authorise_url="https://cloud.ouraring.com/oauth/authorize",
        token_url=f"{_API_URL}/oauth/token",
        revoke_url="",
        old_revoke_url=f"{_API_URL}/oauth/revoke",
        api_url=_API_URL,
        scopes=(*sorted(ALL_SCOPES - {"spo2", "heart_health"}), _OLD_SPO2),
    ),
}
_MODELS = {
    "gen1": "Oura Ring",
    "gen2": "Oura Ring Gen2",
    "gen2m": "Oura Ring Gen2",
    "gen3": "Oura Ring Gen3",
    "gen4": "Oura Ring 4",
}


def _build_portal(url: str) -> Portal:
    """Return a portal of which all is at one address."""
    return Portal(
        authorise_url=f"{url}/oauth/authorize",
        token_url=f"{url}/oauth/token",
        revoke_url=f"{url}/oauth/revoke",
        old_revoke_url="",
        api_url=url,
        scopes=PORTALS["developer"].scopes,
    )


class OuraTokens(oauth.OAuthTokens):
    """OAuth at Oura, with the user's id where they let us see it."""

    def __init__(self, gateway: OuraGateway, server: oauth.OAuthServer) -> None:
        super().__init__(server)
        self._gateway = gateway

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway."""
        grant = super().connect(code=code, redirect_url=redirect_url, verifier=verifier)
        try:
            with self._gateway.open_http() as http:
                client = self._gateway.open_client(http, grant)
                info = client.fetch_document("personal_info")
        except (AccessExpired, ResourceRefused):
            return grant
        told = info.get("id")
        return replace(grant, external_user_id=told if isinstance(told, str) else "")


class OuraGateway(CloudGateway):
    """The SourceGateway of Oura."""

    name = "oura"
    cloud_resources = RESOURCES
    # Ours: half a year; a ring shows its wearer the same trends.
    history = timedelta(days=180)
    # Source: Oura API 2, document 1.37 (5,000 requests in 5 minutes).
    limits = (CallLimit(calls=5000, seconds=300),)
    # Oura's refresh tokens work once.
    reuses_refresh_tokens = False
    proven_by = "oura-toolkit 0.4.0"
    # Oura API and MCP Agreement, 3(m), 4(a) and 4(d), as quoted and summarized by
    # public projects, 2026-11-24: no copies, assistants by Oura's own server alone, no
    # AI trained, no charge for what uses the API.
    terms = SourceTerms(
        url="https://cloud.ouraring.com/legal/api-agreement",
        checked_on=date(2026, 11, 24),
        effective_on=date(2026, 6, 8),
        permissions={
            SourceUse.STORING: Permission.FORBIDDEN,
            SourceUse.ASSISTANTS: Permission.FORBIDDEN,
            SourceUse.TRAINING: Permission.FORBIDDEN,
            SourceUse.CHARGING: Permission.FORBIDDEN,
        },
    )
    # Oura refuses more than 30 days of heart rates at once.
    window_days = 28

    def __init__(self, portal: Portal | None = None) -> None:
        super().__init__()
        self._portal = portal

    @property
    def portal(self) -> Portal:
        """Return the portal where the client is registered, or a twin in its place."""
        if self._portal is None and settings.OURA_URL:
            return _build_portal(settings.OURA_URL)
        return self._portal or PORTALS[settings.OURA_PORTAL]

    @property
    def default_credentials(self) -> ClientCredentials:
        """As of CloudGateway."""
        return ClientCredentials(settings.OURA_CLIENT_ID, settings.OURA_CLIENT_SECRET)

    @property
    def tokens(self) -> OuraTokens:
        """As of CloudGateway."""
        portal = self.portal
        server = oauth.OAuthServer(
            authorise_url=portal.authorise_url,
            token_url=portal.token_url,
            revoke_url=portal.revoke_url,
            old_revoke_url=portal.old_revoke_url,
            credentials=self.credentials,
            scopes=portal.scopes,
            meter=self._meter,
        )
        return OuraTokens(self, server)

    @property
    def pushes(self) -> PushProtocol:
        """As of CloudGateway."""
        return OuraPushes(self.portal.api_url, self.open_http, self.credentials)

    def granted_scopes(self, grant: Grant) -> frozenset[str]:
        """As of CloudGateway; all, where Oura did not say what was granted."""
        if not grant.scopes:
            return ALL_SCOPES
        names = {each.removeprefix(_SCOPE_PREFIX) for each in grant.scopes}
        return frozenset("spo2" if each == _OLD_SPO2 else each for each in names)

    def open_client(self, http: SourceHttp, grant: Grant) -> OuraClient:
        """As of CloudGateway."""
        return OuraClient(
            http=http, api_url=self.portal.api_url, access_token=grant.access_token
        )

    def find_devices(self, client: OuraClient) -> Mapping[SourceType, PulledDevice]:
        """As of CloudGateway: the ring."""
        ring = _device(client)
        return {SourceType.RING: ring} if ring else {}


def _device(client: OuraClient) -> PulledDevice | None:
    """Return the user's ring if there is exactly one; data names no device.

    Not worth a pull: some applications may not read it.
    """
    try:
        rings = client.fetch_all("ring_configuration")
    except (AccessExpired, ResourceRefused):
        return None
    if len(rings) != 1 or not isinstance(rings[0].get("id"), str):
        return None
    (ring,) = rings
    kind, version = ring.get("hardware_type"), ring.get("firmware_version")
    return PulledDevice(
        device_id=ring["id"],
        manufacturer="Oura",
        model=_MODELS.get(kind, kind) if isinstance(kind, str) else None,
        version=version if isinstance(version, str) else None,
    )
