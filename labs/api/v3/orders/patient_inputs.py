"""Request bodies about people: patient, physician, payer, consents."""

from __future__ import annotations

from django.core.validators import EmailValidator
from rest_framework import serializers

from labs.states.patients import (
    NPI,
    PHONE,
    STATE,
    ZIP_CODE,
    Consent,
    Relationship,
)
from portal.lib.api.fields import (
    BirthDate,
    Inputs,
    Int,
    OpenEnum,
    Str,
    build_pattern_validator,
    person_name,
)
from users.states import (
    Ethnicity,
    Gender,
    GenderIdentity,
    Race,
    SexualOrientation,
)

IMAGE_MAX_CHARACTERS = 2_000_000
_email = EmailValidator()
_phone = build_pattern_validator(
    PHONE, "a phone number of 5 to 30 digits and ( ) . - or spaces"
)
_zip = build_pattern_validator(ZIP_CODE, "a ZIP code such as 60618 or 60618-1234")
_state = build_pattern_validator(STATE, "a 2-letter state code")
_npi = build_pattern_validator(NPI, "a 10-digit NPI")


class GuarantorAddressInputs(Inputs):
    """The postal address of a guarantor."""

    first_line = Str(max_length=200)
    second_line = Str(max_length=200, required=False)
    country = Str(max_length=100)
    zip = Str(max_length=20)
    city = Str(max_length=100)
    state = Str(max_length=100)
    access_notes = Str(max_length=1000, required=False)


class ProxyInputs(Inputs):
    """The person who represents a minor."""

    first_name = Str(max_length=50, validators=[person_name])
    last_name = Str(max_length=50, validators=[person_name])
    address = GuarantorAddressInputs()
    phone_number = Str(max_length=50)
    household_income = Int(required=False, min_value=0)
    household_size = Int(required=False, min_value=0)
    email = Str(max_length=254, required=False, validators=[_email])


class PatientDetailsInputs(Inputs):
    """The patient."""

    first_name = Str(max_length=50, validators=[person_name])
    last_name = Str(max_length=50, validators=[person_name])
    dob = BirthDate()
    gender = OpenEnum(Gender)
    phone_number = Str(max_length=30, validators=[_phone])
    email = Str(max_length=254, validators=[_email])
    medical_proxy = ProxyInputs(required=False)
    race = OpenEnum(Race, required=False)
    ethnicity = OpenEnum(Ethnicity, required=False)
    sexual_orientation = OpenEnum(SexualOrientation, required=False)
    gender_identity = OpenEnum(GenderIdentity, required=False)
    household_income = Int(required=False, min_value=0)
    household_size = Int(required=False, min_value=0)


class PatientAddressInputs(Inputs):
    """The patient's address."""

    receiver_name = Str(max_length=150, required=False)
    first_line = Str(max_length=200)
    second_line = Str(max_length=200, required=False)
    city = Str(max_length=100)
    state = Str(max_length=2, validators=[_state])
    zip = Str(max_length=10, validators=[_zip])
    country = Str(max_length=100)
    access_notes = Str(max_length=1000, required=False)
    phone_number = Str(max_length=30, required=False, validators=[_phone])


class ImportAddressInputs(PatientAddressInputs):
    """An imported patient's address; the ZIP code is not checked."""

    receiver_name = Str(max_length=150)
    zip = Str(max_length=20)


class ShippingInputs(Inputs):
    """The address a kit is shipped to."""

    receiver_name = Str(max_length=150)
    first_line = Str(max_length=200)
    second_line = Str(max_length=200, required=False)
    city = Str(max_length=100)
    state = Str(max_length=2, validators=[_state])
    zip = Str(max_length=10, validators=[_zip])
    country = Str(max_length=100)
    phone_number = Str(max_length=30, validators=[_phone])


class ImageInputs(Inputs):
    """An image as base64 text."""

    content = Str(max_length=IMAGE_MAX_CHARACTERS)
    content_type = serializers.ChoiceField(
        choices=["image/jpeg", "image/png"],
        error_messages={"invalid_choice": "Must be image/jpeg or image/png."},
    )


class PhysicianInputs(Inputs):
    """The ordering physician."""

    first_name = Str(max_length=50)
    last_name = Str(max_length=50)
    npi = Str(max_length=10, validators=[_npi])
    email = Str(max_length=254, required=False, validators=[_email])
    licensed_states = serializers.ListField(
        child=Str(max_length=2, validators=[_state]), required=False
    )
    signature_image = ImageInputs(required=False)


class ConsentInputs(Inputs):
    """A consent of the patient."""

    consentType = OpenEnum(Consent)  # noqa: N815 - the wire's
    version = Str(max_length=20, default="1.0")
    timeOfConsent = serializers.DateTimeField(required=False)  # noqa: N815 - the wire's


class ResponsibleInputs(Inputs):
    """The person responsible for the insurance."""

    first_name = Str(max_length=50)
    last_name = Str(max_length=50)
    address = GuarantorAddressInputs()
    phone_number = Str(max_length=50)
    phone_type = Str(max_length=20, required=False)


class HealthInsuranceInputs(Inputs):
    """The insurance that pays for an order."""

    front_image = ImageInputs(required=False)
    back_image = ImageInputs(required=False)
    patient_signature_image = ImageInputs(required=False)
    subjective = Str(max_length=4000, required=False)
    assessment_plan = Str(max_length=4000, required=False)
    payor_code = Str(max_length=50, required=False)
    insurance_id = Str(max_length=50, required=False)
    responsible_relationship = OpenEnum(Relationship, required=False)
    responsible_details = ResponsibleInputs(required=False)
    diagnosis_codes = serializers.ListField(child=Str(max_length=20), required=False)
