"""Webhooks of Google Health, of a subscriber of the Google Cloud project.

Verified in the discovery document (projects.subscribers.create) and in two published
clients on 2026-11-26 (django-google-health 0.10.1, the-momentum/open-wearables):
- A subscriber is made by hand, with rights of the project: its address, types of data
  and a secret, which is the `Authorization` header of each message.
- It is verified first: {"type": "verification"} with the header is answered with 201,
  without it with 401 or 403.
- A message is JSON, one notification or a list: healthUserId, operation (UPSERT or
  DELETE), dataType and intervals. It holds no data.
- Messages are signed too (X-HEALTHAPI-SIGNATURE, ECDSA with a key of Google's). Where
  that key is read no public document that we found says: the secret alone is checked,
  as those clients do. A forged message costs a call.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from users.gateways.pushes import Announced, PushRejected

if TYPE_CHECKING:
    from users.gateways.base import Grant
    from users.gateways.pushes import Notice, PushRequest

_VERIFICATION = "verification"
# By type of data, what is read anew.
RESOURCES = {
    "steps": ("steps", "activity"),
    "distance": ("distance", "activity"),
    "floors": ("activity",),
    "active-energy-burned": ("calories_active", "activity"),
    "total-calories": ("activity",),
    "daily-resting-heart-rate": ("activity",),
    "heart-rate": ("heartrate",),
    "heart-rate-variability": ("hrv",),
    "oxygen-saturation": ("blood_oxygen",),
    "weight": ("weight",),
    "body-fat": ("fat",),
    "sleep": ("sleep", "sleep_cycle"),
    "exercise": ("workouts",),
}
# Ours: where a message names no times.
_REACH = timedelta(days=3)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class GoogleHealthPushes:
    """The PushProtocol of Google Health; the secret is that of our address."""

    is_registered_by_hand = True

    def subscribe(self, *, url: str, token: str, grant: Grant) -> None:
        """As of PushProtocol: a user's token may not make subscribers."""

    def unsubscribe(self, *, url: str, grant: Grant) -> None:
        """As of PushProtocol: nothing comes of a user who gave no permission."""

    def answer_check(self, request: PushRequest) -> dict[str, Any]:  # noqa: ARG002 - it is posted
        """As of PushProtocol."""
        return {}

    def read(self, request: PushRequest, *, at: datetime) -> tuple[Notice, ...]:
        """As of PushProtocol; a verification announces nothing."""
        given = request.headers.get("authorization", "")
        wanted = f"Bearer {request.token}"
        if not hmac.compare_digest(wanted.encode(), given.encode()):
            raise PushRejected
        try:
            said = orjson.loads(request.body)
            if isinstance(said, dict) and said.get("type") == _VERIFICATION:
                return ()
            items = said if isinstance(said, list) else [said]
            return tuple(notice for each in items for notice in _read(each["data"], at))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise PushRejected from None


def _read(data: dict[str, Any], at: datetime) -> list[Notice]:
    resources = RESOURCES.get(data["dataType"], ())
    user_id = data["healthUserId"]
    if not resources or not isinstance(user_id, str):
        return []
    first, last = at - _REACH, at
    times = [
        datetime.fromisoformat(each["physicalTimeInterval"][key])
        for each in data.get("intervals") or ()
        if "physicalTimeInterval" in each
        for key in ("startTime", "endTime")
    ]
    if times:
        # Sums are of days of any zone.
        first, last = min(times) - _DAY, max(times) + _DAY
    return [Announced(user_id, resources, first, last)]
