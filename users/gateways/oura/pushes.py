"""Pushes of Oura: subscriptions of an application, signed by its secret.

Verified in public references on 2026-11-23 (Oura API 2, document 1.37, Webhook
Subscription Routes):
- An application subscribes to each pair of a collection and create, update or delete,
  by its ID and secret in headers. A subscription ends at `expiration_time` unless it is
  renewed (PUT renew/{id}).
- Oura first asks the address with GET for the `challenge`, and sends the token that the
  subscription named.
- A push is JSON: event_type, data_type, object_id, event_time and user_id. It is signed
  by HMAC SHA-256 with the secret over x-oura-timestamp and the body, in hexadecimal.
  It is repeated ten times; 410 would cancel the subscription.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from users.gateways.base import ResourceRefused, SourceUnavailable
from users.gateways.pushes import Announced, PushRejected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from users.gateways.applications import ClientCredentials
    from users.gateways.base import (
        Grant,
    )
    from users.gateways.http import SourceHttp
    from users.gateways.pushes import PushRequest

# By collection, what we make of it.
_RESOURCES = {
    "sleep": (
        "sleep",
        "sleep_cycle",
        "heartrate",
        "hrv",
        "blood_oxygen",
        "sleep_breathing_disturbance",
        "body_temperature_delta",
    ),
    "daily_sleep": ("sleep",),
    "daily_readiness": ("sleep",),
    "daily_activity": ("activity",),
    "daily_spo2": ("blood_oxygen", "sleep_breathing_disturbance"),
    "workout": ("workouts",),
    "session": ("mindfulness_minutes", "hrv"),
    "vO2_max": ("vo2_max",),
    "enhanced_tag": ("note",),
}
_EVENTS = ("create", "update", "delete")
# Ours: a push names no day, and rings sync late.
_REACH = timedelta(days=3)
# Ours: repetitions included, whether or not they are signed anew.
_REPLAY_WINDOW = timedelta(hours=24)
_CLOCK_SKEW = timedelta(minutes=5)
# Ours: renewed by the daily check, with a week to spare.
_RENEW_BEFORE = timedelta(days=7)
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class OuraPushes:
    """The PushProtocol of Oura: one subscription serves all users of an application."""

    api_url: str
    open_http: Callable[[], SourceHttp]
    credentials: ClientCredentials
    is_registered_by_hand = False

    def subscribe(self, *, url: str, token: str, grant: Grant) -> None:  # noqa: ARG002 - of the application
        """As of PushProtocol."""
        soon = timezone.now() + _RENEW_BEFORE
        with self.open_http() as http:
            known = {
                (each["data_type"], each["event_type"]): each
                for each in self._list(http)
                if each.get("callback_url") == url
            }
            for data_type in _RESOURCES:
                for event_type in _EVENTS:
                    kept = known.get((data_type, event_type))
                    if kept is None:
                        body = {
                            "callback_url": url,
                            "verification_token": token,
                            "event_type": event_type,
                            "data_type": data_type,
                        }
                        self._call(http, "POST", "", body)
                    elif _parse_time(kept.get("expiration_time"), _LONG_AGO) < soon:
                        self._call(http, "PUT", f"/renew/{kept['id']}")

    def unsubscribe(self, *, url: str, grant: Grant) -> None:
        """As of PushProtocol: nothing comes of a user who gave no permission."""

    def answer_check(self, request: PushRequest) -> dict[str, Any]:
        """As of PushProtocol."""
        token = request.query.get("verification_token", "")
        if not hmac.compare_digest(token.encode(), request.token.encode()):
            raise PushRejected
        return {"challenge": request.query.get("challenge", "")}

    def read(self, request: PushRequest, *, at: datetime) -> tuple[Announced, ...]:
        """As of PushProtocol."""
        timestamp = request.headers.get("x-oura-timestamp", "")
        given = request.headers.get("x-oura-signature", "").upper()
        wanted = sign_oura_push(self.credentials, timestamp, request.body)
        if not hmac.compare_digest(wanted.encode(), given.encode()):
            raise PushRejected
        if not -_REPLAY_WINDOW <= _parse_stamp(timestamp) - at <= _CLOCK_SKEW:
            raise PushRejected
        try:
            said = orjson.loads(request.body)
            resources = _RESOURCES.get(said["data_type"], ())
            user_id = said["user_id"]
        except (ValueError, KeyError, TypeError):
            raise PushRejected from None
        if not resources or not isinstance(user_id, str):
            return ()
        moment = min(_parse_time(said.get("event_time"), at), at)
        return (Announced(user_id, resources, moment - _REACH, at),)

    def _list(self, http: SourceHttp) -> Iterator[dict[str, Any]]:
        listed = self._call(http, "GET", "")
        if not isinstance(listed, list):
            raise SourceUnavailable("not_subscriptions")
        for each in listed:
            if isinstance(each, dict) and {"id", "data_type", "event_type"} <= {*each}:
                yield each

    def _call(
        self,
        http: SourceHttp,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
    ) -> Any:
        answer = http.send(
            method,
            f"{self.api_url}/v2/webhook/subscription{path}",
            headers={
                "x-client-id": self.credentials.client_id,
                "x-client-secret": self.credentials.client_secret,
            },
            body=body,
        )
        if not answer.is_success:
            raise ResourceRefused(f"http_{answer.status}")
        return answer.body


def sign_oura_push(credentials: ClientCredentials, timestamp: str, body: bytes) -> str:
    """Return the signature of a push, in capital letters."""
    key = credentials.client_secret.encode()
    said = timestamp.encode() + body
    return hmac.new(key, said, hashlib.sha256).hexdigest().upper()


def _parse_stamp(stamp: str) -> datetime:
    """Parse seconds since 1970, or an ISO 8601 time. Raises: PushRejected."""
    try:
        if stamp.isascii() and stamp.isdigit():
            return datetime.fromtimestamp(int(stamp), UTC)
    except (ValueError, OverflowError, OSError):
        raise PushRejected from None
    return _parse_time(stamp)


def _parse_time(told: object, default: datetime | None = None) -> datetime:
    """Parse a time with an offset. Raises: PushRejected without a default."""
    try:
        moment = parse_datetime(told) if isinstance(told, str) else None
    except ValueError:
        moment = None
    if moment is not None and moment.tzinfo is not None:
        return moment
    if default is None:
        raise PushRejected
    return default
