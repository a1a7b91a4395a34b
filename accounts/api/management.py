"""`x-management-key` to a tenant of the path (contract 1.2, 9).

Keys are looked up at each call: these calls are few, and a revoked key ends at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed

from accounts.operations.management_keys import find_management_grant
from accounts.states import Environment
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import read_uuid
from portal.lib.api.views import TenantAPIView

if TYPE_CHECKING:
    from typing import Any

    from rest_framework.request import Request

    from accounts.models import Tenant
    from accounts.operations.management_keys import ManagementGrant

HEADER = "x-management-key"


class ManagementKeyAuthentication(BaseAuthentication):
    """Sets `request.auth` to a ManagementGrant.

    Raises: 401 for a key that is missing, malformed, unknown or revoked.
    """

    def authenticate(self, request: Request) -> tuple[None, ManagementGrant]:
        grant = find_management_grant(request.headers.get(HEADER, ""))
        if grant is None:
            raise AuthenticationFailed
        return None, grant.at(request.META.get("REMOTE_ADDR"))

    def authenticate_header(self, request: Request) -> str:
        return f'ApiKey realm="assay", header="{HEADER}"'


class ManagementKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped registry
    """How the OpenAPI document names the header."""

    target_class = "accounts.api.management.ManagementKeyAuthentication"
    name = "ManagementKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": HEADER}


class TeamManagementView(TenantAPIView):
    """A view below /v1/org/{org_id}/team/{team_id}/{environment}.

    Raises: 404 for a team that the key does not manage; 422 for what is no id.
    """

    authentication_classes = [ManagementKeyAuthentication]
    key_header = HEADER

    def find_tenant(self, grant: ManagementGrant, **path: str) -> Tenant:
        if path["environment"] not in Environment.values:
            line = FieldError(("path", "environment"), "Not an environment.", "enum")
            raise RequestInvalid([line])
        return grant.find_tenant(
            organisation_id=read_uuid(path["org_id"], "org_id"),
            team_id=read_uuid(path["team_id"], "team_id"),
            environment=path["environment"],
        )
