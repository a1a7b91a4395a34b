"""Gateway to Strava: its scope, limits and how workouts are read.

Not read: streams, calories and device, which cost a call for each activity of a
thousand a day; likes, segments and other people, which are not the user's data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings

from portal.lib.translation import gettext_lazy
from users.gateways import oauth
from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    AccessExpired,
    CallLimit,
    ResourceRefused,
    SourceRefused,
    SourceTerms,
)
from users.gateways.cloud import CloudGateway, CloudResource
from users.gateways.strava.client import StravaClient
from users.gateways.strava.pushes import StravaPushes
from users.gateways.strava.records import convert_strava_activities
from users.states import SourceType
from users.states.terms import Permission, SourceUse

if TYPE_CHECKING:
    from users.gateways.base import Grant, PushProtocol
    from users.gateways.cloud import Elements, Window
    from users.gateways.http import SourceHttp

# Separated by commas there, so that it is one for us.
_SCOPE = "read,activity:read_all"
# By the resource that an error is about, the error of RFC 6749, 5.2.
_ERRORS = {
    "AuthorizationCode": "invalid_grant",
    "RefreshToken": "invalid_grant",
    "Application": "invalid_client",
}


def _read_workouts(window: Window) -> Elements:
    client: StravaClient = window.client
    activities = client.fetch_activities(window.first, window.last)
    return {SourceType.UNKNOWN: convert_strava_activities(activities)}


def find_strava_oauth_error(said: Mapping[str, Any]) -> object:
    """Return the error of RFC 6749 that Strava's {message, errors} means."""
    errors = said.get("errors")
    for each in errors if isinstance(errors, list) else ():
        if isinstance(each, dict) and each.get("resource") in _ERRORS:
            return _ERRORS[str(each["resource"])]
    return None


class StravaTokens(oauth.OAuthTokens):
    """OAuth at Strava, with the athlete's ID.

    Verified in public references on 2026-11-26 (developers.strava.com, Authentication;
    stravalib 2.6.0): an access token lives for six hours, a refresh token until its
    successor is given. The answer to a sign-in does not say what was granted.
    """

    def __init__(self, gateway: StravaGateway, server: oauth.OAuthServer) -> None:
        super().__init__(server)
        self._gateway = gateway

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway."""
        grant = super().connect(code=code, redirect_url=redirect_url, verifier=verifier)
        try:
            with self._gateway.open_http() as http:
                told = self._gateway.open_client(http, grant).fetch_athlete().get("id")
        except (AccessExpired, ResourceRefused):
            return grant
        return replace(grant, external_user_id=str(told) if told else "")

    def revoke(self, grant: Grant) -> None:
        """As of SourceGateway."""
        if self._revoke(grant) or not grant.refresh_token:
            return
        try:
            self._revoke(self.refresh_tokens(grant))
        except SourceRefused:
            return  # it is revoked already

    def _revoke(self, grant: Grant) -> bool:
        with self._gateway.open_http() as http:
            answer = http.post_form(
                f"{settings.STRAVA_API_URL}/oauth/deauthorize",
                {"access_token": grant.access_token},
            )
        return answer.is_success


class StravaGateway(CloudGateway):
    """The SourceGateway of Strava."""

    name = "strava"
    cloud_resources = {
        "workouts": CloudResource(
            _read_workouts, (frozenset({_SCOPE}),), is_complete=True
        )
    }
    # Ours: half a year, as of the others.
    history = timedelta(days=180)
    # developers.strava.com, Rate Limits, 2026-11-26: of calls that upload nothing.
    # More on request; up to 10 athletes without a review.
    limits = (CallLimit(calls=100, seconds=900), CallLimit(calls=1000, seconds=86_400))
    reuses_refresh_tokens = False
    proven_by = "stravalib 2.6.0"
    # API Policy of 1 June 2026, sections 5.3 to 5.5, as quoted in Strava's developer
    # forum and by its answer there, 2026-11-26: no AI, whether trained or asked, a
    # cache of seven days, and data shown to its athlete alone. API Agreement: brand
    # guidelines.
    terms = SourceTerms(
        url="https://www.strava.com/legal/api",
        checked_on=date(2026, 11, 26),
        effective_on=date(2026, 6, 1),
        permissions={
            SourceUse.STORING: Permission.FORBIDDEN,
            SourceUse.SHARING: Permission.FORBIDDEN,
            SourceUse.ASSISTANTS: Permission.FORBIDDEN,
            SourceUse.TRAINING: Permission.FORBIDDEN,
        },
        must_be_named=True,
    )
    conditions = (
        gettext_lazy(
            "Strava lets 10 athletes connect until it has reviewed the application, and"
            " asks its owner for a subscription."
        ),
        gettext_lazy(
            "All athletes share 100 requests in 15 minutes and 1,000 a day. An"
            " application has one webhook subscription."
        ),
    )
    # Ours: three calls for half a year of who trains twice a day.
    window_days = 90

    @property
    def default_credentials(self) -> ClientCredentials:
        """As of CloudGateway."""
        return ClientCredentials(
            settings.STRAVA_CLIENT_ID, settings.STRAVA_CLIENT_SECRET
        )

    @property
    def tokens(self) -> StravaTokens:
        """As of CloudGateway."""
        server = oauth.OAuthServer(
            authorise_url=f"{settings.STRAVA_API_URL}/oauth/authorize",
            token_url=f"{settings.STRAVA_API_URL}/oauth/token",
            credentials=self.credentials,
            scopes=(_SCOPE,),
            find_error=find_strava_oauth_error,
            meter=self._meter,
        )
        return StravaTokens(self, server)

    @property
    def pushes(self) -> PushProtocol:
        """As of CloudGateway."""
        return StravaPushes(
            settings.STRAVA_API_URL, self.open_http, self.credentials, self._keys
        )

    def granted_scopes(self, grant: Grant) -> frozenset[str]:  # noqa: ARG002 - it is not said
        """As of CloudGateway."""
        return frozenset({_SCOPE})

    def open_client(self, http: SourceHttp, grant: Grant) -> StravaClient:
        """As of CloudGateway."""
        return StravaClient(
            http=http,
            api_url=settings.STRAVA_API_URL,
            access_token=grant.access_token,
        )
