"""How log records are written: as a line for people or as JSON for machines.

Neither ever writes the text of an exception or the values of its frames: a database's
own words quote rows. What was raised, and where, is enough to find it. Must not be
here: what is logged.
"""

from __future__ import annotations

import logging
import re
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson

from portal.lib.database.outages import is_database_outage, iterate_exception_chain
from portal.lib.web.request_ids import get_current_request_id

if TYPE_CHECKING:
    from types import TracebackType


_PARAMETER = re.compile(r"\(\?P<(\w+)>[^)]*\)|<(?:\w+:)?(\w+)>")
# Whatever would end a line or move a terminal's cursor, from whoever chose the words.
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class RouteFilter(logging.Filter):
    """Name a request by its route where Django names it by its path.

    Paths hold ids of the customer's own, which may be a patient's, and one-time links.
    Source: Ours: no health data and no secret in a log.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """True always; what it changes is the record's words."""
        request = getattr(record, "request", None)
        path = getattr(request, "path", None)
        if path and isinstance(record.args, tuple):
            # Django escapes what it logs.
            texts = (path, path.encode("unicode_escape").decode("ascii"))
            route = _route(getattr(request, "resolver_match", None))
            record.args = tuple(route if a in texts else a for a in record.args)
        return True


class OutageFilter(logging.Filter):
    """Leave out the traceback of errors caused by a database outage.

    Each request of an outage has such a fault: one line each is enough. Source: Ours.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """True always; what it changes is the record's exception."""
        if record.exc_info and is_database_outage(record.exc_info[1]):
            record.exc_info = None
        return True


def _route(match: object) -> str:
    route: str | None = getattr(match, "route", None)
    if route is None:
        return "a path of no page"
    named = _PARAMETER.sub(lambda found: f"{{{found[1] or found[2]}}}", route)
    return "/" + named.replace("^", "").removesuffix("$").removesuffix("/?")


class LineFormatter(logging.Formatter):
    """`time LEVEL logger message`, and below it the frames of an exception.

    Times are UTC, to the millisecond. Source: Ours: no health data in a log.
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line, or more where something was raised."""
        message = _CONTROLS.sub(_escaped, record.getMessage())
        line = f"{_time(record)} {record.levelname} {record.name} {message}"
        if request_id := get_current_request_id():
            line += f" request={request_id}"
        if record.exc_info and record.exc_info[0]:
            line += "\n" + "\n".join(_frames(*record.exc_info))
        return line


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, request_id, exception.

    `exception` is a list of frames, the outermost first, and what was raised. Times are
    RFC 3339, UTC. Source: Ours: no health data in a log.
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever the message holds."""
        entry: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := get_current_request_id():
            entry["request_id"] = request_id
        if record.exc_info and record.exc_info[0]:
            entry["exception"] = _frames(*record.exc_info)
        return orjson.dumps(entry, default=str).decode()


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _frames(
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> list[str]:
    """Places, and the kinds of what was raised: causes first, as in a traceback."""
    raised = [
        (type(each), each.__traceback__) for each in iterate_exception_chain(error)
    ]
    texts = []
    for what, where in [*raised[:0:-1], (kind, trace)]:
        texts += [
            f"  {frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_tb(where)
        ]
        texts.append(what.__qualname__ if what else "")
    return texts
