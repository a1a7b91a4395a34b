"""The calls of Health Auto Export, of senders of HCGateway's shape, and our own."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

from portal.lib.errors import DomainError, NotFound
from users.api.phones.calls import (
    Refused,
    answer_refusal,
    read_batch,
    read_small_body,
    read_text,
    read_token,
    with_phone,
    without_phone,
)
from users.operations.phones.pairing import redeem_pairing_code
from users.operations.phones.reading import HEALTH_AUTO_EXPORT, HEALTH_CONNECT, OWN
from users.operations.phones.tokens import (
    PhoneDetails,
    build_phone_actor,
    find_phone_by_token,
    renew_phone_tokens,
    revoke_phone,
    revoke_phone_by_token,
)
from users.operations.phones.uploads import receive_upload
from users.queries.phones import find_upload
from users.states.phones import PhoneApp
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from django.http import HttpRequest

    from users.models import Phone, PhoneUpload

_WORD_MAX = 40
# What an app that renews no token is told: it asks again when this is over.
_LONG = timedelta(days=365)


@require_POST
@with_phone()
def take_health_auto_export(request: HttpRequest, phone: Phone) -> HttpResponse:
    """Serve POST /phone/health-auto-export: a REST automation, JSON v1 or v2."""
    content, body = read_batch(request)
    if not isinstance(body.get("data"), dict):
        raise Refused(answer_refusal(400, "Send an object with data."))
    word = request.headers.get("automation-aggregation", "").strip().lower()
    word = word if word.isalpha() else ""
    form = f"{HEALTH_AUTO_EXPORT}:{word[:_WORD_MAX]}"
    return _accept(phone, form, content)


@require_POST
@without_phone
def log_in_to_gateway(request: HttpRequest) -> HttpResponse:
    """Serve POST /api/v2/login of HCGateway: the password is a pairing code."""
    body = read_small_body(request)
    try:
        _phone, tokens = redeem_pairing_code(
            code=read_text(body, "password"),
            details=PhoneDetails(app=PhoneApp.HCGATEWAY),
            address=request.META.get("REMOTE_ADDR") or None,
        )
    except NotFound as refusal:
        raise Refused(answer_refusal(403, refusal.message)) from None
    return JsonResponse(_gateway_answer(tokens.access), status=201)


@require_POST
@without_phone
def refresh_gateway_token(request: HttpRequest) -> HttpResponse:
    """Serve POST /api/v2/refresh of HCGateway, whose token stays until it is revoked.

    The app keeps no new one when its call is cut short, and would be locked out.
    """
    token = read_text(read_small_body(request), "refresh")
    try:
        find_phone_by_token(token)
    except DomainError as refusal:
        raise Refused(answer_refusal(403, refusal.message)) from None
    return JsonResponse(_gateway_answer(token))


@require_http_methods(["DELETE"])
@without_phone
def revoke_gateway_token(request: HttpRequest) -> HttpResponse:
    """Serve DELETE /api/v2/revoke of HCGateway."""
    if not revoke_phone_by_token(token=read_token(request)):
        raise Refused(answer_refusal(403, "This token is not valid."))
    return JsonResponse({"success": True})


@require_POST
@with_phone(unknown=403)
def take_gateway_records(
    request: HttpRequest, phone: Phone, record_type: str
) -> HttpResponse:
    """Serve POST /api/v2/sync/{type} of HCGateway: records of Health Connect."""
    content, body = read_batch(request)
    if "data" not in body or not record_type.isalnum():
        raise Refused(answer_refusal(400, "no data provided"))
    form = f"{HEALTH_CONNECT}:{record_type[:_WORD_MAX]}"
    receive_upload(phone=phone, form=form, content=content)
    return JsonResponse({"success": True})


@require_POST
@without_phone
def pair_phone(request: HttpRequest) -> HttpResponse:
    """Serve POST /phone/pair: {code, app?, device_name?, app_version?} for tokens."""
    body = read_small_body(request)
    app = read_text(body, "app")
    phone, tokens = redeem_pairing_code(
        code=read_text(body, "code"),
        details=PhoneDetails(
            app=PhoneApp(app) if app in PhoneApp.values else PhoneApp.OTHER,
            name=read_text(body, "device_name"),
            app_version=read_text(body, "app_version"),
        ),
        address=request.META.get("REMOTE_ADDR") or None,
    )
    return JsonResponse(
        {
            "phone_id": str(phone.uuid),
            "user_id": str(phone.user.uuid),
            "access_token": tokens.access,
            "refresh_token": tokens.refresh or None,
            "expires_in": tokens.expires_in,
        }
    )


@require_POST
@without_phone
def renew_tokens(request: HttpRequest) -> HttpResponse:
    """Serve POST /phone/token: {refresh_token} for new tokens."""
    body = read_small_body(request)
    _phone, tokens = renew_phone_tokens(refresh=read_text(body, "refresh_token"))
    return JsonResponse(
        {
            "access_token": tokens.access,
            "refresh_token": tokens.refresh or None,
            "expires_in": tokens.expires_in,
        }
    )


@require_http_methods(["DELETE"])
@with_phone()
def disconnect_phone(request: HttpRequest, phone: Phone) -> HttpResponse:
    """Serve DELETE /phone: the app ends its own access."""
    address = request.META.get("REMOTE_ADDR") or None
    revoke_phone(phone=phone, actor=build_phone_actor(phone, address))
    return HttpResponse(status=204)


@require_POST
@with_phone()
def take_upload(request: HttpRequest, phone: Phone) -> HttpResponse:
    """Serve POST /phone/uploads: our own shape, see wearables.phones.own."""
    content, body = read_batch(request)
    provider = read_text(body, "provider").lower()
    if provider not in PROVIDERS:
        raise Refused(answer_refusal(400, "Unknown source.", code="provider_unknown"))
    if not isinstance(body.get("batches"), list):
        raise Refused(answer_refusal(400, "Send a list of batches."))
    return _accept(phone, f"{OWN}:{provider}", content)


@require_safe
@with_phone()
def show_upload(request: HttpRequest, phone: Phone, upload_id: str) -> HttpResponse:
    """Serve GET /phone/uploads/{upload_id}: what became of a batch."""
    upload = find_upload(user=phone.user, upload_id=upload_id)
    if upload is None:
        raise NotFound("not_found", "Upload not found.")
    return JsonResponse(_describe(upload))


def _accept(phone: Phone, form: str, content: bytes) -> HttpResponse:
    upload, is_new = receive_upload(phone=phone, form=form, content=content)
    return JsonResponse(
        {"upload_id": str(upload.uuid), "status": upload.outcome, "is_new": is_new},
        status=202,
    )


def _describe(upload: PhoneUpload) -> dict[str, Any]:
    return {
        "upload_id": str(upload.uuid),
        "status": upload.outcome,
        "received_at": upload.received_at.isoformat(),
        "stored_at": upload.stored_at and upload.stored_at.isoformat(),
        "records": upload.records,
        "refused": upload.refused,
        "resources": upload.counts,
        "unknown_types": upload.unknown,
        "refusals": upload.refusals,
    }


def _gateway_answer(token: str) -> dict[str, Any]:
    ends = timezone.now() + _LONG
    return {"token": token, "refresh": token, "expiry": ends.isoformat()}
