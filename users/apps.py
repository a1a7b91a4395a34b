"""The users app."""

from __future__ import annotations

from django.apps import AppConfig


class UsersConfig(AppConfig):
    """See the package docstring."""

    name = "users"
