"""The original platform, read through its published Python client alone.

The client, junction-api-sdk, is of the dependency group `original`: it is imported
when it is used.
Shapes are those of contract 4 and 5, so that elements are stored as they come.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import httpx
import orjson

from users.gateways.moving.base import (
    MovedConnection,
    MovedPage,
    MovedPart,
    MovedUser,
    PlatformUnavailable,
)
from users.gateways.moving.http import ATTEMPTS, TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.gateways.moving.base import ResourceNames
    from users.gateways.moving.http import Pace

_SINCE, _UNTIL = "1990-01-01", "2099-12-31"
_PAGE = 500
# What the server fills itself; the rest of an element is as a push has it.
_FILLED = {
    *("id", "user_id", "source", "created_at", "updated_at", "date", "sleep_id"),
    *("source_provider", "source_type", "source_app_id", "source_device_id"),
    *("sleep_stream", "provider", "grouped_type"),
}
# How the client names methods that are not named as the path.
_METHODS = {
    "vo2_max": "vo2max",
    "forced_expiratory_volume_1": "forced_expiratory_volume1",
}


class PacedTransport(httpx.HTTPTransport):
    """A transport that spaces calls."""

    def __init__(self, pace: Pace) -> None:
        super().__init__()
        self._pace = pace

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self._pace.wait_turn()
        return super().handle_request(request)


class Original:
    """The Platform of the original; `client` is of its published package."""

    name = "original"

    def __init__(self, client: Any, resources: ResourceNames) -> None:
        self._client = client
        self._keys = resources.summaries
        self._vitals = {
            slug: f"{_METHODS.get(slug, slug)}_grouped"
            for slug in resources.timeseries
            if hasattr(client.vitals, f"{_METHODS.get(slug, slug)}_grouped")
        }
        self.feeds = (
            *(each for each in resources.summaries if hasattr(client, each)),
            *self._vitals,
        )

    def list_users(self) -> Iterator[MovedUser]:
        """As of Platform."""
        offset = 0
        while True:
            answer = self._ask(self._client.user.get_all, offset=offset, limit=_PAGE)
            for each in answer["users"]:
                zone = each.get("fallback_time_zone") or {}
                yield MovedUser(each["user_id"], each["client_user_id"], zone.get("id"))
            offset += len(answer["users"])
            if not answer["users"] or offset >= answer["total"]:
                return

    def list_connections(self, user: MovedUser) -> list[MovedConnection]:
        """As of Platform; the original lists live sources only."""
        answer = self._ask(self._client.user.get_connected_providers, user.id)
        return [
            MovedConnection(each["slug"], True, each.get("external_user_id") or "")
            for listed in answer.values()
            for each in listed
        ]

    def read_pages(
        self, user: MovedUser, feed: str, cursor: str
    ) -> Iterator[MovedPage]:
        """As of Platform."""
        if feed not in self._vitals:
            yield self._read_summaries(user, feed)
            return
        method = getattr(self._client.vitals, self._vitals[feed])
        while True:
            answer = self._ask(
                method,
                user.id,
                start_date=_SINCE,
                end_date=_UNTIL,
                next_cursor=cursor or None,
            )
            cursor = answer.get("next_cursor") or ""
            parts = [
                MovedPart(
                    feed,
                    group["source"]["provider"],
                    [_clean(each) for each in group["data"]],
                    is_samples=True,
                    source_type=group["source"].get("type") or "unknown",
                )
                for groups in answer["groups"].values()
                for group in groups
            ]
            number = sum(len(part.elements) for part in parts)
            yield MovedPage(parts, cursor, is_last=not cursor, read=number)
            if not cursor:
                return

    def _read_summaries(self, user: MovedUser, kind: str) -> MovedPage:
        method = getattr(self._client, kind).get
        key = self._keys[kind]
        if key is None:
            answer = self._ask(method, user.id, missing={})
            elements = [answer] if answer else []
        else:
            answer = self._ask(
                method, user.id, start_date=_SINCE, end_date=_UNTIL, missing={key: []}
            )
            elements = answer[key]
        parts: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for element in elements:
            source = element.get("source") or {}
            origin = (
                source.get("provider") or element.get("source_provider") or "manual",
                source.get("type") or element.get("source_type") or "unknown",
            )
            parts.setdefault(origin, []).append(_clean(element))
        return MovedPage(
            [
                MovedPart(kind, provider, found, source_type=source_type)
                for (provider, source_type), found in parts.items()
            ],
            read=len(elements),
        )

    def _ask(self, method: Any, *args: Any, missing: Any = None, **query: Any) -> Any:
        """Return the JSON of a call; `missing` is returned for a 404.

        The client itself repeats a call after 429 and 5xx, as Retry-After says.
        """
        from junction.core.api_error import ApiError

        for attempt in range(ATTEMPTS):
            try:
                return _as_json(method(*args, **query))
            except httpx.TransportError:
                time.sleep(2.0**attempt)
            except ApiError as error:
                if error.status_code == httpx.codes.NOT_FOUND and missing is not None:
                    return missing
                raise PlatformUnavailable(f"status_{error.status_code}") from None
        raise PlatformUnavailable("no_answer")


def open_client(url: str, key: str, pace: Pace) -> Any:
    """Return the published client for an address. Raises: ImportError."""
    import junction  # type: ignore[import-not-found,unused-ignore]

    return junction.Junction(
        base_url=url,
        api_key=key,
        max_retries=ATTEMPTS,
        httpx_client=httpx.Client(
            transport=PacedTransport(pace), timeout=TIMEOUT_S, follow_redirects=False
        ),
    )


def _as_json(answer: Any) -> Any:
    if isinstance(answer, dict):
        return {name: [_as_json(e) for e in value] for name, value in answer.items()}
    return orjson.loads(answer.json())


def _clean(element: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in element.items()
        if name not in _FILLED and value is not None
    }
