"""Webhook tester: send every event of the catalogue to a receiver, and judge it.

Messages are signed as Standard Webhooks 1.0 says. What a receiver did with a message
shows only if it reports: `report_url` answers GET with {"processed": {webhook-id:
number of times that it acted on it}}.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from .http import Answer, Unreachable, send
from .results import FAILED, PASSED, SKIPPED, Failed, Result, Results, Skipped, expect

# An attempt of the server ends after this; slow is what fills its queue.
TIMEOUT_S = 15.0
SLOW_S = 5.0
# As the server repeats an attempt, but sooner.
RETRIES_AFTER_S = (1.0, 2.0)
AT_ONCE = 8
NOT_JUDGED = (
    "whether your code does the right thing with an event",
    "what your receiver does after an outage: stop it, then replay what it missed",
    "its public address, certificate and firewall, unless the tester runs outside",
)
_NO_REPORT = "give --report-url to judge it: a 2xx says nothing of what was done"


def load_events() -> dict[str, dict[str, Any]]:
    """Return an example of each event type of the catalogue, its envelope as sent."""
    text = (Path(__file__).parent / "events.json").read_text()
    events: dict[str, dict[str, Any]] = json.loads(text)
    return events


@dataclass(frozen=True, slots=True)
class Message:
    """A message: its body's bytes are the same on each attempt, as its ID is."""

    id: str
    body: bytes

    def sign(self, secret: str, *, at: int) -> dict[str, str]:
        """Return the headers of an attempt at Unix time `at`. Raises: ValueError."""
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            raise ValueError("The secret must be whsec_ and base64.") from None
        signed = f"{self.id}.{at}.".encode() + self.body
        digest = hmac.digest(key, signed, hashlib.sha256)
        return {
            "content-type": "application/json",
            "webhook-id": self.id,
            "webhook-timestamp": str(at),
            "webhook-signature": "v1," + base64.b64encode(digest).decode(),
        }


def make_message(envelope: dict[str, Any]) -> Message:
    """Return a message with an ID of its own."""
    return Message(f"msg_conf{uuid4().hex}", json.dumps(envelope).encode())


@dataclass(slots=True)
class Receiver:
    """The receiver under test; `slowest` is the longest accepted answer in seconds."""

    url: str
    secret: str = field(repr=False)
    report_url: str = ""
    clock: Callable[[], float] = time.time
    pause: Callable[[float], None] = time.sleep
    slowest: float = 0.0

    def post(self, message: Message, **changed: str) -> Answer:
        """Send one attempt; `changed` are headers, with underscores for dashes."""
        headers = message.sign(self.secret, at=int(self.clock()))
        headers |= {name.replace("_", "-"): value for name, value in changed.items()}
        return send(
            "POST", self.url, headers=headers, body=message.body, timeout=TIMEOUT_S
        )

    def deliver(self, message: Message) -> int:
        """Send until a 2xx, as the server does; return the attempts. Raises: Failed."""
        last = ""
        for attempt, wait in enumerate((0.0, *RETRIES_AFTER_S), start=1):
            if wait:
                self.pause(wait)
            try:
                answer = self.post(message)
            except Unreachable as error:
                last = f"no answer: {error}"
                continue
            if 200 <= answer.status < 300:
                self.slowest = max(self.slowest, answer.seconds)
                return attempt
            last = f"status {answer.status}"
        raise Failed(f"{last} after {1 + len(RETRIES_AFTER_S)} attempts")

    def read_report(self) -> dict[str, int]:
        """Return how often each message was acted on. Raises: Skipped; Failed."""
        if not self.report_url:
            raise Skipped(_NO_REPORT)
        try:
            answer = send(
                "GET", self.report_url, headers={"accept": "application/json"}
            )
        except Unreachable as error:
            raise Failed(f"the report did not answer: {error}") from None
        found = answer.read_json()
        processed = found.get("processed") if isinstance(found, dict) else None
        expect(isinstance(processed, dict), 'the report is not {"processed": {...}}')
        return dict(processed or {})


@dataclass(slots=True)
class Delivered:
    """What was sent: messages of each event type, and those that no one may act on."""

    by_type: dict[str, list[Message]] = field(default_factory=dict)
    repeated: list[Message] = field(default_factory=list)
    forged: list[Message] = field(default_factory=list)

    @property
    def messages(self) -> list[Message]:
        """Return all messages that had to be accepted."""
        return [message for each in self.by_type.values() for message in each]


def check_every_event(receiver: Receiver, sent: Delivered) -> None:
    refused = []
    for event_type, envelope in load_events().items():
        message = make_message(envelope)
        try:
            receiver.deliver(message)
        except Failed as failed:
            refused.append(f"{event_type}: {failed}")
            expect(len(refused) < 5, "; ".join(refused))
            continue
        sent.by_type.setdefault(event_type, []).append(message)
    expect(not refused, "; ".join(refused))


def check_quick(receiver: Receiver, sent: Delivered) -> None:
    if not sent.by_type:
        raise Skipped("no event was accepted")
    expect(
        receiver.slowest < SLOW_S,
        f"the slowest answer took {receiver.slowest:.1f} s: answer before you process",
    )


def check_forgeries(receiver: Receiver, sent: Delivered) -> None:
    if not sent.by_type:
        raise Skipped("no event was accepted: a refusal would prove nothing")
    envelope = next(iter(load_events().values()))
    stranger = "whsec_" + base64.b64encode(b"conformance, not your secret").decode()
    accepted = []
    forgeries: dict[str, Callable[[Message], dict[str, str]]] = {
        "another secret": lambda m: m.sign(stranger, at=int(receiver.clock())),
        "no signature": lambda _m: {"webhook_signature": ""},
        "a changed body": lambda m: Message(m.id, m.body + b" ").sign(
            receiver.secret, at=int(receiver.clock())
        ),
        "another ID": lambda m: (
            Message(f"{m.id}x", m.body).sign(receiver.secret, at=int(receiver.clock()))
            | {"webhook-id": m.id}
        ),
    }
    for name, forge in forgeries.items():
        message = make_message(envelope)
        sent.forged.append(message)
        answer = receiver.post(message, **forge(message))
        if 200 <= answer.status < 300:
            accepted.append(name)
    expect(not accepted, f"accepted with {', '.join(accepted)}")


def check_old(receiver: Receiver, sent: Delivered) -> None:
    if not sent.by_type:
        raise Skipped("no event was accepted: a refusal would prove nothing")
    message = make_message(next(iter(load_events().values())))
    sent.forged.append(message)
    hour_ago = message.sign(receiver.secret, at=int(receiver.clock()) - 3600)
    answer = receiver.post(message, **hour_ago)
    expect(
        not 200 <= answer.status < 300,
        "a message signed an hour ago was accepted: recorded messages can be replayed",
    )


def check_repeats(receiver: Receiver, sent: Delivered) -> None:
    if not sent.by_type:
        raise Skipped("no event was accepted")
    sent.repeated = sent.messages[:10]
    for message in sent.repeated:
        for _ in range(2):
            receiver.deliver(message)


def check_disorder(receiver: Receiver, sent: Delivered) -> None:
    events = [
        (event_type, make_message(envelope))
        for event_type, envelope in load_events().items()
        if event_type.startswith(("labtest.", "daily.data.sleep."))
    ]
    # The same disorder on each run, so that a failure can be looked at again.
    random.Random(40).shuffle(events)  # noqa: S311 - an order, no secret
    for event_type, message in [*events, *reversed(events)]:
        receiver.deliver(message)
        sent.by_type.setdefault(event_type, []).append(message)
    sent.repeated += [message for _, message in events]


def check_burst(receiver: Receiver, sent: Delivered) -> None:
    envelope = next(iter(load_events().values()))
    messages = [make_message(envelope) for _ in range(4 * AT_ONCE)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(receiver.deliver, messages))
    sent.by_type.setdefault(envelope["event_type"], []).extend(messages)


def check_unknown(receiver: Receiver, sent: Delivered) -> None:
    envelope = next(iter(load_events().values()))
    for changed in ({"event_type": "a.type.of.tomorrow"}, {"a_field_of_tomorrow": 1}):
        message = make_message(envelope | changed)
        receiver.deliver(message)


def check_handled_once(receiver: Receiver, sent: Delivered) -> None:
    processed = receiver.read_report()
    known = {each.id for each in sent.messages}
    if not known:
        raise Skipped("no event was accepted")
    lost = [each for each in known if not processed.get(each)]
    more = [each for each in known if processed.get(each, 0) > 1]
    forged = [each.id for each in sent.forged if processed.get(each.id)]
    expect(
        not (lost or more or forged),
        f"of {len(known)}: {len(lost)} not acted on, {len(more)} more than once,"
        f" {len(forged)} forged or old ones acted on",
    )


@dataclass(frozen=True, slots=True)
class ReceiverCheck:
    """A check of a receiver: its name, and what it makes sure of."""

    name: str
    title: str
    run: Callable[[Receiver, Delivered], None]


CHECKS = (
    ReceiverCheck(
        "every_event", "Each event type is answered with 2xx", check_every_event
    ),
    ReceiverCheck("quick", f"Each answer takes less than {SLOW_S:.0f} s", check_quick),
    ReceiverCheck("signature", "Forged messages are not accepted", check_forgeries),
    ReceiverCheck("old", "A message signed an hour ago is not accepted", check_old),
    ReceiverCheck(
        "repeats", "A message that comes again is answered with 2xx", check_repeats
    ),
    ReceiverCheck(
        "disorder", "Events in another order are answered with 2xx", check_disorder
    ),
    ReceiverCheck("burst", f"{4 * AT_ONCE} messages, {AT_ONCE} at once", check_burst),
    ReceiverCheck(
        "unknown", "A type and a field of tomorrow are answered with 2xx", check_unknown
    ),
    ReceiverCheck(
        "handled_once",
        "Each message was acted on once, a forged one never",
        check_handled_once,
    ),
)


def run_receiver_checks(receiver: Receiver) -> Results:
    """Run all checks in order."""
    results = Results(not_judged=list(NOT_JUDGED))
    if not receiver.report_url:
        results.not_judged.append(
            f"whether repeated messages are acted on once: {_NO_REPORT}"
        )
    sent = Delivered()
    for check in CHECKS:
        outcome, detail = PASSED, ""
        try:
            check.run(receiver, sent)
        except Failed as failed:
            outcome, detail = FAILED, str(failed)
        except Skipped as skipped:
            outcome, detail = SKIPPED, str(skipped)
        except Unreachable as unreachable:
            outcome, detail = FAILED, f"no answer: {unreachable}"
        results.results.append(Result(check.name, check.title, outcome, detail))
    return results
