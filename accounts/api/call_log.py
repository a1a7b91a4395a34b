"""Collect API calls in memory and write them to the call log from a thread.

A call is noted in memory when it is answered and written within FLUSH_INTERVAL, over a
connection of the process's own: it neither waits for the log nor fails with it. A
process that is killed takes at most that long of calls with it. Kept are the route, ids
of ours that it names, the error code, and figures; bodies, queries and a customer's own
ids are not.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections import deque
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

import psycopg
from django.conf import settings
from django.db import Error, connection

from accounts.models.api_call import CODE_MAX_LENGTH, PATH_MAX_LENGTH
from accounts.operations.api_keys.api_keys import KeyGrant
from accounts.operations.api_keys.call_log import Call, write_api_call_log
from portal.lib.api.calls import find_path_template
from portal.lib.api.observers import call_observers
from portal.lib.web.request_ids import get_current_request_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rest_framework.request import Request

logger = logging.getLogger(__name__)

FLUSH_INTERVAL = timedelta(seconds=1)
# What a process holds at most while the database takes nothing; then calls go unnoted.
HELD_AT_MOST = 10_000
_BATCH = 1_000
_kept: list[CallLog] = []
# Parameters whose values are ours wherever the call succeeded.
_OURS = frozenset({"resource", "provider"})
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class NotedCall(NamedTuple):
    """A call as noted; other fields are computed when it is written."""

    grant: KeyGrant
    route: str
    parameters: Mapping[str, str]
    method: str
    status: int
    code: str
    started_at: float
    ended_at: float
    request_id: str


class CallLog:
    """The calls of one process that are not yet written."""

    def __init__(self) -> None:
        self._noted: deque[NotedCall] = deque()
        self._is_full = threading.Event()
        self._writing = threading.Lock()
        self._missed = 0

    def note(self, request: Request, status: int, code: str, at: float) -> None:
        """Note an answered call; ignore calls without an API key."""
        grant, match = request.auth, request.resolver_match
        if not isinstance(grant, KeyGrant) or match is None:
            return
        if len(self._noted) >= HELD_AT_MOST:
            self._missed += 1
            return
        self._noted.append(
            NotedCall(
                grant,
                match.route,
                match.kwargs,
                request.method or "",
                status,
                code,
                at,
                time.time(),
                get_current_request_id(),
            )
        )
        if len(self._noted) == _BATCH:
            self._is_full.set()

    def write(self) -> int:
        """Write noted calls and return how many; keep failed ones for later."""
        written = 0
        with self._writing:
            while self._noted:
                batch = [
                    self._noted.popleft() for _ in range(min(_BATCH, len(self._noted)))
                ]
                try:
                    write_api_call_log(map(_build_call, batch))
                except psycopg.DataError:
                    # It would not be taken the next time either.
                    self._missed += len(batch)
                    continue
                except (Error, psycopg.Error) as error:
                    self._noted.extendleft(reversed(batch))
                    logger.warning("calls not written: %s", type(error).__name__)
                    connection.close()
                    break
                written += len(batch)
            if self._missed:
                logger.warning("%s calls are not in the log", self._missed)
                self._missed = 0
        return written

    def run(self) -> None:
        """Write noted calls periodically while the process lives."""
        while True:
            self._is_full.wait(FLUSH_INTERVAL.total_seconds())
            self._is_full.clear()
            self.write()


def start_api_call_log() -> None:
    """Start the call log of this process, once, if it serves API calls."""
    if call_observers or not settings.API_CALL_LOG_DAYS:
        return
    log = CallLog()
    call_observers.append(log.note)
    threading.Thread(target=log.run, name="call-log", daemon=True).start()
    _kept.append(log)


def flush_api_call_log() -> None:
    """Write the remaining calls before the process ends."""
    for log in _kept:
        log.write()


def _build_call(noted: NotedCall) -> Call:
    user = noted.parameters.get("user_id", "")
    return Call(
        tenant_pk=noted.grant.tenant.pk,
        key_id=noted.grant.key_id,
        at=datetime.fromtimestamp(noted.started_at, UTC),
        method=noted.method,
        path=fill_route_path(
            noted.route, noted.parameters, succeeded=noted.status < 400
        ),
        status=noted.status,
        ms=max(0, round((noted.ended_at - noted.started_at) * 1000)),
        request_id=noted.request_id,
        address=noted.grant.actor.address,
        user_uuid=UUID(user) if _UUID.fullmatch(user) else None,
        code=noted.code[:CODE_MAX_LENGTH],
    )


def fill_route_path(
    route: str, parameters: Mapping[str, str], *, succeeded: bool
) -> str:
    """Return a route's path with its UUIDs filled in, other parts in braces.

    A call that `succeeded` named a resource and a provider of ours; what another named
    may be anything.
    """
    path = find_path_template(route)
    for name, value in parameters.items():
        if _UUID.fullmatch(value) or (succeeded and name in _OURS):
            path = path.replace(f"{{{name}}}", value.lower())
    return path[:PATH_MAX_LENGTH]
