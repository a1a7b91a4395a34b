"""Pushes of Garmin: the data itself, or a ping with the address that has it.

As of garmin.client:
- Addresses are entered by hand, for each summary type; one may be used for all. Which
  are pinged and which pushed is chosen there too. Files come by ping alone.
- A message is JSON: by summary type a list of items with `userId`, and of pings
  `callbackURL`. It may hold 10 MB, of activity details 100 MB, which are not read.
- It is answered with 200 within 30 seconds, else sent again, ever later, for a week.
- Nothing is signed. `garmin-client-id` names the application. So the secret in our
  address is what proves a push.
- `deregistrations` and `userPermissionsChange` are of the user's consent.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from users.gateways.garmin.summaries import RESOURCES
from users.gateways.pushes import Announced, ConsentChanged, PushRejected

if TYPE_CHECKING:
    from datetime import datetime

    from users.gateways.applications import ClientCredentials
    from users.gateways.base import (
        Grant,
    )
    from users.gateways.pushes import Notice, PushRequest

PUSH_MAX_BYTES = 10 * 1024 * 1024
_CONSENTS = frozenset({"deregistrations", "userPermissionsChange"})
FILES = "activityFiles"


@dataclass(frozen=True, slots=True)
class GarminPushes:
    """The PushProtocol of Garmin."""

    credentials: ClientCredentials
    is_registered_by_hand = True

    def subscribe(self, *, url: str, token: str, grant: Grant) -> None:
        """As of PushProtocol: nothing can be asked for."""

    def unsubscribe(self, *, url: str, grant: Grant) -> None:
        """As of PushProtocol: nothing comes of a user who gave no permission."""

    def answer_check(self, request: PushRequest) -> dict[str, Any]:  # noqa: ARG002 - none is asked
        """As of PushProtocol."""
        return {}

    def read(self, request: PushRequest, *, at: datetime) -> tuple[Notice, ...]:
        """As of PushProtocol; of an account all items of a type are one notice."""
        given = request.headers.get("garmin-client-id", "")
        wanted = self.credentials.client_id
        if not hmac.compare_digest(wanted.encode(), given.encode()):
            raise PushRejected
        try:
            said = orjson.loads(request.body)
        except ValueError:
            raise PushRejected from None
        if not isinstance(said, dict):
            raise PushRejected
        notices: list[Notice] = []
        for kind, items in said.items():
            if not isinstance(items, list):
                raise PushRejected
            for user_id, mine in _by_user(items).items():
                notices += _read(kind, user_id, mine, at)
        return tuple(notices)


def _by_user(items: list[Any]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for each in items:
        user_id = each.get("userId") if isinstance(each, dict) else None
        if isinstance(user_id, str) and user_id:
            found.setdefault(user_id, []).append(each)
    return found


def _read(
    kind: str, user_id: str, items: list[dict[str, Any]], at: datetime
) -> list[Notice]:
    if kind in _CONSENTS:
        return [ConsentChanged(user_id)]
    resources = RESOURCES.get(kind)
    if resources is None:
        return []
    pinged = [each for each in items if isinstance(each.get("callbackURL"), str)]
    pushed = [each for each in items if "callbackURL" not in each]
    parts: list[dict[str, Any]] = [{"kind": kind, "ping": each} for each in pinged]
    if pushed and kind != FILES:
        parts.append({"kind": kind, "items": pushed})
    return [Announced(user_id, resources, at, at, orjson.dumps(part)) for part in parts]
