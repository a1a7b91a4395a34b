"""Client of Withings' services: every call is a POST, every answer has a status.

Verified in public references on 2026-11-23:
- An answer is HTTP 200 with `status` 0, or the fault: 401 for an access token that has
  ended, 601 for too many calls (developer.withings.com/api-reference, Response status;
  aiowithings 3.1.6, const.py, which lists the numbers of each kind).
- An application may call 120 times a minute (developer-guide, Data update
  notifications).
- Lists go on at `offset` while `more` is set (Measure - Getmeas; Sleep - Getsummary).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from users.gateways.base import AccessExpired, ResourceRefused, SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from users.gateways.http import SourceHttp

logger = logging.getLogger(__name__)

# Ours: a window has a few pages; a source that never ends is broken.
_PAGES_MAX = 200
_ACCESS_EXPIRED = frozenset({100, 101, 102, 200, 401})
_NOT_ALLOWED = frozenset({214, 277, 2553, 2554, 2555})
_TOO_MANY = 601
# Of parameters at fault, such as a code that was used; not the 503 of HTTP.
INVALID_PARAMS = 503
_SERVER_FAULTS = frozenset(range(500, 600)) - {INVALID_PARAMS}


class WithingsClient:
    """A client for one user's data, or for the services of an application.

    Every method raises SourceUnavailable, AccessExpired and ResourceRefused.
    """

    def __init__(
        self, *, http: SourceHttp, api_url: str, access_token: str = ""
    ) -> None:
        self._http = http
        self._api_url = api_url
        self._access_token = access_token

    def call(self, service: str, action: str, form: Mapping[str, str]) -> Any:
        """Return the body of an answer."""
        answer = self._http.post_form(
            f"{self._api_url}/{service}",
            {"action": action, **form},
            access_token=self._access_token,
        )
        said = answer.body if isinstance(answer.body, dict) else {}
        status = said.get("status")
        if answer.is_success and status == 0:
            return said.get("body") or {}
        if type(status) is not int:
            raise SourceUnavailable("not_withings")
        if status in _ACCESS_EXPIRED:
            raise AccessExpired
        if status == _TOO_MANY:
            raise self._http.hold_back(answer.retry_after)
        if status in _SERVER_FAULTS:
            raise SourceUnavailable(f"status_{status}")
        if status not in _NOT_ALLOWED:
            # Our question is not understood: others may be, and somebody has to look.
            logger.error("Withings answered %s to %s %s", status, service, action)
        raise ResourceRefused(f"status_{status}")

    def fetch_all(
        self, service: str, action: str, form: Mapping[str, str], *, key: str
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Yield the documents of all pages, each with the body that it came in."""
        more: dict[str, str] = {}
        for _ in range(_PAGES_MAX):
            body = self.call(service, action, {**form, **more})
            documents = body.get(key) if isinstance(body, dict) else None
            if not isinstance(documents, list):
                raise SourceUnavailable("not_documents")
            yield from ((each, body) for each in documents if isinstance(each, dict))
            if not body.get("more"):
                return
            offset = body.get("offset")
            if type(offset) is not int or str(offset) == more.get("offset"):
                raise SourceUnavailable("not_documents")
            more = {"offset": str(offset)}
        raise SourceUnavailable("too_many_pages")
