"""Open Wearables, as its HTTP API has users and their data (version 0.6).

Source: the-momentum/open-wearables, backend/app/api/routes/v1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from users.gateways.moving.base import (
    MovedConnection,
    MovedPage,
    MovedUser,
    PageGuard,
)
from users.gateways.moving.open_wearables_shapes import (
    name_provider,
    read_activity,
    read_cycles,
    read_samples,
    read_scores,
    read_sleep,
    read_workouts,
    split_last_moment,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from users.gateways.moving.http import PlatformHttp

KEY_HEADER = "X-Open-Wearables-API-Key"
_SINCE, _UNTIL = "1990-01-01T00:00:00Z", "2100-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class _Feed:
    """A list of the API: its path, the names of its bounds, and how it is read."""

    path: str
    read: Callable[[list[dict[str, Any]]], MovedPage]
    first: str = "start_date"
    last: str = "end_date"
    size: int = 100
    has_cursor: bool = True


_FEEDS = {
    "samples": _Feed("timeseries", read_samples, "start_time", "end_time"),
    "workouts": _Feed("events/workouts", read_workouts),
    "sleep": _Feed("events/sleep", read_sleep),
    "menstrual_cycles": _Feed("events/menstrual-cycles", read_cycles),
    "activity": _Feed("summaries/activity", read_activity, size=400),
    "scores": _Feed("health-scores", read_scores, size=1000, has_cursor=False),
}


class OpenWearables:
    """The Platform of an Open Wearables server."""

    name = "open-wearables"
    feeds: tuple[str, ...] = tuple(_FEEDS)

    def __init__(self, http: PlatformHttp) -> None:
        self._http = http

    def list_users(self) -> Iterator[MovedUser]:
        """As of Platform."""
        page, guard = 1, PageGuard()
        while True:
            answer = self._http.get(
                "api/v1/users",
                {
                    "page": page,
                    "limit": 100,
                    "sort_by": "created_at",
                    "sort_order": "asc",
                },
            )
            guard.check("", answer["items"])
            for item in answer["items"]:
                yield MovedUser(item["id"], item["external_user_id"] or item["id"])
            if not answer["has_next"]:
                return
            page += 1

    def list_connections(self, user: MovedUser) -> list[MovedConnection]:
        """As of Platform."""
        answer = self._http.get(f"api/v1/users/{user.id}/connections")
        return [
            MovedConnection(
                provider=name_provider(each["provider"]),
                is_live=each["status"] != "revoked",
                external_user_id=each["provider_user_id"] or "",
            )
            for each in answer
        ]

    def read_pages(
        self, user: MovedUser, feed: str, cursor: str
    ) -> Iterator[MovedPage]:
        """As of Platform."""
        held: list[dict[str, Any]] = []
        for items, after in self.read_items(user, feed, cursor):
            # A blood pressure's second half may begin the next page. Who goes on from
            # here reads this page again, which changes nothing.
            number = len(items)
            items, held = [*held, *items], []
            if feed == "samples" and after:
                items, held = split_last_moment(items)
            page = _FEEDS[feed].read(items)
            page.cursor, page.read = cursor if held else after, number
            page.is_last = not after
            cursor = after
            yield page

    def read_items(
        self, user: MovedUser, feed: str, cursor: str = ""
    ) -> Iterator[tuple[list[dict[str, Any]], str]]:
        """Yield pages of a feed as the platform has them, with the cursor behind."""
        list_, guard = _FEEDS[feed], PageGuard()
        while True:
            params: dict[str, Any] = {
                list_.first: _SINCE,
                list_.last: _UNTIL,
                "limit": list_.size,
            }
            if cursor:
                params["cursor" if list_.has_cursor else "offset"] = cursor
            answer = self._http.get(f"api/v1/users/{user.id}/{list_.path}", params)
            paging = answer["pagination"]
            after = paging.get("next_cursor") or ""
            if not list_.has_cursor:
                after = str(int(cursor or 0) + len(answer["data"]))
            cursor = after if paging["has_more"] else ""
            guard.check(cursor, answer["data"])
            yield answer["data"], cursor
            if not cursor:
                return
