"""What tests of labs share."""

from __future__ import annotations

import pytest

from labs.gateways.patient_messages import twilio
from tests.labs.gateways.twilio_server import running_twilio


@pytest.fixture
def hl7_dir(settings, tmp_path):
    """A folder for files of HL7 that no other test has seen."""
    settings.HL7_DIR = tmp_path / "hl7"
    return settings.HL7_DIR


@pytest.fixture
def twilio_server(monkeypatch):
    """Twilio on this machine, which every account of the test calls."""
    with running_twilio() as server:
        monkeypatch.setattr(twilio, "API_URL", server.url)
        yield server
