"""Configure the accounts app: teams, members, keys and audit."""

from __future__ import annotations

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Teams and what belongs to them; the lowest app."""

    name = "accounts"

    def ready(self) -> None:
        """Connect what happens at sign-in, sign-out and changes of a second factor."""
        from accounts.web.sign_in.signals import connect_sign_in_signals

        connect_sign_in_signals()
