"""Authenticate API calls by key or token, and check their scopes (contract 1.2).

In its place a short-lived token may stand, as a bearer too (contract 2.2, 9.1).

Each process caches a key for KEY_CACHE_TTL, so another process may accept a revoked key
for that long; `clear_api_key_cache` clears the cache of this process. A key that
expires, such as a rotated key, stops working on time in every process.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission

from accounts.api.throttling import count_call_without_valid_key
from accounts.operations.api_keys.access_tokens import PREFIX, find_access_token_grant
from accounts.operations.api_keys.api_keys import (
    KeyGrant,
    find_api_key_grant,
    known_grants,
)
from accounts.states import Access
from portal.lib.api.calls import list_areas_needed_by_call
from portal.lib.errors import NotAllowed, NotFound

if TYPE_CHECKING:
    from typing import Any
    from uuid import UUID

    from rest_framework.request import Request

HEADER = "x-service-api-key"
_META_KEY = "HTTP_X_SERVICE_API_KEY"
# What older published clients send (contract D1), deprecated since.
FORMER_HEADER = "x-vital-api-key"
_FORMER_META_KEY = "HTTP_X_VITAL_API_KEY"
FORMER_SINCE = f"@{int(datetime(2026, 11, 24, tzinfo=UTC).timestamp())}"
KEY_CACHE_TTL = timedelta(seconds=5)
clock = time.monotonic


class ApiKeyAuthentication(BaseAuthentication):
    """Set `request.auth` to a KeyGrant; without a header stay anonymous.

    Raises: 401 for a key that is malformed, unknown, revoked or past its end; 429 for
    one of too many such calls from one address.
    """

    def authenticate(self, request: Request) -> tuple[None, KeyGrant]:
        # `headers` would be built of all that came, which costs more than the look.
        key = request.META.get(_META_KEY, "") or _read_other_header(request)
        address = request.META.get("REMOTE_ADDR") or None
        now = clock()
        found = known_grants.get(key)
        if found is None or found[0] < now:
            grant = (
                find_access_token_grant(key)
                if key.startswith(PREFIX)
                else find_api_key_grant(key, address=address)
            )
            if grant is None:
                count_call_without_valid_key(address)
                raise AuthenticationFailed
            found = (now + _cache_seconds(grant).total_seconds(), grant.at(address))
            known_grants[key] = found
        ends_at, grant = found
        if grant.actor.address != address:
            grant = grant.at(address)  # kept, as its next call is mostly from there
            known_grants[key] = (ends_at, grant)
        return None, grant

    def authenticate_header(self, request: Request) -> str:
        return f'ApiKey realm="assay", header="{HEADER}"'


def _read_other_header(request: Request) -> str:
    """Return a key of the former header, or an access token; empty without either.

    Answers to calls with the former header carry `Deprecation` (RFC 9745).
    """
    key: str = request.META.get(_FORMER_META_KEY, "")
    if key and settings.API_FORMER_KEY_HEADER:
        request.parser_context["view"].headers["Deprecation"] = FORMER_SINCE
        return key
    return _read_bearer_token(request)


def _read_bearer_token(request: Request) -> str:
    """Return the Authorization header's access token, empty if there is none."""
    scheme, _, text = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
    return text if scheme.lower() == "bearer" and text.startswith(PREFIX) else ""


def _cache_seconds(grant: KeyGrant) -> timedelta:
    """Return how long a grant may be cached: never past the key's expiry."""
    if grant.expires_at is None:
        return KEY_CACHE_TTL
    return min(KEY_CACHE_TTL, grant.expires_at - timezone.now())


class KeyPermission(BasePermission):
    """Allow an API key only its scopes, from its allowed IP addresses.

    A view says in `area` what it is about, in `or_areas` what may stand in for that, in
    `also_reads` what else it answers with,
    and in `reading` which of its methods change nothing although they are no GET. A
    view that says nothing takes no key with scopes. What a user's token may call it
    says in `user_methods`. Raises: address_not_allowed, scope_missing, not_for_users
    (403); not_found for another user than the token's.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        grant = request.auth
        if not isinstance(grant, KeyGrant):
            return True  # other keys and tokens have rules of their own
        if not grant.admits(grant.actor.address):
            raise NotAllowed(
                "address_not_allowed", "This key cannot be used from this IP address."
            )
        method = request.method or ""
        if grant.user_uuid is not None and method in view.allowed_methods:
            _check_user(grant.user_uuid, view, method)
        if grant.fhir_types is not None and not _serves_type(view, grant.fhir_types):
            raise NotAllowed(
                "scope_missing", "This token lacks the scope for this call."
            )
        if grant.scopes is None or method not in view.allowed_methods:
            return True
        for area, write in list_areas_needed_by_call(view, method):
            enough = (area, *(view.or_areas if area == view.area else ()))
            if not area or not any(grant.allows(one, write=write) for one in enough):
                raise NotAllowed(
                    "scope_missing", "This key lacks the scope for this call."
                )
        return True


def _serves_type(view: Any, types: frozenset[str]) -> bool:
    """Return whether a view is one of FHIR, about any of these resource types."""
    if view.fhir_type == "*":
        return True
    return bool(view.fhir_type and {"*", view.fhir_type} & types)


def _check_user(user_uuid: UUID, view: Any, method: str) -> None:
    """Restrict a user's token to that user. Raises: not_for_users; not_found."""
    if method not in view.user_methods:
        raise NotAllowed("not_for_users", "This call does not accept user tokens.")
    if view.kwargs.get("user_id", "").lower() != str(user_uuid):
        raise NotFound("not_found", "User not found.")


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped registry
    """Describe the API key header in the OpenAPI document."""

    target_class = "accounts.api.auth.ApiKeyAuthentication"
    name = "ApiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": HEADER}

    def get_security_requirement(self, auto_schema: Any) -> dict[str, list[str]]:
        needed = list_areas_needed_by_call(auto_schema.view, auto_schema.method)
        return {
            self.name: [
                f"{area}:{Access.WRITE if write else Access.READ}"
                for area, write in needed
            ]
        }
