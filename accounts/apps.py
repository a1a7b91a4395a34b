"""Configure the accounts app: teams, members, keys and audit."""

from __future__ import annotations

from django.apps import AppConfig

from portal.lib.translation import gettext_lazy


class AccountsConfig(AppConfig):
    """Teams and what belongs to them; the lowest app."""

    name = "accounts"

    def ready(self) -> None:
        """Register the data rules and the sign-in signals of the app."""
        from allauth.account.signals import password_reset
        from allauth.mfa import signals as second_factors
        from django.contrib.auth.signals import user_logged_in, user_logged_out

        from accounts.web.sign_in.addresses import confirm_address_after_password_reset
        from accounts.web.sign_in.second_factor import (
            record_recovery_codes_renewed,
            record_second_factor_added,
            record_second_factor_removed,
            record_wrong_second_factor_code,
        )
        from accounts.web.sign_in.sessions import (
            delete_session_record_on_sign_out,
            record_session_on_sign_in,
        )

        self._register_data_classes()
        user_logged_in.connect(
            record_session_on_sign_in, dispatch_uid="accounts.sessions"
        )
        user_logged_out.connect(
            delete_session_record_on_sign_out, dispatch_uid="accounts.sessions"
        )
        password_reset.connect(
            confirm_address_after_password_reset, dispatch_uid="accounts.addresses"
        )
        for signal, hear in (
            (second_factors.authenticator_added, record_second_factor_added),
            (second_factors.authenticator_removed, record_second_factor_removed),
            (second_factors.authenticator_reset, record_recovery_codes_renewed),
            (second_factors.authentication_failed, record_wrong_second_factor_code),
        ):
            signal.connect(hear, dispatch_uid="accounts.second_factors")

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
