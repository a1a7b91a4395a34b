"""The calls of the Open Wearables SDKs, as their published code makes them.

Paths, bodies and statuses are those of its server (version 1), so that an app needs
nothing but another host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.http import HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from users.api.phones.calls import (
    Refused,
    answer_refusal,
    read_batch,
    read_small_body,
    read_text,
    with_phone,
    without_phone,
)
from users.operations.phones.health import record_phone_report
from users.operations.phones.pairing import redeem_pairing_code
from users.operations.phones.reading import OPEN_WEARABLES
from users.operations.phones.tokens import (
    PhoneDetails,
    renew_phone_tokens,
    revoke_phone_by_token,
)
from users.operations.phones.uploads import receive_upload
from users.states.phones import PhoneApp
from users.wearables.phones.open_wearables import PROVIDERS

if TYPE_CHECKING:
    from django.http import HttpRequest

    from users.models import Phone
    from users.operations.phones.tokens import Tokens

_EVENTS_MAX = 100


@require_POST
@without_phone
def redeem_invitation_code(request: HttpRequest) -> HttpResponse:
    """Serve POST /api/v1/invitation-code/redeem: {code} for tokens."""
    body = read_small_body(request)
    phone, tokens = redeem_pairing_code(
        code=read_text(body, "code"),
        details=PhoneDetails(
            app=PhoneApp.OPEN_WEARABLES,
            name=read_text(body, "device_name"),
            app_version=read_text(body, "app_version"),
        ),
        address=request.META.get("REMOTE_ADDR") or None,
    )
    return JsonResponse({**_answer(tokens), "user_id": str(phone.user.uuid)})


@require_POST
@without_phone
def refresh_token(request: HttpRequest) -> HttpResponse:
    """Serve POST /api/v1/token/refresh: {refresh_token} for new tokens."""
    body = read_small_body(request)
    _phone, tokens = renew_phone_tokens(refresh=read_text(body, "refresh_token"))
    return JsonResponse(_answer(tokens))


@require_POST
@without_phone
def revoke_token(request: HttpRequest) -> HttpResponse:
    """Serve POST /api/v1/token/revoke: {refresh_token}; 404 for an unknown one."""
    body = read_small_body(request)
    if not revoke_phone_by_token(token=read_text(body, "refresh_token")):
        raise Refused(answer_refusal(404, "Refresh token not found"))
    return HttpResponse(status=204)


@require_POST
@with_phone()
def take_sync(request: HttpRequest, phone: Phone, user_id: str) -> HttpResponse:
    """Serve POST /api/v1/sdk/users/{user_id}/sync: 202 once the batch is kept."""
    _check_user(phone, user_id)
    content, body = read_batch(request)
    provider = str(body.get("provider")).lower()
    if provider not in PROVIDERS:
        raise Refused(answer_refusal(400, "Unsupported provider"))
    upload, _is_new = receive_upload(phone=phone, form=OPEN_WEARABLES, content=content)
    return JsonResponse(
        {
            "status_code": 202,
            "response": "Import task queued successfully",
            "user_id": str(phone.user.uuid),
            "upload_id": str(upload.uuid),
        },
        status=202,
    )


@require_POST
@with_phone()
def take_logs(request: HttpRequest, phone: Phone, user_id: str) -> HttpResponse:
    """Serve POST /api/v1/sdk/users/{user_id}/logs: how the app's reading went."""
    _check_user(phone, user_id)
    _content, body = read_batch(request)
    events = body.get("events")
    if not isinstance(events, list) or not 1 <= len(events) <= _EVENTS_MAX:
        raise Refused(answer_refusal(422, "Send 1 to 100 events"))
    record_phone_report(
        phone=phone, app_version=read_text(body, "sdkVersion"), events=events
    )
    return JsonResponse(
        {
            "status_code": 202,
            "response": "Log events stored successfully",
            "user_id": str(phone.user.uuid),
        },
        status=202,
    )


def _check_user(phone: Phone, user_id: str) -> None:
    """Refuse a path of another user. Raises: Refused (403)."""
    if user_id.lower() != str(phone.user.uuid):
        raise Refused(answer_refusal(403, "Token does not match user_id"))


def _answer(tokens: Tokens) -> dict[str, Any]:
    return {
        "access_token": tokens.access,
        "token_type": "bearer",
        "refresh_token": tokens.refresh or None,
        "expires_in": tokens.expires_in,
    }
