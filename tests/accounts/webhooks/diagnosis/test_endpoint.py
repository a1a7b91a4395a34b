from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from accounts.webhooks.diagnosis.endpoint import diagnose_webhook_endpoint
from accounts.webhooks.diagnosis.situation import Situation, Try

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SLEEP, STEPS = "daily.data.sleep.created", "daily.data.steps.created"
WELL = Try(NOON, True, 200, "", SLEEP, 1_200)


def bad(code=None, fault="status", **traits):
    return replace(Try(NOON, False, code, fault, SLEEP, 1_200), **traits)


def situation(*tries, **facts):
    """The tries are given newest first, and lie a minute apart."""
    at = [NOON - timedelta(minutes=age) for age in range(len(tries))]
    timed = [replace(each, at=when) for each, when in zip(tries, at, strict=True)]
    return Situation(tries=timed, **facts)


def diagnosed(*tries, **facts):
    return diagnose_webhook_endpoint(situation(*tries, **facts))


def test_nothing_sent_is_said_to_be_so():
    assert diagnosed().kind == "unused"


def test_successes_alone_are_well():
    found = diagnosed(WELL, WELL)

    assert (found.kind, found.family) == ("healthy", "ok")
    assert found.says == "The last 2 attempts succeeded."


@pytest.mark.parametrize(
    ("disabled_by", "kind", "family"),
    [
        ("member", "paused", "mute"),
        ("gone", "gone", "bad"),
        ("failing", "disabled", "bad"),
    ],
)
def test_a_disabled_endpoint_says_why_and_what_it_keeps(disabled_by, kind, family):
    found = diagnosed(bad(500), disabled_by=disabled_by, missed=1_284)

    assert (found.kind, found.family) == (kind, family)
    assert "1,284 events are on hold." in found.says


@pytest.mark.parametrize(
    ("fault", "title"),
    [
        ("dns", "Host name could not be resolved"),
        ("blocked", "Host name resolves to a private address"),
        ("refused", "Connection refused"),
        ("tls", "TLS handshake failed"),
        ("certificate", "Invalid TLS certificate"),
        ("timeout", "No response within 15 seconds"),
        ("reset", "Connection closed before a response"),
        ("garbage", "Response is not HTTP"),
    ],
)
def test_a_failure_without_an_answer_is_named(fault, title):
    found = diagnosed(bad(fault=fault), bad(fault=fault), WELL)

    assert (found.kind, found.title) == (fault, title)
    assert found.says == "All 2 attempts since the last success: no response."
    assert found.since == NOON - timedelta(minutes=1)
    assert found.advice


def test_the_same_answer_on_every_type_is_the_receivers_fault():
    found = diagnosed(
        *[bad(500, answer="x", event_type=kind) for kind in (SLEEP, STEPS, SLEEP)], WELL
    )

    assert found.kind == "receiver_fault"
    assert found.says == (
        "All 3 attempts since the last success: response 500. The failures span 2"
        " event types. All responses are identical. The error is in the receiver."
    )


def test_failures_that_fill_the_window_began_when_the_endpoint_says():
    began = NOON - timedelta(days=2)

    found = diagnosed(bad(502), bad(502), first_failed_at=began)

    assert found.since == began
    assert found.says.startswith("All of the last 2 attempts: response 502.")


def test_other_failures_before_the_last_are_told_apart():
    found = diagnosed(bad(fault="refused"), bad(500), bad(500), WELL)

    assert found.kind == "refused"
    assert found.says.startswith("1 of the 3 attempts since the last success:")


@pytest.mark.parametrize(
    ("code", "retry_after", "says"),
    [
        (429, 120, "Retries wait 2 min, as requested."),
        (503, 30, "Retries wait 30 s, as requested."),
        (429, None, "It sent no Retry-After, so the usual schedule applies."),
    ],
)
def test_a_receiver_that_slows_us_down_is_waited_for(code, retry_after, says):
    found = diagnosed(bad(code, retry_after_s=retry_after), WELL)

    assert (found.kind, found.family) == ("throttled", "warn")
    assert found.says.endswith(says)


def test_a_redirect_says_where_to():
    found = diagnosed(bad(301, "redirect", location="https://new.example/"), WELL)

    assert found.kind == "redirect"
    assert "redirect 301 to https://new.example/." in found.says


@pytest.mark.parametrize("code", [401, 403, 404, 405, 413, 415])
def test_a_refusal_that_is_known_has_its_advice(code):
    found = diagnosed(bad(code), WELL)

    assert found.kind == f"code_{code}"
    assert found.says == f"Last attempt: response {code}."
    assert found.advice


def test_a_refusal_that_is_not_known_points_at_its_text():
    assert diagnosed(bad(422), WELL).kind == "refusal"


def test_a_refusal_that_began_with_a_new_secret_is_laid_to_it():
    rotated = NOON - timedelta(minutes=1, seconds=30)

    found = diagnosed(bad(401), bad(401), WELL, secret_made_at=rotated)

    assert found.kind == "secret"
    assert diagnosed(bad(401), bad(401), WELL, secret_made_at=NOON).kind == "code_401"


def test_large_messages_that_fail_alone_are_noticed():
    large = bad(500, size=300_000)

    found = diagnosed(large, WELL, large, WELL, large)

    assert found.kind == "large_only"
    assert "larger than 293 KB" in found.says


def test_one_type_that_fails_alone_is_noticed():
    failing = bad(500, event_type=STEPS)

    found = diagnosed(failing, WELL, failing, WELL, failing)

    assert found.kind == "one_type"
    assert STEPS in found.says


def test_a_receiver_that_went_away_is_not_laid_to_the_type_that_met_it():
    failing = bad(500, event_type=STEPS)

    assert diagnosed(failing, failing, failing, WELL, WELL).kind == "receiver_fault"


def test_failures_that_ended_are_said_to_have():
    failures = [bad(500)] * 3

    found = diagnosed(WELL, *failures, WELL, missed=40)

    assert (found.kind, found.family) == ("recovered", "warn")
    assert "3 attempts failed: response 500. 40 missed events can be" in found.says
    assert diagnosed(WELL, *failures, WELL).family == "ok"


def test_failures_without_a_pattern_are_counted():
    found = diagnosed(WELL, bad(500), WELL, bad(fault="timeout"), WELL, WELL)

    assert (found.kind, found.title) == ("now_and_then", "Occasional failures")
    assert found.says.startswith("2 of the last 6 attempts failed: mostly")


def test_a_fault_that_is_new_is_still_diagnosed():
    assert diagnosed(bad(fault="unheard_of"), WELL).kind == "unheard_of"
