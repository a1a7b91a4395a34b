"""Pages about webhooks, below /api/docs/."""

from __future__ import annotations

from django.urls import path

from accounts.webhooks.web import docs

urlpatterns = [
    path("webhooks/", docs.show_webhook_receiver_guide, name="api-docs-webhooks"),
    path("events/", docs.show_event_type_catalogue, name="api-docs-events"),
    path("events/<str:event_type>/", docs.show_event_type, name="api-docs-event"),
]
