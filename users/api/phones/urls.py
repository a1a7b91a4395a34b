"""Paths that apps on phones call; those below /api/ are the ones of published apps."""

from __future__ import annotations

from django.urls import path

from users.api.phones import open_wearables, others

urlpatterns = [
    path("api/v1/invitation-code/redeem", open_wearables.redeem_invitation_code),
    path("api/v1/token/refresh", open_wearables.refresh_token),
    path("api/v1/token/revoke", open_wearables.revoke_token),
    path(
        "api/v1/sdk/users/<str:user_id>/sync",
        open_wearables.take_sync,
        name="phone_sync",
    ),
    path(
        "api/v1/sdk/users/<str:user_id>/logs",
        open_wearables.take_logs,
        name="phone_logs",
    ),
    path("api/v2/login", others.log_in_to_gateway),
    path("api/v2/refresh", others.refresh_gateway_token),
    path("api/v2/revoke", others.revoke_gateway_token),
    path(
        "api/v2/sync/<str:record_type>",
        others.take_gateway_records,
        name="phone_records",
    ),
    path("phone", others.disconnect_phone, name="phone_disconnect"),
    path("phone/pair", others.pair_phone, name="phone_pair"),
    path("phone/token", others.renew_tokens, name="phone_token"),
    path(
        "phone/health-auto-export",
        others.take_health_auto_export,
        name="phone_health_auto_export",
    ),
    path("phone/uploads", others.take_upload, name="phone_uploads"),
    path("phone/uploads/<str:upload_id>", others.show_upload, name="phone_upload"),
]
