"""Checks of an API: each calls it as a team's own code does, and removes what it made.

Numbers in `source` are sections of the contract.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

from .http import Answer, Api, Unreachable
from .results import (
    FAILED,
    PASSED,
    SKIPPED,
    Failed,
    Result,
    Results,
    Skipped,
    expect,
)

_LOCAL = {"localhost", "127.0.0.1", "::1"}
_PATIENT = {
    "first_name": "Conformance",
    "last_name": "Example",
    "dob": "1990-05-17",
    "gender": "female",
    "phone_number": "+14155550123",
    "email": "conformance@assay.example",
}
_ADDRESS = {
    "receiver_name": "Conformance Example",
    "first_line": "1 Main Street",
    "city": "San Francisco",
    "state": "CA",
    "zip": "94107",
    "country": "US",
    "phone_number": "+14155550123",
}
RESULTS_WITHIN_S = 60.0
NOT_JUDGED = (
    "how your own code reads these answers: run its tests against the sandbox too",
    "sign-in at real sources, and their limits",
    "real labs: turnaround, rejections, what their messages say",
    "speed and limits under your load",
    "reading of lab reports: upload documents of your labs to the sandbox",
)


@dataclass(slots=True)
class Run:
    """The API under test, and what the checks before have made there."""

    api: Api
    pause: Callable[[float], None] = time.sleep
    tag: str = field(default_factory=lambda: uuid4().hex[:12])
    users: list[str] = field(default_factory=list)
    order_id: str = ""

    def make_user(self, name: str) -> Answer:
        """Create a user, who is deleted in the end."""
        answer = self.api.call(
            "POST", "/v2/user", {"client_user_id": f"conformance/{self.tag} {name}"}
        )
        if answer.status == 200:
            self.users.append(answer.read_json()["user_id"])
        return answer

    @property
    def user_id(self) -> str:
        """Return the first user. Raises: Skipped, without one."""
        if not self.users:
            raise Skipped("no user could be created")
        return self.users[0]


def check_https(run: Run) -> None:
    parts = urlsplit(run.api.base_url)
    if parts.hostname in _LOCAL:
        raise Skipped("a server of this machine")
    expect(parts.scheme == "https", f"{parts.scheme}: keys and data travel unencrypted")


def check_key_needed(run: Run) -> None:
    for key in ("", "sk_us_conformance"):
        answer = run.api.call("GET", "/v2/user", key=key)
        _expect_status(answer, 401)
        _expect_detail(answer, str)


def check_user(run: Run) -> None:
    answer = run.make_user("1")
    _expect_status(answer, 200)
    _expect_keys(answer.read_json(), "user_id", "client_user_id", "created_on")


def check_user_again(run: Run) -> None:
    user_id = run.user_id
    answer = run.make_user("1")
    _expect_status(answer, 400)
    found = (answer.read_json() or {}).get("detail")
    expect(isinstance(found, dict), "detail is no object")
    expect(
        (found or {}).get("user_id") == user_id,
        "detail.user_id is not the first user's",
    )


def check_resolve(run: Run) -> None:
    path = "/v2/user/resolve/" + quote(f"conformance/{run.tag} 1", safe="/")
    answer = run.api.call("GET", path)
    _expect_status(answer, 200)
    expect(answer.read_json().get("user_id") == run.user_id, "another user")


def check_refusals(run: Run) -> None:
    unknown = run.api.call("GET", f"/v2/user/{uuid4()}")
    _expect_status(unknown, 404)
    _expect_detail(unknown, str)
    malformed = run.api.call("GET", "/v2/user/no-uuid")
    _expect_status(malformed, 422)
    empty = run.api.call("POST", "/v2/user", {})
    _expect_status(empty, 422)
    lines = _expect_detail(empty, list)
    expect(
        bool(lines) and all({"loc", "msg", "type"} <= each.keys() for each in lines),
        "a line of detail is without loc, msg or type",
    )


def check_paging(run: Run) -> None:
    page = run.api.call("GET", "/v2/user", limit=1, offset=0)
    _expect_status(page, 200)
    found = page.read_json()
    _expect_keys(found, "users", "total", "offset", "limit")
    expect(len(found["users"]) == 1, f"{len(found['users'])} users for limit=1")
    beyond = run.api.call("GET", "/v2/user", limit=1, offset=100_000)
    expect(beyond.status == 200 and beyond.read_json()["users"] == [], "past the end")


def check_samples(run: Run) -> None:
    path = f"/v2/timeseries/{run.user_id}/heartrate"
    moments = ("2026-01-05T08:00:00+00:00", "2026-01-05T08:01:00+00:00")
    for values in ((58, 61), (58, 61), (58, 62)):
        data = [
            {"timestamp": moment, "value": value}
            for moment, value in zip(moments, values, strict=True)
        ]
        pushed = run.api.call("POST", path, {"provider": "oura", "data": data})
        _expect_status(pushed, 200)
    read = run.api.call(
        "GET", f"{path}/grouped", start_date="2026-01-05", end_date="2026-01-05"
    )
    _expect_status(read, 200)
    groups = read.read_json()["groups"]
    found = [
        (sample["timestamp"], sample["value"])
        for group in groups.get("oura", [])
        for sample in group["data"]
    ]
    expect(
        sorted(found) == list(zip(moments, (58, 62), strict=True)),
        f"{len(found)} samples, or not the latest values, after three pushes of two",
    )


def check_summaries(run: Run) -> None:
    _expect_status(run.make_user("2"), 200)
    user_id = run.users[-1]
    connected = run.api.call(
        "POST", "/v2/link/connect/demo", {"user_id": user_id, "provider": "oura"}
    )
    _expect_status(connected, 200)
    providers = run.api.call("GET", f"/v2/user/providers/{user_id}")
    found = providers.read_json()["providers"]
    expect([each["slug"] for each in found] == ["oura"], "oura is not its only source")
    _expect_keys(found[0], "name", "slug", "logo", "status", "resource_availability")
    for kind, keys in {
        "sleep": ("id", "user_id", "calendar_date", "bedtime_start", "total", "source"),
        "activity": ("id", "user_id", "calendar_date", "steps", "source"),
        "workouts": ("id", "user_id", "calendar_date", "time_start", "source"),
    }.items():
        answer = run.api.call(
            "GET", f"/v2/summary/{kind}/{user_id}", start_date="2020-01-01"
        )
        _expect_status(answer, 200)
        elements = answer.read_json()[kind]
        expect(bool(elements), f"no {kind} of a demo source")
        _expect_keys(elements[0], *keys)


def check_link(run: Run) -> None:
    answer = run.api.call("POST", "/v2/link/token", {"user_id": run.user_id})
    _expect_status(answer, 200)
    _expect_keys(answer.read_json(), "link_token", "link_web_url")


def check_feed(run: Run) -> None:
    answer = run.api.call("GET", "/v2/events", limit=1)
    if answer.status == 403:
        raise Skipped("the key may not read events")
    _expect_status(answer, 200)
    _expect_keys(answer.read_json(), "next_cursor")


def check_order(run: Run) -> None:
    tests = run.api.call("GET", "/v3/lab_test", lab_test_limit=10)
    _expect_status(tests, 200)
    offered = [
        each
        for each in tests.read_json()["data"]
        if each["method"] == "walk_in_test" and each["is_active"]
    ]
    if not offered:
        raise Skipped("the team has no walk-in test")
    body = {
        "user_id": run.user_id,
        "order_set": {"lab_test_ids": [offered[0]["id"]]},
        "patient_details": _PATIENT,
        "patient_address": _ADDRESS,
    }
    key = {"x-idempotency-key": f"conformance-{run.tag}"}
    first = run.api.call("POST", "/v3/order", body, headers=key)
    _expect_status(first, 200)
    run.order_id = first.read_json()["order"]["id"]
    again = run.api.call("POST", "/v3/order", body, headers=key)
    expect(
        again.status == 200 and again.read_json()["order"]["id"] == run.order_id,
        "the same call with the same key placed a second order",
    )
    other = run.api.call("POST", "/v3/order", body | {"notes": "x"}, headers=key)
    _expect_status(other, 422)


def check_results(run: Run) -> None:
    if not run.order_id:
        raise Skipped("no order was placed")
    _expect_status(run.api.call("POST", f"/v3/order/{run.order_id}/test"), 200)
    waited = 0.0
    while True:
        order = run.api.call("GET", f"/v3/order/{run.order_id}").read_json()
        if order["status"] == "completed":
            break
        expect(
            waited < RESULTS_WITHIN_S,
            f"still {order['status']} after {RESULTS_WITHIN_S:.0f} s: is a worker up?",
        )
        run.pause(1.0)
        waited += 1.0
    steps = [each["status"] for each in order["events"]]
    expect(steps[:1] == ["received.walk_in_test.ordered"], "the history begins late")
    answer = run.api.call("GET", f"/v3/order/{run.order_id}/result")
    _expect_status(answer, 200)
    found = answer.read_json()
    _expect_keys(found, "metadata", "results")
    expect(bool(found["results"]), "no results")
    _expect_keys(found["results"][0], "name", "result", "unit", "loinc", "type")


def check_deletion(run: Run) -> None:
    user_id = run.user_id
    _expect_status(run.api.call("DELETE", f"/v2/user/{user_id}"), 200)
    _expect_status(run.api.call("GET", f"/v2/user/{user_id}"), 404)
    undone = run.api.call("POST", "/v2/user/undo_delete", user_id=user_id)
    _expect_status(undone, 200)
    _expect_status(run.api.call("GET", f"/v2/user/{user_id}"), 200)


@dataclass(frozen=True, slots=True)
class Check:
    """A check: its name, what it makes sure of, and where that is written."""

    name: str
    title: str
    source: str
    run: Callable[[Run], None]


CHECKS = (
    Check("https", "The API is called over https", "1.1", check_https),
    Check(
        "key_needed",
        "No key and a wrong one are refused with 401",
        "1.2, 1.3",
        check_key_needed,
    ),
    Check("user", "A user is created with your own ID", "2.2", check_user),
    Check(
        "user_again",
        "The same ID is refused, with the user who has it",
        "1.3",
        check_user_again,
    ),
    Check(
        "resolve", "An ID with a slash and a blank finds its user", "1.1", check_resolve
    ),
    Check(
        "refusals",
        "404 and 422 have the shapes that clients read",
        "1.3",
        check_refusals,
    ),
    Check("paging", "Lists are paged, and end empty", "1.4", check_paging),
    Check(
        "samples",
        "A repeated push adds nothing, a changed value wins",
        "5.4",
        check_samples,
    ),
    Check(
        "summaries",
        "A demo source has sleep, activity and workouts",
        "3.5, 4",
        check_summaries,
    ),
    Check("link", "A link to connect sources is made", "3.6", check_link),
    Check("feed", "The event feed answers", "8", check_feed),
    Check(
        "order",
        "An order is placed once, however often it is sent",
        "1.6, 6",
        check_order,
    ),
    Check(
        "results", "A simulated order has a history and results", "6, 7", check_results
    ),
    Check(
        "deletion", "A deleted user is gone, and can be restored", "2.2", check_deletion
    ),
)


def run_api_checks(run: Run) -> Results:
    """Run all checks in order, then delete the users that they made.

    Raises: Skipped for a production key: checks write.
    """
    if run.api.key.startswith("pk_"):
        raise Skipped("This is a production key. Use a key of the sandbox.")
    results = Results(not_judged=list(NOT_JUDGED))
    for check in CHECKS:
        outcome, detail = PASSED, ""
        try:
            check.run(run)
        except Failed as failed:
            outcome, detail = FAILED, str(failed)
        except Skipped as skipped:
            outcome, detail = SKIPPED, str(skipped)
        except Unreachable as unreachable:
            outcome, detail = FAILED, f"no answer: {unreachable}"
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            # Of another shape than the contract's: that is what is looked for.
            outcome, detail = (
                FAILED,
                f"unreadable answer: {type(error).__name__} {error}",
            )
        results.results.append(Result(check.name, check.title, outcome, detail))
    for user_id in run.users:
        try:
            run.api.call("DELETE", f"/v2/user/{user_id}")
        except Unreachable:
            results.not_judged.append(f"user {user_id} could not be deleted")
    return results


def _expect_status(answer: Answer, status: int) -> None:
    code = (answer.read_json() or {}).get("code", "") if answer.status >= 400 else ""
    expect(
        answer.status == status,
        f"{answer.status} {code}".strip() + f" instead of {status}",
    )


def _expect_detail(answer: Answer, kind: type) -> Any:
    found = (answer.read_json() or {}).get("detail")
    expect(isinstance(found, kind), f"detail is no {kind.__name__}")
    return found


def _expect_keys(found: Any, *names: str) -> None:
    missing = [name for name in names if name not in (found or {})]
    expect(not missing, f"without {', '.join(missing)}")
