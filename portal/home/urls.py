"""The site's own address, and the pages of a team that look at several apps."""

from __future__ import annotations

from django.urls import include, path

from portal.home import demo_data, views
from portal.home.components import show_component_gallery

urlpatterns = [
    path("", views.redirect_to_last_visited_team, name="landing"),
    path(
        "t/<slug:team_slug>/<slug:environment>/",
        include(
            [
                path("", views.show_team_home, name="home"),
                path("search/", views.show_palette_search_results, name="search"),
                path("demo-data/", demo_data.show_demo_data_page, name="demo_data"),
                path(
                    "demo-data/load/",
                    demo_data.start_loading_demo_data,
                    name="load_demo_data",
                ),
                path(
                    "demo-data/remove/",
                    demo_data.start_removing_demo_data,
                    name="remove_demo_data",
                ),
                path("components/", show_component_gallery, name="components"),
            ]
        ),
    ),
]
