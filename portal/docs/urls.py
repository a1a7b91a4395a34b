"""Addresses of the documentation, below /docs/."""

from __future__ import annotations

from django.urls import path

from portal.docs import views

urlpatterns = [
    path("", views.show_docs_index, name="docs"),
    path("search/", views.show_docs_search_results, name="docs-search"),
    path("<path:page_slug>/", views.show_docs_page, name="docs-page"),
]
