"""Gateway to Garmin: it sends what users measured, and can't be asked for it.

Not read: Body Battery, Move IQ, health snapshots, activity details (their files are
read instead) and menstrual cycles, whose fields no public document gives; averages of
seven days.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import orjson
from django.conf import settings

from portal.lib.periods import find_time_zone_by_name
from portal.lib.translation import gettext_lazy
from users.gateways import oauth
from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    CallLimit,
    PulledPage,
    SourceRefused,
    SourceTerms,
)
from users.gateways.cloud import CloudGateway, CloudResource
from users.gateways.garmin.client import GarminClient
from users.gateways.garmin.pushes import FILES, PUSH_MAX_BYTES, GarminPushes
from users.gateways.garmin.sessions import make_garmin_recording
from users.gateways.garmin.summaries import KINDS, read_garmin_summaries
from users.states.terms import Permission, SourceUse

if TYPE_CHECKING:
    from users.gateways.base import Grant, PushProtocol
    from users.gateways.cloud import Elements, Window
    from users.gateways.http import SourceHttp
    from users.models import User

_HEALTH, _ACTIVITY = "HEALTH_EXPORT", "ACTIVITY_EXPORT"
_HISTORY = "HISTORICAL_DATA_EXPORT"
_OF_ACTIVITIES = ("workouts", "workout_stream")
# Under another name where the past is asked for.
_BACKFILLED = {"allDayRespiration": "respiration", "pulseox": "pulseOx"}
# It has no request of its own: it comes with the activities.
_NOT_BACKFILLED = frozenset({FILES, "manuallyUpdatedActivities"})
# What one request may span of activities; of the others 90, but an evaluation key has
# 100 days a minute.
_REQUESTED = timedelta(days=30)


def _read_nothing(_window: Window) -> Elements:
    return {}


class GarminTokens(oauth.OAuthTokens):
    """OAuth at Garmin: PKCE, no scopes; permissions and the user's ID are asked for.

    As of garmin.client: an access token lives for a day, a refresh token for some 90
    days, and each refresh gives another.
    """

    def __init__(self, gateway: GarminGateway, server: oauth.OAuthServer) -> None:
        super().__init__(server)
        self._gateway = gateway

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway."""
        grant = super().connect(code=code, redirect_url=redirect_url, verifier=verifier)
        with self._gateway.open_http() as http:
            client = self._gateway.open_client(http, grant)
            user_id = client.fetch_user_id()
            permissions = client.fetch_permissions()
        return replace(grant, external_user_id=user_id, scopes=permissions)

    def refresh_tokens(self, grant: Grant) -> Grant:
        """As of SourceGateway; what a token is for stays what the user allows."""
        return replace(super().refresh_tokens(grant), scopes=grant.scopes)

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
            return self._gateway.open_client(http, grant).delete_registration()


class GarminGateway(CloudGateway):
    """The SourceGateway of Garmin."""

    name = "garmin"
    cloud_resources = {
        resource: CloudResource(
            _read_nothing,
            (frozenset({_ACTIVITY if resource in _OF_ACTIVITIES else _HEALTH}),),
        )
        for resource in KINDS
    }
    is_push_only = True
    push_max_bytes = PUSH_MAX_BYTES
    # Ours: half a year, as of the others; Garmin says how much of it there is.
    history = timedelta(days=180)
    # Of days of past data: a production key's. An evaluation key has 100, and says 429.
    limits = (CallLimit(calls=10_000, seconds=60, counts_days=True),)
    reuses_refresh_tokens = False
    proven_by = "django-garmin 0.1.1"
    # API brand guidelines, as cited by public projects (attribution beside the data).
    # Of the license agreement no public copy was found.
    terms = SourceTerms(
        url="https://developer.garmin.com/gc-developer-program/",
        checked_on=date(2026, 11, 26),
        permissions={SourceUse.STORING: Permission.UNKNOWN},
        must_be_named=True,
    )
    conditions = (
        gettext_lazy(
            "Garmin approves companies only, after a review of your integration. As of"
            " August 2026 it was reported to accept no new applications."
        ),
        gettext_lazy(
            "Enter the webhook address at apis.garmin.com/tools/endpoints for each kind"
            " of data, for deregistrations and for user permissions. Push and ping both"
            " work; choose ping for activity files. Leave activity details off."
        ),
        gettext_lazy(
            "Garmin sends data and cannot be asked for it, so completeness cannot be"
            " proven. Past data is sent only if the user allows it, and may go back no"
            " further than a month."
        ),
    )
    window_days = 30

    @property
    def default_credentials(self) -> ClientCredentials:
        """As of CloudGateway."""
        return ClientCredentials(
            settings.GARMIN_CLIENT_ID, settings.GARMIN_CLIENT_SECRET
        )

    @property
    def tokens(self) -> GarminTokens:
        """As of CloudGateway."""
        server = oauth.OAuthServer(
            authorise_url=f"{settings.GARMIN_SIGN_IN_URL}/oauth2Confirm",
            token_url=f"{settings.GARMIN_TOKEN_URL}/di-oauth2-service/oauth/token",
            credentials=self.credentials,
            scopes=(),
            meter=self._meter,
        )
        return GarminTokens(self, server)

    @property
    def pushes(self) -> PushProtocol:
        """As of CloudGateway."""
        return GarminPushes(self.credentials)

    @property
    def all_scopes(self) -> tuple[str, ...]:
        """As of CloudGateway, with the permission to ask for past data."""
        return (*super().all_scopes, _HISTORY)

    def granted_scopes(self, grant: Grant) -> frozenset[str]:
        """As of CloudGateway."""
        return frozenset(grant.scopes)

    def find_granted_scopes(self, grant: Grant) -> tuple[str, ...]:
        """As of SourceGateway."""
        with self.open_http(grant.external_user_id) as http:
            return self.open_client(http, grant).fetch_permissions()

    def open_client(self, http: SourceHttp, grant: Grant) -> GarminClient:
        """As of CloudGateway."""
        return GarminClient(
            http=http,
            api_url=settings.GARMIN_API_URL,
            access_token=grant.access_token,
        )

    def request_history(
        self, resource: str, since: datetime, until: datetime, grant: Grant
    ) -> None:
        """As of CloudGateway: the newest first, until Garmin gives no more.

        Kinds that several resources are made of are asked for once: the second time
        Garmin says so.
        """
        if _HISTORY not in grant.scopes:
            return
        with self.open_http(grant.external_user_id) as http:
            client = self.open_client(http, grant)
            for kind in KINDS[resource]:
                if kind in _NOT_BACKFILLED:
                    continue
                name, last = _BACKFILLED.get(kind, kind), until
                while last > since:
                    first = max(since, last - _REQUESTED)
                    if not client.request_backfill(name, first, last):
                        break
                    last = first

    def fetch_pushed(self, content: bytes, *, grant: Grant) -> bytes:
        """As of SourceGateway: call a ping's address."""
        said = orjson.loads(content)
        ping = said.get("ping")
        if ping is None:
            return content
        with self.open_http(grant.external_user_id) as http:
            client = self.open_client(http, grant)
            if said["kind"] == FILES:
                file = client.fetch_file(ping["callbackURL"])
                items = [make_garmin_recording(ping, file)]
            else:
                items = client.fetch_summaries(ping["callbackURL"])
        return orjson.dumps({"kind": said["kind"], "items": items})

    def read_pushed(self, user: User, resource: str, content: bytes) -> PulledPage:
        """As of SourceGateway."""
        said = orjson.loads(content)
        zone = find_time_zone_by_name(user.fallback_time_zone or "UTC")
        return PulledPage(
            read_garmin_summaries(resource, said["kind"], said["items"], zone)
        )
