"""Servers of the platforms that a team leaves, in the process, and ours beside them.

That of Open Wearables answers as version 0.6.3 does (its models in backend/app/schemas
and its routes in backend/app/api/routes/v1), in pages as small as `page_size`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
from django.core.handlers.wsgi import WSGIHandler

from users.gateways.moving.http import Pace

ORIGINAL = "https://original.test"
OPEN_WEARABLES = "https://open-wearables.test"
ASSAY = "https://testserver"
KEY = "sk-theirs"


@dataclass
class OpenWearablesServer:
    """Users by ID with their lists; `calls` are the paths that were asked."""

    page_size: int = 3
    users: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    before: Callable[[int], httpx.Response | None] = lambda _number: None

    def add_user(self, id: str, external: str | None = None, **lists: Any) -> None:
        self.users[id] = {"external_user_id": external, **lists}

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(request.url.path)
        if refusal := self.before(len(self.calls)):
            return refusal
        if request.headers.get("X-Open-Wearables-API-Key") != KEY:
            return httpx.Response(401)
        query = dict(parse_qsl(request.url.query.decode()))
        parts = request.url.path.removeprefix("/api/v1/users").strip("/").split("/", 1)
        if parts == [""]:
            return self._users(query)
        user, name = self.users[parts[0]], parts[1]
        rows = user.get(name, [])
        if name == "connections":
            return httpx.Response(200, json=rows)
        size = min(int(query["limit"]), self.page_size)
        first = int(query.get("cursor") or query.get("offset") or 0)
        more = first + size < len(rows)
        paging = {
            "next_cursor": str(first + size)
            if more and "offset" not in query
            else None,
            "previous_cursor": None,
            "has_more": more,
            "total_count": len(rows),
        }
        body = {
            "data": rows[first : first + size],
            "pagination": paging,
            "metadata": {"sample_count": len(rows[first : first + size])},
        }
        return httpx.Response(200, json=body)

    def _users(self, query: dict[str, str]) -> httpx.Response:
        page, size = int(query["page"]), min(int(query["limit"]), self.page_size)
        rows = [
            {"id": id, "external_user_id": user["external_user_id"], "email": None}
            for id, user in self.users.items()
        ]
        shown = rows[(page - 1) * size : page * size]
        return httpx.Response(
            200,
            json={
                "items": shown,
                "total": len(rows),
                "page": page,
                "limit": size,
                "has_next": page * size < len(rows),
                "has_prev": page > 1,
            },
        )


@dataclass
class OriginalServer:
    """The original, which is another team of this server: what it answers is kept.

    Once `is_closed` only what was asked before is answered, so that the rows of that
    team can go: an order's ID is here but once.
    """

    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    is_closed: bool = False
    calls: list[str] = field(default_factory=list)
    before: Callable[[int], httpx.Response | None] = lambda _number: None

    def answer(
        self, request: httpx.Request, ours: httpx.WSGITransport
    ) -> httpx.Response:
        name = request.url.raw_path.decode()
        self.calls.append(name)
        if refusal := self.before(len(self.calls)):
            return refusal
        if not self.is_closed:
            request.url = request.url.copy_with(host="testserver")
            reply = ours.handle_request(request)
            assert isinstance(reply.stream, httpx.SyncByteStream)
            whole = httpx.Response(
                reply.status_code,
                headers=reply.headers,
                content=b"".join(reply.stream),
            )
            reply.close()
            self.answers[name] = (whole.status_code, whole.content)
        # Orders that changed since: all of them are answered once more.
        name = re.sub("updated_start_date=[^&]*&", "", name)
        status, body = self.answers[name]
        return httpx.Response(
            status, content=body, headers={"content-type": "application/json"}
        )

    def change(self, path: str, change: Callable[[Any], None]) -> None:
        """Change the JSON of the answers whose path begins so."""
        for name, (status, body) in self.answers.items():
            if name.startswith(path):
                content = json.loads(body)
                change(content)
                self.answers[name] = (status, json.dumps(content).encode())


def serve(
    monkeypatch: pytest.MonkeyPatch, theirs: OpenWearablesServer | OriginalServer
) -> None:
    """Answer what goes out to the platform and to ASSAY; anything else is refused."""
    ours = httpx.WSGITransport(app=WSGIHandler())

    def handle(_transport: Any, request: httpx.Request) -> httpx.Response:
        if request.url.host == "open-wearables.test":
            assert isinstance(theirs, OpenWearablesServer)
            return theirs.answer(request)
        if request.url.host == "original.test":
            assert isinstance(theirs, OriginalServer)
            return theirs.answer(request, ours)
        assert request.url.host == "testserver"
        return ours.handle_request(request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", handle)
    for wait in ("wait_turn", "wait_after"):
        monkeypatch.setattr(Pace, wait, lambda *_: None)
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    monkeypatch.setenv("IMPORT_FROM_KEY", KEY)


def source(provider: str = "oura", device_type: str | None = "ring") -> dict[str, Any]:
    return {
        "provider": provider,
        "source": provider,
        "device": None,
        "device_type": device_type,
        "device_name": None,
    }


def connection(
    provider: str = "oura", *, status: str = "active", account: str | None = None
) -> dict[str, Any]:
    return {"provider": provider, "status": status, "provider_user_id": account}


def sample(kind: str, at: str, value: float, **changed: Any) -> dict[str, Any]:
    return {
        "timestamp": at,
        "zone_offset": "+02:00",
        "type": kind,
        "value": value,
        "unit": "",
        "source": source(),
        "is_daily_total": None,
        **changed,
    }


def workout(id: str, start: str, end: str, **changed: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "trail_running",
        "name": None,
        "start_time": start,
        "end_time": end,
        "zone_offset": None,
        "duration_seconds": 1800,
        "source": source(),
        "calories_kcal": 310.5,
        "distance_meters": 5012.0,
        "avg_heart_rate_bpm": 141,
        "max_heart_rate_bpm": 171,
        "avg_pace_sec_per_km": 359,
        "elevation_gain_meters": 85.0,
        **changed,
    }


def night(id: str, start: str, end: str, **changed: Any) -> dict[str, Any]:
    return {
        "id": id,
        "start_time": start,
        "end_time": end,
        "zone_offset": "+02:00",
        "source": source(),
        "duration_seconds": 28800,
        "sleep_duration_seconds": 27000,
        "efficiency_percent": 93.8,
        "stages": {
            "awake_minutes": 30,
            "light_minutes": 240,
            "deep_minutes": 90,
            "rem_minutes": 120,
        },
        "sleep_stage_intervals": [],
        "is_nap": False,
        **changed,
    }


def day(date: str, **changed: Any) -> dict[str, Any]:
    return {
        "date": date,
        "source": source(),
        "steps": 8432,
        "distance_meters": 6240.5,
        "floors_climbed": 12,
        "elevation_meters": 36.0,
        "active_calories_kcal": 342.5,
        "total_calories_kcal": 2150.0,
        "active_minutes": 60,
        "sedentary_minutes": 480,
        "intensity_minutes": {"light": 40, "moderate": 15, "vigorous": 5},
        "heart_rate": {"avg_bpm": 72, "max_bpm": 141, "min_bpm": 51},
        **changed,
    }


def cycle(id: str, start: str, **changed: Any) -> dict[str, Any]:
    return {
        "id": id,
        "start_time": start,
        "end_time": start,
        "zone_offset": "+02:00",
        "source": source(),
        "cycle_length": None,
        "predicted_cycle_length": 28,
        "is_predicted_cycle": False,
        "period_length": 5,
        **changed,
    }
