"""The API key's team (contract 9.1).

It is in labs because one field is about lab accounts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict
from uuid import UUID

from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from labs.queries.accounts import list_linked_lab_accounts
from labs.states.accounts import DelegatedFlow, LabAccountStatus
from portal.lib.api.fields import parse_path_uuid
from portal.lib.api.schema import describe_api_operation
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from rest_framework.request import Request

    from accounts.models import Tenant


class OwnTeam(TypedDict):
    """A team in the key's environment."""

    id: UUID
    org_id: UUID
    name: str
    testkits_texts_enabled: bool
    lab_tests_patient_communication_enabled: bool
    lab_tests_patient_sms_communication_enabled: bool
    lab_tests_patient_email_communication_enabled: bool
    delegated_flow: Annotated[str, DelegatedFlow]
    logo_url: str | None
    critical_result_notification_email: str | None


class TeamDetailView(TenantAPIView):
    """GET /v2/team/{team_id}."""

    area = Area.TEAM

    @describe_api_operation(
        "get_team", "Get the API key's team", answer=OwnTeam, refuses=(404,)
    )
    def get(self, request: Request, team_id: str) -> Response:
        if parse_path_uuid(team_id, "team_id") != self.tenant.team_id:
            raise NotFound("team_not_found", "Team not found.")
        return Response(build_team_response(self.tenant))


def build_team_response(tenant: Tenant) -> OwnTeam:
    """Build the team's response; two queries.

    `delegated_flow` is that of its active lab accounts where they agree. Source: Ours:
    delegation is an account's here (contract 6.4), and a team may have several.
    """
    active = list_linked_lab_accounts(tenant=tenant, status=LabAccountStatus.ACTIVE)
    flows = {account.delegated_flow for account in active}
    by_text = tenant.lab_tests_patient_sms_communication_enabled
    by_mail = tenant.lab_tests_patient_email_communication_enabled
    return {
        "id": tenant.team_id,
        "org_id": tenant.team.organisation_id,
        "name": tenant.team.name,
        "testkits_texts_enabled": by_text,
        "lab_tests_patient_communication_enabled": by_text or by_mail,
        "lab_tests_patient_sms_communication_enabled": by_text,
        "lab_tests_patient_email_communication_enabled": by_mail,
        "delegated_flow": (
            flows.pop() if len(flows) == 1 else str(DelegatedFlow.NOT_DELEGATED)
        ),
        "logo_url": tenant.logo_url,
        "critical_result_notification_email": (
            tenant.critical_result_notification_email
        ),
    }
