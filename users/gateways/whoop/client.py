"""Client of WHOOP's collections: times, pages and refusals.

Verified in public references on 2026-11-24 (developer.whoop.com, API reference, v2, and
its OpenAPI document 2.0.0):
- Collections take `start` (inclusive) and `end` (exclusive), both ISO 8601, at most 25
  records a page, and go on at `nextToken` while `next_token` is set. The newest first.
- 401 is an access token that has ended, 429 too many calls; a scope that was not
  granted is refused.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from users.gateways.base import AccessExpired, ResourceRefused, SourceUnavailable

if TYPE_CHECKING:
    from datetime import date

    from users.gateways.http import SourceHttp

logger = logging.getLogger(__name__)

Record = dict[str, Any]
# As published; more are refused.
_PAGE_SIZE = 25
# Ours: a window has a few; a source that never ends is broken.
_PAGES_MAX = 100
_UNAUTHORISED = 401
_NOT_GIVEN = frozenset({403, 404})


class WhoopClient:
    """A client for one user's records.

    Every method raises SourceUnavailable, AccessExpired and ResourceRefused.
    """

    def __init__(self, *, http: SourceHttp, api_url: str, access_token: str) -> None:
        self._http = http
        self._url = f"{api_url}/developer/v2"
        self._access_token = access_token

    def fetch_document(self, name: str) -> Record:
        """Return what there is once for a user."""
        document = self._request(name, {})
        if not isinstance(document, dict):
            raise SourceUnavailable("not_documents")
        return document

    def fetch_records(self, name: str, first: date, last: date) -> list[Record]:
        """Return the records of days in UTC, both inclusive."""
        found: list[Record] = []
        params = {
            "start": f"{first.isoformat()}T00:00:00.000Z",
            "end": f"{(last + timedelta(days=1)).isoformat()}T00:00:00.000Z",
            "limit": str(_PAGE_SIZE),
        }
        for _ in range(_PAGES_MAX):
            body = self._request(name, params)
            records = body.get("records") if isinstance(body, dict) else None
            if not isinstance(records, list):
                raise SourceUnavailable("not_documents")
            found += [each for each in records if isinstance(each, dict)]
            token = body.get("next_token")
            if not token:
                return found
            if not isinstance(token, str) or token == params.get("nextToken"):
                raise SourceUnavailable("not_documents")
            params["nextToken"] = token
        raise SourceUnavailable("too_many_pages")

    def _request(self, name: str, params: dict[str, str]) -> Any:
        answer = self._http.get(
            f"{self._url}/{name}", params=params, access_token=self._access_token
        )
        if answer.is_success:
            return answer.body
        if answer.status == _UNAUTHORISED:
            raise AccessExpired
        if answer.status not in _NOT_GIVEN:
            # Our question is not understood: others may be, and somebody has to look.
            logger.error("WHOOP answered %s to a question for %s", answer.status, name)
        raise ResourceRefused(f"http_{answer.status}")
