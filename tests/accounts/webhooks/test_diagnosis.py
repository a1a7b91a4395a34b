from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from accounts.webhooks.diagnosis import Situation, Try, diagnose

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


def told(*tries, **facts):
    return diagnose(situation(*tries, **facts))


def test_nothing_sent_is_said_to_be_so():
    assert told().kind == "unused"


def test_successes_alone_are_well():
    found = told(WELL, WELL)

    assert (found.kind, found.family) == ("healthy", "ok")
    assert found.says == "The last 2 attempts all succeeded."


@pytest.mark.parametrize(
    ("disabled_by", "kind", "family"),
    [
        ("member", "paused", "mute"),
        ("gone", "gone", "bad"),
        ("failing", "disabled", "bad"),
    ],
)
def test_a_disabled_endpoint_says_why_and_what_it_keeps(disabled_by, kind, family):
    found = told(bad(500), disabled_by=disabled_by, missed=1_284)

    assert (found.kind, found.family) == (kind, family)
    assert "1,284 messages are kept" in found.says


@pytest.mark.parametrize(
    ("fault", "title"),
    [
        ("dns", "The host name does not resolve"),
        ("blocked", "The host name leads to a private address"),
        ("refused", "Nothing listens at the address"),
        ("tls", "The TLS handshake fails"),
        ("certificate", "The TLS certificate is not valid"),
        ("timeout", "The receiver does not answer within 15 seconds"),
        ("reset", "The receiver closes the connection before it answers"),
        ("garbage", "What comes back is not HTTP"),
    ],
)
def test_a_failure_without_an_answer_is_named(fault, title):
    found = told(bad(fault=fault), bad(fault=fault), WELL)

    assert (found.kind, found.title) == (fault, title)
    assert found.says == "All 2 attempts since then were left without an answer."
    assert found.since == NOON - timedelta(minutes=1)
    assert found.advice


def test_the_same_answer_on_every_type_is_the_receivers_fault():
    found = told(
        *[bad(500, answer="x", event_type=kind) for kind in (SLEEP, STEPS, SLEEP)], WELL
    )

    assert found.kind == "receiver_fault"
    assert found.says == (
        "All 3 attempts since then were answered 500 with the same text on 2 event "
        "types: the fault is the receiver's, not a message's."
    )


def test_failures_that_fill_the_window_began_when_the_endpoint_says():
    began = NOON - timedelta(days=2)

    found = told(bad(502), bad(502), first_failed_at=began)

    assert found.since == began
    assert found.says.startswith("All of the last 2 attempts were answered 502")


def test_other_failures_before_the_last_are_told_apart():
    found = told(bad(fault="refused"), bad(500), bad(500), WELL)

    assert found.kind == "refused"
    assert found.says.startswith("1 of the 3 attempts since then, the last among them")


@pytest.mark.parametrize(
    ("code", "retry_after", "says"),
    [
        (429, 120, "It asked to wait 2 min, and we do."),
        (503, 30, "It asked to wait 30 s, and we do."),
        (429, None, "It named no time to wait, so the usual ones hold."),
    ],
)
def test_a_receiver_that_slows_us_down_is_waited_for(code, retry_after, says):
    found = told(bad(code, retry_after_s=retry_after), WELL)

    assert (found.kind, found.family) == ("throttled", "warn")
    assert found.says.endswith(says)


def test_a_redirect_says_where_to():
    found = told(bad(301, "redirect", location="https://new.example/"), WELL)

    assert found.kind == "redirect"
    assert "answered 301 to https://new.example/." in found.says


@pytest.mark.parametrize("code", [401, 403, 404, 405, 413, 415])
def test_a_refusal_that_is_known_has_its_advice(code):
    found = told(bad(code), WELL)

    assert found.kind == f"code_{code}"
    assert found.says == f"The last attempt was answered {code}."
    assert found.advice


def test_a_refusal_that_is_not_known_points_at_its_text():
    assert told(bad(422), WELL).kind == "refusal"


def test_a_refusal_that_began_with_a_new_secret_is_laid_to_it():
    rotated = NOON - timedelta(minutes=1, seconds=30)

    found = told(bad(401), bad(401), WELL, secret_made_at=rotated)

    assert found.kind == "secret"
    assert told(bad(401), bad(401), WELL, secret_made_at=NOON).kind == "code_401"


def test_large_messages_that_fail_alone_are_noticed():
    large = bad(500, size=300_000)

    found = told(large, WELL, large, WELL, large)

    assert found.kind == "large_only"
    assert "more than 293 KB" in found.says


def test_one_type_that_fails_alone_is_noticed():
    failing = bad(500, event_type=STEPS)

    found = told(failing, WELL, failing, WELL, failing)

    assert found.kind == "one_type"
    assert STEPS in found.says


def test_a_receiver_that_went_away_is_not_laid_to_the_type_that_met_it():
    failing = bad(500, event_type=STEPS)

    assert told(failing, failing, failing, WELL, WELL).kind == "receiver_fault"


def test_failures_that_ended_are_said_to_have():
    failures = [bad(500)] * 3

    found = told(WELL, *failures, WELL, missed=40)

    assert (found.kind, found.family) == ("recovered", "warn")
    assert "3 attempts failed, answered 500. 40 messages are kept" in found.says
    assert told(WELL, *failures, WELL).family == "ok"


def test_failures_without_a_pattern_are_counted():
    found = told(WELL, bad(500), WELL, bad(fault="timeout"), WELL, WELL)

    assert (found.kind, found.title) == ("now_and_then", "It fails now and then")
    assert found.says.startswith("2 of the last 6 attempts failed, most of them")


def test_a_fault_that_is_new_is_still_told():
    assert told(bad(fault="unheard_of"), WELL).kind == "unheard_of"
