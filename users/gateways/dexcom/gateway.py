"""Gateway to Dexcom: its regions, limits and how each resource is read.

Not read: trends and rates, which the values around say; alerts; exercise and health
entries, which have no time range or no measure; what is beyond the sensor's range.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from portal.lib.translation import gettext_lazy
from users.gateways import oauth
from users.gateways.applications import ClientCredentials, CredentialField
from users.gateways.base import (
    AccessExpired,
    CallLimit,
    PulledDevice,
    ResourceRefused,
    SourceTerms,
)
from users.gateways.cloud import CloudGateway, CloudResource
from users.gateways.dexcom import records
from users.gateways.dexcom.client import DexcomClient
from users.states import SourceType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from users.gateways.base import Grant
    from users.gateways.cloud import Elements, Window
    from users.gateways.dexcom.client import Record
    from users.gateways.http import SourceHttp

_SCOPE = "offline_access"
_ALL = (frozenset({_SCOPE}),)
# developer.dexcom.com, API server addresses, 2026-11-26.
REGIONS = {
    "us": "https://api.dexcom.com",
    "jp": "https://api.dexcom.jp",
    "eu": "https://api.dexcom.eu",
    "sandbox": "https://sandbox-api.dexcom.com",
}


def _read_glucose(window: Window) -> Elements:
    client: DexcomClient = window.client
    sensor = client.fetch_records("egvs", window.first, window.last)
    meter = client.fetch_records("calibrations", window.first, window.last)
    return {
        SourceType.AUTOMATIC: records.convert_dexcom_glucose(sensor),
        SourceType.FINGERPRICK: records.convert_dexcom_glucose(meter),
    }


def _read_insulin(window: Window) -> Elements:
    return {SourceType.APP: records.convert_dexcom_insulin(_events(window))}


def _read_carbohydrates(window: Window) -> Elements:
    return {SourceType.APP: records.convert_dexcom_carbohydrates(_events(window))}


def _events(window: Window) -> list[Record]:
    client: DexcomClient = window.client
    return client.fetch_records("events", window.first, window.last)


class DexcomTokens(oauth.OAuthTokens):
    """OAuth at Dexcom, with the user's ID; only the user can take a grant back.

    Verified in public references on 2026-11-26 (developer.dexcom.com, Authentication):
    an access token lives for two hours, a refresh token works once.
    """

    def __init__(self, gateway: DexcomGateway, server: oauth.OAuthServer) -> None:
        super().__init__(server)
        self._gateway = gateway

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway."""
        grant = super().connect(code=code, redirect_url=redirect_url, verifier=verifier)
        try:
            with self._gateway.open_http() as http:
                told = self._gateway.open_client(http, grant).fetch_user_id()
        except (AccessExpired, ResourceRefused):
            return grant
        return replace(grant, external_user_id=told)

    def revoke(self, grant: Grant) -> None:
        """As of SourceGateway: Dexcom has no call for it."""


class DexcomGateway(CloudGateway):
    """The SourceGateway of Dexcom.

    Nothing is pushed. Values are given an hour after they were measured in the United
    States, three hours elsewhere (developer.dexcom.com, frequently asked questions):
    each hour the last two days are asked for, so that the delay of neither loses any.
    """

    name = "dexcom_v3"
    cloud_resources = {
        "glucose": CloudResource(_read_glucose, _ALL),
        "insulin_injection": CloudResource(_read_insulin, _ALL),
        "carbohydrates": CloudResource(_read_carbohydrates, _ALL),
    }
    # Ours: half a year, as of the others.
    history = timedelta(days=180)
    # developer.dexcom.com, endpoint overview, 2026-11-26.
    limits = (CallLimit(calls=60_000, seconds=3600),)
    reuses_refresh_tokens = False
    # No summary of the agreement for registered developers was found, which alone says
    # what may be done: every use is unknown.
    terms = SourceTerms(
        url="https://developer.dexcom.com/support/terms-and-conditions",
        checked_on=date(2026, 11, 26),
    )
    conditions = (
        gettext_lazy(
            "Dexcom approves an application before users other than its made-up ones"
            " can connect."
        ),
        gettext_lazy(
            "Dexcom is asked in one region for each application. Users of another"
            " region cannot sign in."
        ),
        gettext_lazy(
            "Values come an hour after they were measured in the United States, three"
            " hours elsewhere."
        ),
    )
    credential_fields = (
        CredentialField(
            "region",
            gettext_lazy("Region of the users"),
            gettext_lazy("Dexcom's sandbox has made-up users alone."),
            is_required=False,
            choices=(
                ("", gettext_lazy("As set for the installation")),
                ("us", gettext_lazy("United States")),
                ("jp", gettext_lazy("Japan")),
                ("eu", gettext_lazy("Elsewhere")),
                ("sandbox", gettext_lazy("Dexcom's sandbox")),
            ),
        ),
    )
    # Dexcom refuses more than 30 days at once.
    window_days = 28

    @property
    def default_credentials(self) -> ClientCredentials:
        """As of CloudGateway."""
        return ClientCredentials(
            settings.DEXCOM_CLIENT_ID, settings.DEXCOM_CLIENT_SECRET
        )

    @property
    def api_url(self) -> str:
        """Return where the region of the application answers."""
        region = self.credentials.more.get("region", "")
        return REGIONS.get(region) or str(settings.DEXCOM_API_URL)

    @property
    def tokens(self) -> DexcomTokens:
        """As of CloudGateway."""
        server = oauth.OAuthServer(
            authorise_url=f"{self.api_url}/v2/oauth2/login",
            token_url=f"{self.api_url}/v2/oauth2/token",
            credentials=self.credentials,
            scopes=(_SCOPE,),
            meter=self._meter,
        )
        return DexcomTokens(self, server)

    def granted_scopes(self, grant: Grant) -> frozenset[str]:  # noqa: ARG002 - there is one
        """As of CloudGateway."""
        return frozenset({_SCOPE})

    def open_client(self, http: SourceHttp, grant: Grant) -> DexcomClient:
        """As of CloudGateway."""
        return DexcomClient(
            http=http,
            api_url=self.api_url,
            access_token=grant.access_token,
        )

    def find_devices(self, client: DexcomClient) -> Mapping[SourceType, PulledDevice]:
        """As of CloudGateway: the transmitter, where there is exactly one."""
        try:
            devices = client.fetch_devices()
        except ResourceRefused:
            return {}
        found = {
            transmitter: str(each.get("transmitterGeneration") or "")
            for each in devices
            if isinstance(transmitter := each.get("transmitterId"), str) and transmitter
        }
        if len(found) != 1:
            return {}
        ((transmitter, generation),) = found.items()
        model = "" if generation == "unknown" else generation.upper()
        device = PulledDevice(transmitter, "Dexcom", model or None)
        return {SourceType.AUTOMATIC: device}
