"""Pushes of Withings: subscriptions by user and category, and what they announce.

Verified in public references on 2026-11-23 (developer.withings.com, Data API,
Notifications: Overview, Subscribe, Content; OpenAPI document 2.0, notify):
- Every user is subscribed by itself, for each category (`appli`), to an https address
  of at most 255 characters, which Withings first asks with HEAD for a 2xx.
- A push is a form: userid, appli and startdate and enddate (seconds since 1970), or
  `date` (YYYY-MM-DD). It comes when data is created, updated or deleted, mostly within
  two minutes, and carries no signature: the address is the secret.
- What is not answered below 400 within two seconds is sent up to ten times over five
  hours; a subscription that fails for 20 days ends.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from users.gateways.base import AccessExpired, ResourceRefused
from users.gateways.pushes import Announced, PushRejected
from users.gateways.withings.client import WithingsClient

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from users.gateways.base import Grant
    from users.gateways.http import SourceHttp
    from users.gateways.pushes import PushRequest

_DAY = timedelta(days=1)
_FIELDS_MAX = 30


@dataclass(frozen=True, slots=True)
class WithingsPushes:
    """The PushProtocol of Withings.

    `resources` are those that a category announces.
    """

    api_url: str
    open_http: Callable[[], SourceHttp]
    resources: Mapping[int, tuple[str, ...]]
    is_registered_by_hand = False

    def subscribe(self, *, url: str, token: str, grant: Grant) -> None:  # noqa: ARG002 - it is in the address
        """As of PushProtocol."""
        with self.open_http() as http:
            client = self._client(http, grant)
            listed = client.call("notify", "list", {}).get("profiles") or ()
            known = {
                each.get("appli") for each in listed if each.get("callbackurl") == url
            }
            for category in self.resources:
                if category not in known:
                    client.call(
                        "notify",
                        "subscribe",
                        {"callbackurl": url, "appli": str(category)},
                    )

    def unsubscribe(self, *, url: str, grant: Grant) -> None:
        """As of PushProtocol."""
        with self.open_http() as http, suppress(AccessExpired, ResourceRefused):
            client = self._client(http, grant)
            for category in self.resources:
                client.call(
                    "notify", "revoke", {"callbackurl": url, "appli": str(category)}
                )

    def answer_check(self, request: PushRequest) -> dict[str, Any]:  # noqa: ARG002 - the address is all
        """As of PushProtocol."""
        return {}

    def read(self, request: PushRequest, *, at: datetime) -> tuple[Announced, ...]:  # noqa: ARG002 - not signed
        """As of PushProtocol."""
        try:
            form = dict(
                parse_qsl(
                    request.body.decode("ascii"),
                    strict_parsing=True,
                    max_num_fields=_FIELDS_MAX,
                )
            )
            user_id = form["userid"]
            resources = self.resources.get(int(form["appli"]), ())
            first, last = _read_period(form)
        except (ValueError, KeyError, OverflowError):
            raise PushRejected from None
        if not resources:
            return ()
        return (Announced(user_id, resources, first, last),)

    def _client(self, http: SourceHttp, grant: Grant) -> WithingsClient:
        return WithingsClient(
            http=http, api_url=self.api_url, access_token=grant.access_token
        )


def _read_period(form: Mapping[str, str]) -> tuple[datetime, datetime]:
    """Return the announced period; a date is a day of any zone.

    Raises: ValueError, KeyError, OverflowError.
    """
    if "date" in form:
        day = datetime.strptime(form["date"], "%Y-%m-%d").replace(tzinfo=UTC)
        return day - _DAY, day + 2 * _DAY
    first = datetime.fromtimestamp(int(form["startdate"]), UTC)
    last = datetime.fromtimestamp(int(form["enddate"]), UTC)
    return first, max(first, last)
