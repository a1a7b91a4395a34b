"""Cloud sources on this machine, in place of the real ones."""

from __future__ import annotations

import pytest

from tests.users.gateways.oura_server import running_oura
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
