"""Why an endpoint fails, in a sentence, told from its last attempts. Pure.

Must not be here: the clock, the database, or HTML.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from accounts.webhooks.states import DeliveryFault, DisabledBy

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
        "The host name does not resolve",
        "Look at the spelling of the URL and at the DNS record of its host.",
    ),
    DeliveryFault.BLOCKED: (
        "The host name leads to a private address",
        "Events go to public addresses alone. Look at the DNS record of the host.",
    ),
    DeliveryFault.REFUSED: (
        "Nothing listens at the address",
        "Start the receiver, or look at its port and its firewall.",
    ),
    DeliveryFault.TLS: (
        "The TLS handshake fails",
        "Let the receiver speak TLS 1.2 or later on this port.",
    ),
    DeliveryFault.CERTIFICATE: (
        "The TLS certificate is not valid",
        "It has expired, names another host, or lacks its chain. Renew it.",
    ),
    DeliveryFault.TIMEOUT: (
        "The receiver does not answer within 15 seconds",
        "Answer 2xx at once, and do the work afterwards.",
    ),
    DeliveryFault.RESET: (
        "The receiver closes the connection before it answers",
        "Look for a crash or a limit in the receiver or its proxy.",
    ),
    DeliveryFault.GARBAGE: (
        "What comes back is not HTTP",
        "Look at what listens at this port.",
    ),
}
_CODES: dict[int, tuple[str, str]] = {
    401: (
        "The receiver does not let us in",
        "Give the header it asks for, or let it check the signature instead.",
    ),
    403: (
        "The receiver does not let us in",
        "Look at its firewall, and at how it checks the signature.",
    ),
    404: ("There is nothing at this path", "Look at the path of the URL."),
    405: ("The path takes no POST", "Look at the path of the URL."),
    413: (
        "The receiver finds messages too large",
        "Raise the limit of the receiver or its proxy.",
    ),
    415: ("The receiver takes no JSON", "Let it take application/json."),
}


@dataclass(frozen=True, slots=True)
class Try:
    """An attempt as far as it tells why; `size` is in bytes.

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


def diagnose(situation: Situation) -> Diagnosis:
    """Say what the last attempts have in common. Source: Workflows D2."""
    tries = situation.tries
    if situation.disabled_by:
        return _disabled(situation)
    if not tries:
        return Diagnosis(
            "unused",
            "info",
            "Nothing was sent yet",
            "The next event of a subscribed type goes here, as does a test event.",
        )
    failed = [each for each in tries if not each.succeeded]
    if not failed:
        return Diagnosis(
            "healthy",
            "ok",
            "All is well",
            f"The last {_attempts(len(tries))} all succeeded.",
        )
    since_success = _leading_failures(tries)
    if not since_success:
        return _mixed(situation, failed)
    return _failing(situation, since_success)


def _disabled(situation: Situation) -> Diagnosis:
    kept = f"{_messages(situation.missed)} kept for it and can be replayed"
    match situation.disabled_by:
        case DisabledBy.MEMBER:
            return Diagnosis(
                "paused", "mute", "Paused by a member", f"{kept} once it is resumed."
            )
        case DisabledBy.GONE:
            return Diagnosis(
                "gone",
                "bad",
                "Disabled, as it answered 410 Gone",
                f"That asks for nothing ever more. {kept} once it is resumed.",
                "Give it the URL of the new receiver, then resume it.",
            )
        case _:
            return Diagnosis(
                "disabled",
                "bad",
                "Disabled after five days of failures alone",
                f"{kept} once it is resumed.",
                "Mend the receiver, send a test, then resume it.",
            )


def _mixed(situation: Situation, failed: Sequence[Try]) -> Diagnosis:
    """The last attempt succeeded, but some before it did not."""
    tries = situation.tries
    if found := _common_trait(tries):
        return found
    recovered = len(failed) >= PATTERN_LEAST and _is_one_block(tries)
    if recovered:
        after = (
            f"{_messages(situation.missed)} kept and can be replayed."
            if situation.missed
            else "What failed is retried by itself."
        )
        return Diagnosis(
            "recovered",
            "warn" if situation.missed else "ok",
            "It failed and has recovered",
            f"{_attempts(len(failed))} failed, {_met(failed)}. {after}",
        )
    share = len(failed) / len(tries)
    return Diagnosis(
        "now_and_then",
        "warn",
        "It fails now and then"
        if share < _SELDOM
        else "It fails more than it succeeds",
        f"{len(failed)} of the last {_attempts(len(tries))} failed, {_met(failed)}.",
        "They have neither type nor size in common. Look at the receiver's load.",
    )


def _failing(situation: Situation, failed: Sequence[Try]) -> Diagnosis:
    """Every attempt since the last success failed; `failed` are these, newest first."""
    last = failed[0]
    since = situation.first_failed_at or failed[-1].at
    same = [each for each in failed if _cause(each) == _cause(last)]
    met = _which(situation.tries, failed, same)

    def found(kind: str, title: str, says: str, advice: str) -> Diagnosis:
        return Diagnosis(kind, "bad", title, says, advice, since)

    if last.code == 429 or (last.code == 503 and last.retry_after_s is not None):
        wait = (
            f"It asked to wait {_span(last.retry_after_s)}, and we do."
            if last.retry_after_s is not None
            else "It named no time to wait, so the usual ones hold."
        )
        return Diagnosis(
            "throttled",
            "warn",
            "The receiver asks us to slow down",
            f"{met} answered {last.code}. {wait}",
            "Set a rate limit that it can take.",
            since,
        )
    if last.fault == DeliveryFault.REDIRECT:
        to = f" to {last.location}" if last.location else ""
        return found(
            "redirect",
            "The receiver redirects",
            f"{met} answered {last.code}{to}. Redirects are not followed.",
            "Set the URL to where it leads.",
        )
    if found_trait := _common_trait(situation.tries):
        return found_trait
    if last.code is None:
        fault = DeliveryFault.known(last.fault)
        title, advice = _FAULTS.get(fault, _FAULTS[DeliveryFault.RESET])  # type: ignore[arg-type]  # an unknown fault is not among them
        return found(str(last.fault), title, f"{met} left without an answer.", advice)
    if last.code in {401, 403} and _began_with_secret(situation, since):
        return found(
            "secret",
            "The receiver checks with the old secret",
            f"{met} answered {last.code}, and that began when the secret was rotated.",
            "Give the receiver the new secret.",
        )
    if known := _CODES.get(last.code):
        return found(
            f"code_{last.code}", known[0], f"{met} answered {last.code}.", known[1]
        )
    types = len({each.event_type for each in same})
    of_types = f" on {types} event types" if types > 1 else ""
    alike = len(same) >= PATTERN_LEAST and len({each.answer for each in same}) == 1
    text = " with the same text" if alike and same[0].answer else ""
    if last.code >= 500:
        return found(
            "receiver_fault",
            f"The receiver answers {last.code}",
            f"{met} answered {last.code}{text}{of_types}: the fault is the "
            "receiver's, not a message's.",
            "Look at its log for the time of an attempt.",
        )
    return found(
        "refusal",
        f"The receiver answers {last.code}",
        f"{met} answered {last.code}{text}{of_types}.",
        "Look at what it says in an attempt's response.",
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
            "Only large messages fail",
            f"All {len(failed)} that failed have more than {_size(least)}, and none "
            f"that succeeded more than {_size(largest)}.",
            "Raise the limit of the receiver or its proxy.",
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
                "Only one event type fails",
                f"All {len(failed)} that failed are {only}, {_met(failed)}, and others "
                "succeed.",
                "Look at how the receiver handles this type, or unsubscribe from it.",
                since,
            )
    return None


def _which(tries: Sequence[Try], failed: Sequence[Try], same: Sequence[Try]) -> str:
    """How many of the attempts since the last success met the same."""
    if len(failed) == 1:
        return "The last attempt was"
    number = _attempts(len(failed))
    if len(same) < len(failed):
        return f"{len(same)} of the {number} since then, the last among them, were"
    if len(failed) == len(tries):
        return f"All of the last {number} were"
    return f"All {number} since then were"


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


def _met(failed: Sequence[Try]) -> str:
    """What most of them met."""
    [((code, fault), number)] = Counter(map(_cause, failed)).most_common(1)
    known = DeliveryFault.known(fault)
    words = (
        f"answered {code}"
        if code is not None
        else str(known.label).lower()
        if known
        else "without an answer"
    )
    return words if number == len(failed) else f"most of them {words}"


def _attempts(number: int) -> str:
    return f"{number:,} attempt{'s' * (number != 1)}"


def _messages(number: int) -> str:
    if not number:
        return "Nothing is"
    return f"{number:,} message{'s are' if number != 1 else ' is'}"


def _size(size: int) -> str:
    if size < _KILOBYTE:
        return f"{size} bytes"
    return f"{size / _KILOBYTE:,.0f} KB"


def _span(seconds: int) -> str:
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
