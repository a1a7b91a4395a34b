"""The exchange app."""

from __future__ import annotations

from django.apps import AppConfig


class ExchangeConfig(AppConfig):
    """See the package docstring."""

    name = "exchange"
