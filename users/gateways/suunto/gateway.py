"""Gateway to Suunto: its subscription key, and how each resource is read.

Not read: files and routes of workouts, steps of ten minutes and lowest and highest
heart rates between, whose length no public document states; stress, which is one of
four words and no level; altitude; the highest oxygen of a night, which is no average.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django.conf import settings
from django.utils import timezone

from portal.lib.translation import gettext_lazy
from users.gateways import oauth
from users.gateways.applications import ClientCredentials, CredentialField
from users.gateways.base import (
    AccessExpired,
    ClientRejected,
    Grant,
    ResourceRefused,
    SourceTerms,
)
from users.gateways.cloud import CloudGateway, CloudResource
from users.gateways.suunto import records
from users.gateways.suunto.client import SuuntoClient
from users.gateways.suunto.pushes import SuuntoPushes
from users.states import SourceType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from users.gateways.base import PushProtocol
    from users.gateways.cloud import Elements, Window
    from users.gateways.http import SourceHttp

_SCOPE = "workout"
_ALL = (frozenset({_SCOPE}),)
_DAY = timedelta(days=1)
_NOBODY = Grant("none")
_SUBSCRIPTION_KEY, _NOTIFICATION_SECRET = "subscription_key", "notification_secret"


def _read_workouts(window: Window) -> Elements:
    client: SuuntoClient = window.client
    workouts = client.fetch_workouts(window.first, window.last)
    return {SourceType.WATCH: records.convert_suunto_workouts(workouts)}


def _read_sleep(window: Window) -> Elements:
    client: SuuntoClient = window.client
    # They are listed by their start, and are of the day on which they end.
    sleeps = client.fetch_samples("sleep", window.first - _DAY, window.last)
    recoveries = client.fetch_samples(
        "recovery", window.first - _DAY, window.last + _DAY
    )
    return {SourceType.WATCH: records.convert_suunto_sleeps(sleeps, recoveries)}


def _read_activity(window: Window) -> Elements:
    client: SuuntoClient = window.client
    sums = client.fetch_day_sums(window.first, window.last)
    return {SourceType.WATCH: records.convert_suunto_days(sums, window.zone)}


def _read_samples(resource: str, window: Window) -> Elements:
    client: SuuntoClient = window.client
    samples = client.fetch_samples("activity", window.first, window.last)
    return {SourceType.WATCH: records.convert_suunto_samples(resource, samples)}


def find_suunto_oauth_error(said: Mapping[str, Any]) -> object:
    """Return the error of RFC 6749; wrong credentials are `unauthorized` there."""
    error = said.get("error")
    return "invalid_client" if error == "unauthorized" else error


class SuuntoTokens(oauth.OAuthTokens):
    """OAuth at Suunto: HTTP Basic, and the user's name in the answer.

    Verified in public references on 2026-11-27 (apizone.suunto.com, How to start;
    clients of others): an access token lives for a day. A grant is ended by a GET.
    """

    def __init__(self, gateway: SuuntoGateway, server: oauth.OAuthServer) -> None:
        super().__init__(server)
        self._gateway = gateway

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway; there is one scope."""
        grant = super().connect(code=code, redirect_url=redirect_url, verifier=verifier)
        return replace(grant, scopes=(_SCOPE,))

    def revoke(self, grant: Grant) -> None:
        """As of SourceGateway; a token that ended is renewed for it."""
        if grant.expires_at and grant.expires_at <= timezone.now():
            grant = self.refresh_tokens(grant)
        asked = urlencode({"client_id": self.server.credentials.client_id})
        with self._gateway.open_http() as http:
            http.send(
                "GET",
                f"{settings.SUUNTO_TOKEN_URL}/oauth/deauthorize?{asked}",
                headers={"Authorization": f"Bearer {grant.access_token}"},
            )

    def check_credentials(self, *, redirect_url: str) -> bool:
        """As of SourceGateway: the key as well, by a call with a token of nobody."""
        if not super().check_credentials(redirect_url=redirect_url):
            return False
        today = timezone.now().date()
        with self._gateway.open_http() as http:
            client = self._gateway.open_client(http, _NOBODY)
            try:
                client.fetch_workouts(today, today)
            except ClientRejected:
                return False
            except (AccessExpired, ResourceRefused):
                return True
        return True


class SuuntoGateway(CloudGateway):
    """The SourceGateway of Suunto."""

    name = "suunto"
    cloud_resources = {
        "sleep": CloudResource(_read_sleep, _ALL, is_complete=True),
        "workouts": CloudResource(_read_workouts, _ALL, is_complete=True),
        "activity": CloudResource(_read_activity, _ALL),
        **{
            resource: CloudResource(partial(_read_samples, resource), _ALL)
            for resource in ("heartrate", "hrv", "blood_oxygen")
        },
    }
    # Ours: half a year, as of the others.
    history = timedelta(days=180)
    # Those of a subscription are not public: what its gateway refuses is waited for.
    limits = ()
    reuses_refresh_tokens = False
    # The agreement is shown to partners alone, and no summary of it was found.
    terms = SourceTerms(
        url="https://apizone.suunto.com/faq", checked_on=date(2026, 11, 27)
    )
    conditions = (
        gettext_lazy(
            "Suunto admits companies and organizations to its partner program, with an"
            " agreement. It reviews a subscription for production."
        ),
        gettext_lazy(
            "A subscription has limits of requests that Suunto does not publish."
        ),
    )
    credential_fields = (
        CredentialField(
            _SUBSCRIPTION_KEY,
            gettext_lazy("Subscription key"),
            gettext_lazy("The primary or secondary key of your subscription."),
        ),
        CredentialField(
            _NOTIFICATION_SECRET,
            gettext_lazy("Notification secret"),
            gettext_lazy(
                "The one you set beside the webhook address at Suunto. Without it,"
                " webhooks are refused and Suunto is asked every hour."
            ),
            is_required=False,
        ),
    )
    # Suunto refuses more than 28 days at once; sleep and recovery take two days more.
    window_days = 26
    # Ours: a push carries its samples, of weeks where a watch was not synced.
    push_max_bytes = 4 * 1024 * 1024

    @property
    def default_credentials(self) -> ClientCredentials:
        """As of CloudGateway."""
        return ClientCredentials(
            settings.SUUNTO_CLIENT_ID,
            settings.SUUNTO_CLIENT_SECRET,
            {
                _SUBSCRIPTION_KEY: settings.SUUNTO_SUBSCRIPTION_KEY,
                _NOTIFICATION_SECRET: settings.SUUNTO_NOTIFICATION_SECRET,
            },
        )

    @property
    def tokens(self) -> SuuntoTokens:
        """As of CloudGateway."""
        server = oauth.OAuthServer(
            authorise_url=f"{settings.SUUNTO_TOKEN_URL}/oauth/authorize",
            token_url=f"{settings.SUUNTO_TOKEN_URL}/oauth/token",
            credentials=self.credentials,
            scopes=(),
            is_basic=True,
            user_id_field="user",
            find_error=find_suunto_oauth_error,
            meter=self._meter,
        )
        return SuuntoTokens(self, server)

    @property
    def pushes(self) -> PushProtocol:
        """As of CloudGateway."""
        return SuuntoPushes(self.credentials)

    def granted_scopes(self, grant: Grant) -> frozenset[str]:  # noqa: ARG002 - there is one
        """As of CloudGateway."""
        return frozenset({_SCOPE})

    def open_client(self, http: SourceHttp, grant: Grant) -> SuuntoClient:
        """As of CloudGateway."""
        return SuuntoClient(
            http=http,
            api_url=settings.SUUNTO_API_URL,
            access_token=grant.access_token,
            key=self.credentials.more.get(_SUBSCRIPTION_KEY, ""),
        )
