"""Limit how long a request may use the database, and report the timeout.

A web process has few threads: one statement without an end would take them all, one
after another. Workers have no such bound, as their work may be long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.errors import IdleInTransactionSessionTimeout, LockNotAvailable
from psycopg.errors import QueryCanceled as StatementTimeout

from portal.lib.database.outages import iterate_exception_chain

if TYPE_CHECKING:
    from datetime import timedelta

# Seconds after which the same request is worth another try.
RETRY_AFTER_S = 5


def limit_database_statement_time() -> None:
    """Give the connections that this process opens from now on the bounds of a request.

    Each statement has its own time: an export that is fetched in parts may take as long
    as it likes, a part of it not.
    """
    bounds = {
        "statement_timeout": settings.STATEMENT_TIMEOUT,
        "lock_timeout": settings.LOCK_TIMEOUT,
        "idle_in_transaction_session_timeout": settings.IDLE_TRANSACTION_TIMEOUT,
    }
    database: dict[str, Any] = connections.settings[DEFAULT_DB_ALIAS]
    own_options = database["OPTIONS"].get("options", "")
    bound_options = [
        f"-c {name}={_ms(bound)}" for name, bound in bounds.items() if bound
    ]
    if bound_options:
        # What the installation itself says of a bound comes last, and counts.
        database["OPTIONS"]["options"] = " ".join([*bound_options, own_options]).strip()


def is_database_timeout(error: BaseException | None) -> bool:
    """Return whether a fault began with one of these bounds, however it was wrapped."""
    bounds = (StatementTimeout, LockNotAvailable, IdleInTransactionSessionTimeout)
    return any(isinstance(each, bounds) for each in iterate_exception_chain(error))


def _ms(bound: timedelta) -> int:
    return round(bound.total_seconds() * 1000)
