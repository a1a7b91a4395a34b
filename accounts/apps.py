"""The accounts app: teams, members, keys, audit."""

from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Teams and what belongs to them; the lowest app."""

    name = "accounts"
