"""Body fields that take the exact JSON type and nothing like it.

DRF's own fields coerce (5 becomes "5", "yes" becomes true); the contract does not
(1.9). In the query string everything is text: the fields named Query read it.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from django.core.validators import RegexValidator
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.fields import empty

from portal.lib.api.errors import FieldError, RequestInvalid, list_validation_errors
from portal.lib.birth_dates import require_plausible_birth_date
from portal.lib.errors import Invalid
from portal.lib.periods import list_time_zones

if TYPE_CHECKING:
    from rest_framework.request import Request

    from portal.lib.choices import OpenChoices


class _Typed:
    """Mixin: a value that can't be read has the wire's type `wire`.

    `expected` is the sentence of its refusal: the form to send, with its bounds.
    """

    wire: ClassVar[str] = "value_error"
    expected: str

    def fail(self, key: str, **context: Any) -> NoReturn:
        if key in ("invalid", "null"):
            raise ValidationError(self.expected, code=self.wire)
        super().fail(key, **context)  # type: ignore[misc]  # of the field
        raise AssertionError(key)


class _Exact(_Typed):
    """Mixin: only values of `accepts` go on."""

    accepts: ClassVar[tuple[type, ...]] = (str,)

    def to_internal_value(self, data: Any) -> Any:
        if type(data) not in self.accepts:
            raise ValidationError(self.expected, code=self.wire)
        return super().to_internal_value(data)  # type: ignore[misc]  # of the field


# Of text, by DRF's code.
_TEXT_MESSAGES: dict[str, Any] = {
    "blank": "Enter at least 1 character.",
    "min_length": "Enter at least {min_length} characters.",
    "max_length": "Enter at most {max_length} characters.",
}


@cache
def _whole_number(low: int | None, high: int | None) -> str:
    """Return the sentence that asks for a whole number between two bounds."""
    if low is not None and high is not None:
        return f"Enter a whole number from {low} to {high}."
    if low is not None:
        return f"Enter a whole number of {low} or more."
    return f"Enter a whole number of {high} or less." if high else _WHOLE_NUMBER


_WHOLE_NUMBER = "Enter a whole number."


class _WholeNumber(_Typed):
    """Mixin: a whole number, whose refusals name its bounds."""

    wire = "int_parsing"

    def __init__(self, **options: Any) -> None:
        self.expected = _whole_number(
            options.get("min_value"), options.get("max_value")
        )
        messages = dict.fromkeys(
            ("min_value", "max_value", "max_string_length"), self.expected
        )
        messages |= options.pop("error_messages", {})
        options["error_messages"] = messages
        super().__init__(**options)


class _EmptyIsAbsent:
    """Mixin: an optional text that is empty is as good as absent.

    Where null clears it clears, as null does. In a class of texts from a closed set
    (`closed`) an empty one is a wrong value like any other. Source: Contract 1.1;
    Ours: clients send empty texts for what they do not have.
    """

    closed: ClassVar[bool] = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if self.closed:
            self.allow_blank = False
        elif not self.required:  # type: ignore[attr-defined]  # of the field
            self.allow_blank = True  # also says so in the document

    def run_validation(self: Any, data: Any = empty) -> Any:
        if data == "" and isinstance(data, str):
            if self.closed:
                return serializers.Field.run_validation(self, data)
            if not self.required:
                if self.allow_null:
                    data = None
                elif getattr(self.root, "partial", False):
                    self.fail("blank")  # as null is: it can't be cleared
                else:
                    data = empty
        return super().run_validation(data)  # type: ignore[misc]  # of the field


class Str(_EmptyIsAbsent, _Exact, serializers.CharField):
    """Text, kept exactly as sent; blanks at the ends are part of it."""

    wire = "string_type"
    expected = "Enter text as a JSON string."
    default_error_messages: ClassVar[dict[str, Any]] = _TEXT_MESSAGES

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)


class Int(_WholeNumber, _Exact, serializers.IntegerField):
    """A JSON integer."""

    accepts = (int,)


_TRUE_OR_FALSE = "Enter true or false."
_UUID = "Enter a UUID such as 0b5ad4a5-6d62-4a0d-8d1e-2b6d2f6a9c11."


class Bool(_Exact, serializers.BooleanField):
    """`true` or `false`."""

    accepts = (bool,)
    wire = "bool_parsing"
    expected = _TRUE_OR_FALSE


class Date(_Exact, serializers.DateField):
    """A date as YYYY-MM-DD text."""

    wire = "date_from_datetime_parsing"
    expected = "Enter a date as YYYY-MM-DD."

    def __init__(self, **options: Any) -> None:
        super().__init__(input_formats=["%Y-%m-%d"], **options)

    def to_internal_value(self, data: Any) -> Any:
        # strptime takes 2026-1-2, which the contract does not.
        if isinstance(data, str) and len(data) != len("YYYY-MM-DD"):
            self.fail("invalid")
        return super().to_internal_value(data)


class BirthDate(Date):
    """A date of birth: from 1900 up to today."""

    def to_internal_value(self, data: Any) -> Any:
        day = super().to_internal_value(data)
        try:
            require_plausible_birth_date(day)
        except Invalid as refusal:
            raise ValidationError(refusal.message, code="value_error") from None
        return day


class DateTime(_Exact, serializers.DateTimeField):
    """A date-time as ISO 8601 text; one without offset is UTC."""

    wire = "datetime_parsing"
    expected = "Enter an ISO 8601 date-time such as 2026-11-23T14:05:00Z."


class Uuid(_Exact, serializers.UUIDField):
    """A uuid as text."""

    wire = "uuid_parsing"
    expected = _UUID


class QueryText(_EmptyIsAbsent, _Typed, serializers.CharField):
    """Text of the query string; a required one may be empty."""

    expected = "Enter text."
    default_error_messages: ClassVar[dict[str, Any]] = _TEXT_MESSAGES

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, **options)


class QueryInt(_WholeNumber, serializers.IntegerField):
    """An integer of the query string."""


class QueryBool(_Typed, serializers.BooleanField):
    """`true` or `false` of the query string."""

    wire = "bool_parsing"
    expected = _TRUE_OR_FALSE

    def run_validation(self, data: Any = empty) -> Any:
        if data == "":  # which DRF reads as null
            self.fail("invalid")
        return super().run_validation(data)


class QueryUuid(_Typed, serializers.UUIDField):
    """A uuid of the query string."""

    wire = "uuid_parsing"
    expected = _UUID


class TimeZone(Str):
    """An identifier of the IANA time zone database, spelt as there."""

    closed = True

    def to_internal_value(self, data: Any) -> str:
        name = str(super().to_internal_value(data))
        if name not in list_time_zones():
            raise ValidationError(
                "Enter an IANA time zone such as America/Chicago.", code="value_error"
            )
        return name


class OpenEnum(Str):
    """A value of an enumeration we write, in any case (contract D2)."""

    closed = True

    def __init__(self, values: type[OpenChoices], **options: Any) -> None:
        super().__init__(**options)
        self.values = values

    def to_internal_value(self, data: Any) -> OpenChoices:
        found = self.values.read(str(super().to_internal_value(data)))
        if found is None:
            offered = ", ".join(value for value, _label in self.values.offered())
            raise ValidationError(f"Enter one of: {offered}.", code="enum")
        return found


def build_pattern_validator(pattern: str, form: str) -> RegexValidator:
    """Make a validator: the whole text matches. Raises: string_pattern_mismatch.

    `form` names what is expected, as in "a 5-digit ZIP code".
    """
    return RegexValidator(
        rf"^(?:{pattern})\Z",
        message=f"Enter {form}.",
        code="string_pattern_mismatch",
    )


# Contract 6.9: starts alphanumeric; letters, digits, - . , ' and single inner blanks.
person_name = build_pattern_validator(
    r"[A-Za-z0-9](?:[A-Za-z0-9.,'-]| (?=[A-Za-z0-9.,'-]))*",
    "a name of letters A to Z, digits, - . , ' and single spaces that starts with a"
    " letter or digit",
)


class Inputs(serializers.Serializer[Any]):
    """Base of request inputs; unknown keys are ignored (contract 1.1).

    `whole` says that a PATCH with them writes all, so that it needs all required keys.
    """

    default_error_messages: ClassVar[dict[str, Any]] = {
        "invalid": "Send a JSON object."
    }

    whole: ClassVar[bool] = False

    def to_internal_value(self, data: Any) -> Any:
        """Ask for all of an item of a list, which a PATCH replaces as a whole."""
        if (
            isinstance(data, Mapping)
            and isinstance(self.parent, serializers.ListSerializer)
            and getattr(self.root, "partial", False)
        ):
            missing = {
                name: [ErrorDetail(str(field.error_messages["required"]), "required")]
                for name, field in self.fields.items()
                if field.required and name not in data
            }
            if missing:
                raise ValidationError(missing)
        return super().to_internal_value(data)


def validate_post_body(request: Request, inputs: type[Inputs]) -> dict[str, Any]:
    """Validate a POST body, in which null means absent. Raises: 422."""
    body = request.data
    if isinstance(body, Mapping):
        # What no field reads may be ten thousand samples: not even looked at.
        body = {name: body[name] for name in inputs._declared_fields if name in body}
    return _validate(inputs, _without_nulls(body), "body")


def validate_patch_body(request: Request, inputs: type[Inputs]) -> dict[str, Any]:
    """Validate a PATCH body, in which null clears and absence keeps. Raises: 422."""
    return _validate(inputs, request.data, "body", is_partial=True)


def validate_query_string(request: Request, inputs: type[Inputs]) -> dict[str, Any]:
    """Validate the query string: repeated keys for lists, else the last one counts.

    Raises: 422.
    """
    fields = inputs._declared_fields
    # A plain dict: from a QueryDict DRF takes any empty value for an absent one.
    given = {
        name: values if isinstance(fields[name], serializers.ListField) else values[-1]
        for name, values in request.query_params.lists()
        if name in fields and not _is_empty_list_of_texts(fields[name], values)
    }
    if not given and (defaults := _defaults(inputs)) is not None:
        return dict(defaults)
    return _validate(inputs, given, "query")


def parse_path_uuid(text: str, name: str) -> uuid.UUID:
    """Read a uuid out of the path. Raises: 422 at `["path", name]`."""
    try:
        found = uuid.UUID(text)
    except ValueError:
        found = None
    # uuid.UUID also takes braces, urn: and bare hex.
    if found is None or str(found) != text.lower():
        raise RequestInvalid([FieldError(("path", name), _UUID, "uuid_parsing")])
    return found


def _is_empty_list_of_texts(field: Any, values: list[str]) -> bool:
    """Return whether a repeated key has no text but empty ones."""
    child = getattr(field, "child", None)
    return isinstance(child, QueryText) and not child.closed and not any(values)


def _without_nulls(value: Any) -> Any:
    """Drop keys whose value is null, at any depth; items of a list keep their place."""
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


@cache
def _defaults(inputs: type[Inputs]) -> Mapping[str, Any] | None:
    """What nothing given is read as; None where that takes a validation each time.

    Most lists are asked for without a query, and making the fields anew is what costs.
    """
    checks = (inputs.validate, inputs.to_internal_value, inputs.run_validation)
    plain = (Inputs.validate, Inputs.to_internal_value, Inputs.run_validation)
    fields = inputs._declared_fields.values()
    constant = (bool, int, str, type(None))
    if checks != plain or any(
        field.required
        or not (field.default is empty or isinstance(field.default, constant))
        for field in fields
    ):
        return None
    return _validate(inputs, {}, "query")


def _validate(
    inputs: type[Inputs], given: Any, place: str, *, is_partial: bool = False
) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        line = FieldError((place,), "Send a JSON object.", "value_error")
        raise RequestInvalid([line])
    try:
        return dict(_get_reader(inputs, is_partial).run_validation(given))
    except ValidationError as refused:
        lines = list_validation_errors(refused.detail, (place,))
        raise RequestInvalid(list(lines)) from None


@cache
def _get_reader(inputs: type[Inputs], is_partial: bool) -> Inputs:
    """Return inputs to validate with; to make their fields again costs the most.

    Threads share them: what DRF keeps of a validation is of `is_valid` alone.
    """
    reader = inputs(partial=is_partial)
    _ = reader.fields
    return reader
