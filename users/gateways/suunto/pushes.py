"""Pushes of Suunto: signed by a secret that the application's owner makes up there.

Verified in public references on 2026-11-27 (apizone.suunto.com, Webhook notifications;
clients of others that receive them):
- The address and the notification secret are entered by hand for the application.
- A push is JSON: type, username, and the workout or samples. Types are WORKOUT_CREATED,
  ROUTE_CREATED, and SUUNTO_247_ of ACTIVITY, SLEEP and RECOVERY, each _CREATED.
- X-HMAC-SHA256-Signature is HMAC SHA-256 in hexadecimal over the body, without a time:
  who repeats one, causes a call.
- It has to be answered within two seconds, and is given up after a few attempts. A
  sleep is sent again whenever the watch computes it anew.
"""

from __future__ import annotations

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

SIGNATURE_HEADER = "x-hmac-sha256-signature"
# By type, what is read then: recovery is part of the sleep that it follows.
_RESOURCES = {
    "WORKOUT_CREATED": ("workouts",),
    "SUUNTO_247_SLEEP_CREATED": ("sleep",),
    "SUUNTO_247_RECOVERY_CREATED": ("sleep",),
    "SUUNTO_247_ACTIVITY_CREATED": ("activity", "heartrate", "hrv", "blood_oxygen"),
}
# Ours: where a push names no time, as watches sync late.
_REACH = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class SuuntoPushes:
    """The PushProtocol of Suunto."""

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
        """As of PushProtocol; without a notification secret nothing is proven."""
        given = request.headers.get(SIGNATURE_HEADER, "")
        secret = self.credentials.more.get("notification_secret", "")
        wanted = sign_suunto_push(secret, request.body)
        if not secret or not hmac.compare_digest(wanted.encode(), given.encode()):
            raise PushRejected
        try:
            said = orjson.loads(request.body)
            username, resources = said["username"], _RESOURCES.get(said["type"], ())
        except (ValueError, KeyError, TypeError):
            raise PushRejected from None
        if not resources or not isinstance(username, str):
            return ()
        first = min([at, *_times(said)] if _times(said) else [at - _REACH])
        return (Announced(username, resources, first, at),)


def sign_suunto_push(secret: str, body: bytes) -> str:
    """Return the signature of a push, in hexadecimal."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _times(said: dict[str, Any]) -> list[datetime]:
    """Return the times that a push names."""
    workout, samples = said.get("workout"), said.get("samples")
    try:
        if isinstance(workout, dict):
            return [datetime.fromtimestamp(workout["startTime"] / 1000, UTC)]
        return [
            datetime.fromisoformat(each["timestamp"]).astimezone(UTC)
            for each in (samples if isinstance(samples, list) else ())
        ]
    except (ValueError, KeyError, TypeError, OverflowError, OSError):
        return []
