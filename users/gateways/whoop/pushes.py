"""Pushes of WHOOP: signed by the secret of the application, which names the address.

Verified in public references on 2026-11-24 (developer.whoop.com, Webhooks):
- The address is entered by hand for the application; nothing is asked of it first.
- A push is JSON: user_id, id, type and trace_id. Types are updated and deleted of
  workout, sleep and recovery. The id is of the record, no day is named.
- X-WHOOP-Signature is HMAC SHA-256 in base64 with the client secret over
  X-WHOOP-Signature-Timestamp (milliseconds since 1970) and the body.
- What is not answered with 2xx is sent five times more, over about an hour.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from users.gateways.pushes import Announced, PushRejected

if TYPE_CHECKING:
    from users.gateways.applications import ClientCredentials
    from users.gateways.base import (
        Grant,
    )
    from users.gateways.pushes import PushRequest

# By the first word of a type, what it announces: a recovery is part of its sleep.
_RESOURCES = {"sleep": ("sleep",), "recovery": ("sleep",), "workout": ("workouts",)}
# Ours: a push names no day, and straps sync late.
_REACH = timedelta(days=3)
# Ours: five repetitions within an hour, and clocks that differ.
_REPLAY_WINDOW = timedelta(hours=3)
_CLOCK_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class WhoopPushes:
    """The PushProtocol of WHOOP."""

    credentials: ClientCredentials
    is_registered_by_hand = True

    def subscribe(self, *, url: str, token: str, grant: Grant) -> None:
        """As of PushProtocol: nothing can be asked for."""

    def unsubscribe(self, *, url: str, grant: Grant) -> None:
        """As of PushProtocol: nothing comes of a user who gave no permission."""

    def answer_check(self, request: PushRequest) -> dict[str, Any]:  # noqa: ARG002 - none is asked
        """As of PushProtocol."""
        return {}

    def read(self, request: PushRequest, *, at: datetime) -> tuple[Announced, ...]:
        """As of PushProtocol."""
        timestamp = request.headers.get("x-whoop-signature-timestamp", "")
        given = request.headers.get("x-whoop-signature", "")
        wanted = sign_whoop_push(self.credentials, timestamp, request.body)
        if not hmac.compare_digest(wanted.encode(), given.encode()):
            raise PushRejected
        try:
            sent_at = datetime.fromtimestamp(int(timestamp) / 1000, UTC)
            said = orjson.loads(request.body)
            user_id, kind = said["user_id"], said["type"].partition(".")[0]
        except (
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            OverflowError,
            OSError,
        ):
            raise PushRejected from None
        if not -_REPLAY_WINDOW <= sent_at - at <= _CLOCK_SKEW:
            raise PushRejected
        resources = _RESOURCES.get(kind, ())
        if not resources or type(user_id) is not int:
            return ()
        return (Announced(str(user_id), resources, min(sent_at, at) - _REACH, at),)


def sign_whoop_push(credentials: ClientCredentials, timestamp: str, body: bytes) -> str:
    """Return the signature of a push, in base64."""
    key = credentials.client_secret.encode()
    digest = hmac.new(key, timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()
