"""Measure whether a deliverer is running, by its database connection."""

from __future__ import annotations

from django.db import ProgrammingError, connection

# By which its connection is known.
DELIVERER_NAME = "assay deliver_webhooks"


def measure_seconds_since_deliverer_seen() -> float | None:
    """Return the seconds since a deliverer was last active; None if none runs.

    An idle one asks several times a second. By the database's clock; one query.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT webhooks_deliverer_silence(%s)", [DELIVERER_NAME])
            silence_s: float | None = cursor.fetchone()[0]
    except ProgrammingError:  # no such function before it is migrated
        return None
    return silence_s
