"""Measure whether a deliverer is running, by its database connection."""

from __future__ import annotations

from django.db import connection

# By which its connection is known.
DELIVERER_NAME = "assay deliver_webhooks"


def measure_seconds_since_deliverer_seen() -> float | None:
    """Return the seconds since a deliverer was last active; None if none runs.

    An idle one asks several times a second. By the database's clock; one query.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM clock_timestamp() - max(state_change))::float"
            " FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = %s",
            [DELIVERER_NAME],
        )
        silence_s: float | None = cursor.fetchone()[0]
    return silence_s
