"""Answers of the management API (contract 9.1, 9.2)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict
from uuid import UUID

from accounts.states import ADMINISTERS, Environment, InviteStatus, ManagementRole
from portal.lib.api.schema import JsonShape

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from accounts.models import (
        ApiKey,
        Invitation,
        ManagementKey,
        Member,
        Organisation,
        Team,
        Tenant,
    )


NOTHING = JsonShape("Nothing", {"type": "null"})


class OrganisationAnswer(TypedDict):
    """An organisation. `expires_at` is always null."""

    id: UUID
    name: str
    expires_at: datetime | None


class TeamLine(TypedDict):
    """A team in a list."""

    id: UUID
    name: str
    created_on: datetime
    region: str
    integration_team_id: str | None


class TeamPage(TypedDict):
    """Some teams, oldest first; `next_cursor` is null at the end."""

    teams: list[TeamLine]
    next_cursor: str | None


class BrandAnswer(TypedDict):
    """Branding shown to patients."""

    company_name: str
    company_website: str | None
    support_email: str | None
    support_contact: str | None
    company_address: str | None
    brand_color: str | None


class SettingsAnswer(TypedDict):
    """Settings of a team in one environment."""

    partial_webhooks_enabled: bool
    minor_ordering_enabled: bool
    reject_duplicate_connection: bool
    sdk_per_device_activity_timeseries: bool
    lab_tests_patient_sms_communication_enabled: bool
    lab_tests_patient_email_communication_enabled: bool
    critical_result_notification_email: str | None
    brand_information: BrandAnswer | None
    logo_url: str | None
    lab_report_parsing_enabled: bool
    lab_report_human_review_enabled: bool
    early_psc_booking_enabled: bool


class TeamAnswer(TeamLine):
    """A team. Settings of environments that were not requested are null."""

    environments: list[str]
    sandbox: SettingsAnswer | None
    production: SettingsAnswer | None


class ApiKeyAnswer(TypedDict):
    """An API key. `value` is complete only when created, masked afterwards.

    `scopes` null: all; `networks` empty: any address; `calls_per_minute` null: as the
    installation says; `expires_at` null: never (ours).
    """

    id: UUID
    label: str
    value: str
    team_id: UUID
    created_at: datetime
    scopes: list[str] | None
    networks: list[str]
    calls_per_minute: int | None
    expires_at: datetime | None


class ApiKeyPage(TypedDict):
    """Some keys, oldest first; `next_cursor` is null at the end."""

    api_keys: list[ApiKeyAnswer]
    next_cursor: str | None


class AccessTokenAnswer(TypedDict):
    """A token that works like an API key, and its lifetime in seconds."""

    access_token: str
    expires_in: int


class EndedKeys(TypedDict):
    """The result for each key: revoked now, revoked before or not found."""

    success: list[UUID]
    failure: list[UUID]
    not_found: list[UUID]


class CreatorAnswer(TypedDict):
    """The member who created something. All null if no member did."""

    id: UUID | None
    name: str | None
    email: str | None


class TeamBindingAnswer(TypedDict):
    """A team binding."""

    team_id: UUID


class ManagementKeyAnswer(TypedDict):
    """A management key; `team_role_bindings` is null for an org_admin."""

    id: UUID
    label: str
    created_at: datetime
    creator: CreatorAnswer
    role: str
    team_role_bindings: list[TeamBindingAnswer] | None


class MemberAnswer(TypedDict):
    """A member; `team_role_bindings` are the teams that a team_admin administers."""

    id: UUID
    name: str
    email: str
    created_on: datetime
    role: Literal["org_admin", "team_admin", "no_role"]
    team_role_bindings: list[TeamBindingAnswer] | None


class MemberPage(TypedDict):
    """Some members, oldest first; `next_cursor` is null at the end."""

    members: list[MemberAnswer]
    next_cursor: str | None


class InviteAnswer(TypedDict):
    """An open invitation; `team_role_bindings` is null for an org_admin."""

    id: UUID
    email: str
    invited_at: datetime
    resent_at: datetime | None
    creator: CreatorAnswer
    role: Literal["org_admin", "team_admin", "no_role"]
    team_role_bindings: list[TeamBindingAnswer] | None


class InvitePage(TypedDict):
    """Some invitations, oldest first; `next_cursor` is null at the end."""

    invites: list[InviteAnswer]
    next_cursor: str | None


class InvitedAnswer(TypedDict):
    """The result of an invitation."""

    status: Annotated[str, InviteStatus]


class NewManagementKey(ManagementKeyAnswer):
    """A management key with its text, which is shown only once."""

    key: str


class ManagementKeyPage(TypedDict):
    """Some management keys, oldest first; `next_cursor` is null at the end."""

    data: list[ManagementKeyAnswer]
    next_cursor: str | None


def build_organisation_response(organisation: Organisation) -> OrganisationAnswer:
    """Build the response for an organisation."""
    return {"id": organisation.pk, "name": organisation.name, "expires_at": None}


def build_team_list_entry(team: Team) -> TeamLine:
    """Build the list entry of a team."""
    return {
        "id": team.pk,
        "name": team.name,
        "created_on": team.created_at,
        "region": team.region,
        "integration_team_id": team.integration_team_id,
    }


def build_team_response(
    team: Team, environments: Collection[str] = tuple(Environment.values)
) -> TeamAnswer:
    """Build the response for a team with these environments; one query."""
    shown: dict[str, SettingsAnswer] = {
        tenant.environment: build_team_settings_response(tenant)
        for tenant in team.tenants.filter(environment__in=environments)
    }
    return {
        **build_team_list_entry(team),
        "environments": list(Environment.values),
        "sandbox": shown.get(Environment.SANDBOX),
        "production": shown.get(Environment.PRODUCTION),
    }


def build_team_settings_response(tenant: Tenant) -> SettingsAnswer:
    """Build the response for the settings of contract 9.2."""
    brand: dict[str, Any] | None = tenant.brand_information
    return {
        "partial_webhooks_enabled": tenant.partial_webhooks_enabled,
        "minor_ordering_enabled": tenant.minor_ordering_enabled,
        "reject_duplicate_connection": tenant.reject_duplicate_connection,
        "sdk_per_device_activity_timeseries": tenant.sdk_per_device_activity_timeseries,
        "lab_tests_patient_sms_communication_enabled": (
            tenant.lab_tests_patient_sms_communication_enabled
        ),
        "lab_tests_patient_email_communication_enabled": (
            tenant.lab_tests_patient_email_communication_enabled
        ),
        "critical_result_notification_email": (
            tenant.critical_result_notification_email
        ),
        "brand_information": None if brand is None else _brand_answer(brand),
        "logo_url": tenant.logo_url,
        "lab_report_parsing_enabled": tenant.lab_report_parsing_enabled,
        "lab_report_human_review_enabled": tenant.lab_report_human_review_enabled,
        "early_psc_booking_enabled": tenant.early_psc_booking_enabled,
    }


def _brand_answer(brand: dict[str, Any]) -> BrandAnswer:
    return {
        "company_name": brand["company_name"],
        "company_website": brand.get("company_website") or None,
        "support_email": brand.get("support_email") or None,
        "support_contact": brand.get("support_contact") or None,
        "company_address": brand.get("company_address") or None,
        "brand_color": brand.get("brand_color") or None,
    }


def build_api_key_response(key: ApiKey, *, text: str | None = None) -> ApiKeyAnswer:
    """Build the response for a key, its tenant loaded; with its text if new."""
    return {
        "id": key.id,
        "label": key.label,
        "value": text or key.masked,
        "team_id": key.tenant.team_id,
        "created_at": key.created_at,
        "scopes": key.scopes,
        "networks": key.networks,
        "calls_per_minute": key.calls_per_minute,
        "expires_at": key.expires_at,
    }


def build_key_creator_response(member: Member | None) -> CreatorAnswer:
    """Build the creator part of a response."""
    if member is None:
        return {"id": None, "name": None, "email": None}
    return {"id": member.pk, "name": member.name or None, "email": member.email}


def build_management_key_response(key: ManagementKey) -> ManagementKeyAnswer:
    """Build the response for a management key, its creator and teams loaded."""
    bindings: list[TeamBindingAnswer] | None = None
    if key.role != ManagementRole.ORG_ADMIN:
        bindings = [{"team_id": pk} for pk in sorted(t.pk for t in key.teams.all())]
    return {
        "id": key.id,
        "label": key.label,
        "created_at": key.created_at,
        "creator": build_key_creator_response(key.created_by),
        "role": key.role,
        "team_role_bindings": bindings,
    }


def build_member_response(
    member: Member,
    *,
    administers: Collection[UUID],
    organisation_teams: Collection[UUID],
    managed_teams: Collection[UUID],
) -> MemberAnswer:
    """Build the response for a member, for a key managing `managed_teams`."""
    role, bindings = _administrator_role(administers, organisation_teams, managed_teams)
    return {
        "id": member.pk,
        "name": member.name,
        "email": member.email,
        "created_on": member.created_at,
        "role": role,
        "team_role_bindings": bindings,
    }


def build_invitation_response(
    invitations: Sequence[Invitation],
    *,
    organisation_teams: Collection[UUID],
    managed_teams: Collection[UUID],
) -> InviteAnswer:
    """Build the response for one link's invitations, for `managed_teams`."""
    first = invitations[0]
    role, bindings = _administrator_role(
        [each.team_id for each in invitations if ADMINISTERS & set(each.roles)],
        organisation_teams,
        managed_teams,
    )
    return {
        "id": first.batch or first.pk,
        "email": first.email,
        "invited_at": first.created_at,
        "resent_at": first.resent_at,
        "creator": build_key_creator_response(first.invited_by),
        "role": role,
        "team_role_bindings": bindings,
    }


def _administrator_role(
    administers: Collection[UUID],
    organisation_teams: Collection[UUID],
    managed_teams: Collection[UUID],
) -> tuple[
    Literal["org_admin", "team_admin", "no_role"], list[TeamBindingAnswer] | None
]:
    """Return the administrator role on the wire and the teams it is bound to."""
    shown = sorted(set(administers) & set(managed_teams))
    if administers and set(administers) == set(organisation_teams):
        return "org_admin", None
    if shown:
        return "team_admin", [{"team_id": pk} for pk in shown]
    return "no_role", None
