"""Prepare a delivery for display: payload or mask, request and signature."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

import orjson

from accounts.states import Area
from accounts.webhooks.delivery.sending import USER_AGENT
from accounts.webhooks.operations.endpoints import (
    SIGNING_SECRETS,
    find_secret_matching_signature,
    read_custom_headers,
)
from accounts.webhooks.signing import TOLERANCE_S

if TYPE_CHECKING:
    from accounts.web.requests import Rights
    from accounts.webhooks.models import Attempt, Delivery

MASK = "•••"
# By the beginning of an event type: what one must be allowed to read. Ours: what no
# line names needs all of it.
_NEEDS: tuple[tuple[str, frozenset[Area]], ...] = (
    ("daily.data.", frozenset({Area.USERS})),
    ("historical.data.", frozenset({Area.USERS})),
    ("provider.", frozenset({Area.USERS})),
    ("labtest.result.", frozenset({Area.ORDERS})),
    ("labtest.match_review.", frozenset({Area.ORDERS})),
    ("labtest.order_tracking.", frozenset({Area.ORDERS})),
    ("labtest.", frozenset({Area.ORDERS, Area.PATIENT_DETAILS})),
    ("lab_report.", frozenset({Area.REPORTS})),
    ("message.", frozenset({Area.WEBHOOKS})),
)
_ALL = frozenset({Area.USERS, Area.ORDERS, Area.PATIENT_DETAILS, Area.REPORTS})
# Of a payload's data these name things and say nothing of anybody's health.
_OPEN_KEYS = {"id", "user_id", "team_id", "event_type", "endpoint_id", "msg_id"}


@dataclass(frozen=True, slots=True)
class Verification:
    """What a receiver finds that checks an attempt.

    `signed_by` is a text of SIGNING_SECRETS. `skew_s` is how far ahead the receiver's
    clock is by its Date header, None where it sent none.
    """

    signed_by: str
    is_good: bool
    skew_s: int | None

    @property
    def skew_is_small(self) -> bool:
        """Whether a receiver would take the timestamp."""
        return self.skew_s is None or abs(self.skew_s) <= TOLERANCE_S


def may_read_event_payload(rights: Rights, event_type: str) -> bool:
    """Return whether a member may see the payload of an event of this type."""
    needed = next((a for start, a in _NEEDS if event_type.startswith(start)), _ALL)
    return all(rights.allow(area) for area in needed)


def mask_event_payload(body: str) -> Any:
    """Return the envelope with all values of its data masked, except IDs."""
    envelope = orjson.loads(body)
    return {**envelope, "data": _mask(envelope.get("data"))}


def parse_event_payload(body: str) -> Any:
    """Return the envelope as it was sent, its keys in their order."""
    return json.loads(body)


def list_sent_headers(delivery: Delivery, attempt: Attempt) -> list[tuple[str, str]]:
    """Return the headers of an attempt; values of custom headers are masked."""
    own = [(name, MASK) for name in read_custom_headers(delivery.endpoint)]
    return [
        ("content-type", "application/json"),
        ("user-agent", USER_AGENT),
        ("webhook-id", delivery.event.message_id),
        ("webhook-timestamp", str(attempt.sent_timestamp)),
        ("webhook-signature", attempt.signature),
        *own,
    ]


def render_attempt_as_curl(delivery: Delivery, attempt: Attempt) -> str:
    """Render an attempt as a curl command."""
    lines = [f"curl {shlex.quote(attempt.url or delivery.endpoint.url)}"]
    lines += [
        f"-H {shlex.quote(f'{name}: {value}')}"
        for name, value in list_sent_headers(delivery, attempt)
    ]
    lines.append(f"--data-binary {shlex.quote(delivery.event.body)}")
    return " \\\n  ".join(lines)


def verify_attempt_signature(delivery: Delivery, attempt: Attempt) -> Verification:
    """Verify an attempt as its receiver does, with the current secrets."""
    found = find_secret_matching_signature(
        endpoint=delivery.endpoint,
        message_id=delivery.event.message_id,
        timestamp=attempt.sent_timestamp,
        body=delivery.event.body,
        signature=attempt.signature,
    )
    return Verification(SIGNING_SECRETS[found], found != "", _skew(attempt))


def decode_response_body(attempt: Attempt) -> str:
    """Return a response body as text; invalid UTF-8 is replaced."""
    return bytes(attempt.body).decode("utf-8", "replace").replace("\0", "\ufffd")


def _mask(value: Any, key: str = "") -> Any:
    match value:
        case dict():
            return {name: _mask(inner, name) for name, inner in value.items()}
        case list():
            return [_mask(inner, key) for inner in value[:1]] + ["…"] * (len(value) > 1)
        case None:
            return None
        case _:
            return value if key in _OPEN_KEYS else MASK


def _skew(attempt: Attempt) -> int | None:
    dates = [value for name, value in attempt.headers if name.lower() == "date"]
    if not dates:
        return None
    try:
        date = parsedate_to_datetime(dates[0])
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    # The answer was made within this time after the start.
    spent = (attempt.first_byte_ms or 0) / 1000
    made = datetime.fromtimestamp(attempt.started_at.timestamp() + spent, UTC)
    return round((date - made).total_seconds())
