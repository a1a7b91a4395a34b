"""The site's own address and the first page of a team."""

from __future__ import annotations

from django.urls import path

from portal.home import views
from portal.home.components import components

urlpatterns = [
    path("", views.landing, name="landing"),
    path("t/<slug:team_slug>/<slug:environment>/", views.home, name="home"),
    path(
        "t/<slug:team_slug>/<slug:environment>/components/",
        components,
        name="components",
    ),
]
