"""This API from outside, as a team's own code reads it: for comparing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from users.gateways.moving.base import PlatformUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.gateways.moving.http import PlatformHttp

KEY_HEADER = "x-service-api-key"
_SINCE, _UNTIL = "1990-01-01", "2099-12-31"
_PAGE = 7 * 24 * 60


class AssayApi:
    """Reads users and their data; elements are as the API answers them."""

    def __init__(self, http: PlatformHttp) -> None:
        self._http = http

    def find_user(self, client_user_id: str) -> dict[str, Any] | None:
        """Return a user by the team's own ID, None where there is none."""
        return self._find(f"v2/user/resolve/{quote(client_user_id, safe='')}")

    def list_sources(self, user_id: str) -> dict[str, str]:
        """Return the status of each live source of a user by slug."""
        answer = self._http.get(f"v2/user/providers/{user_id}")
        return {each["slug"]: each["status"] for each in answer["providers"]}

    def list_resources(self, user_id: str) -> list[str]:
        """Return the resources that a user has data of, by their names in events."""
        answer = self._http.get("v2/introspect/resources", {"user_id": user_id})
        return sorted(
            {
                resource
                for user in answer["data"]
                for resources in user["provider"].values()
                for resource, kept in resources.items()
                if kept.get("oldest_data")
            }
        )

    def list_samples(
        self, user_id: str, resource: str
    ) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield provider, source type and sample of all samples of a resource."""
        params: dict[str, Any] = {
            "start_date": _SINCE,
            "end_date": _UNTIL,
            "limit": _PAGE,
        }
        while True:
            answer = self._http.get(
                f"v2/timeseries/{user_id}/{resource}/grouped", params
            )
            for groups in answer["groups"].values():
                for group in groups:
                    source = group["source"]
                    for sample in group["data"]:
                        yield source["provider"], source["type"], sample
            if not answer["next_cursor"]:
                return
            params["next_cursor"] = answer["next_cursor"]

    def list_summaries(
        self, user_id: str, kind: str, key: str | None
    ) -> list[dict[str, Any]]:
        """Return all summaries of a kind; without a `key` the one, if there is one."""
        if key is None:
            answer = self._find(f"v2/summary/{kind}/{user_id}")
            return [] if answer is None else [answer]
        answer = self._http.get(
            f"v2/summary/{kind}/{user_id}",
            {"start_date": _SINCE, "end_date": _UNTIL},
        )
        found: list[dict[str, Any]] = answer[key]
        return found

    def _find(self, path: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self._http.get(path)
        except PlatformUnavailable as error:
            if error.reason == "status_404":
                return None
            raise
        return found
