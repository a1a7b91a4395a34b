"""Gateway to WHOOP: its scopes, limits and how each resource is read.

Not read: cycles and their strain, which go from sleep to sleep and are no days; weight
and the highest heart rate, which have no date; email and name, which nothing needs.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.conf import settings

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
from users.gateways.whoop import records
from users.gateways.whoop.client import WhoopClient
from users.gateways.whoop.pushes import WhoopPushes
from users.states import SourceType
from users.states.terms import Permission, SourceUse

if TYPE_CHECKING:
    from users.gateways.base import Grant, PushProtocol
    from users.gateways.cloud import Elements, Window
    from users.gateways.http import SourceHttp
    from users.gateways.whoop.client import Record

# Without it no refresh token is given, and each refresh asks for it again.
_OFFLINE = "offline"
_PROFILE = "read:profile"
_SLEEP, _RECOVERY, _WORKOUT = "read:sleep", "read:recovery", "read:workout"
_BODY = "read:body_measurement"
SCOPES = (_OFFLINE, _PROFILE, _SLEEP, _RECOVERY, _WORKOUT, _BODY)


def _read_profile(window: Window) -> Elements:
    measured = window.client.fetch_document("user/measurement/body")
    return {SourceType.APP: records.convert_whoop_profile(measured)}


def _read_sleep(window: Window) -> Elements:
    sleeps = _fetch(window, "activity/sleep")
    recoveries = _fetch(window, "recovery") if _RECOVERY in window.scopes else []
    return {SourceType.UNKNOWN: records.convert_whoop_sleeps(sleeps, recoveries)}


def _read_workouts(window: Window) -> Elements:
    workouts = _fetch(window, "activity/workout")
    return {SourceType.UNKNOWN: records.convert_whoop_workouts(workouts)}


def _fetch(window: Window, name: str) -> list[Record]:
    """Return records; one whose values are being computed leaves them unsettled."""
    client: WhoopClient = window.client
    found = client.fetch_records(name, window.first, window.last)
    if any(each.get("score_state") == records.PENDING for each in found):
        window.unsettled.append(name)
    return found


class WhoopTokens(oauth.OAuthTokens):
    """OAuth at WHOOP, with the user's ID; a grant is taken back by a call for data.

    Verified in public references on 2026-11-24 (developer.whoop.com, OAuth 2.0; User,
    revokeUserOAuthAccess): an access token lives for an hour, a refresh token works
    once, and is given for the scope `offline` alone.
    """

    def __init__(self, gateway: WhoopGateway, server: oauth.OAuthServer) -> None:
        super().__init__(server)
        self._gateway = gateway

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway."""
        grant = super().connect(code=code, redirect_url=redirect_url, verifier=verifier)
        try:
            with self._gateway.open_http() as http:
                client = self._gateway.open_client(http, grant)
                told = client.fetch_document("user/profile/basic").get("user_id")
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
            answer = http.send(
                "DELETE",
                f"{settings.WHOOP_API_URL}/developer/v2/user/access",
                headers={"Authorization": f"Bearer {grant.access_token}"},
            )
        return answer.is_success


class WhoopGateway(CloudGateway):
    """The SourceGateway of WHOOP."""

    name = "whoop_v2"
    cloud_resources = {
        "profile": CloudResource(_read_profile, (frozenset({_BODY}),), is_dated=False),
        "sleep": CloudResource(_read_sleep, (frozenset({_SLEEP}),), is_complete=True),
        "workouts": CloudResource(
            _read_workouts, (frozenset({_WORKOUT}),), is_complete=True
        ),
    }
    # Ours: half a year, as of Oura.
    history = timedelta(days=180)
    # developer.whoop.com, API Rate Limiting, 2026-11-24; more on request.
    limits = (CallLimit(calls=100, seconds=60), CallLimit(calls=10_000, seconds=86_400))
    reuses_refresh_tokens = False
    proven_by = "whoop-client 0.1.0"
    # Sections 3 and 4, as summarized by public projects that cite them, 2026-11-24:
    # no permanent copies, no AI trained or tested, third parties by opt-in alone.
    terms = SourceTerms(
        url="https://developer.whoop.com/api-terms-of-use/",
        checked_on=date(2026, 11, 24),
        effective_on=date(2026, 10, 6),
        permissions={
            SourceUse.STORING: Permission.FORBIDDEN,
            SourceUse.SHARING: Permission.WITH_CONSENT,
            SourceUse.ASSISTANTS: Permission.WITH_CONSENT,
            SourceUse.TRAINING: Permission.FORBIDDEN,
        },
    )
    # Ours: some three pages of sleeps and naps.
    window_days = 45

    @property
    def default_credentials(self) -> ClientCredentials:
        """As of CloudGateway."""
        return ClientCredentials(settings.WHOOP_CLIENT_ID, settings.WHOOP_CLIENT_SECRET)

    @property
    def tokens(self) -> WhoopTokens:
        """As of CloudGateway."""
        server = oauth.OAuthServer(
            authorise_url=f"{settings.WHOOP_API_URL}/oauth/oauth2/auth",
            token_url=f"{settings.WHOOP_API_URL}/oauth/oauth2/token",
            credentials=self.credentials,
            scopes=SCOPES,
            refresh_scope=_OFFLINE,
            meter=self._meter,
        )
        return WhoopTokens(self, server)

    @property
    def pushes(self) -> PushProtocol:
        """As of CloudGateway."""
        return WhoopPushes(self.credentials)

    def granted_scopes(self, grant: Grant) -> frozenset[str]:
        """As of CloudGateway; all, where WHOOP did not say what was granted."""
        return frozenset(grant.scopes or SCOPES)

    def open_client(self, http: SourceHttp, grant: Grant) -> WhoopClient:
        """As of CloudGateway."""
        return WhoopClient(
            http=http,
            api_url=settings.WHOOP_API_URL,
            access_token=grant.access_token,
        )
