"""`x-link-token` to the link session it opens (contract 3.6).

Tokens are looked up at each call: these calls are few, and an ended link ends at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed

from accounts.api.throttling import count_stranger
from portal.lib.api.views import TenantAPIView
from portal.lib.errors import DomainError
from users.operations.link_sessions import find_link_session, link_actor

if TYPE_CHECKING:
    from rest_framework.request import Request

    from accounts.models import Tenant
    from portal.lib.actor import Actor
    from users.models import LinkSession

HEADER = "x-link-token"


@dataclass(frozen=True, slots=True)
class LinkGrant:
    """A link that works, as `request.auth`; `tenant` and `actor` are what views use."""

    session: LinkSession
    actor: Actor

    @property
    def tenant(self) -> Tenant:
        """Whose user the link is of."""
        return self.session.tenant


class LinkTokenAuthentication(BaseAuthentication):
    """Sets `request.auth` to a LinkGrant.

    Raises: 401 for a token that is missing, not ours, or of a link that has ended; 429
    for one of too many such calls from one address.
    """

    def authenticate(self, request: Request) -> tuple[None, LinkGrant]:
        address = request.META.get("REMOTE_ADDR") or None
        try:
            session = find_link_session(request.headers.get(HEADER, ""))
        except DomainError:
            count_stranger(address)
            raise AuthenticationFailed from None
        return None, LinkGrant(session, link_actor(address))

    def authenticate_header(self, request: Request) -> str:
        return f'ApiKey realm="assay", header="{HEADER}"'


class LinkTokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped registry
    """How the OpenAPI document names the header."""

    target_class = "users.api.link_token.LinkTokenAuthentication"
    name = "LinkToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": HEADER}


class LinkAPIView(TenantAPIView):
    """A view behind a link's token instead of a key: `self.session` is set."""

    authentication_classes = [LinkTokenAuthentication]
    key_header = HEADER
    session: LinkSession

    def find_tenant(self, grant: LinkGrant, **path: str) -> Tenant:
        self.session = grant.session
        return grant.tenant
