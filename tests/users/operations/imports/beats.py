"""Files of heart rates, and what is stored of them."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson

from portal.lib.storage import list_stored_files
from tests.factories.accounts import ACTOR
from users.operations.imports.files import FOLDER
from users.operations.imports.submission import ImportRequest, create_health_data_import

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def lines(*rows):
    return b"\n".join(orjson.dumps(row) for row in rows) + b"\n"


def beat(minute, value):
    return {
        "resource": "heartrate",
        "timestamp": f"2026-02-28T10:{minute:02}:00+00:00",
        "value": value,
    }


BEATS = lines(beat(0, 60), beat(1, 61))


def start(user, content, name="beats.ndjson", **wanted):
    request = ImportRequest(file_name=name, chunks=[content], **wanted)
    return create_health_data_import(user=user, actor=ACTOR, request=request)


def files():
    return list(list_stored_files(FOLDER))
