"""Sign-in, sign-out, password reset and re-authentication.

Only these of allauth's pages are served: members neither sign up nor keep several
addresses. The names are allauth's, which looks them up.
"""

from __future__ import annotations

from allauth.account import views
from django.urls import path, re_path

urlpatterns = [
    path("accounts/login/", views.login, name="account_login"),
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
        views.password_reset_done,
        name="account_reset_password_done",
    ),
    re_path(
        r"^accounts/password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[-\w]+)/$",
        views.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path(
        "accounts/password/reset/done/",
        views.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
]
