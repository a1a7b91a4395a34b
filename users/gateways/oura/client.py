"""Client of Oura's collections: URLs, dates, pages and refusals."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from users.gateways.base import AccessExpired, ResourceRefused, SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import date

    from users.gateways.http import SourceHttp
    from users.gateways.oura.values import Document

logger = logging.getLogger(__name__)

# Ours: a window of 28 days has one to three; a source that never ends is broken.
_PAGES_MAX = 200
_UNAUTHORISED = 401
# Not granted or no membership, no such collection, and too old an app on the phone.
_NOT_GIVEN = frozenset({403, 404, 426})


class OuraClient:
    """A client for one user's collections.

    Every method raises SourceUnavailable, AccessExpired (also for a collection that was
    not granted: Oura answers 401 to both) and ResourceRefused.
    """

    def __init__(self, *, http: SourceHttp, api_url: str, access_token: str) -> None:
        self._http = http
        self._api_url = api_url
        self._access_token = access_token

    def fetch_document(self, name: str) -> Document:
        """Return the document of a collection with a single one."""
        response = self._request(name, {})
        if not isinstance(response, dict):
            raise SourceUnavailable("not_documents")
        return response

    def fetch_days(self, name: str, first: date, last: date) -> list[Document]:
        """Return documents of a collection between two days, inclusive.

        Oura reads the last day as its midnight, but stamps days at 04:00: so the day
        after is sent.
        """
        params = {
            "start_date": first.isoformat(),
            "end_date": (last + timedelta(days=1)).isoformat(),
        }
        return list(self._pages(name, params))

    def fetch_moments(self, name: str, first: date, last: date) -> list[Document]:
        """Return rows of a timeseries between two days in UTC, inclusive.

        Not of more than 30 days: Oura answers 400 then.
        """
        params = {
            "start_datetime": f"{first.isoformat()}T00:00:00Z",
            "end_datetime": f"{(last + timedelta(days=1)).isoformat()}T00:00:00Z",
        }
        return list(self._pages(name, params))

    def fetch_all(self, name: str) -> list[Document]:
        """Return all documents of a collection without dates."""
        return list(self._pages(name, {}))

    def _pages(self, name: str, params: Mapping[str, str]) -> Iterator[Document]:
        token = ""
        for _ in range(_PAGES_MAX):
            response = self._request(
                name, {**params, "next_token": token} if token else params
            )
            documents = response.get("data") if isinstance(response, dict) else None
            if not isinstance(documents, list):
                raise SourceUnavailable("not_documents")
            yield from (each for each in documents if isinstance(each, dict))
            token = response.get("next_token") or ""
            if not token:
                return
            if not isinstance(token, str):
                raise SourceUnavailable("not_documents")
        raise SourceUnavailable("too_many_pages")

    def _request(self, name: str, params: Mapping[str, str]) -> Any:
        answer = self._http.get(
            f"{self._api_url}/v2/usercollection/{name}",
            params=params,
            access_token=self._access_token,
        )
        if answer.is_success:
            return answer.body
        if answer.status == _UNAUTHORISED:
            raise AccessExpired
        if answer.status not in _NOT_GIVEN:
            # Our question is not understood: others may be, and somebody has to look.
            logger.error("Oura answered %s to a question for %s", answer.status, name)
        raise ResourceRefused(f"http_{answer.status}")
