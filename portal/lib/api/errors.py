"""Convert errors to HTTP statuses and bodies.

Contract 1.3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from portal.lib.database.outages import is_database_full, is_database_outage
from portal.lib.database.time_limits import is_database_timeout
from portal.lib.errors import (
    Conflict,
    Damaged,
    DomainError,
    Invalid,
    NotAllowed,
    NotFound,
    TooLarge,
    TooMany,
    Unavailable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from django.http.response import HttpResponseBase

STATUSES: dict[type[DomainError], int] = {
    NotAllowed: 403,
    NotFound: 404,
    Conflict: 409,
    TooLarge: 413,
    Damaged: 503,
    Unavailable: 503,
}

# DRF's codes to the contract's `type`; our own fields raise the contract's directly.
TYPES = {
    "required": "missing",
    "null": "missing",
    "blank": "string_too_short",
    "min_length": "string_too_short",
    "max_length": "string_too_long",
    "max_string_length": "less_than_equal",
    "max_value": "less_than_equal",
    "min_value": "greater_than_equal",
    "invalid_choice": "enum",
    "surrogate_characters_not_allowed": "string_type",
    "null_characters_not_allowed": "value_error",
    "not_a_list": "value_error",
    "not_a_dict": "value_error",
}
CONTRACT_TYPES = frozenset(
    {
        "missing",
        "string_type",
        "int_parsing",
        "uuid_parsing",
        "date_from_datetime_parsing",
        "datetime_parsing",
        "bool_parsing",
        "enum",
        "string_too_long",
        "string_too_short",
        "string_pattern_mismatch",
        "less_than_equal",
        "greater_than_equal",
        "value_error",
        "json_invalid",
    }
)


class FieldError(NamedTuple):
    """One line of a 422: where, a sentence for people, and the contract's type."""

    loc: tuple[str | int, ...]
    msg: str
    type: str


class RequestInvalid(Exception):
    """The request itself is malformed: answered 422 with a line for each fault."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__([error.type for error in errors])
        self.errors = errors


def list_validation_errors(
    detail: Any, loc: tuple[str | int, ...]
) -> Iterator[FieldError]:
    """Walk DRF's nested error detail into lines of a 422 below `loc`."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            whole = name == "non_field_errors"
            yield from list_validation_errors(inner, loc if whole else (*loc, name))
    elif isinstance(detail, list):
        nested = any(isinstance(item, (dict, list)) for item in detail)
        for index, item in enumerate(detail):
            yield from list_validation_errors(item, (*loc, index) if nested else loc)
    else:
        kind = TYPES.get(detail.code, detail.code)
        yield FieldError(
            loc, str(detail), kind if kind in CONTRACT_TYPES else "value_error"
        )


def handle_api_exception(exc: Exception, context: Mapping[str, Any]) -> Response | None:
    """Turn any exception of an API view into a response (contract 1.3).

    A fault of ours gives None: DRF raises it, and `portal.http.error_pages` answers
    500.
    """
    match exc:
        case RequestInvalid():
            return Response(
                {"detail": [format_validation_error(e) for e in exc.errors]}, 422
            )
        case Invalid():
            line = FieldError(exc.loc, exc.message, "value_error")
            return Response({"detail": [format_validation_error(line)]}, 422)
        case TooMany():
            reply = build_error_response(429, exc.code, exc.message)
            reply["Retry-After"] = str(math.ceil(exc.wait.total_seconds()) or 1)
            return reply
        case DomainError():
            status = next(
                (s for kind, s in STATUSES.items() if isinstance(exc, kind)), 400
            )
            return build_error_response(status, exc.code, exc.message, exc.details)
        case exceptions.ValidationError():
            lines = list_validation_errors(exc.detail, ("body",))
            return Response(
                {"detail": [format_validation_error(line) for line in lines]}, 422
            )
        case RequestDataTooBig():
            return build_error_response(
                413,
                "body_too_large",
                "The body is too large. It can have at most"
                f" {settings.DATA_UPLOAD_MAX_MEMORY_SIZE / 2**20:g} MB.",
            )
        case exceptions.ParseError():
            return build_error_response(
                400, "malformed_request", "The request is malformed."
            )
        case exceptions.AuthenticationFailed() | exceptions.NotAuthenticated():
            view = context.get("view")
            header = getattr(view, "key_header", "x-service-api-key")
            remedy = f"Send a valid key in the {header} header."
            reply = build_error_response(
                401, "unauthenticated", getattr(view, "how_to_authenticate", remedy)
            )
            # DRF puts the challenge on the error.
            if challenge := getattr(exc, "auth_header", None):
                reply["WWW-Authenticate"] = challenge
            return reply
        case exceptions.MethodNotAllowed():
            return build_error_response(
                405,
                "method_not_allowed",
                "This path does not support the method. See the Allow header.",
            )
        case exceptions.UnsupportedMediaType():
            return build_error_response(
                415,
                "unsupported_media_type",
                "This path does not support the content type of the body.",
            )
        case exceptions.Throttled():
            reply = build_error_response(429, "throttled", "Too many requests.")
            reply["Retry-After"] = str(math.ceil(getattr(exc, "wait", None) or 1))
            return reply
        case Http404() | exceptions.NotFound():
            return build_error_response(404, "not_found", "Not found.")
        case PermissionDenied() | exceptions.PermissionDenied():
            return build_error_response(
                403, "not_allowed", "You don't have access to this."
            )
        case _:
            return None


def find_error_code(answer: HttpResponseBase) -> str:
    """Return the code of a refusal, of a 422 the type of its first line; else "".

    Never any other part of it: sentences may name what was sent.
    """
    match getattr(answer, "data", None):
        case {"code": str(code)}:
            return code
        case {"detail": [{"type": str(kind)}, *_]}:
            return kind
        case {"issue": [{"details": {"coding": [{"code": str(code)}, *_]}}, *_]}:
            return code  # an OperationOutcome
    return ""


def find_answer_to_fault(fault: Exception) -> tuple[int, str]:
    """Return status and code by which an exception that leaves a view is answered.

    Those of `portal.http.error_pages`.
    """
    if is_database_timeout(fault):
        return 503, "out_of_time"
    if is_database_outage(fault) or is_database_full(fault):
        return 503, "unavailable"
    return 500, "fault"


def format_validation_error(error: FieldError) -> dict[str, object]:
    """Return a line of a 422; the input is never echoed: it may be health data."""
    return {"loc": list(error.loc), "msg": error.msg, "type": error.type}


def build_error_response(
    status: int, code: str, detail: str, details: Mapping[str, object] | None = None
) -> Response:
    """Return any other 4xx: a sentence, a stable code and further details."""
    return Response({"detail": detail, "code": code, **(details or {})}, status)
