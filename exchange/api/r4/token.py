"""Sign-in of backend services: assertion in, access token out (RFC 6749, 5).

Source: SMART App Launch 2.2, Backend Services.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rest_framework.parsers import FormParser
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api.throttling import count_call_without_valid_key
from accounts.operations.api_keys.assertions import (
    ALGORITHMS,
    AssertionInvalid,
    sign_in_with_assertion,
)
from exchange.api.r4.views import FhirRenderer, fhir_response, handle_fhir_exception
from exchange.resources.datatypes import build_own_url
from exchange.resources.registry import RESOURCE_TYPES
from portal.lib.api.json import OrjsonRenderer

if TYPE_CHECKING:
    from django.http import HttpResponse
    from rest_framework.request import Request

TOKEN_PATH = "R4/auth/token"  # noqa: S105 - an address
_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
# Versions 1 and 2 of SMART's scopes; what writes is none of ours.
_SCOPE = re.compile(r"system/(\*|[A-Za-z]+)\.(read|rs|r|s)")


class TokenView(APIView):
    """POST /fhir/R4/auth/token."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []
    parser_classes = [FormParser]
    renderer_classes = [OrjsonRenderer]

    def post(self, request: Request) -> Response:
        given: Any = request.data
        if given.get("grant_type") != "client_credentials":
            return _refuse("unsupported_grant_type")
        if given.get("client_assertion_type") != _ASSERTION_TYPE:
            return _refuse("invalid_request")
        types = _read_scopes(given.get("scope", ""))
        if not types:
            return _refuse("invalid_scope")
        try:
            signed_in = sign_in_with_assertion(
                assertion=given.get("client_assertion", ""),
                audience=build_own_url(TOKEN_PATH),
                resource_types=None if "*" in types else frozenset(types),
            )
        except AssertionInvalid:
            count_call_without_valid_key(request.META.get("REMOTE_ADDR") or None)
            return _refuse("invalid_client", 401)
        return _answer(
            {
                "access_token": signed_in.token,
                "token_type": "bearer",
                "expires_in": signed_in.seconds,
                "scope": " ".join(f"system/{one}.read" for one in sorted(types)),
            }
        )


class SmartConfigurationView(APIView):
    """GET /fhir/R4/.well-known/smart-configuration."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []
    renderer_classes = [FhirRenderer]

    def get_exception_handler(self) -> Any:
        return handle_fhir_exception

    def get(self, request: Request) -> HttpResponse:
        answer = fhir_response(
            {
                "token_endpoint": build_own_url(TOKEN_PATH),
                "grant_types_supported": ["client_credentials"],
                "token_endpoint_auth_methods_supported": ["private_key_jwt"],
                "token_endpoint_auth_signing_alg_values_supported": list(ALGORITHMS),
                "scopes_supported": [
                    "system/*.read",
                    *(f"system/{name}.read" for name in RESOURCE_TYPES),
                ],
                "capabilities": [
                    "client-confidential-asymmetric",
                    "permission-v1",
                    "permission-v2",
                ],
            }
        )
        answer["Content-Type"] = "application/json"
        return answer


def _read_scopes(text: str) -> set[str]:
    """Return the types that scopes name, `*` for all; others are left out."""
    found = {match[1] for one in text.split() if (match := _SCOPE.fullmatch(one))}
    return {one for one in found if one == "*" or one in RESOURCE_TYPES}


def _refuse(error: str, status: int = 400) -> Response:
    return _answer({"error": error}, status)


def _answer(body: dict[str, Any], status: int = 200) -> Response:
    answer = Response(body, status)
    answer["Cache-Control"] = "no-store"
    answer["Pragma"] = "no-cache"
    return answer
