"""`x-service-api-key` to a tenant (contract 1.2).

A key found is remembered by the process for KEY_CACHE_TTL, so a revoked key may live
that long in another process; this process forgets at once (`forget_keys`). A rotated
key ends on time everywhere.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed

from accounts.operations.api_keys import KeyGrant, find_grant, known_grants

if TYPE_CHECKING:
    from typing import Any

    from rest_framework.request import Request

HEADER = "x-service-api-key"
KEY_CACHE_TTL = timedelta(seconds=5)
clock = time.monotonic


class ApiKeyAuthentication(BaseAuthentication):
    """Sets `request.auth` to a KeyGrant; no header leaves the request anonymous.

    Raises: 401 for a key that is malformed, unknown or revoked.
    """

    def authenticate(self, request: Request) -> tuple[None, KeyGrant]:
        key = request.headers.get(HEADER, "")
        now = clock()
        found = known_grants.get(key)
        if found is None or found[0] < now:
            grant = find_grant(key)
            if grant is None:
                raise AuthenticationFailed
            found = (now + _lifetime(grant).total_seconds(), grant)
            known_grants[key] = found
        return None, found[1].at(request.META.get("REMOTE_ADDR"))

    def authenticate_header(self, request: Request) -> str:
        return f'ApiKey realm="assay", header="{HEADER}"'


def _lifetime(grant: KeyGrant) -> timedelta:
    """How long a grant may be remembered: never past the end of a rotated key."""
    if grant.expires_at is None:
        return KEY_CACHE_TTL
    return min(KEY_CACHE_TTL, grant.expires_at - timezone.now())


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped registry
    """How the OpenAPI document names the header."""

    target_class = "accounts.api.auth.ApiKeyAuthentication"
    name = "ApiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": HEADER}
