"""URLs of the exchange pages, mounted by portal.urls."""

from __future__ import annotations

from django.urls import path

from exchange.web import shared_links

app_name = "exchange"
urlpatterns = [
    path(
        "users/<str:user_id>/shared-links/",
        shared_links.show_shared_links,
        name="shared_links",
    ),
    path(
        "users/<str:user_id>/shared-links/<str:shared_link_id>/revoke/",
        shared_links.revoke_users_shared_link,
        name="revoke_shared_link",
    ),
]
