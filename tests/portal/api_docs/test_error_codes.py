from __future__ import annotations

import pytest

from portal.api_docs.error_codes import ErrorCode, list_api_error_codes


def found(code):
    return next((each for each in list_api_error_codes() if each.code == code), None)


@pytest.mark.parametrize(
    "told",
    [
        # A class of its own, that gives its base the code.
        ErrorCode(
            "client_user_id_taken",
            (400,),
            ("A user with this client_user_id already exists.",),
        ),
        # A member of an enumeration, its sentence looked up in a table.
        ErrorCode("empty_file", (400,), ("The file is empty.",)),
        # Of two kinds, one of them without a code on the wire.
        ErrorCode("provider_unknown", (400,), ("Unknown source.",)),
        # What varies in a sentence.
        ErrorCode(
            "sandbox_user_limit", (400,), ("The sandbox is limited to … users.",)
        ),
        # Of a status of its own.
        ErrorCode("throttled", (429,), ("Too many requests.",)),
        ErrorCode("user_not_found", (404,), ("User not found.",)),
        ErrorCode(
            "idempotency_key_in_use",
            (409,),
            ("A request with this key is in progress.",),
        ),
    ],
    ids=lambda told: told.code,
)
def test_a_code_of_the_api_has_its_status_and_sentence(told):
    assert found(told.code) == told


def test_every_code_is_listed_once_in_order():
    codes = [each.code for each in list_api_error_codes()]

    assert codes == sorted(set(codes))
    assert len(codes) > 150
    assert {status for each in list_api_error_codes() for status in each.statuses} == {
        *(400, 401, 403, 404, 405, 409, 413, 415, 429, 503)
    }


def test_what_comes_as_lines_without_a_code_is_not_listed():
    assert (found("idempotency_key_mismatch"), found("dob_in_future")) == (None, None)


def test_what_only_a_page_refuses_is_not_listed():
    # Aliases and claims of reviews have no call.
    assert (found("alias_known"), found("claim_needed")) == (None, None)
