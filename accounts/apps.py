"""Configure the accounts app: teams, members, keys and audit."""

from __future__ import annotations

from django.apps import AppConfig

from portal.lib.translation import gettext_lazy


class AccountsConfig(AppConfig):
    """Teams and what belongs to them; the lowest app."""

    name = "accounts"

    def ready(self) -> None:
        """Register the data rules and the sign-in signals of the app."""
        from accounts.web.sign_in.signals import connect_sign_in_signals

        self._register_data_classes()
        connect_sign_in_signals()

    def _register_data_classes(self) -> None:
        from django.conf import settings

        from accounts.operations.api_keys.call_log import (
            count_api_calls_before,
            delete_tenant_api_calls_before,
        )
        from portal.lib.registry import DataClass, data_classes

        data_classes.add(
            "api_calls",
            DataClass(
                rank=15,
                title=gettext_lazy("API call log"),
                says=gettext_lazy(
                    "Which key called what and when. Responses are not stored."
                ),
                count=count_api_calls_before,
                remove=delete_tenant_api_calls_before,
                usual_days=max(settings.API_CALL_LOG_DAYS, 1),
                most_days=max(settings.API_CALL_LOG_DAYS, 1),
            ),
        )
