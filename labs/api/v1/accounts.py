"""Lab accounts by management key: list them and set their teams.

Contract 9.1, 9.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from rest_framework import serializers
from rest_framework.response import Response

from accounts.api.management import OrganisationView
from accounts.models import Tenant
from labs.api.v3.catalogue.inputs import LabAccountQuery
from labs.api.v3.catalogue.outputs import (
    LabAccountAnswer,
    LabAccountList,
    build_lab_account,
)
from labs.operations.accounts import (
    set_lab_account_teams,
)
from labs.queries.accounts import list_lab_accounts_of_managed_teams
from portal.lib.api.fields import (
    Inputs,
    QueryUuid,
    Uuid,
    parse_path_uuid,
    validate_post_body,
    validate_query_string,
)
from portal.lib.api.schema import describe_api_operation
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from rest_framework.request import Request

    from labs.models import LabAccount

TEAMS_MAX = 1000


class ManagedAccountQuery(LabAccountQuery):
    """Filters of the organization's lab accounts; `team_id` limits them to one team."""

    team_id = QueryUuid(required=False)


class AllowListInputs(Inputs):
    """The teams that may use a lab account; replaces the earlier list."""

    team_id_allowlist = serializers.ListField(child=Uuid(), max_length=TEAMS_MAX)


class LinkedAccount(TypedDict):
    """A lab account after the change."""

    lab_account: LabAccountAnswer | None


class ManagedAccountsView(OrganisationView):
    """Base of views about an organization's lab accounts in one environment."""

    def find_tenant(self, path: Mapping[str, str]) -> Tenant | None:
        """Return one of the key's tenants; accounts are the same for all of them."""
        place = Tenant.objects.select_related("team").filter(
            environment=path["environment"],
            team__in=self.grant.teams().filter(region=path["region"]),
        )
        return place.order_by("pk").first()


class OrganisationAccountsView(ManagedAccountsView):
    """GET /v1/org/{org_id}/lab_account/{environment}/{region}."""

    @describe_api_operation(
        "list_organisation_lab_accounts",
        "List the lab accounts of the organization",
        answer=LabAccountList,
        query=ManagedAccountQuery,
        refuses=(404,),
    )
    def get(self, request: Request, **path: str) -> Response:
        """A team_admin key sees accounts its teams may use."""
        query = validate_query_string(request, ManagedAccountQuery)
        place = self.find_tenant(path)
        if place is None:
            return Response({"data": []})
        accounts = list_lab_accounts_of_managed_teams(
            tenant=place,
            managed_ids=self.grant.team_ids,
            account_id=query.get("lab_account_id"),
            team_id=query.get("team_id"),
            status=str(query.get("status", "")),
        )
        return Response({"data": [build_lab_account(each) for each in accounts]})


class OrganisationAccountView(ManagedAccountsView):
    """PATCH /v1/org/{org_id}/lab_account/{environment}/{region}/{account_id}."""

    @describe_api_operation(
        "link_lab_account",
        "Set the teams that may use a lab account",
        answer=LinkedAccount,
        body=AllowListInputs,
        refuses=(400, 403, 404),
    )
    def patch(self, request: Request, *, account_id: str, **path: str) -> Response:
        """Requires an org_admin key. Replaces the earlier list."""
        account_uuid = parse_path_uuid(account_id, "account_id")
        place = self.find_tenant(path)
        found = [] if place is None else self.get_account(place, account_uuid)
        if place is None or not found:
            raise NotFound("lab_account_not_found", "Lab account not found.")
        self.grant.check_whole()
        set_lab_account_teams(
            tenant=place,
            actor=self.actor,
            account=found[0],
            team_ids=validate_post_body(request, AllowListInputs)["team_id_allowlist"],
        )
        (account,) = self.get_account(place, account_uuid)
        return Response({"lab_account": build_lab_account(account)})

    def get_account(self, place: Tenant, account_id: UUID) -> list[LabAccount]:
        """Return the account of the path if the key may see it, else an empty list."""
        return list_lab_accounts_of_managed_teams(
            tenant=place, managed_ids=self.grant.team_ids, account_id=account_id
        )
