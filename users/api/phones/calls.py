"""What the calls of phones share: the token, the body, and what is refused how."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from django.http import HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.exceptions import Throttled

from accounts.api.throttling import count_call_without_valid_key
from accounts.operations.api_keys.call_limits import count_call_against_rate_limit
from portal.lib.budgets import TEAM
from portal.lib.errors import DomainError, NotFound, TooLarge, TooMany
from portal.lib.tenancy import acting_for
from portal.lib.web.views import allow_larger_request_body
from users.operations.phones.tokens import (
    find_phone_by_token,
    record_phone_seen,
)
from users.operations.phones.uploads import (
    BODY_MAX_BYTES,
    parse_upload,
    unpack_upload,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

    PhoneView = Callable[..., HttpResponse]

# Ours: an app sends a month as some hundred batches, one after the other.
CALLS_A_MINUTE = 300
# Of a call without a batch.
SMALL_MAX_BYTES = 64 * 1024
_SCHEME = "bearer "


class Refused(Exception):
    """The call is answered with this instead."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(response.status_code)
        self.response = response


def answer_refusal(status: int, refusal: str, *, code: str = "") -> JsonResponse:
    """Return a refusal; `error` is what senders of HCGateway's shape read."""
    body = {"detail": refusal, "error": refusal}
    return JsonResponse({**body, "code": code} if code else body, status=status)


def answer_busy(seconds: int) -> HttpResponse:
    """Return that the same call may be sent later.

    503 and not 429: the iOS app of Open Wearables drops a batch that is refused with
    any status of 4xx, and sends one again after a 5xx.
    """
    response = answer_refusal(503, "Send this again later.", code="busy")
    response["Retry-After"] = str(seconds)
    # Asked for by many phones at once, and no fault: Django would log each as an error.
    response._has_been_logged = True  # type: ignore[attr-defined]  # as Django marks it
    return response


def read_token(request: HttpRequest) -> str:
    """Return the bearer token of a call, with or without its scheme."""
    given = request.headers.get("Authorization", "").strip()
    if given.lower().startswith(_SCHEME):
        given = given[len(_SCHEME) :].strip()
    return given or request.headers.get("X-Phone-Token", "").strip()


def has_phone_token(request: HttpRequest, **_path: str) -> bool:
    """Return whether a call has the token of a phone, before its body is read."""
    try:
        find_phone_by_token(read_token(request))
    except DomainError:
        return False
    return True


def with_phone(
    *, unknown: int = 401
) -> Callable[[PhoneView], Callable[..., HttpResponse]]:
    """Pass a view the phone whose token calls; `unknown` is the status without one."""

    def decorate(view: PhoneView) -> Callable[..., HttpResponse]:
        @allow_larger_request_body(BODY_MAX_BYTES, of=has_phone_token)
        @csrf_exempt  # apps call here, without cookies
        @wraps(view)
        def call(request: HttpRequest, **path: str) -> HttpResponse:
            try:
                phone = find_phone_by_token(read_token(request))
            except DomainError as refusal:
                return _count_stranger(request) or answer_refusal(
                    unknown, refusal.message, code=refusal.code
                )
            window = count_call_against_rate_limit(
                subject=f"phone:{phone.uuid}", limit=CALLS_A_MINUTE
            )
            if window.is_over:
                return answer_busy(window.seconds)
            request.META[TEAM] = str(phone.tenant.pk)
            with acting_for(phone.tenant):
                record_phone_seen(phone)
                try:
                    return view(request, phone, **path)
                except Refused as refusal:
                    return refusal.response
                except TooLarge as refusal:
                    return answer_refusal(413, refusal.message, code=refusal.code)
                except TooMany as refusal:
                    return answer_busy(int(refusal.wait.total_seconds()))
                except NotFound as refusal:
                    return answer_refusal(404, refusal.message, code=refusal.code)
                except DomainError as refusal:
                    return answer_refusal(400, refusal.message, code=refusal.code)

        # See portal.http.body_limits.
        call.takes_uploads = True  # type: ignore[attr-defined]  # as Django marks views
        return call

    return decorate


def without_phone(view: PhoneView) -> Callable[..., HttpResponse]:
    """Serve a call that needs no token, with its refusals as JSON."""

    @csrf_exempt  # apps call here, without cookies
    @wraps(view)
    def call(request: HttpRequest, **path: str) -> HttpResponse:
        try:
            return view(request, **path)
        except Refused as refusal:
            return refusal.response
        except TooMany as refusal:
            return answer_busy(int(refusal.wait.total_seconds()))
        except NotFound as refusal:
            status = 404
            message, code = refusal.message, refusal.code
        except DomainError as refusal:
            status = 401 if refusal.code == "token_unknown" else 400
            message, code = refusal.message, refusal.code
        return _count_stranger(request) or answer_refusal(status, message, code=code)

    return call


def read_batch(request: HttpRequest) -> tuple[bytes, dict[str, Any]]:
    """Return the bytes of a batch, unpacked, and the object that they are.

    Raises: upload_too_large, upload_damaged, encoding_unknown.
    """
    content = unpack_upload(
        request.read(BODY_MAX_BYTES + 1),
        encoding=request.headers.get("Content-Encoding", ""),
    )
    return content, parse_upload(content)


def read_small_body(request: HttpRequest) -> dict[str, Any]:
    """Return the object of a small body. Raises: upload_too_large, upload_damaged."""
    body = request.read(SMALL_MAX_BYTES + 1)
    if len(body) > SMALL_MAX_BYTES:
        raise Refused(answer_refusal(413, "The body is too large."))
    return parse_upload(body)


def read_text(body: dict[str, Any], name: str) -> str:
    """Return a text of a body, else an empty one."""
    value = body.get(name)
    return value if isinstance(value, str) else ""


def _count_stranger(request: HttpRequest) -> HttpResponse | None:
    """Count the call against its address, as one with a wrong key."""
    try:
        count_call_without_valid_key(request.META.get("REMOTE_ADDR") or None)
    except Throttled:
        return HttpResponse(status=429)
    return None
