"""Authenticate management keys and resolve the team in the path (contract 1.2, 9).

Keys are looked up at each call: these calls are few, and a revoked key ends at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed

from accounts.api.throttling import count_call_without_valid_key
from accounts.api.views import TenantAPIView
from accounts.operations.api_keys.management_keys import find_management_key_grant
from accounts.states import Environment, Region
from portal.lib.api.errors import FieldError, RequestInvalid
from portal.lib.api.fields import parse_path_uuid
from portal.lib.api.views import KeyedAPIView
from portal.lib.tenancy import across_tenants

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from rest_framework.request import Request

    from accounts.models import Organisation, Tenant
    from accounts.operations.api_keys.management_keys import ManagementGrant

HEADER = "x-management-key"


class ManagementKeyAuthentication(BaseAuthentication):
    """Set `request.auth` to a ManagementGrant.

    Raises: 401 for a key that is missing, malformed, unknown or revoked; 429 for one of
    too many such calls from one address.
    """

    def authenticate(self, request: Request) -> tuple[None, ManagementGrant]:
        grant = find_management_key_grant(request.headers.get(HEADER, ""))
        address = request.META.get("REMOTE_ADDR") or None
        if grant is None:
            count_call_without_valid_key(address)
            raise AuthenticationFailed
        return None, grant.at(address)

    def authenticate_header(self, request: Request) -> str:
        return f'ApiKey realm="assay", header="{HEADER}"'


class ManagementKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # untyped registry
    """Describe the management key header in the OpenAPI document."""

    target_class = "accounts.api.management.ManagementKeyAuthentication"
    name = "ManagementKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "apiKey", "in": "header", "name": HEADER}


class TeamManagementView(TenantAPIView):
    """Serve a view below /v1/org/{org_id}/team/{team_id}/{environment}.

    Raises: 404 for a team that the key does not manage; 422 for what is no id.
    """

    authentication_classes = [ManagementKeyAuthentication]
    key_header = HEADER

    def find_tenant(self, grant: ManagementGrant, **path: str) -> Tenant:
        _check_one_of(path, "environment", Environment.values)
        return grant.find_tenant(
            organisation_id=parse_path_uuid(path["org_id"], "org_id"),
            team_id=parse_path_uuid(path["team_id"], "team_id"),
            environment=path["environment"],
        )


class OrganisationView(KeyedAPIView):
    """Serve a view below /v1/org/{org_id} that concerns several teams.

    `grant` says which teams the key manages. Raises: 404 for another's organisation;
    422 for what is no id, environment or region.
    """

    authentication_classes = [ManagementKeyAuthentication]
    key_header = HEADER
    grant: ManagementGrant
    organisation: Organisation

    def enter(
        self, grant: ManagementGrant, **path: str
    ) -> AbstractContextManager[None]:
        _check_one_of(path, "environment", Environment.values)
        _check_one_of(path, "region", Region.values)
        self.grant = grant
        self.organisation = grant.find_organisation(
            parse_path_uuid(path["org_id"], "org_id")
        )
        return across_tenants(why="an organisation's teams and their audits")


def _check_one_of(path: Mapping[str, str], name: str, values: Sequence[str]) -> None:
    if name in path and path[name] not in values:
        line = FieldError(("path", name), f"Choose from: {', '.join(values)}.", "enum")
        raise RequestInvalid([line])
