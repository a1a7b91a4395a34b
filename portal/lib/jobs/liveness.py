"""Read the heartbeats of workers: whether one is alive."""

from __future__ import annotations

from django.db import ProgrammingError, connection

from portal.lib.jobs.jobs import HEARTBEAT_TIMEOUT_SECONDS


def measure_seconds_since_worker_seen() -> float | None:
    """Return the age of the last worker's heartbeat, None if none was ever seen."""
    try:
        with connection.cursor() as cursor:
            # Measured by the database's clock, which wrote the heartbeat.
            cursor.execute(
                "SELECT extract(epoch FROM now() - max(last_heartbeat))::float"
                " FROM procrastinate_workers"
            )
            age_s: float | None = cursor.fetchone()[0]
    except ProgrammingError:  # no such table before the first migrate
        return None
    return age_s


def is_worker_alive() -> bool:
    """Return whether a worker has reported lately."""
    age_s = measure_seconds_since_worker_seen()
    return age_s is not None and age_s <= HEARTBEAT_TIMEOUT_SECONDS
