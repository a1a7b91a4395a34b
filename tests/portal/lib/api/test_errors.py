from __future__ import annotations

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404
from rest_framework import exceptions

from portal.lib.api.errors import (
    CONTRACT_TYPES,
    TYPES,
    FieldError,
    RequestInvalid,
    handle_api_exception,
)
from portal.lib.errors import (
    Conflict,
    DomainError,
    Invalid,
    NotAllowed,
    NotFound,
    TooLarge,
)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (DomainError("slot_gone", "The slot is gone."), 400, "slot_gone"),
        (NotAllowed("parsing_off", "It is off."), 403, "parsing_off"),
        (NotFound("not_found", "Not found."), 404, "not_found"),
        (Conflict("in_flight", "Executing."), 409, "in_flight"),
        (TooLarge("file_too_large", "Too large."), 413, "file_too_large"),
        (RequestDataTooBig(), 413, "body_too_large"),
        (exceptions.ParseError(), 400, "malformed_request"),
        (exceptions.NotAuthenticated(), 401, "unauthenticated"),
        (exceptions.AuthenticationFailed(), 401, "unauthenticated"),
        (PermissionDenied(), 403, "not_allowed"),
        (exceptions.PermissionDenied(), 403, "not_allowed"),
        (Http404(), 404, "not_found"),
        (exceptions.NotFound(), 404, "not_found"),
        (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
        (exceptions.UnsupportedMediaType("x"), 415, "unsupported_media_type"),
        (exceptions.Throttled(wait=3.2), 429, "throttled"),
    ],
)
def test_each_refusal_has_its_status_and_a_code(error, status, code):
    reply = handle_api_exception(error, {})

    assert reply.status_code == status
    assert set(reply.data) == {"detail", "code"}
    assert isinstance(reply.data["detail"], str)
    assert reply.data["code"] == code


def test_a_domain_error_keeps_its_sentence():
    reply = handle_api_exception(DomainError("slot_gone", "The slot is gone."), {})

    assert reply.data["detail"] == "The slot is gone."


@pytest.mark.parametrize(("wait", "seconds"), [(3.2, "4"), (3, "3"), (None, "1")])
def test_a_throttled_call_is_told_when_to_come_again(wait, seconds):
    reply = handle_api_exception(exceptions.Throttled(wait=wait), {})

    assert reply["Retry-After"] == seconds


def test_an_input_only_the_domain_can_judge_is_a_422_at_its_field():
    at_field = handle_api_exception(Invalid("too_early", "Too early.", "starts_on"), {})
    in_header = handle_api_exception(
        Invalid("mismatch", "Another body.", "x-idempotency-key", place="header"), {}
    )

    line = {"msg": "Too early.", "type": "value_error"}
    assert at_field.status_code == 422
    assert at_field.data == {"detail": [{"loc": ["body", "starts_on"], **line}]}
    assert in_header.status_code == 422
    assert in_header.data == {
        "detail": [
            {
                "loc": ["header", "x-idempotency-key"],
                "msg": "Another body.",
                "type": "value_error",
            }
        ]
    }


def test_a_malformed_request_names_each_fault():
    reply = handle_api_exception(
        RequestInvalid(
            [
                FieldError(("path", "user_id"), "Enter a UUID.", "uuid_parsing"),
                FieldError(("query", "limit"), "Too large.", "less_than_equal"),
            ]
        ),
        {},
    )

    assert reply.status_code == 422
    assert reply.data == {
        "detail": [
            {
                "loc": ["path", "user_id"],
                "msg": "Enter a UUID.",
                "type": "uuid_parsing",
            },
            {"loc": ["query", "limit"], "msg": "Too large.", "type": "less_than_equal"},
        ]
    }


def test_a_validation_error_of_the_framework_is_a_422_too():
    reply = handle_api_exception(
        exceptions.ValidationError({"name": ["wrong"], "items": {1: ["x"]}}), {}
    )

    assert [line["loc"] for line in reply.data["detail"]] == [
        ["body", "name"],
        ["body", "items", 1],
    ]
    assert {line["type"] for line in reply.data["detail"]} == {"value_error"}


def test_a_fault_of_ours_is_not_answered_here():
    assert handle_api_exception(RuntimeError(), {}) is None


def test_every_type_is_the_contracts():
    assert set(TYPES.values()) <= CONTRACT_TYPES
