"""Client of Google Health: reconciled data points, daily sums and refusals.

Verified in its discovery document (v4, revision 20261030) and on developers.google.com
(health/rate-limits, health/webhooks) on 2026-11-26:
- `reconcile` merges the points of all of a user's sources to one stream, by pages of at
  most 10 000 points, of sleep and exercise 25. It names no source.
- `dailyRollUp` sums by the user's own days, 14 at most of total calories, else 90.
- 401 is an access token that has ended, 403 a scope that was not granted, 429 too many
  calls; 400 with ACCOUNT_NOT_LINKED an account without Google Health.
"""

from __future__ import annotations

import logging
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from users.gateways.base import (
    AccessExpired,
    ResourceRefused,
    SourceRefused,
    SourceUnavailable,
)
from users.states import ConnectionFault

if TYPE_CHECKING:
    from users.gateways.http import Answer, SourceHttp

logger = logging.getLogger(__name__)

Point = dict[str, Any]
_SESSIONS = {"sleep", "exercise"}
_SESSION_PAGE, _PAGE = 25, 10_000
# Ours: heart rates of two weeks take some thirty pages.
_PAGES_MAX = 200
_BAD, _UNAUTHORISED, _FORBIDDEN = 400, 401, 403
_DAY = timedelta(days=1)


class GoogleHealthClient:
    """A client for one user's data.

    Every method raises SourceUnavailable, AccessExpired and ResourceRefused.
    """

    def __init__(self, *, http: SourceHttp, api_url: str, access_token: str) -> None:
        self._http = http
        self._url = f"{api_url}/v4/users/me"
        self._access_token = access_token

    def fetch_user_id(self) -> str:
        """Return Google's ID of the user's health data. Raises: SourceRefused."""
        answer = self._http.get(
            f"{self._url}/identity", access_token=self._access_token
        )
        if answer.status == _BAD:
            # The account has no Google Health: another one may.
            raise SourceRefused(ConnectionFault.USER_NOT_FOUND)
        body = self._checked(answer, "identity")
        found = body.get("healthUserId")
        if not isinstance(found, str) or not found:
            raise SourceUnavailable("not_documents")
        return found

    def reconcile(self, kind: str, time: str, first: date, last: date) -> list[Point]:
        """Return the points of days, both inclusive, whose `time` lies in them.

        `time` is the field of the type that is filtered by; a `date` and a civil time
        are of the user's clock, others of UTC.
        """
        is_civil = "civil" in time or time == "date"
        ends = "" if is_civil else "T00:00:00Z"
        field = f"{kind.replace('-', '_')}.{time}"
        params = {
            "filter": f'{field} >= "{first.isoformat()}{ends}"'
            f' AND {field} < "{(last + _DAY).isoformat()}{ends}"',
            "pageSize": str(_SESSION_PAGE if kind in _SESSIONS else _PAGE),
        }
        found: list[Point] = []
        for _ in range(_PAGES_MAX):
            answer = self._http.get(
                f"{self._url}/dataTypes/{kind}/dataPoints:reconcile",
                params=params,
                access_token=self._access_token,
            )
            body = self._checked(answer, kind)
            found += _points(body, "dataPoints")
            token = body.get("nextPageToken")
            if not token:
                return found
            if not isinstance(token, str) or token == params.get("pageToken"):
                raise SourceUnavailable("not_documents")
            params["pageToken"] = token
        raise SourceUnavailable("too_many_pages")

    def sum_days(self, kind: str, first: date, last: date) -> list[Point]:
        """Return the sums of the user's own days, both inclusive."""
        answer = self._http.send(
            "POST",
            f"{self._url}/dataTypes/{kind}/dataPoints:dailyRollUp",
            headers={"Authorization": f"Bearer {self._access_token}"},
            body={
                "range": {"start": _civil(first), "end": _civil(last + _DAY)},
                "windowSizeDays": 1,
            },
        )
        return _points(self._checked(answer, kind), "rollupDataPoints")

    def _checked(self, answer: Answer, kind: str) -> dict[str, Any]:
        if answer.is_success:
            return answer.body if isinstance(answer.body, dict) else {}
        if answer.status == _UNAUTHORISED:
            raise AccessExpired
        if answer.status != _FORBIDDEN:
            logger.error("Google answered %s to a question for %s", answer.status, kind)
        raise ResourceRefused(f"http_{answer.status}")


def _civil(day: date) -> dict[str, Any]:
    return {"date": {"year": day.year, "month": day.month, "day": day.day}}


def _points(body: dict[str, Any], key: str) -> list[Point]:
    found = body.get(key, [])
    if not isinstance(found, list):
        raise SourceUnavailable("not_documents")
    return [each for each in found if isinstance(each, dict)]
