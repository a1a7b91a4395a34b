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
        from portal.lib.registry import EncryptedTable, encrypted_tables

        self._register_erasure_rules()
        self._register_retention_rules()
        self._register_data_classes()
        encrypted_tables.add(
            "accounts.SingleSignOn", EncryptedTable(("client_secret",))
        )
        # Of allauth, through our adapter: TOTP secrets, seeds of recovery codes.
        encrypted_tables.add(
            "mfa.Authenticator",
            EncryptedTable(members={"data": ("secret", "seed", "migrated_codes")}),
        )
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
                tables=("accounts.ApiCall",),
                count=count_api_calls_before,
                remove=delete_tenant_api_calls_before,
                usual_days=max(settings.API_CALL_LOG_DAYS, 1),
                most_days=max(settings.API_CALL_LOG_DAYS, 1),
            ),
        )

    def _register_retention_rules(self) -> None:
        from portal.lib.registry import RetentionRule, register_retention_rules

        notices = RetentionRule(
            "35 days after it was recorded", "accounts.forget_notices"
        )
        stays = "permanent: proves what was done"
        key = "permanent: the audit names keys"
        team = "permanent: the audit names erased teams"
        member = "with the member's account"
        register_retention_rules(
            "accounts",
            {
                "ApiCallTally": RetentionRule("8 days", "accounts.prune_calls"),
                "CallWindow": RetentionRule("an hour", "accounts.forget_call_windows"),
                "Invitation": RetentionRule(
                    "90 days after it ended", "accounts.forget_invitations"
                ),
                "MemberSession": RetentionRule(
                    "14 days after its last use", "accounts.forget_sessions"
                ),
                "Notice": notices,
                "NoticeCopy": notices,
                "NoticeMail": notices,
                **dict.fromkeys(("AuditEntry", "AuditSeal"), stays),
                **dict.fromkeys(("ApiKey", "ManagementKey"), key),
                **dict.fromkeys(("Organisation", "Team", "Tenant"), team),
                **dict.fromkeys(("Member", "SavedView"), member),
                "Membership": "until the member leaves the team",
                "SingleSignOn": "until the team uses another provider",
                "SingleSignOnIdentity": "until the member leaves the team",
            },
        )
        register_retention_rules(
            "account", {"EmailConfirmation": "has no rows: links are signed"}
        )
        register_retention_rules("mfa", {"Authenticator": member})

    def _register_erasure_rules(self) -> None:
        from portal.lib.registry import ErasureRule, register_erasure_rules

        team = "belongs to teams and members"
        register_erasure_rules(
            "accounts",
            {
                "AuditEntry": ErasureRule(
                    ("user_uuid",), "proves who did and read what, by UUID only"
                ),
                "AuditSeal": "hashes over the audit",
                "ApiCall": ErasureRule(("user_uuid",)),
                "ApiCallTally": "counts calls of keys by the hour",
                "CallWindow": "counts calls of keys and addresses",
                **dict.fromkeys(
                    ("Notice", "NoticeChoices", "NoticeCopy", "NoticeMail"),
                    "notices name no user",
                ),
                "SavedView": "views that name the user are removed",
                **dict.fromkeys(
                    (
                        *("ApiKey", "Invitation", "ManagementKey"),
                        *("ManagementKey_teams", "Member", "MemberSession"),
                        *("Member_groups", "Member_user_permissions", "Membership"),
                        *(
                            "Organisation",
                            "RetentionRule",
                            "SignInRules",
                            "SingleSignOn",
                        ),
                        *("SingleSignOnIdentity", "Team", "Tenant"),
                    ),
                    team,
                ),
            },
        )
        for app, names in (
            ("account", ("EmailAddress", "EmailConfirmation")),
            ("auth", ("Group", "Group_permissions", "Permission")),
            ("mfa", ("Authenticator",)),
        ):
            register_erasure_rules(app, dict.fromkeys(names, team))
