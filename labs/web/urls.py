"""The pages of lab testing; portal.urls says where they are mounted."""

from __future__ import annotations

from django.urls import path

from labs.web import accounts, catalogue, orders

app_name = "labs"
urlpatterns = [
    path("orders/", orders.order_list, name="orders"),
    path("orders/file/", orders.order_file, name="order_file"),
    path("users/<str:user_id>/orders/", orders.user_orders, name="of_user"),
    path("lab-tests/", catalogue.test_list, name="tests"),
    path("lab-tests/markers/", catalogue.marker_list, name="markers"),
    path("lab-tests/<str:lab_test_id>/archive/", catalogue.archive, name="archive"),
    path(
        "lab-tests/<str:lab_test_id>/unarchive/", catalogue.unarchive, name="unarchive"
    ),
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
