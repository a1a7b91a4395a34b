"""Pages for developers, below /api/docs/."""

from __future__ import annotations

from django.urls import path

from portal.api_docs import views

urlpatterns = [
    path("", views.show_api_reference, name="api-docs"),
    path(
        "calls/<slug:operation_slug>/", views.show_api_operation, name="api-docs-call"
    ),
    path("start/", views.show_api_quick_start, name="api-docs-start"),
    path("errors/", views.show_api_error_codes, name="api-docs-errors"),
    path("changes/", views.show_api_changelog, name="api-docs-changes"),
]
