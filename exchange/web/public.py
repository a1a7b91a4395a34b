"""What readers of a shared link call: our viewer, the manifest, the files.

No account and no cookie: the secret in the address is the proof, as whoever was given a
link may use a viewer of their own. Browsers of other sites may therefore call manifest
and files. Source: SMART Health Cards and Links 1.0.0, SMART Health Links Specification.
"""

from __future__ import annotations

import hashlib
from functools import wraps
from typing import TYPE_CHECKING, Any

import orjson
from django.core import signing
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from accounts.operations.api_keys.call_limits import count_call_against_rate_limit
from exchange.operations.sharing.links import (
    PasscodeWrong,
    get_shared_file,
    list_shared_files,
    open_shared_link,
)
from portal.lib.errors import DomainError, NotFound
from portal.lib.web.links import build_absolute_url
from portal.lib.web.proxies import find_client_network

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest

    from exchange.models import SharedFile, SharedLink

# Ours: an address that guesses links meets this after so many in a minute.
CALLS_PER_MINUTE = 30
# The specification allows an hour.
LOCATION_TTL_SECONDS = 10 * 60
# Ours: of one file, where the caller names no limit; larger ones have an address.
EMBEDDED_USUAL = 256 * 1024
_BODY_MAX_BYTES = 8 * 1024
_SALT = "exchange.shared-file"


@require_safe
def show_shared_link_viewer(request: HttpRequest) -> HttpResponse:
    """Serve GET /shl/: the page that reads the fragment and decrypts in the browser."""
    response = render(request, "exchange/viewer.html")
    add_never_cache_headers(response)
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex"
    return response


def _answers_other_sites(*methods: str) -> Callable[..., Callable[..., HttpResponse]]:
    """Let scripts of other sites call a view, count calls, and forbid caching."""

    def mark(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.method == "OPTIONS":
                response = HttpResponse(status=204)
            elif request.method not in methods:
                response = _fail(405, "method_not_allowed")
                response["Allow"] = ", ".join([*methods, "OPTIONS"])
            else:
                response = _count_call(request) or view(request, *args, **kwargs)
            add_never_cache_headers(response)
            response["Access-Control-Allow-Origin"] = "*"
            response["Access-Control-Allow-Methods"] = ", ".join(methods)
            response["Access-Control-Allow-Headers"] = "Content-Type"
            response["Referrer-Policy"] = "no-referrer"
            response["X-Robots-Tag"] = "noindex"
            return response

        # No cookie is read here, so no form of another site can misuse one.
        return csrf_exempt(answer)

    return mark


@_answers_other_sites("POST")
def serve_shared_manifest(request: HttpRequest, share_token: str) -> HttpResponse:
    """Serve POST /shl/{token}: the manifest, for a recipient and a passcode.

    404 for an unknown or ended link, 401 with `remainingAttempts` for a wrong or
    missing passcode, 400 without a recipient or for a body that is no such object.
    """
    body = _read_body(request)
    if body is None:
        return _fail(400, "body_invalid")
    try:
        link = open_shared_link(
            token=share_token,
            passcode=body["passcode"],
            recipient=body["recipient"],
            address=request.META.get("REMOTE_ADDR") or None,
        )
    except PasscodeWrong as refusal:
        return _reply(401, {"remainingAttempts": refusal.remaining})
    except NotFound:
        return _fail(404, "link_unknown")
    except DomainError as refusal:
        return _fail(400, refusal.code)
    longest = body["embeddedLengthMax"]
    files = [
        _describe_file(link, file, share_token, longest)
        for file in list_shared_files(link)
    ]
    return _reply(200, {"files": files})


@_answers_other_sites("GET")
def serve_shared_file(
    request: HttpRequest, share_token: str, shared_file_number: int
) -> HttpResponse:
    """Serve GET /shl/{token}/{number}: a file, from a manifest of the last minutes."""
    signer = signing.TimestampSigner(salt=_SALT)
    claim = f"{_name_file(share_token, shared_file_number)}:{request.GET.get('s', '')}"
    try:
        signer.unsign(claim, max_age=LOCATION_TTL_SECONDS)
        file = get_shared_file(token=share_token, number=shared_file_number)
    except (signing.BadSignature, NotFound):
        return _fail(404, "link_unknown")
    return HttpResponse(file.jwe, content_type="application/jose")


def _count_call(request: HttpRequest) -> HttpResponse | None:
    """Count a call against its address; return the refusal of one too many."""
    network = find_client_network(request.META.get("REMOTE_ADDR") or None)
    window = count_call_against_rate_limit(
        subject=f"shared-link:{network}", limit=CALLS_PER_MINUTE
    )
    if not window.is_over:
        return None
    response = _fail(429, "throttled")
    response["Retry-After"] = str(window.seconds)
    return response


def _read_body(request: HttpRequest) -> dict[str, Any] | None:
    """Return what is understood of a manifest request; None for another body."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > _BODY_MAX_BYTES:
        return None
    try:
        body = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(body, dict):
        return None
    recipient, passcode = body.get("recipient", ""), body.get("passcode")
    longest = body.get("embeddedLengthMax", EMBEDDED_USUAL)
    if not isinstance(recipient, str) or "\x00" in recipient:
        return None
    if not (passcode is None or isinstance(passcode, str)):
        return None
    if not isinstance(longest, int) or longest < 0:
        return None
    return {
        "recipient": recipient,
        "passcode": passcode,
        "embeddedLengthMax": longest,
    }


def _describe_file(
    link: SharedLink, file: SharedFile, token: str, longest: int
) -> dict[str, str]:
    described = {
        "contentType": file.content_type,
        "lastUpdated": link.created_at.isoformat(),
        "status": "finalized",
        "fhirVersion": "4.0.1",
    }
    if len(file.jwe) <= longest:
        return {**described, "embedded": file.jwe}
    name = _name_file(token, file.number)
    signature = signing.TimestampSigner(salt=_SALT).sign(name)
    proof = signature.removeprefix(f"{name}:")
    path = reverse("shared_file", args=[token, file.number])
    return {**described, "location": f"{build_absolute_url(path)}?s={proof}"}


def _name_file(token: str, number: int) -> str:
    return f"{hashlib.sha256(token.encode()).hexdigest()}-{number}"


def _reply(status: int, body: dict[str, Any]) -> HttpResponse:
    return HttpResponse(
        orjson.dumps(body), status=status, content_type="application/json"
    )


def _fail(status: int, code: str) -> HttpResponse:
    return _reply(status, {"code": code})
