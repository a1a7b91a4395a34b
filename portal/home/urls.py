"""The site's own address, and the pages of a team that look at several apps."""

from __future__ import annotations

from django.urls import include, path

from portal.home import demo_data, views
from portal.home.components import components

urlpatterns = [
    path("", views.landing, name="landing"),
    path(
        "t/<slug:team_slug>/<slug:environment>/",
        include(
            [
                path("", views.home, name="home"),
                path("search/", views.search, name="search"),
                path("demo-data/", demo_data.demo_page, name="demo_data"),
                path("demo-data/load/", demo_data.load_demo, name="load_demo_data"),
                path(
                    "demo-data/remove/", demo_data.remove_demo, name="remove_demo_data"
                ),
                path("components/", components, name="components"),
            ]
        ),
    ),
]
