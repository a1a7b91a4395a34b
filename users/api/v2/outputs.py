"""Answers of the users API, and the functions that build them.

The OpenAPI components are generated from the shapes. Contract 2 and 3.
"""

from __future__ import annotations

from datetime import date, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, TypedDict
from uuid import UUID

from django.utils import translation

from users.models.user import MANUAL
from users.operations.connect.link_sessions import build_connect_link_url
from users.states import (
    ConnectionFault,
    ConnectionStatus,
    Ethnicity,
    Gender,
    GenderIdentity,
    Race,
    SexualOrientation,
)
from users.states.links import Way
from users.wearables.payloads import (
    ResourceAvailability,
    SourceBadge,
    build_resource_availability,
    build_source_badge,
    build_source_logo_url,
)
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from accounts.models import Tenant
    from users.models import Connection, LinkSession, User, UserInfo
    from users.operations.connect.linking import OfferedSource
    from users.operations.users.users import ClientUserIdTaken
    from users.queries import SourceRow, UserPage, UserRow
    from users.wearables.providers import Provider


class ConnectedSource(TypedDict):
    """A source connected to a user; `provider` repeats `source` (D3)."""

    created_on: datetime
    source: SourceBadge
    provider: SourceBadge


class FallbackTimeZone(TypedDict):
    """Time zone for data from sources that send none."""

    id: str
    source_slug: str
    updated_at: datetime


class FallbackBirthDate(TypedDict):
    """Birth date for the maximum heart rate if a source sends no age."""

    value: date
    source_slug: str
    updated_at: datetime


class UserAnswer(TypedDict):
    """A user (specification 2.3)."""

    user_id: UUID
    team_id: UUID
    client_user_id: str
    created_on: datetime
    connected_sources: list[ConnectedSource]
    fallback_time_zone: FallbackTimeZone
    fallback_birth_date: FallbackBirthDate | None
    ingestion_start: date | None
    ingestion_end: date | None


class UserList(TypedDict):
    """A page of users by created_on, then user_id."""

    users: list[UserAnswer]
    total: int
    offset: int
    limit: int


Users = list[UserAnswer]


class Success(TypedDict):
    """The call succeeded."""

    success: bool


class ClientUserIdTakenDetail(TypedDict):
    """The user with this client_user_id."""

    error_type: str
    error_message: str
    user_id: UUID
    created_on: datetime


class ClientUserIdTakenAnswer(TypedDict):
    """The client_user_id is in use (contract 1.3)."""

    detail: ClientUserIdTakenDetail
    code: str


class ConnectionErrorDetails(TypedDict):
    """Cause and time of a connection's error."""

    error_type: Annotated[str, ConnectionFault]
    error_message: str
    errored_at: datetime


class ProviderWithStatus(TypedDict):
    """A source of a user and the status of its connection (contract 2.4)."""

    name: str
    slug: str
    logo: str
    created_on: datetime
    status: Annotated[str, ConnectionStatus]
    external_user_id: str | None
    error_details: ConnectionErrorDetails | None
    resource_availability: dict[str, ResourceAvailability]


class UserProviders(TypedDict):
    """The sources of a user."""

    providers: list[ProviderWithStatus]


class AddressAnswer(TypedDict):
    """A postal address."""

    first_line: str
    second_line: str | None
    country: str
    zip: str
    city: str
    state: str
    access_notes: str | None


class GuarantorDetails(TypedDict):
    """The person responsible for a minor."""

    first_name: str
    last_name: str
    address: AddressAnswer
    phone_number: str
    household_income: int | None
    household_size: int | None
    email: str | None


class UserInfoAnswer(TypedDict):
    """Demographics of a user (contract 2.5)."""

    first_name: str
    last_name: str
    email: str
    phone_number: str
    gender: Annotated[str, Gender]
    dob: date
    address: AddressAnswer
    medical_proxy: GuarantorDetails | None
    race: Annotated[str, Race] | None
    ethnicity: Annotated[str, Ethnicity] | None
    sexual_orientation: Annotated[str, SexualOrientation] | None
    gender_identity: Annotated[str, GenderIdentity] | None


class ProviderAnswer(TypedDict):
    """A source that users can connect (contract 3.1)."""

    name: str
    slug: str
    description: str
    logo: str
    auth_type: str
    supported_resources: list[str]


class DemoConnected(TypedDict):
    """A demo source was connected (contract 3.5)."""

    success: bool
    detail: str


class LinkToken(TypedDict):
    """A link: its token and the page to open (contract 3.6)."""

    link_token: str
    link_web_url: str


class LinkCode(TypedDict):
    """A code that pairs a phone, and where an app exchanges it for tokens."""

    code: str
    exchange_url: str
    expires_at: datetime


class LinkProvider(TypedDict):
    """A source available through a link (contract 3.6).

    `id` is the source_id of events. `oauth_url` is null for a source without sign-in,
    `form_components` always: no source needs a password form.
    """

    id: int
    name: str
    slug: str
    description: str
    logo: str
    oauth_url: str | None
    auth_type: str
    form_components: dict[str, str] | None


def build_user_response(
    tenant: Tenant, user: UserRow | User, sources: Iterable[SourceRow | Connection]
) -> UserAnswer:
    """Return a user as the API answers it; UTC without a fallback time zone (D4)."""
    return {
        "user_id": user.uuid,
        "team_id": tenant.team_id,
        "client_user_id": user.client_user_id,
        "created_on": user.created_on,
        "connected_sources": [
            {
                "created_on": source.created_on,
                "source": (badge := build_source_badge(source.provider)),
                "provider": badge,
            }
            for source in sources
        ],
        "fallback_time_zone": {
            "id": user.fallback_time_zone or "UTC",
            "source_slug": user.fallback_time_zone_source or MANUAL,
            "updated_at": user.fallback_time_zone_updated_at or user.created_on,
        },
        "fallback_birth_date": {
            "value": user.fallback_birth_date,
            "source_slug": user.fallback_birth_date_source,
            "updated_at": user.fallback_birth_date_updated_at or user.created_on,
        }
        if user.fallback_birth_date
        else None,
        "ingestion_start": user.ingestion_start,
        "ingestion_end": user.ingestion_end,
    }


def build_user_list_response(
    tenant: Tenant, page: UserPage, *, offset: int, limit: int
) -> UserList:
    return {
        "users": [
            build_user_response(tenant, user, page.sources[user.id])
            for user in page.users
        ],
        "total": page.total,
        "offset": offset,
        "limit": limit,
    }


def build_client_user_id_taken_response(
    refusal: ClientUserIdTaken,
) -> ClientUserIdTakenAnswer:
    return {
        "detail": {
            "error_type": "INVALID_REQUEST",
            "error_message": refusal.message,
            "user_id": refusal.user_uuid,
            "created_on": refusal.created_on,
        },
        "code": refusal.code,
    }


def build_user_providers_response(connections: Sequence[Connection]) -> UserProviders:
    return {"providers": [_provider_with_status(each) for each in connections]}


def _provider_with_status(connection: Connection) -> ProviderWithStatus:
    return {
        **build_source_badge(connection.provider),
        "created_on": connection.created_on,
        "status": connection.status,
        "external_user_id": connection.external_user_id or None,
        "error_details": {
            "error_type": connection.error_type,
            "error_message": connection.error_message,
            "errored_at": connection.errored_at,
        }
        if connection.error_type and connection.errored_at
        else None,
        "resource_availability": build_resource_availability(
            connection.resource_availability
        ),
    }


def build_user_info_response(info: UserInfo) -> UserInfoAnswer:
    return {
        "first_name": info.first_name,
        "last_name": info.last_name,
        "email": info.email,
        "phone_number": info.phone_number,
        "gender": info.gender,
        "dob": info.dob,
        "address": _address(info.address),
        "medical_proxy": _guarantor(info.medical_proxy) if info.medical_proxy else None,
        "race": info.race or None,
        "ethnicity": info.ethnicity or None,
        "sexual_orientation": info.sexual_orientation or None,
        "gender_identity": info.gender_identity or None,
    }


def _address(stored: dict[str, Any]) -> AddressAnswer:
    return {
        "first_line": stored["first_line"],
        "second_line": stored["second_line"],
        "country": stored["country"],
        "zip": stored["zip"],
        "city": stored["city"],
        "state": stored["state"],
        "access_notes": stored["access_notes"],
    }


def _guarantor(stored: dict[str, Any]) -> GuarantorDetails:
    return {
        "first_name": stored["first_name"],
        "last_name": stored["last_name"],
        "address": _address(stored["address"]),
        "phone_number": stored["phone_number"],
        "household_income": stored["household_income"],
        "household_size": stored["household_size"],
        "email": stored["email"],
    }


@lru_cache(maxsize=16)
def list_provider_responses(
    auth_type: str | None, public_url: str
) -> tuple[ProviderAnswer, ...]:
    """Return the sources of one `auth_type`, or all: the same at each call of the API.

    Their descriptions are in English, whoever asks. `public_url` is that of the logos.
    """
    with translation.override("en"):
        return tuple(
            _build_provider_response(provider)
            for provider in PROVIDERS.values()
            if auth_type is None or provider.auth_type == auth_type
        )


def _build_provider_response(provider: Provider) -> ProviderAnswer:
    return {
        "name": provider.name,
        "slug": provider.slug,
        "description": str(provider.description),
        "logo": build_source_logo_url(provider.slug),
        "auth_type": provider.auth_type,
        "supported_resources": list(provider.resources),
    }


def build_link_provider_response(
    session: LinkSession, source: OfferedSource
) -> LinkProvider:
    """Return a source as a link's list answers it."""
    provider = source.provider
    sign_in = Way.SIGN_IN in source.ways
    return {
        "id": provider.id,
        "name": provider.name,
        "slug": provider.slug,
        "description": str(provider.description),
        "logo": build_source_logo_url(provider.slug),
        "oauth_url": build_connect_link_url(session, provider=provider.slug)
        if sign_in
        else None,
        "auth_type": provider.auth_type,
        "form_components": None,
    }
