"""Pages about webhooks, below /api/docs/."""

from __future__ import annotations

from django.urls import path

from accounts.webhooks.web import docs

urlpatterns = [
    path("webhooks/", docs.receiving, name="api-docs-webhooks"),
    path("events/", docs.events, name="api-docs-events"),
    path("events/<str:event_type>/", docs.event, name="api-docs-event"),
]
