"""Gateway to Oura: credentials, tokens, and pulls by windows of days."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from portal.lib.periods import find_time_zone_by_name
from users.gateways import oauth
from users.gateways.base import (
    NO_METER,
    AccessExpired,
    CallLimit,
    ClientCredentials,
    Grant,
    PulledBatch,
    PulledDevice,
    PulledPage,
    ResourceRefused,
)
from users.gateways.oura.client import OuraClient
from users.gateways.oura.resources import ALL_SCOPES, RESOURCES, Window
from users.states import SourceType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.gateways.base import Meter
    from users.gateways.http import SourceHttp
    from users.models import User

# Ours: half a year; a ring shows its wearer the same trends.
HISTORY = timedelta(days=180)
# Oura refuses more than 30 days of heart rates at once.
_WINDOW_DAYS = 28
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


class OuraGateway:
    """The SourceGateway of Oura, for the client in the settings."""

    name = "oura"
    auth_type = "oauth"
    resources = tuple(RESOURCES)
    history = HISTORY

    # Source: Oura API 2, document 1.37 (5,000 requests in 5 minutes).
    limits = (CallLimit(calls=5000, seconds=300),)
    reuses_refresh_tokens = False

    def __init__(
        self,
        portal: Portal | None = None,
        credentials: ClientCredentials | None = None,
        meter: Meter = NO_METER,
    ) -> None:
        self._portal = portal
        self._credentials = credentials
        self._meter = meter

    @property
    def portal(self) -> Portal:
        """Return the portal where the client is registered."""
        return self._portal or PORTALS[settings.OURA_PORTAL]

    @property
    def credentials(self) -> ClientCredentials:
        """As of SourceGateway."""
        return self._credentials or ClientCredentials(
            settings.OURA_CLIENT_ID, settings.OURA_CLIENT_SECRET
        )

    def with_credentials(
        self, credentials: ClientCredentials, meter: Meter = NO_METER
    ) -> OuraGateway:
        """As of SourceGateway."""
        return OuraGateway(self._portal, credentials, meter)

    def check_credentials(self, *, redirect_url: str) -> bool:
        """As of SourceGateway."""
        return oauth.check_oauth_client(self._server(), redirect_url=redirect_url)

    def authorise_url(self, *, state: str, redirect_url: str, challenge: str) -> str:
        """As of SourceGateway."""
        return oauth.build_oauth_sign_in_url(
            self._server(), state=state, redirect_url=redirect_url, challenge=challenge
        )

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway; the user's id at Oura where they let us see it."""
        from users.gateways.http import SourceHttp  # httpx loads with the first call

        grant = oauth.exchange_oauth_code_for_tokens(
            self._server(), code=code, redirect_url=redirect_url, verifier=verifier
        )
        try:
            with SourceHttp(meter=self._meter) as http:
                info = self._client(http, grant).fetch_document("personal_info")
        except (AccessExpired, ResourceRefused):
            return grant
        told = info.get("id")
        return replace(grant, external_user_id=told if isinstance(told, str) else "")

    def refresh_tokens(self, grant: Grant) -> Grant:
        """As of SourceGateway: Oura's refresh tokens work once."""
        return oauth.exchange_oauth_refresh_token(self._server(), grant)

    def revoke(self, grant: Grant) -> None:
        """As of SourceGateway."""
        oauth.revoke_oauth_grant(self._server(), grant)

    def granted_resources(self, grant: Grant) -> frozenset[str]:
        """As of SourceGateway; all, where Oura did not say what was granted."""
        scopes = _granted_scopes(grant)
        return frozenset(
            name for name, each in RESOURCES.items() if each.is_allowed(scopes)
        )

    def pull(
        self,
        user: User,
        resource: str,
        since: datetime,
        *,
        until: datetime,
        grant: Grant,
        position: str = "",
    ) -> Iterator[PulledPage]:
        """As of SourceGateway: a page is a window of days; a position its first one."""
        from users.gateways.http import SourceHttp

        wanted = RESOURCES[resource]
        # A day more at both ends: users may be ahead of UTC, or behind it.
        last = until.astimezone(UTC).date() + timedelta(days=1)
        first = since.astimezone(UTC).date() - timedelta(days=1)
        if position:
            first = date.fromisoformat(position)
        with SourceHttp(meter=self._meter) as http:
            client = self._client(http, grant)
            device = _device(client)
            while first <= last:
                ends = min(first + timedelta(days=_WINDOW_DAYS - 1), last)
                if not wanted.is_dated:
                    ends = last
                window = Window(
                    client=client,
                    first=first,
                    last=ends,
                    scopes=_granted_scopes(grant),
                    zone=find_time_zone_by_name(user.fallback_time_zone or "UTC"),
                )
                found = wanted.read(window)
                first = ends + timedelta(days=1)
                yield PulledPage(
                    batches=tuple(
                        PulledBatch(
                            resource,
                            elements,
                            source_type,
                            device=device if source_type == SourceType.RING else None,
                        )
                        for source_type, elements in found.items()
                        if elements
                    ),
                    position=first.isoformat() if first <= last else "",
                )

    def _server(self) -> oauth.OAuthServer:
        portal = self.portal
        return oauth.OAuthServer(
            authorise_url=portal.authorise_url,
            token_url=portal.token_url,
            revoke_url=portal.revoke_url,
            old_revoke_url=portal.old_revoke_url,
            credentials=self.credentials,
            scopes=portal.scopes,
            meter=self._meter,
        )

    def _client(self, http: SourceHttp, grant: Grant) -> OuraClient:
        return OuraClient(
            http=http, api_url=self.portal.api_url, access_token=grant.access_token
        )


def _granted_scopes(grant: Grant) -> frozenset[str]:
    """Return the granted scopes by common names; all if Oura sent none."""
    if not grant.scopes:
        return ALL_SCOPES
    names = {each.removeprefix(_SCOPE_PREFIX) for each in grant.scopes}
    return frozenset("spo2" if each == _OLD_SPO2 else each for each in names)


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
