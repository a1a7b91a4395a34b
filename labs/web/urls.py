"""The pages of lab testing; portal.urls says where they are mounted."""

from __future__ import annotations

from django.urls import path

from labs.web import accounts

app_name = "labs"
urlpatterns = [
    path("lab-accounts/", accounts.account_list, name="accounts"),
    path("lab-accounts/add/", accounts.add_account, name="add_account"),
    path(
        "lab-accounts/<str:account_id>/edit/",
        accounts.edit_account,
        name="edit_account",
    ),
    path(
        "lab-accounts/<str:account_id>/status/",
        accounts.account_status,
        name="account_status",
    ),
    path(
        "lab-accounts/<str:account_id>/teams/",
        accounts.account_teams,
        name="account_teams",
    ),
]
