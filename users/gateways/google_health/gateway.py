"""Gateway to Google Health: Fitbit, Pixel Watch and what else a user has there.

Not read: active zone minutes, activity levels, altitude, nutrition, hydration, swim
lengths, electrocardiograms, symptoms, menstruation; daily oxygen, breathing and heart
rate variability, of which the samples are read where there are some.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from django.conf import settings

from portal.lib.translation import gettext_lazy
from users.gateways import oauth
from users.gateways.applications import ClientCredentials
from users.gateways.base import (
    AccessExpired,
    CallLimit,
    ResourceRefused,
    SourceTerms,
)
from users.gateways.cloud import CloudGateway, CloudResource
from users.gateways.google_health import points
from users.gateways.google_health.client import GoogleHealthClient
from users.gateways.google_health.pushes import GoogleHealthPushes
from users.states import SourceType
from users.states.terms import Permission, SourceUse

if TYPE_CHECKING:
    from users.gateways.base import Grant, PushProtocol
    from users.gateways.cloud import Elements, Window
    from users.gateways.http import SourceHttp

_PREFIX = "https://www.googleapis.com/auth/googlehealth."
_ACTIVITY = f"{_PREFIX}activity_and_fitness.readonly"
_METRICS = f"{_PREFIX}health_metrics_and_measurements.readonly"
_SLEEP = f"{_PREFIX}sleep.readonly"
SCOPES = (_ACTIVITY, _METRICS, _SLEEP)
_SUMS = ("steps", "distance", "floors", "active-energy-burned", "total-calories")
_PHYSICAL, _STARTS = "sample_time.physical_time", "interval.start_time"


def _merged(elements: list[dict[str, object]]) -> Elements:
    """Return what Google merged of all of a user's sources, none of which it names."""
    return {SourceType.MULTIPLE_SOURCES: elements}


def _samples(kind: str, key: str, field: str, scale: float = 1) -> CloudResource:
    is_rare = kind in ("weight", "body-fat")

    def read(window: Window) -> Elements:
        client: GoogleHealthClient = window.client
        found = client.reconcile(kind, _PHYSICAL, window.first, window.last)
        return _merged(points.convert_google_samples(found, key, field, scale))

    return CloudResource(read, (frozenset({_METRICS}),), is_complete=is_rare)


def _intervals(kind: str, key: str, field: str, scale: float = 1) -> CloudResource:
    def read(window: Window) -> Elements:
        client: GoogleHealthClient = window.client
        found = client.reconcile(kind, _STARTS, window.first, window.last)
        return _merged(points.convert_google_intervals(found, key, field, scale))

    return CloudResource(read, (frozenset({_ACTIVITY}),))


def _read_activity(window: Window) -> Elements:
    client: GoogleHealthClient = window.client
    sums = {kind: client.sum_days(kind, window.first, window.last) for kind in _SUMS}
    resting = []
    if _METRICS in window.scopes:
        resting = client.reconcile(
            "daily-resting-heart-rate", "date", window.first, window.last
        )
    return _merged(points.convert_google_days(sums, resting))


def _sleeps(
    convert: Callable[[list[dict[str, object]]], list[dict[str, object]]],
) -> Callable[[Window], Elements]:
    def read(window: Window) -> Elements:
        client: GoogleHealthClient = window.client
        found = client.reconcile(
            "sleep", "interval.end_time", window.first, window.last
        )
        if not all(points.is_google_sleep_processed(each) for each in found):
            window.unsettled.append("sleep")
        return _merged(convert(found))

    return read


def _read_workouts(window: Window) -> Elements:
    client: GoogleHealthClient = window.client
    found = client.reconcile(
        "exercise", "interval.civil_start_time", window.first, window.last
    )
    return _merged(points.convert_google_exercises(found))


class GoogleHealthTokens(oauth.OAuthTokens):
    """OAuth at Google, with the user's ID of their health data."""

    def __init__(self, gateway: GoogleHealthGateway, server: oauth.OAuthServer) -> None:
        super().__init__(server)
        self._gateway = gateway

    def connect(self, *, code: str, redirect_url: str, verifier: str) -> Grant:
        """As of SourceGateway."""
        grant = super().connect(code=code, redirect_url=redirect_url, verifier=verifier)
        try:
            with self._gateway.open_http() as http:
                user_id = self._gateway.open_client(http, grant).fetch_user_id()
        except (AccessExpired, ResourceRefused):
            return grant
        return replace(grant, external_user_id=user_id)


class GoogleHealthGateway(CloudGateway):
    """The SourceGateway of Google Health."""

    name = "google_health"
    cloud_resources = {
        "sleep": CloudResource(
            _sleeps(points.convert_google_sleeps),
            (frozenset({_SLEEP}),),
            is_complete=True,
        ),
        "sleep_cycle": CloudResource(
            _sleeps(points.convert_google_stages),
            (frozenset({_SLEEP}),),
            is_complete=True,
        ),
        "activity": CloudResource(
            _read_activity, (frozenset({_ACTIVITY}),), is_complete=True
        ),
        "workouts": CloudResource(
            _read_workouts, (frozenset({_ACTIVITY}),), is_complete=True
        ),
        "weight": _samples("weight", "weight", "weightGrams", 1000),
        "fat": _samples("body-fat", "bodyFat", "percentage"),
        "hrv": _samples(
            "heart-rate-variability",
            "heartRateVariability",
            "rootMeanSquareOfSuccessiveDifferencesMilliseconds",
        ),
        "blood_oxygen": _samples("oxygen-saturation", "oxygenSaturation", "percentage"),
        "steps": _intervals("steps", "steps", "count"),
        "distance": _intervals("distance", "distance", "millimeters", 1000),
        "calories_active": _intervals(
            "active-energy-burned", "activeEnergyBurned", "kcal"
        ),
        "heartrate": _samples("heart-rate", "heartRate", "beatsPerMinute"),
    }
    # Ours: half a year, as of the others.
    history = timedelta(days=180)
    # developers.google.com/health/rate-limits, 2026-11-26: 300 a minute of each user,
    # of an application that is not verified 2.5 a second. Ours: the lower, less what a
    # sign-in takes, which is of no user yet.
    limits = (
        CallLimit(calls=120_000, seconds=60),
        CallLimit(calls=145, seconds=60, is_per_user=True),
    )
    # What its verification expects; of other messages any success counts.
    push_status = 201
    reuses_refresh_tokens = True
    proven_by = "google-api-python-client 2.202.0"
    # Of the terms for health data no summary was found; they are unread.
    terms = SourceTerms(
        url="https://developers.google.com/health",
        checked_on=date(2026, 11, 26),
        permissions={SourceUse.STORING: Permission.UNKNOWN},
    )
    conditions = (
        gettext_lazy(
            "At most 100 users can connect until Google has verified your application."
        ),
        gettext_lazy(
            "For webhooks, create a subscriber in your Google Cloud project with the"
            " webhook address. Its authorization secret is the word Bearer, a space and"
            " the last part of the address, without its slash."
        ),
    )
    # Google sums total calories of no more days at once.
    window_days = 14

    @property
    def default_credentials(self) -> ClientCredentials:
        """As of CloudGateway."""
        return ClientCredentials(
            settings.GOOGLE_HEALTH_CLIENT_ID, settings.GOOGLE_HEALTH_CLIENT_SECRET
        )

    @property
    def tokens(self) -> GoogleHealthTokens:
        """As of CloudGateway: a refresh token needs offline access.

        And consent each time, as Google gives it the first time alone.
        """
        server = oauth.OAuthServer(
            authorise_url=f"{settings.GOOGLE_HEALTH_SIGN_IN_URL}/o/oauth2/v2/auth",
            token_url=f"{settings.GOOGLE_HEALTH_TOKEN_URL}/token",
            revoke_url=f"{settings.GOOGLE_HEALTH_TOKEN_URL}/revoke",
            credentials=self.credentials,
            scopes=SCOPES,
            sign_in_fields={"access_type": "offline", "prompt": "consent"},
            meter=self._meter,
        )
        return GoogleHealthTokens(self, server)

    @property
    def pushes(self) -> PushProtocol:
        """As of CloudGateway."""
        return GoogleHealthPushes()

    def granted_scopes(self, grant: Grant) -> frozenset[str]:
        """As of CloudGateway; all, where Google did not say what was granted."""
        return frozenset(grant.scopes or SCOPES)

    def open_client(self, http: SourceHttp, grant: Grant) -> GoogleHealthClient:
        """As of CloudGateway."""
        return GoogleHealthClient(
            http=http,
            api_url=settings.GOOGLE_HEALTH_API_URL,
            access_token=grant.access_token,
        )
