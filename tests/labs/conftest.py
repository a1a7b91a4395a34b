"""What tests of labs share."""

from __future__ import annotations

import pytest


@pytest.fixture
def hl7_dir(settings, tmp_path):
    """A folder for files of HL7 that no other test has seen."""
    settings.HL7_DIR = tmp_path / "hl7"
    return settings.HL7_DIR
