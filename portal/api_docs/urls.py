"""Pages for developers, below /api/docs/."""

from __future__ import annotations

from django.urls import path

from portal.api_docs import views

urlpatterns = [
    path("start/", views.start, name="api-docs-start"),
    path("errors/", views.errors, name="api-docs-errors"),
    path("changes/", views.changes, name="api-docs-changes"),
]
