"""Route sign-in, sign-out, password reset, addresses and invitations.

Only these of allauth's pages are served: members neither sign up nor keep several
addresses. The names are allauth's, which looks them up.
"""

from __future__ import annotations

from allauth.account import views
from allauth.mfa.base import views as second_factors
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as authenticator_app
from django.conf import settings
from django.urls import path, re_path

from accounts.web.members import invitations
from accounts.web.settings.team_deletion import deleted_teams_page
from accounts.web.sign_in import addresses, single_sign_on
from accounts.web.sign_in.passkeys import (
    AddPasskey,
    ConfirmWithPasskey,
    RemovePasskey,
    RenamePasskey,
    SignInWithPasskey,
)
from accounts.web.sign_in.password_reset import SetPassword
from accounts.web.sign_in.second_factor import (
    ActivateAuthenticatorApp,
    AskSecondFactor,
    ListSecondFactors,
    ShowRecoveryCodes,
)

urlpatterns = [
    path("invitation/", invitations.accept_invitation_page, name="invitation"),
    re_path(
        r"^invitation/(?P<token>[A-Za-z0-9_-]{43})/$",
        invitations.open_invitation_link,
        name="invitation_link",
    ),
    re_path(
        r"^invitation/(?P<token>[A-Za-z0-9_-]{43})/(?P<key>[0-9a-f]{64})/$",
        invitations.open_invitation_link,
        name="mailed_invitation_link",
    ),
    path("accounts/login/", views.login, name="account_login"),
    path("accounts/deleted-teams/", deleted_teams_page, name="deleted_teams"),
    path("accounts/logout/", views.logout, name="account_logout"),
    path("accounts/signup/", views.signup, name="account_signup"),
    path("accounts/inactive/", views.account_inactive, name="account_inactive"),
    path("accounts/confirm/", views.reauthenticate, name="account_reauthenticate"),
    path(
        "accounts/password/reset/",
        views.password_reset,
        name="account_reset_password",
    ),
    path(
        "accounts/password/reset/sent/",
        views.PasswordResetDoneView.as_view(
            extra_context={"sends_mail": lambda: bool(settings.EMAIL_URL)}
        ),
        name="account_reset_password_done",
    ),
    re_path(
        r"^accounts/password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[-\w]+)/$",
        SetPassword.as_view(),
        name="account_reset_password_from_key",
    ),
    path(
        "accounts/password/reset/done/",
        views.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    path(
        "accounts/address/",
        addresses.show_address_confirmation_page,
        name="confirm_address",
    ),
    path(
        "accounts/address/change/",
        addresses.change_email_address_page,
        name="change_address",
    ),
    re_path(
        r"^accounts/address/(?P<token>[A-Za-z0-9_-]{40,2000})/$",
        addresses.confirm_address_from_mailed_link,
        name="address_link",
    ),
    path(
        "accounts/single-sign-on/",
        single_sign_on.choose_single_sign_on_team,
        name="single_sign_on_choose",
    ),
    path(
        "accounts/single-sign-on/<slug:team_slug>/",
        single_sign_on.show_single_sign_on_page,
        name="single_sign_on",
    ),
    path(
        "accounts/single-sign-on/<slug:team_slug>/go/",
        single_sign_on.redirect_to_sign_in_provider,
        name="single_sign_on_go",
    ),
    path(
        "accounts/single-sign-on/<slug:team_slug>/back/",
        single_sign_on.handle_sign_in_provider_return,
        name="single_sign_on_back",
    ),
    path(
        "accounts/confirm/single-sign-on/",
        single_sign_on.confirm_identity_at_provider,
        name="single_sign_on_confirm",
    ),
    path("accounts/second-factor/", ListSecondFactors.as_view(), name="mfa_index"),
    path(
        "accounts/second-factor/code/",
        AskSecondFactor.as_view(),
        name="mfa_authenticate",
    ),
    path(
        "accounts/second-factor/confirm/",
        second_factors.reauthenticate,
        name="mfa_reauthenticate",
    ),
    path(
        "accounts/second-factor/app/",
        ActivateAuthenticatorApp.as_view(),
        name="mfa_activate_totp",
    ),
    path(
        "accounts/second-factor/app/remove/",
        authenticator_app.deactivate_totp,
        name="mfa_deactivate_totp",
    ),
    path(
        "accounts/second-factor/recovery-codes/",
        ShowRecoveryCodes.as_view(),
        name="mfa_view_recovery_codes",
    ),
    path(
        "accounts/second-factor/recovery-codes/new/",
        recovery_codes.generate_recovery_codes,
        name="mfa_generate_recovery_codes",
    ),
    path("accounts/passkeys/add/", AddPasskey.as_view(), name="mfa_add_webauthn"),
    path(
        "accounts/passkeys/sign-in/",
        SignInWithPasskey.as_view(),
        name="mfa_login_webauthn",
    ),
    path(
        "accounts/passkeys/confirm/",
        ConfirmWithPasskey.as_view(),
        name="mfa_reauthenticate_webauthn",
    ),
    path(
        "accounts/passkeys/<int:pk>/rename/",
        RenamePasskey.as_view(),
        name="mfa_edit_webauthn",
    ),
    path(
        "accounts/passkeys/<int:pk>/remove/",
        RemovePasskey.as_view(),
        name="mfa_remove_webauthn",
    ),
]
