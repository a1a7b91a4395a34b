from __future__ import annotations

import pytest
from django.utils import timezone
from rest_framework import serializers

from portal.lib.api.errors import RequestInvalid
from portal.lib.api.fields import (
    Bool,
    Date,
    Inputs,
    Int,
    OpenEnum,
    QueryBool,
    QueryInt,
    QueryText,
    QueryUuid,
    Str,
    TimeZone,
    Uuid,
    build_pattern_validator,
    parse_path_uuid,
    validate_patch_body,
    validate_post_body,
    validate_query_string,
)
from portal.lib.choices import OpenChoices

UUID_TEXT = "0b5ad4a5-6d62-4a0d-8d1e-2b6d2f6a9c11"


class Colour(OpenChoices):
    DARK_RED = "dark_red", "Dark red"
    BLUE = "blue", "Blue"


class Inner(Inputs):
    word = Str()
    note = Str(required=False)


class Everything(Inputs):
    text = Str(required=False, max_length=5)
    number = Int(required=False, min_value=0, max_value=9)
    flag = Bool(required=False)
    day = Date(required=False)
    ident = Uuid(required=False)
    zone = TimeZone(required=False)
    colour = OpenEnum(Colour, required=False)
    code = Str(
        required=False,
        validators=[build_pattern_validator("[a-z]+", "lower-case letters")],
    )
    words = serializers.ListField(child=Str(), required=False)
    inner = Inner(required=False)
    inners = Inner(required=False, many=True)


class Bounded(Inputs):
    limit = QueryInt(required=False, min_value=1, max_value=500)
    least = QueryInt(required=False, min_value=1)
    most = QueryInt(required=False, max_value=9)
    number = QueryInt(required=False)
    flag = QueryBool(required=False)
    ident = QueryUuid(required=False)


class Request:
    """As much of a request as the readers use."""

    def __init__(self, data=None, query=""):
        from django.http import QueryDict

        self.data = data
        self.query_params = QueryDict(query)


def faults(read, request, inputs=Everything):
    with pytest.raises(RequestInvalid) as refusal:
        read(request, inputs)
    return [(error.loc, error.type) for error in refusal.value.errors]


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("text", " a b ", " a b "),
        ("number", 3, 3),
        ("flag", False, False),
        ("zone", "Europe/Berlin", "Europe/Berlin"),
        ("colour", "Dark-Red", Colour.DARK_RED),
        ("colour", " dark red ", Colour.DARK_RED),
        ("code", "abc", "abc"),
        ("words", ["a", "b"], ["a", "b"]),
        ("inner", {"word": "w", "colour": 1}, {"word": "w"}),
        ("inner", {"word": "w", "note": None}, {"word": "w"}),
        ("inners", [{"word": "w", "note": None}], [{"word": "w"}]),
    ],
)
def test_a_value_of_the_exact_type_is_read(name, value, read):
    assert validate_post_body(Request({name: value}), Everything) == {name: read}


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("text", 5, "string_type"),
        ("text", True, "string_type"),
        ("text", {"a": 1}, "string_type"),
        ("text", "abcdef", "string_too_long"),
        ("text", "a\0", "value_error"),
        ("number", "3", "int_parsing"),
        ("number", 3.0, "int_parsing"),
        ("number", True, "int_parsing"),
        ("number", -1, "greater_than_equal"),
        ("number", 10, "less_than_equal"),
        ("flag", "yes", "bool_parsing"),
        ("flag", 1, "bool_parsing"),
        ("day", "2026-1-2", "date_from_datetime_parsing"),
        ("day", "2026-01-02T00:00:00", "date_from_datetime_parsing"),
        ("day", "0000-01-01", "date_from_datetime_parsing"),
        ("day", 20260102, "date_from_datetime_parsing"),
        ("ident", "7", "uuid_parsing"),
        ("ident", 7, "uuid_parsing"),
        ("zone", "CEST", "value_error"),
        ("zone", "/etc/localtime", "value_error"),
        ("zone", "", "value_error"),
        ("colour", "green", "enum"),
        ("colour", "", "enum"),
        ("colour", 1, "string_type"),
        ("code", "ABC", "string_pattern_mismatch"),
        ("code", "abc\n", "string_pattern_mismatch"),
        ("words", "a", "value_error"),
        ("inner", "w", "value_error"),
        ("inner", ["w"], "value_error"),
        ("inners", {"word": "w"}, "value_error"),
    ],
)
def test_any_other_value_is_refused(name, value, kind):
    assert faults(validate_post_body, Request({name: value})) == [
        (("body", name), kind)
    ]


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("text", 5, "Enter text as a JSON string."),
        ("text", "abcdef", "Enter at most 5 characters."),
        ("number", "3", "Enter a whole number from 0 to 9."),
        ("number", -1, "Enter a whole number from 0 to 9."),
        ("number", 10, "Enter a whole number from 0 to 9."),
        ("flag", "yes", "Enter true or false."),
        ("day", "2026-1-2", "Enter a date as YYYY-MM-DD."),
        ("ident", "7", f"Enter a UUID such as {UUID_TEXT}."),
        ("zone", "CEST", "Enter an IANA time zone such as America/Chicago."),
        ("colour", "green", "Enter one of: dark_red, blue."),
        ("code", "ABC", "Enter lower-case letters."),
        ("inner", "w", "Send a JSON object."),
    ],
)
def test_a_refusal_names_the_form_or_the_bound(name, value, sentence):
    with pytest.raises(RequestInvalid) as refusal:
        validate_post_body(Request({name: value}), Everything)

    assert [error.msg for error in refusal.value.errors] == [sentence]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("limit=abc", "Enter a whole number from 1 to 500."),
        ("limit=0", "Enter a whole number from 1 to 500."),
        ("limit=501", "Enter a whole number from 1 to 500."),
        ("most=abc", "Enter a whole number of 9 or less."),
        ("least=abc", "Enter a whole number of 1 or more."),
        ("number=abc", "Enter a whole number."),
        (f"number={'9' * 2000}", "Enter a whole number."),
        ("flag=perhaps", "Enter true or false."),
        ("ident=7", f"Enter a UUID such as {UUID_TEXT}."),
    ],
)
def test_a_parameter_names_the_form_or_the_bound(query, sentence):
    with pytest.raises(RequestInvalid) as refusal:
        validate_query_string(Request(query=query), Bounded)

    assert [error.msg for error in refusal.value.errors] == [sentence]


def test_a_fault_inside_names_its_place():
    body = {
        "words": ["a", 1],
        "inner": {},
        "inners": [{"word": "w"}, {"word": 2}],
    }

    assert faults(validate_post_body, Request(body)) == [
        (("body", "words", 1), "string_type"),
        (("body", "inner", "word"), "missing"),
        (("body", "inners", 1, "word"), "string_type"),
    ]


def test_a_null_in_a_list_keeps_its_place_and_is_refused():
    assert faults(validate_post_body, Request({"words": ["a", None]})) == [
        (("body", "words", 1), "string_type")
    ]


class Change(Inputs):
    name = Str()
    note = Str(required=False, allow_null=True)


def test_in_a_post_null_is_absent():
    assert validate_post_body(Request({"name": "n", "note": None}), Change) == {
        "name": "n"
    }
    assert faults(validate_post_body, Request({"name": None}), Change) == [
        (("body", "name"), "missing")
    ]


def test_in_a_patch_null_clears_and_absence_keeps():
    assert validate_patch_body(Request({"note": None}), Change) == {"note": None}
    assert validate_patch_body(Request({}), Change) == {}
    assert faults(validate_patch_body, Request({"name": None}), Change) == [
        (("body", "name"), "string_type")
    ]


@pytest.mark.parametrize("body", [None, [], "text", 5])
@pytest.mark.parametrize("read", [validate_post_body, validate_patch_body])
def test_a_body_that_is_no_object_is_refused(read, body):
    assert faults(read, Request(body)) == [(("body",), "value_error")]


class Asked(Inputs):
    limit = QueryInt(default=5, min_value=1)
    ident = QueryUuid(required=False)
    text = QueryText(required=False)
    status = serializers.ListField(child=QueryText(), required=False)


def test_the_query_is_read():
    text = f"limit=7&ident={UUID_TEXT}&text=%20a&status=x&status=y&other=1"

    found = validate_query_string(Request(query=text), Asked)

    assert str(found.pop("ident")) == UUID_TEXT
    assert found == {"limit": 7, "text": " a", "status": ["x", "y"]}


def test_of_a_repeated_key_the_last_counts_and_one_value_is_a_list_too():
    found = validate_query_string(Request(query="limit=1&limit=2&status=x"), Asked)

    assert found == {"limit": 2, "status": ["x"]}


class AskedToday(Inputs):
    day = serializers.DateField(default=timezone.localdate)


def test_nothing_asked_is_read_as_the_defaults_of_that_moment(time_machine):
    validate_query_string(Request(query=""), Asked).clear()
    days = []
    for moment in ("2026-03-02T12:00Z", "2026-03-03T12:00Z"):
        time_machine.move_to(moment, tick=False)
        days.append(
            validate_query_string(Request(query="other=1"), AskedToday)["day"].day
        )

    assert validate_query_string(Request(query=""), Asked) == {"limit": 5}
    assert days == [2, 3]


def test_an_optional_text_that_is_empty_is_absent():
    assert validate_query_string(Request(query="text=&status="), Asked) == {"limit": 5}
    assert validate_post_body(Request({"text": ""}), Everything) == {}
    assert validate_patch_body(Request({"note": ""}), Change) == {"note": None}
    assert faults(validate_patch_body, Request({"text": ""})) == [
        (("body", "text"), "string_too_short")  # as null, it clears nothing here
    ]


def test_any_other_value_that_is_empty_is_refused():
    assert faults(validate_query_string, Request(query="limit=&ident="), Asked) == [
        (("query", "limit"), "int_parsing"),
        (("query", "ident"), "uuid_parsing"),
    ]


def test_an_absent_query_has_its_defaults():
    assert validate_query_string(Request(), Asked) == {"limit": 5}


def test_a_uuid_of_the_path_is_read_in_either_case():
    assert str(parse_path_uuid(UUID_TEXT, "x")) == UUID_TEXT
    assert str(parse_path_uuid(UUID_TEXT.upper(), "x")) == UUID_TEXT


@pytest.mark.parametrize(
    "text",
    ["", "7", UUID_TEXT[:-1], UUID_TEXT.replace("-", ""), f"{{{UUID_TEXT}}}", "é" * 36],
)
def test_anything_else_in_the_path_is_refused(text):
    with pytest.raises(RequestInvalid) as refusal:
        parse_path_uuid(text, "order_id")

    (error,) = refusal.value.errors
    assert (error.loc, error.type) == (("path", "order_id"), "uuid_parsing")
