"""Gateway to Polar AccessLink: its limits and how each resource is read.

Not read: training load, running index, samples and routes of exercises, cardio load,
SleepWise, Elixir biosensing, and physical information, whose values have no date.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from users.gateways import oauth
from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    CallLimit,
    SourceRefused,
    SourceTerms,
)
from users.gateways.cloud import CloudGateway, CloudResource
from users.gateways.polar import documents
from users.gateways.polar.client import PolarClient
from users.gateways.polar.pushes import PolarPushes
from users.states import ConnectionFault, SourceType
from users.states.terms import Permission, SourceUse

if TYPE_CHECKING:
    from users.gateways.base import Grant, PushProtocol
    from users.gateways.cloud import Elements, Window
    from users.gateways.http import SourceHttp
    from users.gateways.polar.client import Document

_SCOPE = "accesslink.read_all"
_ALL = (frozenset({_SCOPE}),)
# Lists go back 28 days, and 30 of exercises, by when they were uploaded. Ours: a day
# less, so that with tomorrow one window has them.
_LISTED = timedelta(days=27)
_YEAR = timedelta(days=365)
_FORBIDDEN, _CONFLICT = 403, 409


def _read_sleep(window: Window) -> Elements:
    return _worn(documents.convert_polar_sleeps(_nights(window), _recharges(window)))


def _read_stages(window: Window) -> Elements:
    return _worn(documents.convert_polar_stages(_nights(window)))


def _read_hrv(window: Window) -> Elements:
    return _worn(documents.convert_polar_hrv(_recharges(window), _nights(window)))


def _read_activity(window: Window) -> Elements:
    client: PolarClient = window.client
    # With the least of the samples, as these alone name the day.
    asked = _period(window) | {"inactivity_stamps": "true"}
    days = client.fetch_list("users/activities", asked)
    return _worn(documents.convert_polar_activity(days))


def _read_heart_rate(window: Window) -> Elements:
    client: PolarClient = window.client
    days = client.fetch_list(
        "users/continuous-heart-rate", _period(window), key="heart_rates"
    )
    return _worn(documents.convert_polar_heart_rates(days, zone=window.zone))


def _read_workouts(window: Window) -> Elements:
    client: PolarClient = window.client
    return _worn(documents.convert_polar_exercises(client.fetch_list("exercises")))


def _nights(window: Window) -> list[Document]:
    client: PolarClient = window.client
    return client.fetch_list("users/sleep", key="nights")


def _recharges(window: Window) -> list[Document]:
    client: PolarClient = window.client
    return client.fetch_list("users/nightly-recharge", key="recharges")


def _period(window: Window) -> dict[str, str]:
    return {"from": window.first.isoformat(), "to": window.last.isoformat()}


def _worn(elements: list[dict[str, Any]]) -> Elements:
    return {SourceType.WATCH: elements}


class PolarTokens(oauth.OAuthTokens):
    """OAuth at Polar: a user has to be registered before anything is given.

    Verified in public references on 2026-11-24 (polar.com/accesslink-api,
    Authentication; Users): a code lives for ten minutes and works once, an access token
    for about a year, and there is no refresh token: a user signs in again.
    """

    def __init__(self, gateway: PolarGateway, server: oauth.OAuthServer) -> None:
        super().__init__(server)
        self._gateway = gateway

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway; registers the user under Polar's own ID of them."""
        grant = super().connect(code=code, redirect_url=redirect_url, verifier=verifier)
        with self._gateway.open_http(grant.external_user_id) as http:
            client = self._gateway.open_client(http, grant)
            member = {"member-id": grant.external_user_id}
            answer = client.send("POST", "users", member)
        if answer.status == _FORBIDDEN:
            # The user has not accepted all mandatory consents there.
            raise SourceRefused(ConnectionFault.REQUIRED_SCOPES_NOT_GRANTED)
        if not answer.is_success and answer.status != _CONFLICT:
            raise SourceRefused(ConnectionFault.PROVIDER_CREDENTIAL_ERROR)
        return replace(grant, scopes=grant.scopes or (_SCOPE,))

    def revoke(self, grant: Grant) -> None:
        """As of SourceGateway: who is no longer registered, gives nothing."""
        if grant.external_user_id:
            with self._gateway.open_http(grant.external_user_id) as http:
                client = self._gateway.open_client(http, grant)
                client.send("DELETE", f"users/{grant.external_user_id}")


class PolarGateway(CloudGateway):
    """The SourceGateway of Polar."""

    name = "polar"
    cloud_resources = {
        "sleep": CloudResource(_read_sleep, _ALL, is_complete=True, reach=_LISTED),
        "sleep_cycle": CloudResource(
            _read_stages, _ALL, is_complete=True, reach=_LISTED
        ),
        "activity": CloudResource(_read_activity, _ALL, is_complete=True, reach=_YEAR),
        "workouts": CloudResource(_read_workouts, _ALL, reach=_LISTED),
        "heartrate": CloudResource(
            _read_heart_rate, _ALL, is_complete=True, reach=_YEAR
        ),
        "hrv": CloudResource(_read_hrv, _ALL, is_complete=True, reach=_LISTED),
    }
    # Ours: half a year of what goes back so far.
    history = timedelta(days=180)
    # Of each user, so that all of them stay within the limit of the application.
    limits = (
        CallLimit(calls=20, seconds=900, is_per_user=True),
        CallLimit(calls=100, seconds=86_400, is_per_user=True),
    )
    reuses_refresh_tokens = False
    proven_by = "polar-flow-api 1.5.1"
    # Limited License Agreement, 3.1.1 (nobody else without the member's permission)
    # and 3.1.5 (credit), as quoted by a public reading, 2026-11-24; silent about AI.
    terms = SourceTerms(
        url="https://www.polar.com/en/legal/polar-api-agreement",
        checked_on=date(2026, 11, 24),
        permissions={
            SourceUse.STORING: Permission.ALLOWED,
            SourceUse.SHARING: Permission.WITH_CONSENT,
            SourceUse.ASSISTANTS: Permission.WITH_CONSENT,
        },
        must_be_named=True,
    )
    # Polar refuses more days at once.
    window_days = 28

    @property
    def default_credentials(self) -> ClientCredentials:
        """As of CloudGateway."""
        return ClientCredentials(settings.POLAR_CLIENT_ID, settings.POLAR_CLIENT_SECRET)

    @property
    def tokens(self) -> PolarTokens:
        """As of CloudGateway."""
        server = oauth.OAuthServer(
            authorise_url=f"{settings.POLAR_SIGN_IN_URL}/oauth2/authorization",
            token_url=f"{settings.POLAR_TOKEN_URL}/v2/oauth2/token",
            credentials=self.credentials,
            scopes=(_SCOPE,),
            is_basic=True,
            user_id_field="x_user_id",
            meter=self._meter,
        )
        return PolarTokens(self, server)

    @property
    def pushes(self) -> PushProtocol:
        """As of CloudGateway."""
        return PolarPushes(
            settings.POLAR_API_URL, self.open_http, self.credentials, self._keys
        )

    def granted_scopes(self, grant: Grant) -> frozenset[str]:  # noqa: ARG002 - there is one
        """As of CloudGateway."""
        return frozenset({_SCOPE})

    def open_client(self, http: SourceHttp, grant: Grant) -> PolarClient:
        """As of CloudGateway."""
        return PolarClient(
            http=http,
            api_url=settings.POLAR_API_URL,
            access_token=grant.access_token,
        )
