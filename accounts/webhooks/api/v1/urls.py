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
from portal.lib.api.views import endpoint

_BASE = "<org_id>/team/<team_id>/<environment>/webhook"
_ONE = f"{_BASE}/<webhook_id>"

urlpatterns = [
    endpoint(_BASE, WebhooksView, "api-webhooks"),
    endpoint(_ONE, WebhookView, "api-webhook"),
    endpoint(f"{_ONE}/headers", WebhookHeadersView, "api-webhook-headers"),
    endpoint(f"{_ONE}/test", WebhookTestView, "api-webhook-test"),
    endpoint(f"{_ONE}/secret", WebhookSecretView, "api-webhook-secret"),
    endpoint(f"{_ONE}/secret/rotate", WebhookRotateView, "api-webhook-rotate"),
]
