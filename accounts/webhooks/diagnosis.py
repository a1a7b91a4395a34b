"""Diagnose an endpoint from its last attempts. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.webhooks.states import DeliveryFault, DisabledBy
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

Family = Literal["ok", "warn", "bad", "info", "mute"]

# So many failures are needed before they are said to have something in common.
PATTERN_LEAST = 3
# Under this share of failures an endpoint is said to fail now and then.
_SELDOM = 0.5
_KILOBYTE = 1024

_FAULTS: dict[DeliveryFault, tuple[str, str]] = {
    DeliveryFault.DNS: (
        gettext_lazy("Host name could not be resolved"),
        gettext_lazy("Check the spelling of the URL and the DNS record of its host."),
    ),
    DeliveryFault.BLOCKED: (
        gettext_lazy("Host name resolves to a private address"),
        gettext_lazy(
            "Events are sent to public addresses only. Check the host's DNS record."
        ),
    ),
    DeliveryFault.REFUSED: (
        gettext_lazy("Connection refused"),
        gettext_lazy("Start the receiver, or check its port and firewall."),
    ),
    DeliveryFault.TLS: (
        gettext_lazy("TLS handshake failed"),
        gettext_lazy("Enable TLS 1.2 or later on this port."),
    ),
    DeliveryFault.CERTIFICATE: (
        gettext_lazy("Invalid TLS certificate"),
        gettext_lazy(
            "The certificate has expired, is for another host or lacks its chain."
            " Renew it."
        ),
    ),
    DeliveryFault.TIMEOUT: (
        gettext_lazy("No response within 15 seconds"),
        gettext_lazy("Respond with 2xx at once, then process the event."),
    ),
    DeliveryFault.RESET: (
        gettext_lazy("Connection closed before a response"),
        gettext_lazy("Check the receiver and its proxy for a crash or a limit."),
    ),
    DeliveryFault.GARBAGE: (
        gettext_lazy("Response is not HTTP"),
        gettext_lazy("Check which service listens on this port."),
    ),
}
_CODES: dict[int, tuple[str, str]] = {
    401: (
        gettext_lazy("Receiver requires authentication"),
        gettext_lazy(
            "Add the header it requires, or let it verify the signature instead."
        ),
    ),
    403: (
        gettext_lazy("Receiver denies access"),
        gettext_lazy("Check its firewall and how it verifies the signature."),
    ),
    404: (
        gettext_lazy("Path not found"),
        gettext_lazy("Check the path of the URL."),
    ),
    405: (
        gettext_lazy("Path does not accept POST"),
        gettext_lazy("Check the path of the URL."),
    ),
    413: (
        gettext_lazy("Receiver rejects large events"),
        gettext_lazy("Raise the size limit of the receiver or its proxy."),
    ),
    415: (
        gettext_lazy("Receiver does not accept JSON"),
        gettext_lazy("Accept application/json in the receiver."),
    ),
}


@dataclass(frozen=True, slots=True)
class Try:
    """The parts of an attempt that a diagnosis reads; `size` is in bytes.

    `answer` is the same for equal answers; `location` is where a redirect leads.
    """

    at: datetime
    succeeded: bool
    code: int | None
    fault: str
    event_type: str
    size: int
    answer: str = ""
    location: str = ""
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of an endpoint; `tries` are its last attempts, the newest first.

    `missed` counts what waits for a replay; `first_failed_at` is the first failure
    since the last success, `secret_made_at` is when its secret began.
    """

    tries: Sequence[Try]
    disabled_by: str = ""
    missed: int = 0
    first_failed_at: datetime | None = None
    secret_made_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is the matter: a headline, what the attempts say, what to do about it.

    `kind` names the case; `since` is when it began, if it goes on.
    """

    kind: str
    family: Family
    title: str
    says: str
    advice: str = ""
    since: datetime | None = None


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
            % {"number": f"{len(tries):,}"},
        )
    since_success = _leading_failures(tries)
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
    ) % {"number": f"{missed:,}"}


def _mixed(situation: Situation, failed: Sequence[Try]) -> Diagnosis:
    """The last attempt succeeded, but some before it did not."""
    tries = situation.tries
    if found := _common_trait(tries):
        return found
    recovered = len(failed) >= PATTERN_LEAST and _is_one_block(tries)
    if recovered:
        after = (
            ngettext(
                "%(number)s missed event can be replayed.",
                "%(number)s missed events can be replayed.",
                situation.missed,
            )
            % {"number": f"{situation.missed:,}"}
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
            % {"number": f"{len(failed):,}", "cause": _most_common_cause(failed)}
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
            "cause": _most_common_cause(failed),
        },
        _("The failures share neither type nor size. Check the receiver's load."),
    )


def _failing(situation: Situation, failed: Sequence[Try]) -> Diagnosis:
    """Every attempt since the last success failed; `failed` are these, newest first."""
    last = failed[0]
    since = situation.first_failed_at or failed[-1].at
    same = [each for each in failed if _cause(each) == _cause(last)]
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
    if found_trait := _common_trait(situation.tries):
        return found_trait
    if last.code is None:
        fault = DeliveryFault.known(last.fault)
        title, advice = _FAULTS.get(fault, _FAULTS[DeliveryFault.RESET])  # type: ignore[arg-type]  # an unknown fault is not among them
        no_response = _("%(attempts)s: no response.") % {"attempts": which}
        return found(str(last.fault), title, no_response, advice)
    if last.code in {401, 403} and _began_with_secret(situation, since):
        return found(
            "secret",
            _("Receiver verifies with the old secret"),
            _responded(which, last.code)
            + " "
            + _("The failures began when the secret was rotated."),
            _("Configure the new secret in the receiver."),
        )
    if known := _CODES.get(last.code):
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


def _common_trait(tries: Sequence[Try]) -> Diagnosis | None:
    """What sets failures apart from successes: their size, or their one type.

    Only where some succeeded after the first had failed: else the receiver may have
    gone for all of them.
    """
    failed = [each for each in tries if not each.succeeded]
    well = [each for each in tries if each.succeeded]
    if len(failed) < PATTERN_LEAST or not well:
        return None
    if max(each.at for each in well) < min(each.at for each in failed):
        return None
    since = min(each.at for each in failed)
    least = min(each.size for each in failed)
    largest = max(each.size for each in well)
    if least > 2 * largest and least > 8 * _KILOBYTE:
        return Diagnosis(
            "large_only",
            "bad",
            _("Only large events fail"),
            _(
                "All %(number)d failed events are larger than %(least)s. None that"
                " succeeded is larger than %(largest)s."
            )
            % {
                "number": len(failed),
                "least": _size(least),
                "largest": _size(largest),
            },
            _("Raise the size limit of the receiver or its proxy."),
            since,
        )
    types = {each.event_type for each in failed}
    if len(types) == 1:
        (only,) = types
        others = {each.event_type for each in well} - types
        if others and all(each.event_type != only for each in well):
            return Diagnosis(
                "one_type",
                "bad",
                _("Only one event type fails"),
                _("All %(number)d failures are %(type)s: %(cause)s. Others succeed.")
                % {
                    "number": len(failed),
                    "type": only,
                    "cause": _most_common_cause(failed),
                },
                _("Check how the receiver handles this type, or unsubscribe from it."),
                since,
            )
    return None


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


def _leading_failures(tries: Sequence[Try]) -> list[Try]:
    """The failures since the last success, the newest first."""
    failures = []
    for each in tries:
        if each.succeeded:
            break
        failures.append(each)
    return failures


def _is_one_block(tries: Sequence[Try]) -> bool:
    """Whether all failures follow one another without a success between."""
    marks = [each.succeeded for each in tries]
    changes = sum(a != b for a, b in pairwise(marks))
    return changes <= 2


def _began_with_secret(situation: Situation, since: datetime) -> bool:
    """Whether the secret was rotated between the last success and the first failure."""
    made = situation.secret_made_at
    successes = [each.at for each in situation.tries if each.succeeded]
    return made is not None and bool(successes) and max(successes) <= made <= since


def _cause(each: Try) -> tuple[int | None, str]:
    return each.code, each.fault


def _most_common_cause(failed: Sequence[Try]) -> str:
    """Describe what most of the failures have in common."""
    [((code, fault), number)] = Counter(map(_cause, failed)).most_common(1)
    known = DeliveryFault.known(fault)
    if code is not None:
        words = _("response %(code)d") % {"code": code}
    else:
        words = str(known.label) if known else _("no response")
    return words if number == len(failed) else _("mostly %(cause)s") % {"cause": words}


def _size(size: int) -> str:
    if size < _KILOBYTE:
        return _("%(number)d bytes") % {"number": size}
    return _("%(number)s KB") % {"number": f"{size / _KILOBYTE:,.0f}"}


def _span(seconds: int) -> str:
    if seconds < 120:
        return _("%(number)d s") % {"number": seconds}
    if seconds < 7200:
        return _("%(number)d min") % {"number": seconds // 60}
    return _("%(number)d h") % {"number": seconds // 3600}
