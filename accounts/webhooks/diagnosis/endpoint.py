"""Diagnose an endpoint from its last attempts.

Cases are tried in turn and the first that fits is the diagnosis. Pure: queries build
the situation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.webhooks.diagnosis.known_causes import CODES, FAULTS
from accounts.webhooks.diagnosis.patterns import (
    PATTERN_LEAST,
    began_with_secret,
    describe_most_common_cause,
    find_common_trait,
    is_one_block,
    list_leading_failures,
)
from accounts.webhooks.diagnosis.situation import Diagnosis, Situation, Try
from accounts.webhooks.states import DeliveryFault, DisabledBy
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from collections.abc import Sequence


# Under this share of failures an endpoint is said to fail now and then.
_SELDOM = 0.5


def diagnose_webhook_endpoint(situation: Situation) -> Diagnosis:
    """Diagnose an endpoint's last attempts. Source: Workflows D2."""
    tries = situation.tries
    if situation.disabled_by:
        return _disabled(situation)
    if not tries:
        return Diagnosis(
            "unused",
            "info",
            _("No deliveries yet"),
            _("The next subscribed event or a test event appears here."),
        )
    failed = [each for each in tries if not each.succeeded]
    if not failed:
        return Diagnosis(
            "healthy",
            "ok",
            _("No problems"),
            ngettext(
                "The last attempt succeeded.",
                "The last %(number)s attempts succeeded.",
                len(tries),
            )
            % {"number": format_number(len(tries))},
        )
    since_success = list_leading_failures(tries)
    if not since_success:
        return _mixed(situation, failed)
    return _failing(situation, since_success)


def _disabled(situation: Situation) -> Diagnosis:
    stored = _stored(situation.missed)
    match situation.disabled_by:
        case DisabledBy.MEMBER:
            return Diagnosis("paused", "mute", _("Paused by a member"), stored)
        case DisabledBy.GONE:
            return Diagnosis(
                "gone",
                "bad",
                _("Disabled after a 410 Gone response"),
                _("The receiver asked for no more events.") + f" {stored}",
                _("Enter the URL of the new receiver, then resume the endpoint."),
            )
        case _:
            return Diagnosis(
                "disabled",
                "bad",
                _("Disabled after 5 days of failures"),
                stored,
                _("Fix the receiver, send a test event, then resume the endpoint."),
            )


def _stored(missed: int) -> str:
    if not missed:
        return _("No events are on hold.")
    return ngettext(
        "%(number)s event is on hold. Resume the endpoint to replay it.",
        "%(number)s events are on hold. Resume the endpoint to replay them.",
        missed,
    ) % {"number": format_number(missed)}


def _mixed(situation: Situation, failed: Sequence[Try]) -> Diagnosis:
    """The last attempt succeeded, but some before it did not."""
    tries = situation.tries
    if found := find_common_trait(tries):
        return found
    recovered = len(failed) >= PATTERN_LEAST and is_one_block(tries)
    if recovered:
        after = (
            ngettext(
                "%(number)s missed event can be replayed.",
                "%(number)s missed events can be replayed.",
                situation.missed,
            )
            % {"number": format_number(situation.missed)}
            if situation.missed
            else _("Failed deliveries are retried automatically.")
        )
        return Diagnosis(
            "recovered",
            "warn" if situation.missed else "ok",
            _("Recovered after failures"),
            ngettext(
                "%(number)s attempt failed: %(cause)s.",
                "%(number)s attempts failed: %(cause)s.",
                len(failed),
            )
            % {
                "number": format_number(len(failed)),
                "cause": describe_most_common_cause(failed),
            }
            + f" {after}",
        )
    share = len(failed) / len(tries)
    return Diagnosis(
        "now_and_then",
        "warn",
        _("Occasional failures")
        if share < _SELDOM
        else _("More failures than successes"),
        _("%(failed)d of the last %(number)d attempts failed: %(cause)s.")
        % {
            "failed": len(failed),
            "number": len(tries),
            "cause": describe_most_common_cause(failed),
        },
        _("The failures share neither type nor size. Check the receiver's load."),
    )


def _failing(situation: Situation, failed: Sequence[Try]) -> Diagnosis:
    """Every attempt since the last success failed; `failed` are these, newest first."""
    last = failed[0]
    since = situation.first_failed_at or failed[-1].at
    same = [each for each in failed if each.cause == last.cause]
    which = _which(situation.tries, failed, same)

    def found(kind: str, title: str, says: str, advice: str) -> Diagnosis:
        return Diagnosis(kind, "bad", title, says, advice, since)

    if last.code == 429 or (last.code == 503 and last.retry_after_s is not None):
        wait = (
            _("Retries wait %(time)s, as requested.")
            % {"time": _span(last.retry_after_s)}
            if last.retry_after_s is not None
            else _("It sent no Retry-After, so the usual schedule applies.")
        )
        return Diagnosis(
            "throttled",
            "warn",
            _("Receiver limits the rate"),
            f"{_responded(which, last.code)} {wait}",
            _("Set a rate limit that the receiver can handle."),
            since,
        )
    if last.fault == DeliveryFault.REDIRECT:
        redirect = (
            _("%(attempts)s: redirect %(code)s to %(location)s.")
            % {"attempts": which, "code": last.code, "location": last.location}
            if last.location
            else _responded(which, last.code)
        )
        return found(
            "redirect",
            _("Receiver redirects"),
            redirect + " " + _("Redirects are not followed."),
            _("Set the URL to the redirect's target."),
        )
    if found_trait := find_common_trait(situation.tries):
        return found_trait
    if last.code is None:
        fault = DeliveryFault.known(last.fault)
        title, advice = FAULTS.get(fault, FAULTS[DeliveryFault.RESET])  # type: ignore[arg-type]  # an unknown fault is not among them
        no_response = _("%(attempts)s: no response.") % {"attempts": which}
        return found(str(last.fault), title, no_response, advice)
    if last.code in {401, 403} and began_with_secret(situation, since):
        return found(
            "secret",
            _("Receiver verifies with the old secret"),
            _responded(which, last.code)
            + " "
            + _("The failures began when the secret was rotated."),
            _("Configure the new secret in the receiver."),
        )
    if known := CODES.get(last.code):
        title, advice = known
        return found(f"code_{last.code}", title, _responded(which, last.code), advice)
    details = [_responded(which, last.code)]
    types = len({each.event_type for each in same})
    if types > 1:
        details.append(
            _("The failures span %(number)d event types.") % {"number": types}
        )
    alike = len(same) >= PATTERN_LEAST and len({each.answer for each in same}) == 1
    if alike and same[0].answer:
        details.append(_("All responses are identical."))
    title = _("Receiver responds with %(code)d") % {"code": last.code}
    if last.code >= 500:
        details.append(_("The error is in the receiver."))
        return found(
            "receiver_fault",
            title,
            " ".join(details),
            _("Check its log at the time of an attempt."),
        )
    return found(
        "refusal",
        title,
        " ".join(details),
        _("Check the response of an attempt."),
    )


def _which(tries: Sequence[Try], failed: Sequence[Try], same: Sequence[Try]) -> str:
    """Name the attempts since the last success that failed in the same way."""
    if len(failed) == 1:
        return _("Last attempt")
    if len(same) < len(failed):
        return _("%(same)d of the %(number)d attempts since the last success") % {
            "same": len(same),
            "number": len(failed),
        }
    if len(failed) == len(tries):
        return _("All of the last %(number)d attempts") % {"number": len(failed)}
    return _("All %(number)d attempts since the last success") % {"number": len(failed)}


def _responded(which: str, code: int | None) -> str:
    return _("%(attempts)s: response %(code)s.") % {"attempts": which, "code": code}


def _span(seconds: int) -> str:
    if seconds < 120:
        return _("%(number)d s") % {"number": seconds}
    if seconds < 7200:
        return _("%(number)d min") % {"number": seconds // 60}
    return _("%(number)d h") % {"number": seconds // 3600}
