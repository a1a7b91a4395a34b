"""Addresses of the documentation, below /docs/."""

from __future__ import annotations

from django.urls import path

from portal.docs import views

urlpatterns = [
    path("", views.front, name="docs"),
    path("search/", views.search, name="docs-search"),
    path("<path:page_slug>/", views.page, name="docs-page"),
]
