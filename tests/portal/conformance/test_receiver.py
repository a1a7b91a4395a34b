from __future__ import annotations

import json
import threading
from collections import Counter

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from accounts.webhooks.catalogue import load_event_types
from conformance import receiver as kit
from conformance.http import Answer, Unreachable
from conformance.receiver import CHECKS, Receiver, run_receiver_checks

URL, REPORT = "https://hooks.example/assay", "https://hooks.example/report"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class Hooks:
    """A careful receiver, by a published library, unless it is told not to be."""

    def __init__(self, *, verifies=True, dedupes=True, seconds=0.01, refuses=()):
        self.verifies, self.dedupes, self.seconds = verifies, dedupes, seconds
        self.refuses = set(refuses)
        self.processed, self.types = Counter(), set()
        self.down_for = 0
        self.lock = threading.Lock()

    def send(self, method, url, *, headers, body=None, timeout=0):
        if url == REPORT:
            report = json.dumps({"processed": self.processed}).encode()
            return Answer(200, {}, report)
        assert (method, url) == ("POST", URL)
        with self.lock:
            return self.receive(headers, body)

    def receive(self, headers, body):
        if self.down_for:
            self.down_for -= 1
            raise Unreachable("ConnectionRefusedError")
        if self.verifies:
            try:
                Webhook(SECRET).verify(body, headers)
            except WebhookVerificationError:
                return Answer(401, {}, b"", self.seconds)
        envelope = json.loads(body)
        if envelope["event_type"] in self.refuses:
            return Answer(500, {}, b"", self.seconds)
        self.types.add(envelope["event_type"])
        if not (self.dedupes and self.processed[headers["webhook-id"]]):
            self.processed[headers["webhook-id"]] += 1
        return Answer(204, {}, b"", self.seconds)


def judge(monkeypatch, hooks, report_url=REPORT):
    monkeypatch.setattr(kit, "send", hooks.send)
    results = run_receiver_checks(
        Receiver(URL, SECRET, report_url, pause=lambda _seconds: None)
    )
    return {each.name: (each.outcome, each.detail) for each in results.results}, results


def test_a_careful_receiver_passes_every_check(monkeypatch):
    hooks = Hooks()
    hooks.down_for = 2  # the third attempt arrives

    outcomes, results = judge(monkeypatch, hooks)

    assert outcomes == {check.name: ("passed", "") for check in CHECKS}
    assert hooks.types == {*load_event_types(), "a.type.of.tomorrow"}
    assert results.not_judged == list(kit.NOT_JUDGED)


def test_without_a_report_a_repeat_is_not_judged(monkeypatch):
    outcomes, results = judge(monkeypatch, Hooks(dedupes=False), report_url="")

    assert outcomes["handled_once"][0] == "skipped"
    assert results.count("failed") == 0
    assert len(results.not_judged) == len(kit.NOT_JUDGED) + 1


def test_a_careless_receiver_fails_by_what_it_does_not_do(monkeypatch):
    hooks = Hooks(
        verifies=False, dedupes=False, seconds=6.0, refuses=["a.type.of.tomorrow"]
    )

    outcomes, _ = judge(monkeypatch, hooks)

    failed = {name for name, (outcome, _) in outcomes.items() if outcome == "failed"}
    assert failed == {"quick", "signature", "old", "unknown", "handled_once"}
    assert outcomes["signature"][1] == (
        "accepted with another secret, no signature, a changed body, another ID"
    )
    assert "5 forged or old ones acted on" in outcomes["handled_once"][1]


@pytest.mark.parametrize(
    "hooks", [Hooks(refuses=load_event_types()), Hooks()], ids=["refuses", "down"]
)
def test_one_that_never_answers_well_is_not_called_secure(hooks, monkeypatch):
    if not hooks.refuses:
        hooks.down_for = 10**6

    outcomes, results = judge(monkeypatch, hooks)

    assert outcomes["every_event"][0] == "failed"
    assert outcomes["signature"][0] == outcomes["old"][0] == "skipped"
    assert results.count("passed") == 0


def test_the_guide_lists_each_check(settings):
    text = (settings.BASE_DIR / "docs/guides/conformance.md").read_text()

    assert all(f"| `{check.name}` |" in text for check in CHECKS)
