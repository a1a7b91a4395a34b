"""The reports app."""

from __future__ import annotations

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """See the package docstring."""

    name = "reports"
