"""Pushes of Strava: one subscription of an application, which nothing signs.

Verified in public references on 2026-11-26 (developers.strava.com, Webhook Events API;
stravalib 2.6.0):
- An application has one subscription, for all its athletes. While it is made, Strava
  asks the address with GET for `hub.challenge`, and sends the `hub.verify_token` that
  was given. It has no end.
- A push is JSON: object_type, object_id, aspect_type, owner_id, subscription_id,
  event_time and updates. Who takes an application's access back, is an athlete with
  `updates` of authorized "false".
- What is not answered with 200 within two seconds is sent three times more.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson
from django.utils import timezone

from users.gateways.base import ResourceRefused, SourceUnavailable
from users.gateways.pushes import Announced, PushRejected

if TYPE_CHECKING:
    from collections.abc import Callable

    from users.gateways.applications import ClientCredentials
    from users.gateways.base import (
        Grant,
        PushKeys,
    )
    from users.gateways.http import SourceHttp
    from users.gateways.pushes import PushRequest

_BAD_REQUEST = 400
# Ours: a push names no day, and watches sync late.
_REACH = timedelta(days=3)
# Ours: repetitions within minutes, and clocks that differ.
_REPLAY_WINDOW = timedelta(hours=3)
_CLOCK_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class StravaPushes:
    """The PushProtocol of Strava; the key it keeps is the subscription's ID."""

    api_url: str
    open_http: Callable[[], SourceHttp]
    credentials: ClientCredentials
    keys: PushKeys
    is_registered_by_hand = False

    def subscribe(self, *, url: str, token: str, grant: Grant) -> None:  # noqa: ARG002 - of the application
        """As of PushProtocol.

        Ours is not asked for again: its address holds the secret of the application,
        and each call counts of a thousand a day. One of somebody else is left alone:
        refused as `webhook_taken`.
        """
        if self.keys.read():
            return
        asked_at = timezone.now()
        form = {
            "client_id": self.credentials.client_id,
            "client_secret": self.credentials.client_secret,
            "callback_url": url,
            "verify_token": token,
        }
        with self.open_http() as http:
            answer = http.post_form(f"{self.api_url}/api/v3/push_subscriptions", form)
        said = answer.body if isinstance(answer.body, dict) else {}
        if answer.status == _BAD_REQUEST and _is_taken(said):
            raise ResourceRefused("webhook_taken")
        if not answer.is_success:
            raise ResourceRefused(f"http_{answer.status}")
        if type(said.get("id")) is not int:
            raise SourceUnavailable("not_webhook")
        self.keys.store(str(said["id"]), asked_at=asked_at)

    def unsubscribe(self, *, url: str, grant: Grant) -> None:
        """As of PushProtocol: nothing comes of a user who gave no permission."""

    def answer_check(self, request: PushRequest) -> dict[str, Any]:
        """As of PushProtocol."""
        token = request.query.get("hub.verify_token", "")
        if not hmac.compare_digest(token.encode(), request.token.encode()):
            raise PushRejected
        return {"hub.challenge": request.query.get("hub.challenge", "")}

    def read(self, request: PushRequest, *, at: datetime) -> tuple[Announced, ...]:
        """As of PushProtocol; only our address and the subscription's ID prove it."""
        try:
            said = orjson.loads(request.body)
            sent_at = datetime.fromtimestamp(said["event_time"], UTC)
            owner, subscription = said["owner_id"], said["subscription_id"]
            kind = said["object_type"]
        except (ValueError, KeyError, TypeError, OverflowError, OSError):
            raise PushRejected from None
        key = self.keys.read()
        if not key or not hmac.compare_digest(key.encode(), str(subscription).encode()):
            raise PushRejected
        if not -_REPLAY_WINDOW <= sent_at - at <= _CLOCK_SKEW:
            raise PushRejected
        # An athlete who took access back is asked, too: that call is refused.
        if kind not in ("activity", "athlete") or type(owner) is not int:
            return ()
        return (Announced(str(owner), ("workouts",), min(sent_at, at) - _REACH, at),)


def _is_taken(said: dict[str, Any]) -> bool:
    errors = said.get("errors")
    return any(
        isinstance(each, dict) and each.get("code") == "already exists"
        for each in (errors if isinstance(errors, list) else ())
    )
