"""Client of Garmin: consent, requests for past data, and what pings name.

Garmin gives its documents to partners alone; they are here as public copies and clients
have them (Health API 1.2.2 and Activity API 1.2.4; django-garmin 0.1.1; read on
2026-11-26):
- Data can't be asked for: a call that no ping named is refused. A ping names an address
  with a token of its own, good for seven days, of an activity file for 24 hours and
  once.
- Past data is asked for by summary type and time, at most 90 days at once, of
  activities 30. 202 says that it will be pushed, 409 that it was asked for before, 400
  that it lies before what Garmin gives, 412 or 403 that the user did not allow it.
  At first consent that is said to be a month. What comes, and when, is not told.
- 401 is an access token that has ended, 403 a consent that was taken back.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from users.gateways.base import (
    AccessExpired,
    ResourceRefused,
    SourceRefused,
    SourceUnavailable,
)
from users.states import ConnectionFault

if TYPE_CHECKING:
    from datetime import datetime

    from users.gateways.http import Answer, SourceHttp

logger = logging.getLogger(__name__)

_API = "/wellness-api/rest/"
_DAY_SECONDS = 86_400
_ACCEPTED = frozenset({200, 202, 204, 409})
_REFUSED = frozenset({400, 403, 412})
_UNAUTHORISED, _FORBIDDEN = 401, 403


class GarminClient:
    """A client for one user.

    Every method raises SourceUnavailable and AccessExpired.
    """

    def __init__(self, *, http: SourceHttp, api_url: str, access_token: str) -> None:
        self._http = http
        self._url = f"{api_url}{_API}"
        self._access_token = access_token

    def fetch_user_id(self) -> str:
        """Return Garmin's ID of the user. Raises: SourceRefused."""
        body = self._checked(self._get("user/id")).body
        found = body.get("userId") if isinstance(body, dict) else None
        if not isinstance(found, str) or not found:
            raise SourceUnavailable("not_documents")
        return found

    def fetch_permissions(self) -> tuple[str, ...]:
        """Return what the user allows, such as HEALTH_EXPORT. Raises: SourceRefused."""
        body = self._checked(self._get("user/permissions")).body
        found = body.get("permissions") if isinstance(body, dict) else body
        if not isinstance(found, list):
            raise SourceUnavailable("not_documents")
        return tuple(sorted(each for each in found if isinstance(each, str)))

    def delete_registration(self) -> bool:
        """Take the consent back; return whether Garmin did."""
        answer = self._http.send(
            "DELETE", f"{self._url}user/registration", headers=self._headers
        )
        return answer.is_success

    def request_backfill(self, kind: str, first: datetime, last: datetime) -> bool:
        """Ask for past data; return whether Garmin gives any of that time.

        It counts days of data, not calls.
        """
        start, end = int(first.timestamp()), int(last.timestamp())
        answer = self._http.get(
            f"{self._url}backfill/{kind}",
            params={
                "summaryStartTimeInSeconds": str(start),
                "summaryEndTimeInSeconds": str(end),
            },
            access_token=self._access_token,
            units=max(-(-(end - start) // _DAY_SECONDS), 1),
        )
        if answer.status in _ACCEPTED:
            return True
        if answer.status == _UNAUTHORISED:
            raise AccessExpired
        if answer.status not in _REFUSED:
            logger.error("Garmin answered %s to a request of the past", answer.status)
        return False

    def fetch_summaries(self, url: str) -> list[dict[str, Any]]:
        """Return what a ping named. Raises: ResourceRefused."""
        body = self._given(
            self._http.get(self._own(url), access_token=self._access_token)
        ).body
        if not isinstance(body, list):
            raise ResourceRefused("not_documents")
        return [each for each in body if isinstance(each, dict)]

    def fetch_file(self, url: str) -> bytes:
        """Return a file that a ping named. Raises: ResourceRefused."""
        answer = self._http.get_file(self._own(url), headers=self._headers)
        return bytes(self._given(answer).body)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._access_token}"}

    def _own(self, url: str) -> str:
        """Return an address of Garmin's: tokens never go elsewhere."""
        if not url.startswith(self._url):
            raise ResourceRefused("not_garmin")
        return url

    def _get(self, path: str) -> Answer:
        return self._http.get(f"{self._url}{path}", access_token=self._access_token)

    def _checked(self, answer: Answer) -> Answer:
        if answer.status == _UNAUTHORISED:
            raise AccessExpired
        if answer.status == _FORBIDDEN:
            raise SourceRefused(ConnectionFault.DEREGISTERED_PER_PROVIDER)
        if not answer.is_success:
            raise SourceUnavailable(f"http_{answer.status}")
        return answer

    def _given(self, answer: Answer) -> Answer:
        if answer.status == _UNAUTHORISED:
            raise AccessExpired
        if not answer.is_success:
            raise ResourceRefused(f"http_{answer.status}")
        return answer
