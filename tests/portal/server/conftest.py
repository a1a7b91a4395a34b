from __future__ import annotations

import pytest

from portal.server import answers


@pytest.fixture(autouse=True)
def _refusals_at_once(monkeypatch):
    """No test waits for a refusal; one says that they are held."""
    monkeypatch.setattr(answers, "HELD_S", 0)
