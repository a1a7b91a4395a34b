"""Races in tests: wait until one connection waits for another."""

from __future__ import annotations

import time

from django.db import connection


def wait_until_blocked() -> None:
    """Until another connection waits for what this transaction holds."""
    until = time.monotonic() + 30
    with connection.cursor() as cursor:
        while time.monotonic() < until:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE NOT granted"
                " AND pg_backend_pid() = ANY (pg_blocking_pids(pid))"
            )
            if cursor.fetchone()[0]:
                return
    raise AssertionError("nobody waits")
