"""What sweeps of all URLs share."""

from __future__ import annotations

import pytest
from django.template.backends.django import Template


@pytest.fixture
def undrawn(monkeypatch):
    """Pages are called and not drawn, those that refuse too: they are thousands."""
    monkeypatch.setattr(Template, "render", lambda *_args, **_more: "")
