"""The pages of webhooks; portal.urls says where they are mounted."""

from __future__ import annotations

from django.urls import path

from accounts.webhooks.web import deliveries, endpoints, replays, secrets, testing

app_name = "webhooks"
_ONE = "webhooks/<str:endpoint_id>/"
_DELIVERY = f"{_ONE}deliveries/<str:message_id>/"
_REPLAY = f"{_ONE}replays/<str:replay_id>/"
urlpatterns = [
    path("webhooks/", endpoints.endpoint_list, name="list"),
    path("webhooks/new/", endpoints.create, name="create"),
    path(_ONE, deliveries.endpoint_page, name="endpoint"),
    path(f"{_ONE}edit/", endpoints.edit, name="edit"),
    path(f"{_ONE}headers/", endpoints.headers, name="headers"),
    path(f"{_ONE}test/", testing.send_test, name="send_test"),
    path(f"{_ONE}pause/", endpoints.pause, name="pause"),
    path(f"{_ONE}resume/", endpoints.resume, name="resume"),
    path(f"{_ONE}delete/", endpoints.delete, name="delete"),
    path(f"{_ONE}secret/", secrets.secret, name="secret"),
    path(f"{_ONE}secret/rotate/", secrets.rotate, name="rotate"),
    path(_DELIVERY, deliveries.delivery_page, name="delivery"),
    path(f"{_DELIVERY}resend/", deliveries.resend, name="resend"),
    path(f"{_DELIVERY}drop/", deliveries.drop, name="drop"),
    path(f"{_ONE}replay/", replays.prepare, name="replay"),
    path(_REPLAY, replays.progress, name="progress"),
    path(f"{_REPLAY}continue/", replays.go_on, name="continue_replay"),
    path(f"{_REPLAY}cancel/", replays.cancel, name="cancel_replay"),
]
