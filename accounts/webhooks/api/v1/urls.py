"""What webhooks serve below /v1/org/ (contract 8.7)."""

from __future__ import annotations

from accounts.webhooks.api.v1.endpoints import (
    WebhookHeadersView,
    WebhookRotateView,
    WebhookSecretView,
    WebhooksView,
    WebhookTestView,
    WebhookView,
)
from portal.lib.api.views import mount_api_view

_BASE = "<org_id>/team/<team_id>/<environment>/webhook"
_ONE = f"{_BASE}/<webhook_id>"

urlpatterns = [
    mount_api_view(_BASE, WebhooksView, "api-webhooks"),
    mount_api_view(_ONE, WebhookView, "api-webhook"),
    mount_api_view(f"{_ONE}/headers", WebhookHeadersView, "api-webhook-headers"),
    mount_api_view(f"{_ONE}/test", WebhookTestView, "api-webhook-test"),
    mount_api_view(f"{_ONE}/secret", WebhookSecretView, "api-webhook-secret"),
    mount_api_view(f"{_ONE}/secret/rotate", WebhookRotateView, "api-webhook-rotate"),
]
