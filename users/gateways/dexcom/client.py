"""Client of Dexcom's records: times, windows and refusals.

Verified in public references on 2026-11-26 (developer.dexcom.com, endpoint overview,
/egvs, /calibrations and /devices of version 3; JSON schemas of its OpenAPI document):
- Windows are `startDate` to `endDate`, ISO 8601 in UTC without offset, of `systemTime`,
  and at most 30 days long. An answer is {recordType, userId, records}, without pages.
- 401 is an access token that has ended, 429 too many calls.
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
_UNAUTHORISED = 401
_NOT_GIVEN = frozenset({403, 404})


class DexcomClient:
    """A client for one user's records.

    Every method raises SourceUnavailable, AccessExpired and ResourceRefused.
    """

    def __init__(self, *, http: SourceHttp, api_url: str, access_token: str) -> None:
        self._http = http
        self._url = f"{api_url}/v3/users/self"
        self._access_token = access_token

    def fetch_user_id(self) -> str:
        """Return the user's ID, which is another one for each application."""
        return str(self._fetch("dataRange", {}).get("userId") or "")

    def fetch_devices(self) -> list[Record]:
        """Return the devices that sent data lately."""
        return self._records(self._fetch("devices", {}))

    def fetch_records(self, name: str, first: date, last: date) -> list[Record]:
        """Return the records of days in UTC, both inclusive."""
        params = {
            "startDate": f"{first.isoformat()}T00:00:00",
            "endDate": f"{(last + timedelta(days=1)).isoformat()}T00:00:00",
        }
        return self._records(self._fetch(name, params))

    @staticmethod
    def _records(body: Record) -> list[Record]:
        records = body.get("records")
        if not isinstance(records, list):
            raise SourceUnavailable("not_documents")
        return [each for each in records if isinstance(each, dict)]

    def _fetch(self, name: str, params: dict[str, str]) -> Record:
        answer = self._http.get(
            f"{self._url}/{name}", params=params, access_token=self._access_token
        )
        if answer.is_success:
            if not isinstance(answer.body, dict):
                raise SourceUnavailable("not_documents")
            return answer.body
        if answer.status == _UNAUTHORISED:
            raise AccessExpired
        if answer.status not in _NOT_GIVEN:
            # Our question is not understood: others may be, and somebody has to look.
            logger.error("Dexcom answered %s to a question for %s", answer.status, name)
        raise ResourceRefused(f"http_{answer.status}")
