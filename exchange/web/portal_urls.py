"""URLs by which users share their results in the portal, mounted at /connect/."""

from __future__ import annotations

from django.urls import path

from exchange.web import portal_sharing

app_name = "sharing"
urlpatterns = [
    path("<str:session_id>/share/", portal_sharing.share_own_results, name="portal"),
    path(
        "<str:session_id>/share/<str:shared_link_id>/revoke/",
        portal_sharing.revoke_own_link,
        name="revoke",
    ),
]
