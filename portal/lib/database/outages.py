"""A database that is away: how a fault shows it, and connections that it has closed."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Any

import psycopg
from django.core.signals import request_started
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections

if TYPE_CHECKING:
    from collections.abc import Iterator

# SQLSTATEs besides class 08, connection exceptions: a server that shuts down, crashed,
# or starts; an idle session that it ended; too many connections.
_STATES = frozenset({"57P01", "57P02", "57P03", "57P05", "53300"})
# What Citus says with XX000 of a worker that died in mid-statement: words of libpq, and
# two of its own (remote_transaction.c).
_OF_A_WORKER = (
    "server closed the connection unexpectedly",
    "no connection to the server",
    "connection not open",
    "could not receive data from server",
    "could not send data to server",
    "SSL SYSCALL error",
    "failed to prepare transaction",
    "failure on connection marked as essential",
)
# A server that ends a session says why before it closes it: each is one read.
_READS = 4


class DatabaseAway(OperationalError):
    """The database can't be reached."""


def is_database_outage(error: BaseException | None) -> bool:
    """Return whether an exception was caused by a database that is not available.

    Django, procrastinate and code after the first fault raise others of it. Source:
    PostgreSQL's appendix on error codes; psycopg gives none to what it noticed itself,
    such as a refused, lost or timed-out connection.
    """
    return any(_is_lost(each) for each in iterate_exception_chain(error))


def is_database_full(error: BaseException | None) -> bool:
    """Return whether an exception was caused by a disk of the database that is full.

    Its sessions live on and reads are answered, so this is no outage: what writes is to
    be tried again later. Source: PostgreSQL's appendix on error codes, 53100.
    """
    return any(
        isinstance(each, psycopg.errors.DiskFull)
        for each in iterate_exception_chain(error)
    )


def iterate_exception_chain(error: BaseException | None) -> Iterator[BaseException]:
    """Return a fault and those it was raised from or during, the last first, each once.

    They may lead back to where they began: procrastinate raises the cause of a fault
    while it handles that fault.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        yield error
        seen.add(id(error))
        shown = None if error.__suppress_context__ else error.__context__
        error = error.__cause__ or shown


def _is_lost(error: BaseException) -> bool:
    if isinstance(error, psycopg.OperationalError):
        state = error.sqlstate
        return state is None or state.startswith("08") or state in _STATES
    if isinstance(error, psycopg.errors.InternalError_):
        return str(error).startswith(_OF_A_WORKER)
    return isinstance(error, DatabaseAway)


def close_dead_database_connection(**_signal: Any) -> None:
    """Close a kept connection whose server has gone, before anything is sent over it.

    A server that stops or dies closes its connections, which shows on an idle one
    without asking: the first request after a restart gets a new one. Source: Ours:
    CONN_HEALTH_CHECKS of Django would ask each time, a round trip a request.
    """
    wrapper = connections[DEFAULT_DB_ALIAS]
    raw = wrapper.connection
    if raw is not None and not wrapper.in_atomic_block and _has_ended(raw):
        wrapper.close()


def _has_ended(raw: psycopg.Connection[Any]) -> bool:
    if raw.closed:
        return True
    poller = select.poll()
    poller.register(raw.pgconn.socket, select.POLLIN)
    for _ in range(_READS):
        if not poller.poll(0):
            return False
        try:
            raw.pgconn.consume_input()
        except psycopg.OperationalError:
            return True
    return True


def close_dead_connections_on_each_request() -> None:
    """Drop dead database connections at the start of each request."""
    request_started.connect(
        close_dead_database_connection, dispatch_uid="drop_dead_connection"
    )


def mark_database_connection_suspect() -> None:
    """Let Django test the connection at the end of the request, and close a broken one.

    It does so by itself after faults of its own cursors, not of psycopg's.
    """
    connections[DEFAULT_DB_ALIAS].errors_occurred = True
