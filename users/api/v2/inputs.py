"""Request bodies and queries about users, to the frozen values operations take.

Must not be here: rules that need the database (operations).
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.core.validators import EmailValidator
from rest_framework.exceptions import ValidationError

from portal.lib.api.fields import (
    Date,
    Inputs,
    Int,
    OpenEnum,
    QueryText,
    QueryUuid,
    Str,
    TimeZone,
    Uuid,
    person_name,
)
from users.models.user import CLIENT_USER_ID_MAX_LENGTH
from users.operations.user_info import Address, Guarantor, UserInfoRequest
from users.states import (
    Ethnicity,
    Gender,
    GenderIdentity,
    Race,
    SexualOrientation,
    SourceType,
)
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

_email = EmailValidator()
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]|$)", re.ASCII)


class UserInputs(Inputs):
    """A user to create, or on PATCH what to change of one (contract 2.3)."""

    client_user_id = Str(max_length=CLIENT_USER_ID_MAX_LENGTH)
    fallback_time_zone = TimeZone(required=False, allow_null=True)
    fallback_birth_date = Date(required=False, allow_null=True)
    ingestion_start = Date(required=False, allow_null=True)
    ingestion_end = Date(required=False, allow_null=True)


class UndoDeleteInputs(Inputs):
    """Exactly one of the two ids."""

    user_id = QueryUuid(required=False)
    client_user_id = QueryText(required=False)


class ProviderListInputs(Inputs):
    """Matches auth_type; an unknown one matches nothing (contract 3.1)."""

    source_type = QueryText(required=False)


class ProviderSlug(Str):
    """A slug of a source that can be connected, in any case (contract D2)."""

    def to_internal_value(self, data: Any) -> str:
        slug = str(super().to_internal_value(data)).lower()
        if slug not in PROVIDERS:
            raise ValidationError("No such source.", code="enum")
        return slug


class QueryDay(QueryText):
    """A date, or the date that a date-time has as it is written (contract 1.5)."""

    wire = "date_from_datetime_parsing"

    def to_internal_value(self, data: Any) -> Any:
        text = str(super().to_internal_value(data))
        try:
            if _DAY.match(text):
                return datetime.fromisoformat(text).date()
        except ValueError:
            pass
        raise ValidationError("Not a date.", code=self.wire)


class SummaryBatchInputs(Inputs):
    """What a batch says of its source; its elements their resource reads."""

    provider = ProviderSlug(max_length=50)
    source_type = OpenEnum(SourceType, required=False)
    app_id = Str(max_length=255, required=False)
    device_id = Uuid(required=False)


class SummaryFilterInputs(Inputs):
    """Which summaries: both dates are included, an unknown provider has none."""

    start_date = QueryDay(help_text="YYYY-MM-DD, included")
    end_date = QueryDay(required=False, help_text="YYYY-MM-DD, included; until now")
    provider = QueryText(required=False)


class LatestSummaryInputs(Inputs):
    """Of which source; without it the one that sent last."""

    provider = QueryText(required=False)


class AddressInputs(Inputs):
    """A postal address."""

    first_line = Str(max_length=200)
    second_line = Str(max_length=200, required=False, allow_blank=True)
    country = Str(max_length=100)
    zip = Str(max_length=20)
    city = Str(max_length=100)
    state = Str(max_length=100)
    access_notes = Str(max_length=1000, required=False, allow_blank=True)


class GuarantorInputs(Inputs):
    """Who answers for a minor."""

    first_name = Str(max_length=50)
    last_name = Str(max_length=50)
    address = AddressInputs()
    phone_number = Str(max_length=50)
    household_income = Int(required=False)
    household_size = Int(required=False)
    email = Str(max_length=254, required=False, validators=[_email])


class UserInfoInputs(Inputs):
    """All demographics of a user: a PATCH writes them whole (contract 2.5)."""

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


def read_user_info(body: Mapping[str, Any]) -> UserInfoRequest:
    """The value of a validated body; a gender we know is spelt our way (D2)."""
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
