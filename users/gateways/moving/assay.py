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
_PAGE, _ORDERS = 7 * 24 * 60, 50


class AssayApi:
    """Reads users and their data; elements are as the API answers them."""

    def __init__(self, http: PlatformHttp) -> None:
        self._http = http
        self._labs: dict[str, int] | None = None
        self._markers: dict[tuple[str, str], bool] = {}

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

    def list_orders(self, user_id: str) -> list[dict[str, Any]]:
        """Return all orders of a user, the first first."""
        found: list[dict[str, Any]] = []
        page = 1
        while True:
            answer = self._http.get(
                "v3/orders",
                {"user_id": user_id, "page": page, "size": _ORDERS}
                | {"order_key": "created_at", "order_direction": "asc"},
            )
            found += answer["orders"]
            if not answer["orders"] or page * _ORDERS >= answer["total"]:
                return found
            page += 1

    def find_results(self, order_id: str) -> dict[str, Any] | None:
        """Return the results of an order, None before any."""
        return self._find(f"v3/order/{order_id}/result")

    def has_marker(self, lab_slug: str, code: str) -> bool:
        """Return whether the catalogue has a lab's test; of code "" whether the lab."""
        if self._labs is None:
            answer = self._http.get("v3/lab_tests/labs")
            self._labs = {each["slug"]: each["id"] for each in answer}
        if lab_slug not in self._labs or not code:
            return lab_slug in self._labs
        key = (lab_slug, code)
        if key not in self._markers:
            path = f"v3/lab_tests/{self._labs[lab_slug]}/markers/{quote(code, safe='')}"
            self._markers[key] = self._find(path) is not None
        return self._markers[key]

    def get_workout_stream(self, workout_id: str) -> dict[str, list[Any]]:
        """Return the channels of a workout's stream, none without a stream."""
        answer = self._http.get(f"v2/timeseries/workouts/{workout_id}/stream")
        return {channel: values for channel, values in answer.items() if values}

    def _find(self, path: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self._http.get(path)
        except PlatformUnavailable as error:
            if error.reason == "status_404":
                return None
            raise
        return found
