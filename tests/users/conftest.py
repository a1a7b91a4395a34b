"""Cloud sources on this machine, in place of the real ones."""

from __future__ import annotations

import pytest

from tests.users.gateways.oura_server import running_oura
from users.demo.twins.dexcom import DexcomTwin
from users.demo.twins.garmin import GarminTwin
from users.demo.twins.google_health import GoogleHealthTwin
from users.demo.twins.oura import OuraTwin
from users.demo.twins.polar import PolarTwin
from users.demo.twins.rest import running_twin
from users.demo.twins.strava import StravaTwin
from users.demo.twins.suunto import SuuntoTwin
from users.demo.twins.whoop import WhoopTwin
from users.demo.twins.withings_server import running_withings
from users.gateways.sources import SOURCE_GATEWAYS


@pytest.fixture
def oura(monkeypatch, settings):
    """A server that answers as Oura does, and our application there."""
    settings.OURA_CLIENT_ID = "our-id"
    settings.OURA_CLIENT_SECRET = "our-secret"
    gateway = SOURCE_GATEWAYS["oura"]
    with running_oura() as server:
        monkeypatch.setattr(gateway, "_portal", server.portal)
        yield server


@pytest.fixture
def withings(settings):
    """The twin of Withings, and the installation's application there."""
    with running_withings() as twin:
        settings.WITHINGS_CLIENT_ID = twin.client_id
        settings.WITHINGS_CLIENT_SECRET = twin.client_secret
        settings.WITHINGS_API_URL = settings.WITHINGS_SIGN_IN_URL = twin.url
        # Our address answers; tests of pushes send to it.
        twin.sender.send = lambda _method, _push: 200
        yield twin


@pytest.fixture
def whoop(settings):
    """The twin of WHOOP, and the installation's application there."""
    twin = WhoopTwin()
    with running_twin(twin):
        settings.WHOOP_CLIENT_ID = twin.client_id
        settings.WHOOP_CLIENT_SECRET = twin.client_secret
        settings.WHOOP_API_URL = twin.url
        yield twin


@pytest.fixture
def polar(settings):
    """The twin of Polar, and the installation's application there."""
    twin = PolarTwin()
    with running_twin(twin):
        settings.POLAR_CLIENT_ID = twin.client_id
        settings.POLAR_CLIENT_SECRET = twin.client_secret
        settings.POLAR_API_URL = settings.POLAR_SIGN_IN_URL = twin.url
        settings.POLAR_TOKEN_URL = twin.url
        # Our address answers; tests of pushes send to it.
        twin.sender.send = lambda _method, _push: 200
        yield twin


@pytest.fixture
def dexcom(settings):
    """The twin of Dexcom, and the installation's application there."""
    twin = DexcomTwin()
    with running_twin(twin):
        settings.DEXCOM_CLIENT_ID = twin.client_id
        settings.DEXCOM_CLIENT_SECRET = twin.client_secret
        settings.DEXCOM_API_URL = twin.url
        yield twin


@pytest.fixture
def strava(settings):
    """The twin of Strava, and the installation's application there."""
    twin = StravaTwin()
    # Our address answers; tests of pushes send to it.
    twin.sender.send = lambda _method, _push: 200
    with running_twin(twin):
        settings.STRAVA_CLIENT_ID = twin.client_id
        settings.STRAVA_CLIENT_SECRET = twin.client_secret
        settings.STRAVA_API_URL = twin.url
        yield twin


@pytest.fixture
def garmin(settings):
    """The twin of Garmin, and the installation's application there."""
    twin = GarminTwin()
    with running_twin(twin):
        settings.GARMIN_CLIENT_ID = twin.client_id
        settings.GARMIN_CLIENT_SECRET = twin.client_secret
        settings.GARMIN_API_URL = settings.GARMIN_SIGN_IN_URL = twin.url
        settings.GARMIN_TOKEN_URL = twin.url
        # Our address answers; tests of pushes send to it.
        twin.sender.send = lambda _method, _push: 200
        yield twin


@pytest.fixture
def google_health(settings):
    """The twin of Google Health, and the installation's application there."""
    twin = GoogleHealthTwin()
    with running_twin(twin):
        settings.GOOGLE_HEALTH_CLIENT_ID = twin.client_id
        settings.GOOGLE_HEALTH_CLIENT_SECRET = twin.client_secret
        settings.GOOGLE_HEALTH_API_URL = twin.url
        settings.GOOGLE_HEALTH_SIGN_IN_URL = twin.url
        settings.GOOGLE_HEALTH_TOKEN_URL = twin.url
        yield twin


@pytest.fixture
def oura_twin(settings):
    """The twin of Oura, and the installation's application there."""
    twin = OuraTwin()
    with running_twin(twin):
        settings.OURA_CLIENT_ID = twin.client_id
        settings.OURA_CLIENT_SECRET = twin.client_secret
        settings.OURA_URL = twin.url
        yield twin


@pytest.fixture
def suunto(settings):
    """The twin of Suunto, and the installation's application there."""
    twin = SuuntoTwin()
    with running_twin(twin):
        settings.SUUNTO_CLIENT_ID = twin.client_id
        settings.SUUNTO_CLIENT_SECRET = twin.client_secret
        settings.SUUNTO_SUBSCRIPTION_KEY = twin.more["subscription_key"]
        settings.SUUNTO_NOTIFICATION_SECRET = twin.more["notification_secret"]
        settings.SUUNTO_API_URL = settings.SUUNTO_TOKEN_URL = twin.url
        yield twin
