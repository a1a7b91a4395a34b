"""Client of Strava's activities: times, pages and refusals.

Verified in public references on 2026-11-26 (developers.strava.com, API reference,
/athlete/activities; stravalib 2.6.0, which reads them): `after` and `before` are
seconds since 1970 of the start, pages are numbered from 1 and have at most 200. 401 is
an access token that has ended, 429 too many calls, 403 an application or user that may
not ask.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

from users.gateways.base import AccessExpired, ResourceRefused, SourceUnavailable

if TYPE_CHECKING:
    from datetime import date

    from users.gateways.http import SourceHttp

logger = logging.getLogger(__name__)

Record = dict[str, Any]
# As published; more are cut to it.
_PAGE_SIZE = 200
# Ours: a window has a few; a source that never ends is broken.
_PAGES_MAX = 50
_UNAUTHORISED = 401
_NOT_GIVEN = frozenset({403, 404})


class StravaClient:
    """A client for one athlete's activities.

    Every method raises SourceUnavailable, AccessExpired and ResourceRefused.
    """

    def __init__(self, *, http: SourceHttp, api_url: str, access_token: str) -> None:
        self._http = http
        self._url = f"{api_url}/api/v3"
        self._access_token = access_token

    def fetch_athlete(self) -> Record:
        """Return the athlete that the token is of."""
        athlete = self._fetch("athlete", {})
        if not isinstance(athlete, dict):
            raise SourceUnavailable("not_documents")
        return athlete

    def fetch_activities(self, first: date, last: date) -> list[Record]:
        """Return the activities that started on days in UTC, both inclusive."""
        params = {
            # Exclusive, both.
            "after": str(_second(first) - 1),
            "before": str(_second(last + timedelta(days=1))),
            "per_page": str(_PAGE_SIZE),
        }
        found: list[Record] = []
        for page in range(1, _PAGES_MAX + 1):
            listed = self._fetch("athlete/activities", params | {"page": str(page)})
            if not isinstance(listed, list):
                raise SourceUnavailable("not_documents")
            found += [each for each in listed if isinstance(each, dict)]
            # One that is not full may lack what is hidden; an empty one is the end.
            if not listed:
                return found
        raise SourceUnavailable("too_many_pages")

    def _fetch(self, name: str, params: dict[str, str]) -> Any:
        answer = self._http.get(
            f"{self._url}/{name}", params=params, access_token=self._access_token
        )
        if answer.is_success:
            return answer.body
        if answer.status == _UNAUTHORISED:
            raise AccessExpired
        if answer.status not in _NOT_GIVEN:
            # Our question is not understood: others may be, and somebody has to look.
            logger.error("Strava answered %s to a question for %s", answer.status, name)
        raise ResourceRefused(f"http_{answer.status}")


def _second(day: date) -> int:
    return int(datetime.combine(day, time.min, UTC).timestamp())
