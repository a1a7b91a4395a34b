"""Authentication with `x-link-token`, the token of a link (contract 3.6).

Tokens are looked up at each call: these calls are few, and an ended link ends at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed

from accounts.api.auth import FORMER_SINCE
from accounts.api.throttling import count_call_without_valid_key
from accounts.api.views import TenantAPIView
from portal.lib.errors import DomainError
from users.operations.connect.link_sessions import (
    build_link_holder_audit_actor,
    find_open_connect_link,
)

if TYPE_CHECKING:
    from rest_framework.request import Request

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.models import LinkSession

HEADER = "x-link-token"
# What published clients send (contract D1: their names are aliases).
FORMER_HEADER = "x-vital-link-token"


@dataclass(frozen=True, slots=True)
class LinkGrant:
    """An open link as `request.auth`; views use its `tenant` and `actor`."""

    session: LinkSession
    actor: Actor

    @property
    def tenant(self) -> Tenant:
        """Return the tenant of the link's user."""
        return self.session.tenant


class LinkTokenAuthentication(BaseAuthentication):
    """Authenticate a call by its link token; `request.auth` becomes a LinkGrant.

    Raises: 401 for a token that is missing, not ours, or of a link that has ended; 429
    for one of too many such calls from one address.
    """

    def authenticate(self, request: Request) -> tuple[None, LinkGrant]:
        address = request.META.get("REMOTE_ADDR") or None
        try:
            session = find_open_connect_link(_read_token(request))
        except DomainError:
            count_call_without_valid_key(address)
            raise AuthenticationFailed from None
        return None, LinkGrant(session, build_link_holder_audit_actor(address))

    def authenticate_header(self, request: Request) -> str:
        return f'ApiKey realm="assay", header="{HEADER}"'


def _read_token(request: Request) -> str:
    """Return the token of either header, empty without one."""
    token: str = request.headers.get(HEADER, "")
    if not token and settings.API_FORMER_KEY_HEADER:
        token = request.headers.get(FORMER_HEADER, "")
        if token:
            request.parser_context["view"].headers["Deprecation"] = FORMER_SINCE
    return token


class LinkTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped registry
    """Describe the header of the link token in the OpenAPI document."""

    target_class = "users.api.link_token.LinkTokenAuthentication"
    name = "LinkToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": HEADER}


class LinkAPIView(TenantAPIView):
    """Base of views that a link token opens instead of a key; sets `self.session`."""

    authentication_classes = [LinkTokenAuthentication]
    key_header = HEADER
    session: LinkSession

    def find_tenant(self, grant: LinkGrant, **path: str) -> Tenant:
        self.session = grant.session
        return grant.tenant
