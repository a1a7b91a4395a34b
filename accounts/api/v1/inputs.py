"""Bodies and queries of the management API (contract 9.1, 9.2)."""

from __future__ import annotations

from typing import Any

from django.core.validators import EmailValidator, URLValidator
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from accounts.models.api_key import LABEL_MAX_LENGTH
from accounts.models.member import EMAIL_MAX_LENGTH
from accounts.models.team import INTEGRATION_ID_MAX_LENGTH, NAME_MAX_LENGTH
from accounts.operations.api_keys.api_keys import CALLS_PER_MINUTE_MAX, NETWORKS_MAX
from accounts.states import SCOPES, Environment, ManagementRole, Region
from portal.lib.api.fields import (
    Bool,
    Inputs,
    Int,
    QueryText,
    QueryUuid,
    Str,
    Uuid,
    build_pattern_validator,
)
from portal.lib.api.pagination import CursorInputs

URL_MAX_LENGTH = 200
# An IPv6 address that ends in an IPv4 one, and the length of its network.
NETWORK_MAX_LENGTH = 49
MEMBER_ROLES = [*ManagementRole.values, "no_role"]
KEYS_MAX = 100
_web_address = URLValidator(["https", "http"], code="value_error")
_email = EmailValidator(code="value_error")


class Choice(Str):
    """Accept one of a closed set of values."""

    closed = True

    def __init__(self, values: list[str], **options: Any) -> None:
        super().__init__(**options)
        self.values = values

    def to_internal_value(self, data: Any) -> str:
        found = str(super().to_internal_value(data))
        if found not in self.values:
            raise ValidationError(
                f"Choose from: {', '.join(self.values)}.", code="enum"
            )
        return found


class QueryChoice(QueryText):
    """Accept one of a closed set of values in the query string."""

    closed = True

    def __init__(self, values: list[str], **options: Any) -> None:
        super().__init__(**options)
        self.values = values

    def to_internal_value(self, data: Any) -> str:
        found = str(super().to_internal_value(data))
        if found not in self.values:
            raise ValidationError(
                f"Choose from: {', '.join(self.values)}.", code="enum"
            )
        return found


class OrganisationPatch(Inputs):
    """Changes to an organisation."""

    name = Str(max_length=NAME_MAX_LENGTH)


class BrandInputs(Inputs):
    """Branding shown to patients. Sent as a whole."""

    company_name = Str(max_length=NAME_MAX_LENGTH)
    company_website = Str(
        required=False,
        allow_null=True,
        max_length=URL_MAX_LENGTH,
        validators=[_web_address],
    )
    support_email = Str(required=False, allow_null=True, validators=[_email])
    support_contact = Str(required=False, allow_null=True, max_length=80)
    company_address = Str(required=False, allow_null=True, max_length=200)
    brand_color = Str(
        required=False,
        allow_null=True,
        validators=[build_pattern_validator("#[0-9a-fA-F]{6}", "a color as #rrggbb")],
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        # On a PATCH nothing is required, but a brand is one value.
        if "company_name" not in attrs:
            line = {"company_name": "Enter the company name."}
            raise ValidationError(line, code="missing")
        return {name: attrs.get(name) or "" for name in self._declared_fields}


class SettingsInputs(Inputs):
    """Settings of one environment (contract 9.2). null clears a value."""

    partial_webhooks_enabled = Bool(required=False)
    minor_ordering_enabled = Bool(required=False)
    reject_duplicate_connection = Bool(required=False)
    sdk_per_device_activity_timeseries = Bool(required=False)
    lab_tests_patient_sms_communication_enabled = Bool(required=False)
    lab_tests_patient_email_communication_enabled = Bool(required=False)
    critical_result_notification_email = Str(
        required=False, allow_null=True, max_length=254, validators=[_email]
    )
    brand_information = BrandInputs(required=False, allow_null=True)
    logo_url = Str(
        required=False,
        allow_null=True,
        max_length=URL_MAX_LENGTH,
        validators=[URLValidator(["https"], code="value_error")],
    )
    lab_report_parsing_enabled = Bool(required=False)
    lab_report_human_review_enabled = Bool(required=False)
    early_psc_booking_enabled = Bool(required=False)


class TeamListQuery(CursorInputs):
    """Filter teams. `search_query` matches part of the name."""

    team_id = QueryUuid(required=False)
    region = QueryChoice(Region.values, required=False)
    search_query = QueryText(required=False, max_length=NAME_MAX_LENGTH)


class TeamQuery(Inputs):
    """`include_environment`, repeated: whose settings to return. Defaults to both."""

    include_environment = serializers.ListField(
        child=QueryChoice(Environment.values), required=False
    )


class TeamInputs(SettingsInputs):
    """A new team. Settings apply to both environments."""

    name = Str(max_length=NAME_MAX_LENGTH)
    region = Choice(Region.values)
    id = Uuid(required=False)
    integration_team_id = Str(required=False, max_length=INTEGRATION_ID_MAX_LENGTH)


class TeamPatch(Inputs):
    """Changes to a team: name, integration ID and settings by environment."""

    name = Str(required=False, max_length=NAME_MAX_LENGTH)
    integration_team_id = Str(
        required=False,
        allow_null=True,
        max_length=INTEGRATION_ID_MAX_LENGTH,
    )
    sandbox = SettingsInputs(required=False)
    production = SettingsInputs(required=False)


class ApiKeyQuery(CursorInputs):
    """Filter API keys by team. Defaults to all teams the management key manages."""

    team_id = QueryUuid(required=False)


class ApiKeyInputs(Inputs):
    """A new API key of a team with its limits. Defaults to full access."""

    label = Str(max_length=LABEL_MAX_LENGTH)  # type: ignore[assignment]  # as DRF's own
    team_id = Uuid()
    scopes = serializers.ListField(
        child=Choice(list(SCOPES)),
        required=False,
        allow_null=True,
        help_text="Scopes of the key. null gives full access.",
    )
    networks = serializers.ListField(
        child=Str(max_length=NETWORK_MAX_LENGTH),
        required=False,
        max_length=NETWORKS_MAX,
        help_text="IP addresses or networks (CIDR) the key can be used from. "
        "Empty allows any.",
    )
    calls_per_minute = Int(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=CALLS_PER_MINUTE_MAX,
        help_text="Rate limit. null uses the server's default.",
    )
    expires_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="When the key expires. null for never.",
    )


class ApiKeyEnding(Inputs):
    """The keys to revoke: `api_key_id`, repeated."""

    api_key_id = serializers.ListField(
        child=QueryUuid(), allow_empty=False, max_length=KEYS_MAX
    )


class TeamBinding(Inputs):
    """A team that a key manages."""

    team_id = Uuid()


class AccessTokenInputs(Inputs):
    """The team environment that the token is for."""

    env = Choice(Environment.values)


class MemberListQuery(CursorInputs):
    """Filter members. `search_query` matches part of a name or email address."""

    search_query = QueryText(required=False, max_length=EMAIL_MAX_LENGTH)


class MemberPatch(Inputs):
    """The new administrator role of a member. team_admin requires teams."""

    whole = True

    role = Choice(MEMBER_ROLES)
    team_role_bindings = TeamBinding(many=True, required=False, allow_null=True)


class InviteListQuery(CursorInputs):
    """Filter invitations. `search_query` matches part of an email address."""

    search_query = QueryText(required=False, max_length=EMAIL_MAX_LENGTH)


class InviteInputs(Inputs):
    """An email address to invite. team_admin requires teams."""

    email = Str(max_length=EMAIL_MAX_LENGTH, validators=[_email])
    role = Choice(
        ManagementRole.values, required=False, help_text="Defaults to org_admin."
    )
    team_role_bindings = TeamBinding(many=True, required=False)


class ManagementKeyQuery(CursorInputs):
    """Filter management keys by team or role."""

    team_id = QueryUuid(required=False)
    role = QueryChoice(ManagementRole.values, required=False)


class ManagementKeyInputs(Inputs):
    """A new management key. team_admin requires teams."""

    label = Str(max_length=LABEL_MAX_LENGTH)  # type: ignore[assignment]  # as DRF's own
    role = Choice(ManagementRole.values)
    team_role_bindings = TeamBinding(many=True, required=False)


class ManagementKeyPatch(Inputs):
    """Changes to a management key."""

    label = Str(  # type: ignore[assignment]  # as DRF's own
        required=False, max_length=LABEL_MAX_LENGTH
    )
    team_role_bindings = TeamBinding(many=True, required=False)
