"""Client of Suunto's workouts and 24/7 samples: times, pages and refusals.

Its reference is open to partners alone. As public documents and the clients of others
agree, 2026-11-27 (apizone.suunto.com, How to start; open-wearables; a published MCP
server, which measured much of it):
- Each call has a bearer token and the subscription key of the application.
- Workouts are listed by start in milliseconds since 1970, in pages by `offset`; 24/7
  samples by `from` and `to`, also milliseconds, at most 28 days; the day's sums by
  ISO 8601 in UTC.
- Its gateway, Azure's, answers 401 to a token that ended, but also to a wrong key and
  to too many calls; the text tells them apart. 403 is also a spent quota.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from users.gateways.base import (
    AccessExpired,
    ClientRejected,
    ResourceRefused,
    SourceUnavailable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from users.gateways.http import Answer, SourceHttp

logger = logging.getLogger(__name__)

Record = dict[str, Any]
KEY_HEADER = "Ocp-Apim-Subscription-Key"
# Half of the most that clients ask for.
_PAGE_SIZE = 50
# Ours: a window has a few; a source that never ends is broken.
_PAGES_MAX = 100
_DAY = timedelta(days=1)
_UNAUTHORISED = 401
_NOT_GIVEN = frozenset({403, 404})
# What a refusal's text says, in small letters.
_WRONG_KEY, _NOT_OFFERED = "subscription key", "operationnotfound"
_TOO_MANY = ("ratelimitexceeded", "rate limit", "quota")
# Ours: its limits are of the subscription, and not public.
_RATE_WAIT = timedelta(minutes=2)
# Both are in use; the second is that of the newer clients.
_DAY_SUMS = ("247samples/daily-activity-statistics", "247/daily-activity-statistics")


class SuuntoClient:
    """A client for one user's data.

    Every method raises SourceUnavailable, AccessExpired and ResourceRefused.
    """

    def __init__(
        self, *, http: SourceHttp, api_url: str, access_token: str, key: str
    ) -> None:
        self._http, self._url = http, api_url
        self._headers = {"Authorization": f"Bearer {access_token}", KEY_HEADER: key}

    def fetch_workouts(self, first: date, last: date) -> list[Record]:
        """Return the workouts that started on days in UTC, both inclusive."""
        params = {
            "since": _milliseconds(first),
            "until": _milliseconds(last + _DAY, -1),
            "limit": str(_PAGE_SIZE),
            "filter-by-modification-time": "false",
        }
        found: list[Record] = []
        for page in range(_PAGES_MAX):
            offset = {"offset": str(page * _PAGE_SIZE)}
            body = self._fetch("v3/workouts/", params | offset)
            listed = body.get("payload") if isinstance(body, dict) else None
            found += _records(listed)
            if len(_records(listed)) < _PAGE_SIZE:
                return found
        raise SourceUnavailable("too_many_pages")

    def fetch_samples(self, kind: str, first: date, last: date) -> list[Record]:
        """Return sleep, recovery or activity samples of days in UTC, both inclusive."""
        params = {"from": _milliseconds(first), "to": _milliseconds(last + _DAY, -1)}
        return _records(self._fetch(f"247samples/{kind}", params))

    def fetch_day_sums(self, first: date, last: date) -> list[Record]:
        """Return the sums of days in UTC, both inclusive."""
        params = {
            "startdate": f"{first.isoformat()}T00:00:00",
            "enddate": f"{last.isoformat()}T23:59:59",
        }
        try:
            return _records(self._fetch(_DAY_SUMS[0], params))
        except ResourceRefused:
            return _records(self._fetch(_DAY_SUMS[1], params))

    def _fetch(self, name: str, params: Mapping[str, str]) -> Any:
        answer = self._http.send(
            "GET", f"{self._url}/{name}?{urlencode(params)}", headers=self._headers
        )
        if answer.is_success:
            return answer.body
        self._refuse(answer)
        if answer.status not in _NOT_GIVEN:
            # Our question is not understood: others may be, and somebody has to look.
            logger.error("Suunto answered %s to a question for %s", answer.status, name)
        raise ResourceRefused(f"http_{answer.status}")

    def _refuse(self, answer: Answer) -> None:
        """Raise what a refusal means, if it is not of this resource alone."""
        said = str(answer.body).lower()
        if answer.status in (_UNAUTHORISED, *_NOT_GIVEN):
            if any(words in said for words in _TOO_MANY):
                raise self._http.hold_back(answer.retry_after or _RATE_WAIT)
            if _WRONG_KEY in said:
                raise ClientRejected
        if answer.status == _UNAUTHORISED and _NOT_OFFERED not in said:
            raise AccessExpired


def _milliseconds(day: date, more: int = 0) -> str:
    start = datetime.combine(day, time.min, UTC)
    return str(int(start.timestamp()) * 1000 + more)


def _records(listed: object) -> list[Record]:
    if not isinstance(listed, list):
        raise SourceUnavailable("not_documents")
    return [each for each in listed if isinstance(each, dict)]
