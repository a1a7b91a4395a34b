"""The original platform, read through its published Python client alone.

The client, junction-api-sdk, is of the dependency group `original`: it is imported
when it is used.
Shapes are those of contract 4 and 5, so that elements are stored as they come.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import httpx
import orjson

from users.gateways.moving.base import (
    ORDERS,
    WORKOUT_STREAMS,
    MovedConnection,
    MovedPage,
    MovedPart,
    MovedUser,
    PageGuard,
    PlatformUnavailable,
)
from users.gateways.moving.http import ATTEMPTS, TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from users.gateways.moving.base import ResourceNames
    from users.gateways.moving.http import Pace

_SINCE, _UNTIL = "1990-01-01", "2099-12-31"
_PAGE, _ORDERS = 500, 50
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


class OriginalClient:
    """The published client, and the JSON that it was answered last.

    Its models are not read: all values that an enumeration of theirs does not know are
    one object, which has the value that was read last.
    """

    def __init__(self, url: str, key: str, pace: Pace) -> None:
        """Open a client for an address. Raises: ImportError."""
        import junction  # type: ignore[import-not-found,unused-ignore]

        self._body = b""
        self.api = junction.Junction(
            base_url=url,
            api_key=key,
            max_retries=ATTEMPTS,
            httpx_client=httpx.Client(
                transport=PacedTransport(pace),
                timeout=TIMEOUT_S,
                follow_redirects=False,
                event_hooks={"response": [self._keep]},
            ),
        )

    def ask(self, method: Any, *args: Any, missing: Any = None, **query: Any) -> Any:
        """Return the JSON of a call; `missing` is returned for a 404.

        The client itself repeats a call after 429 and 5xx, as Retry-After says. Raises:
        PlatformUnavailable.
        """
        from junction.core.api_error import ApiError
        from junction.core.parse_error import ParsingError

        for attempt in range(ATTEMPTS):
            try:
                method(*args, **query)
                return orjson.loads(self._body)
            except httpx.TransportError:
                time.sleep(2.0**attempt)
            except (ParsingError, ValueError):
                raise PlatformUnavailable("unexpected_answer") from None
            except ApiError as error:
                status = error.status_code or 0
                if status == httpx.codes.NOT_FOUND and missing is not None:
                    return missing
                reason = "no_json" if httpx.codes.is_success(status) else ""
                raise PlatformUnavailable(reason or f"status_{status}") from None
        raise PlatformUnavailable("no_answer")

    def _keep(self, response: httpx.Response) -> None:
        self._body = response.read()


class Original:
    """The Platform of the original."""

    name = "original"

    def __init__(self, client: OriginalClient, resources: ResourceNames) -> None:
        self._ask = client.ask
        self._client = api = client.api
        self._keys = resources.summaries
        self._vitals = {
            slug: f"{_METHODS.get(slug, slug)}_grouped"
            for slug in resources.timeseries
            if hasattr(api.vitals, f"{_METHODS.get(slug, slug)}_grouped")
        }
        self.feeds = (
            *(each for each in resources.summaries if hasattr(api, each)),
            *self._vitals,
            WORKOUT_STREAMS,
            ORDERS,
        )

    def list_users(self) -> Iterator[MovedUser]:
        """As of Platform."""
        offset, guard = 0, PageGuard()
        while True:
            answer = self._ask(self._client.user.get_all, offset=offset, limit=_PAGE)
            guard.check("", answer["users"])
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
        if feed == WORKOUT_STREAMS:
            yield from self._read_streams(user, cursor)
        elif feed == ORDERS:
            yield from self._read_orders(user, cursor)
        elif feed in self._vitals:
            yield from self._read_samples(user, feed, cursor)
        else:
            yield self._read_summaries(user, feed)

    def _read_samples(
        self, user: MovedUser, feed: str, cursor: str
    ) -> Iterator[MovedPage]:
        method, guard = getattr(self._client.vitals, self._vitals[feed]), PageGuard()
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
            guard.check(cursor, parts)
            yield MovedPage(parts, cursor, is_last=not cursor, read=number)
            if not cursor:
                return

    def _read_streams(self, user: MovedUser, cursor: str) -> Iterator[MovedPage]:
        """Yield the stream of each workout behind a cursor, by its start and ID."""
        found = self._ask(
            self._client.workouts.get,
            user.id,
            start_date=_SINCE,
            end_date=_UNTIL,
            missing={"workouts": []},
        )
        left = sorted(
            (name, each)
            for each in found["workouts"]
            if (name := f"{each['time_start']} {each['id']}") > cursor
        )
        if not left:
            yield MovedPage([])
        for number, (name, workout) in enumerate(left, start=1):
            answer = self._ask(
                self._client.workouts.get_by_workout_id, workout["id"], missing={}
            )
            stream = {channel: values for channel, values in answer.items() if values}
            is_last = number == len(left)
            page = MovedPage([], "" if is_last else name, is_last)
            if stream:
                provider, _type = _read_origin(workout)
                element = {"workout": _clean(workout), "stream": stream}
                page.parts = [MovedPart(WORKOUT_STREAMS, provider, [element])]
                page.read = 1
            yield page

    def _read_orders(self, user: MovedUser, cursor: str) -> Iterator[MovedPage]:
        """Yield pages of orders, the first first, each order with its results.

        A cursor is `since|page|last`: what changed since then, and when an order that
        was read changed last, from which a later reading goes on.
        """
        since, page, last = cursor.split("|") if cursor else ("", "1", "")
        guard = PageGuard()
        while True:
            answer = self._ask(
                self._client.lab_tests.get_orders,
                user_id=user.id,
                updated_start_date=datetime.fromisoformat(since) if since else None,
                order_key="created_at",
                order_direction="asc",
                page=int(page),
                size=_ORDERS,
            )
            orders = answer["orders"]
            guard.check(page, orders)
            moments = [each["updated_at"] for each in orders] + [last] * bool(last)
            last = max(moments, key=datetime.fromisoformat, default="")
            is_last = int(page) * _ORDERS >= answer["total"] or not orders
            page = str(int(page) + 1)
            elements = [
                {"order": each, "result": self._read_result(each)} for each in orders
            ]
            yield MovedPage(
                [MovedPart(ORDERS, "", elements)] if elements else [],
                (last and f"{last}|1|{last}") if is_last else f"{since}|{page}|{last}",
                is_last,
                len(orders),
            )
            if is_last:
                return

    def _read_result(self, order: dict[str, Any]) -> dict[str, Any] | None:
        """Return an order's results; none are asked for before a lab can have any."""
        has_any = order.get("interpretation") or {"completed", "sample_with_lab"} & {
            each["status"].partition(".")[0] for each in order["events"]
        }
        if not has_any:
            return None
        method = self._client.lab_tests.get_result_raw
        return self._ask(method, order["id"], missing={}) or None

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
            parts.setdefault(_read_origin(element), []).append(_clean(element))
        return MovedPage(
            [
                MovedPart(kind, provider, found, source_type=source_type)
                for (provider, source_type), found in parts.items()
            ],
            read=len(elements),
        )


def _clean(element: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in element.items()
        if name not in _FILLED and value is not None
    }


def _read_origin(element: dict[str, Any]) -> tuple[str, str]:
    """Return the provider and source type of a summary."""
    source = element.get("source") or {}
    return (
        source.get("provider") or element.get("source_provider") or "manual",
        source.get("type") or element.get("source_type") or "unknown",
    )
