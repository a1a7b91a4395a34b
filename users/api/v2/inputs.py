"""Inputs of the users API: request bodies and query strings."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from django.core.validators import EmailValidator
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from portal.lib.api.fields import (
    Date,
    Inputs,
    Int,
    OpenEnum,
    QueryInt,
    QueryText,
    QueryUuid,
    Str,
    TimeZone,
    Uuid,
    person_name,
)
from portal.lib.api.pagination import CURSOR_MAX_LENGTH, CursorInputs
from users.analysis.buckets import Period
from users.analysis.source_priority import Rule
from users.models.data.sample import SPORT_MAX_LENGTH
from users.models.sources.link_session import REDIRECT_URL_MAX_LENGTH
from users.models.user import CLIENT_USER_ID_MAX_LENGTH
from users.operations.demo_sources import DEMO_SOURCES
from users.operations.users.demographics import Address, Guarantor, UserInfoRequest
from users.states import (
    Ethnicity,
    Gender,
    GenderIdentity,
    Race,
    SexualOrientation,
    SourceType,
)
from users.states.links import LinkReturn
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLE_PAGE_SIZE = 1000  # Contract 5.1
# Ours: a week of minutes in one call, for who asks.
SAMPLE_PAGE_MAX = 7 * 24 * 60

_email = EmailValidator()
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]|$)", re.ASCII)


class UserInputs(Inputs):
    """A user to create, or on PATCH the fields to change (contract 2.3)."""

    client_user_id = Str(
        max_length=CLIENT_USER_ID_MAX_LENGTH,
        help_text="Your ID of the user. It can't contain an email address or a phone"
        " number.",
    )
    fallback_time_zone = TimeZone(
        required=False,
        allow_null=True,
        help_text="IANA name. Data of sources that send no time zone is read in it;"
        " default: UTC",
    )
    fallback_birth_date = Date(
        required=False,
        allow_null=True,
        help_text="For heart rate zones where a source gives no birth date",
    )
    ingestion_start = Date(
        required=False, allow_null=True, help_text="Earlier data is dropped on arrival"
    )
    ingestion_end = Date(
        required=False,
        allow_null=True,
        help_text="Later data is dropped on arrival; seven days after it all sources"
        " are paused",
    )


class UndoDeleteInputs(Inputs):
    """Exactly one of the two IDs."""

    user_id = QueryUuid(required=False)
    client_user_id = QueryText(required=False)


class UserSearchInputs(Inputs):
    """Query of GET /v2/team/users/search: the beginning of either ID."""

    query_id = QueryText(required=False, max_length=CLIENT_USER_ID_MAX_LENGTH)


class ProviderListInputs(Inputs):
    """Filter by auth_type; an unknown value matches nothing (contract 3.1)."""

    source_type = QueryText(required=False)


class ProviderSlug(Str):
    """The slug of a source that can be connected, in any case (contract D2)."""

    closed = True

    def to_internal_value(self, data: Any) -> str:
        text = str(super().to_internal_value(data)).strip().lower()
        slug = text.replace(" ", "_").replace("-", "_")
        if slug not in PROVIDERS:
            raise ValidationError("Unknown source.", code="enum")
        return slug


# Of the data types of the typed client (contract 10) the one that is ranked.
RANKED_DATA_TYPE = "timeseries"


class SourcePrioritiesInputs(Inputs):
    """Query of GET /v2/team/source/priorities; an unknown data type has no ranking."""

    data_type = QueryText(required=False)
    user_id = QueryUuid(required=False)


class RankedDataType(Str):
    """The data type whose sources are ranked."""

    closed = True

    def to_internal_value(self, data: Any) -> str:
        text = str(super().to_internal_value(data)).strip().lower()
        if text != RANKED_DATA_TYPE:
            raise ValidationError("Only timeseries are ranked.", code="enum")
        return text


class SourcePriorityInputs(Inputs):
    """A ranking of a team, or with user_id of a user: slugs, the first counts first."""

    data_type = RankedDataType(required=False)
    user_id = Uuid(required=False)
    source_priority = serializers.ListField(
        child=ProviderSlug(), required=False, max_length=len(PROVIDERS)
    )


class DemoSlug(ProviderSlug):
    """The slug of a demo source (contract 3.5)."""

    def to_internal_value(self, data: Any) -> str:
        slug = super().to_internal_value(data)
        if slug not in DEMO_SOURCES:
            raise ValidationError("Unknown demo source.", code="enum")
        return slug


class DemoConnectionInputs(Inputs):
    """A demo source for a sandbox user (contract 3.5)."""

    user_id = Uuid()
    provider = DemoSlug(
        max_length=50, help_text="One of " + ", ".join(sorted(DEMO_SOURCES))
    )


class QueryDated(QueryText):
    """Base of dates in the query string; an empty text is invalid."""

    closed = True


class QueryDay(QueryDated):
    """A date, or the date part of a date-time as written (contract 1.5)."""

    wire = "date_from_datetime_parsing"

    def to_internal_value(self, data: Any) -> Any:
        text = str(super().to_internal_value(data))
        try:
            if _DAY.match(text):
                return datetime.fromisoformat(text).date()
        except ValueError:
            pass
        raise ValidationError("Send a date as YYYY-MM-DD.", code=self.wire)


class LinkTokenInputs(Inputs):
    """A link for a user (contract 3.6); `on_error` and `on_close` take `redirect`."""

    user_id = Uuid()
    provider = ProviderSlug(max_length=50, required=False)
    redirect_url = Str(
        max_length=REDIRECT_URL_MAX_LENGTH,
        required=False,
        help_text="https; where the page redirects when done",
    )
    filter_on_providers = serializers.ListField(
        child=ProviderSlug(max_length=50),
        required=False,
        max_length=len(PROVIDERS),
        help_text="Slugs of the sources to show; default: all",
    )
    on_error = OpenEnum(LinkReturn, required=False)
    on_close = OpenEnum(LinkReturn, required=False)


class SummaryBatchInputs(Inputs):
    """The source of a batch; the resource reads its elements."""

    provider = ProviderSlug(max_length=50)
    source_type = OpenEnum(SourceType, required=False)
    app_id = Str(max_length=255, required=False)
    device_id = Uuid(required=False)


class QueryMoment(QueryDated):
    """A date, or a date-time with or without offset (contract 1.5)."""

    wire = "datetime_parsing"

    def to_internal_value(self, data: Any) -> Any:
        text = str(super().to_internal_value(data))
        try:
            if _DAY.fullmatch(text):
                return date.fromisoformat(text)
            if _DAY.match(text):
                return datetime.fromisoformat(text)
        except ValueError:
            pass
        raise ValidationError("Send a date or an ISO 8601 date-time.", code=self.wire)


class SampleBatchInputs(SummaryBatchInputs):
    """The source of a batch of samples; `data` is read column by column."""

    workout_id = Uuid(required=False)
    sport = Str(max_length=SPORT_MAX_LENGTH, required=False)


class SampleRangeInputs(Inputs):
    """Range and source of samples; both ends are inclusive."""

    start_date = QueryMoment(
        help_text="YYYY-MM-DD or date-time; a date is a day in the fallback time zone"
    )
    end_date = QueryMoment(required=False, help_text="Inclusive; default: now")
    provider = QueryText(required=False)


class SampleFilterInputs(SampleRangeInputs, CursorInputs):
    """Range, source and page of samples."""

    limit = QueryInt(default=SAMPLE_PAGE_SIZE, min_value=1, max_value=SAMPLE_PAGE_MAX)
    cursor = QueryText(
        required=False,
        max_length=CURSOR_MAX_LENGTH,
        help_text="Former name of next_cursor",
    )


class SummaryFilterInputs(Inputs):
    """Range and source of summaries; both dates are inclusive."""

    start_date = QueryDay(help_text="YYYY-MM-DD, inclusive")
    end_date = QueryDay(required=False, help_text="YYYY-MM-DD, inclusive; default: now")
    provider = QueryText(required=False)


class CompletenessInputs(Inputs):
    """Days to prove, both inclusive, and the source."""

    start_date = QueryDay(help_text="YYYY-MM-DD, inclusive")
    end_date = QueryDay(
        required=False, help_text="YYYY-MM-DD, inclusive; default: today"
    )
    provider = QueryText(required=False, help_text="A single source")


class WorkoutFilterInputs(SummaryFilterInputs):
    """Range and source of workouts, and what to include with them."""

    include = serializers.ListField(
        child=QueryText(),
        required=False,
        help_text="provenance: the basis of the heart rate zones",
    )


class AggregateInputs(Inputs):
    """Samples to aggregate, and how (contract 10)."""

    start_date = QueryDay(help_text="YYYY-MM-DD, inclusive")
    end_date = QueryDay(
        required=False, help_text="YYYY-MM-DD, inclusive; default: today"
    )
    period = OpenEnum(Period, default=Period.DAY, help_text="Default: day")
    time_zone = TimeZone(required=False, help_text="IANA; default: the user's fallback")
    rule = OpenEnum(Rule, default=Rule.PRIORITY, help_text="Default: priority")
    priority = serializers.ListField(
        child=QueryText(),
        required=False,
        help_text="Slugs of the highest-ranked sources, in order",
    )
    provider = QueryText(required=False, help_text="A single source")
    type = QueryText(required=False, help_text="A single type")
    include = serializers.ListField(
        child=QueryText(), required=False, help_text="ledger"
    )


class LatestSummaryInputs(Inputs):
    """Source of the latest summary; default: the one that sent last."""

    provider = QueryText(required=False)


class LinkCodeInputs(Inputs):
    """The user of a new pairing code."""

    user_id = QueryUuid()
    expires_at = QueryMoment(
        required=False, help_text="At most an hour ahead; default: in 10 minutes"
    )


class AddressInputs(Inputs):
    """A postal address."""

    first_line = Str(max_length=200)
    second_line = Str(max_length=200, required=False)
    country = Str(max_length=100)
    zip = Str(max_length=20)
    city = Str(max_length=100)
    state = Str(max_length=100)
    access_notes = Str(max_length=1000, required=False)


class GuarantorInputs(Inputs):
    """The person responsible for a minor."""

    first_name = Str(max_length=50)
    last_name = Str(max_length=50)
    address = AddressInputs()
    phone_number = Str(max_length=50)
    household_income = Int(required=False)
    household_size = Int(required=False)
    email = Str(max_length=254, required=False, validators=[_email])


class UserInfoInputs(Inputs):
    """All demographics of a user; a PATCH replaces them all (contract 2.5)."""

    whole = True

    first_name = Str(max_length=50, validators=[person_name])
    last_name = Str(max_length=50, validators=[person_name])
    email = Str(max_length=254, validators=[_email])
    phone_number = Str(max_length=50)
    gender = Str(max_length=100)
    dob = Date()
    address = AddressInputs()
    medical_proxy = GuarantorInputs(required=False)
    race = OpenEnum(Race, required=False)
    ethnicity = OpenEnum(Ethnicity, required=False)
    sexual_orientation = OpenEnum(SexualOrientation, required=False)
    gender_identity = OpenEnum(GenderIdentity, required=False)


def parse_user_info_request(body: Mapping[str, Any]) -> UserInfoRequest:
    """Return the request of a validated body; known genders are normalized (D2)."""
    proxy = body.get("medical_proxy")
    gender = body["gender"]
    return UserInfoRequest(
        **{
            **body,
            "gender": Gender.read(gender) or gender,
            "address": Address(**body["address"]),
            "medical_proxy": proxy
            and Guarantor(**{**proxy, "address": Address(**proxy["address"])}),
        }
    )
