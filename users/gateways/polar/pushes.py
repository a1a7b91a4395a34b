"""Pushes of Polar: one webhook of an application, signed by a key that is shown once.

Verified in public references on 2026-11-24 (polar.com/accesslink-api, AccessLink
webhooks; swagger.yaml v3, /v3/webhooks):
- An application has at most one webhook, of several events and one address. Making it
  sends a PING, which is answered with 200 before the key is known.
- The key is in the answer to the creation alone. Polar-Webhook-Signature is HMAC
  SHA-256 with it over the body, in hexadecimal. There is no time in what is signed but
  `timestamp` of the body.
- A push is JSON: event, user_id, timestamp, and the day or exercise that is there.
- It is answered with 200. What fails for seven days ends, until it is activated again.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
from django.utils import timezone

from users.gateways.base import ResourceRefused, SourceUnavailable
from users.gateways.polar.client import build_basic_header
from users.gateways.pushes import Announced, PushRejected

if TYPE_CHECKING:
    from collections.abc import Callable

    from users.gateways.applications import ClientCredentials
    from users.gateways.base import (
        Grant,
        PushKeys,
    )
    from users.gateways.http import Answer, SourceHttp
    from users.gateways.pushes import PushRequest

_PING = "PING"
# By event, what it announces. A recharge comes with its night.
RESOURCES = {
    "SLEEP": ("sleep", "sleep_cycle", "hrv"),
    "ACTIVITY_SUMMARY": ("activity",),
    "CONTINUOUS_HEART_RATE": ("heartrate",),
    "EXERCISE": ("workouts",),
}
_DAY = timedelta(days=1)
# Ours: an exercise names no day, and watches sync late.
_REACH = timedelta(days=3)
# Ours: what fails is repeated for days; what is older was answered long ago.
_REPLAY_WINDOW = timedelta(days=7)
_CLOCK_SKEW = timedelta(minutes=5)
_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class PolarPushes:
    """The PushProtocol of Polar; `keys` keep the key of the webhook."""

    api_url: str
    open_http: Callable[[], SourceHttp]
    credentials: ClientCredentials
    keys: PushKeys
    is_registered_by_hand = False

    def subscribe(self, *, url: str, token: str, grant: Grant) -> None:  # noqa: ARG002 - of the application
        """As of PushProtocol.

        A webhook at our address whose key is not known is made anew.
        One of somebody else is left alone: refused as `webhook_taken`.
        """
        with self.open_http() as http:
            listed = self._call(http, "GET", "").body
            known = listed.get("data") if isinstance(listed, dict) else None
            webhooks = [each for each in known or () if isinstance(each, dict)]
            if any(each.get("url") != url for each in webhooks):
                raise ResourceRefused("webhook_taken")
            is_replaced = bool(webhooks) and not self.keys.read()
            for each in webhooks:
                if is_replaced:
                    self._call(http, "DELETE", f"/{each['id']}")
                elif not each.get("active", True):
                    self._call(http, "POST", "/activate")
            if webhooks and not is_replaced:
                return
            asked_at = timezone.now()
            made = self._call(
                http, "POST", "", {"events": sorted(RESOURCES), "url": url}
            ).body
            data = made.get("data") if isinstance(made, dict) else None
            key = data.get("signature_secret_key") if isinstance(data, dict) else None
            if not isinstance(key, str) or not key:
                raise SourceUnavailable("not_webhook")
            self.keys.store(key, asked_at=asked_at)

    def unsubscribe(self, *, url: str, grant: Grant) -> None:
        """As of PushProtocol: nothing comes of a user who is no longer registered."""

    def answer_check(self, request: PushRequest) -> dict[str, Any]:  # noqa: ARG002 - Polar sends a ping instead
        """As of PushProtocol."""
        return {}

    def read(self, request: PushRequest, *, at: datetime) -> tuple[Announced, ...]:
        """As of PushProtocol; a ping comes before its key and announces nothing."""
        try:
            said = orjson.loads(request.body)
            event = said["event"]
        except (ValueError, KeyError, TypeError):
            raise PushRejected from None
        if event == _PING:
            return ()
        key = self.keys.read()
        given = request.headers.get("polar-webhook-signature", "").lower()
        wanted = sign_polar_push(key, request.body)
        if not key or not hmac.compare_digest(wanted.encode(), given.encode()):
            raise PushRejected
        try:
            sent_at = datetime.fromisoformat(said["timestamp"])
            user_id = said["user_id"]
            if not -_REPLAY_WINDOW <= sent_at - at <= _CLOCK_SKEW:
                raise PushRejected
            first, last = _read_period(said, min(sent_at, at), at)
        except (ValueError, KeyError, TypeError):
            raise PushRejected from None
        resources = RESOURCES.get(event, ()) if isinstance(event, str) else ()
        if not resources or type(user_id) is not int:
            return ()
        return (Announced(str(user_id), resources, first, last),)

    def _call(
        self,
        http: SourceHttp,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
    ) -> Answer:
        answer = http.send(
            method,
            f"{self.api_url}/v3/webhooks{path}",
            headers=build_basic_header(self.credentials),
            body=body,
        )
        if answer.status == _CONFLICT:
            # Somebody else of ours makes it at this moment, and stores its key.
            raise SourceUnavailable("webhook_made")
        if not answer.is_success:
            raise ResourceRefused(f"http_{answer.status}")
        return answer


def sign_polar_push(key: str, body: bytes) -> str:
    """Return the signature of a push, in small letters."""
    return hmac.new(key.encode(), body, hashlib.sha256).hexdigest()


def _read_period(
    said: dict[str, Any], sent_at: datetime, at: datetime
) -> tuple[datetime, datetime]:
    """Return the announced period; a date is a day of any zone. Raises: ValueError."""
    if "date" not in said:
        return sent_at - _REACH, at
    day = datetime.strptime(said["date"], "%Y-%m-%d").replace(tzinfo=UTC)
    return day - _DAY, day + 2 * _DAY
