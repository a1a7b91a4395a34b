"""Client of Polar AccessLink: what it answers, and what it refuses.

Verified in public references on 2026-11-24 (polar.com/accesslink-api; its swagger.yaml,
v3):
- Data is asked for with the user's token, webhooks with the client's ID and secret
  (Basic).
- 204 is nothing, 403 a user who has not accepted all mandatory consents.
- Limits are of an application and grow with its users: 500 and 20 for each in 15
  minutes, 5000 and 100 for each in 24 hours. So what each user may have is kept by
  user, and the rest is for the application's own calls.
"""

from __future__ import annotations

import base64
import logging
from typing import TYPE_CHECKING, Any

from users.gateways.base import AccessExpired, ResourceRefused, SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from users.gateways.applications import ClientCredentials
    from users.gateways.http import Answer, SourceHttp

logger = logging.getLogger(__name__)

Document = dict[str, Any]
_UNAUTHORISED = 401
_NOT_GIVEN = frozenset({403, 404})


class PolarClient:
    """A client for one user's data.

    Every method raises SourceUnavailable, AccessExpired and ResourceRefused.
    """

    def __init__(self, *, http: SourceHttp, api_url: str, access_token: str) -> None:
        self._http = http
        self._url = f"{api_url}/v3"
        self._access_token = access_token

    def fetch_list(
        self, name: str, params: Mapping[str, str] | None = None, *, key: str = ""
    ) -> list[Document]:
        """Return a list of documents, below `key` if there is one."""
        answer = self._http.get(
            f"{self._url}/{name}", params=params or {}, access_token=self._access_token
        )
        body = self._read(answer, name)
        if body is None:
            return []
        found = body.get(key) if key and isinstance(body, dict) else body
        if not isinstance(found, list):
            raise SourceUnavailable("not_documents")
        return [each for each in found if isinstance(each, dict)]

    def send(self, method: str, name: str, body: Document | None = None) -> Answer:
        """Return the answer to a call that changes something."""
        return self._http.send(
            method,
            f"{self._url}/{name}",
            headers={"Authorization": f"Bearer {self._access_token}"},
            body=body,
        )

    def _read(self, answer: Answer, name: str) -> Any:
        if answer.is_success:
            return answer.body
        if answer.status == _UNAUTHORISED:
            raise AccessExpired
        if answer.status not in _NOT_GIVEN:
            # Our question is not understood: others may be, and somebody has to look.
            logger.error("Polar answered %s to a question for %s", answer.status, name)
        raise ResourceRefused(f"http_{answer.status}")


def build_basic_header(credentials: ClientCredentials) -> dict[str, str]:
    """Return the header that authenticates a client (RFC 7617)."""
    pair = f"{credentials.client_id}:{credentials.client_secret}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
