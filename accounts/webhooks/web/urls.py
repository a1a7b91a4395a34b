"""The pages of webhooks; portal.urls says where they are mounted."""

from __future__ import annotations

from django.urls import path

from accounts.webhooks.web import deliveries, endpoints, replays, secrets, testing

app_name = "webhooks"
_ONE = "webhooks/<str:endpoint_id>/"
_DELIVERY = f"{_ONE}deliveries/<str:message_id>/"
_REPLAY = f"{_ONE}replays/<str:replay_id>/"
urlpatterns = [
    path("webhooks/", endpoints.show_webhook_endpoints, name="list"),
    path("webhooks/new/", endpoints.create_webhook_endpoint, name="create"),
    path(_ONE, deliveries.show_webhook_endpoint, name="endpoint"),
    path(f"{_ONE}edit/", endpoints.edit_webhook_endpoint, name="edit"),
    path(f"{_ONE}headers/", endpoints.edit_webhook_headers, name="headers"),
    path(f"{_ONE}test/", testing.send_webhook_test_event, name="send_test"),
    path(f"{_ONE}pause/", endpoints.pause_webhook_endpoint, name="pause"),
    path(f"{_ONE}resume/", endpoints.resume_webhook_endpoint, name="resume"),
    path(f"{_ONE}delete/", endpoints.delete_webhook_endpoint, name="delete"),
    path(f"{_ONE}secret/", secrets.show_webhook_secret, name="secret"),
    path(f"{_ONE}secret/rotate/", secrets.rotate_webhook_secret, name="rotate"),
    path(_DELIVERY, deliveries.show_webhook_delivery, name="delivery"),
    path(f"{_DELIVERY}resend/", deliveries.resend_webhook_delivery, name="resend"),
    path(f"{_DELIVERY}drop/", deliveries.cancel_webhook_delivery, name="drop"),
    path(f"{_ONE}replay/", replays.start_webhook_replay, name="replay"),
    path(_REPLAY, replays.show_webhook_replay_progress, name="progress"),
    path(
        f"{_REPLAY}continue/", replays.continue_webhook_replay, name="continue_replay"
    ),
    path(f"{_REPLAY}cancel/", replays.cancel_webhook_replay, name="cancel_replay"),
]
