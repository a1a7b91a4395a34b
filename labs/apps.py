"""The labs app."""

from __future__ import annotations

from django.apps import AppConfig


class LabsConfig(AppConfig):
    """See the package docstring."""

    name = "labs"
