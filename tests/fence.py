"""Row-level security in tests: a plugin that tests/conftest.py names.

Tests set their scene on connections that are open to every tenant. Requests and
commands start as in production, with none: they name their own, or are refused.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand
from django.core.signals import request_finished, request_started
from django.db import connection
from django.db.backends.signals import connection_created
from psycopg import pq

from portal.lib import tenancy
from portal.lib.database.prepared import PreparedStatement
from portal.lib.database.tenant_proofs import prove_tenant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.backends.base.base import BaseDatabaseWrapper

_FAILED = pq.TransactionStatus.INERROR
_NAME = PreparedStatement("name_tenant_in_tests", tenancy._NAME)
# Of each thread: what its requests and commands, one inside the other, found.
_running = threading.local()
_execute = BaseCommand.execute


def pytest_configure() -> None:
    """Follow what runs."""
    open_connections()
    request_started.connect(_enter, weak=False)
    request_finished.connect(_leave, weak=False)
    BaseCommand.execute = _execute_as_in_production  # type: ignore[assignment, method-assign]  # of all commands


def pytest_runtest_setup() -> None:
    """Begin open: an answer in parts that nobody read has not ended its request."""
    forget_requests()


def forget_requests() -> None:
    """Be open again after requests that did not end."""
    _found().clear()
    _say(tenancy.ALL_TENANTS)


def open_connections() -> None:
    """Let connections of this process begin open to every tenant, as benches do."""
    connection_created.connect(_open, weak=False)


def use_production_fence() -> None:
    """Be as in production: for a fork of this process that is a server of its own."""
    connection_created.disconnect(_open)
    BaseCommand.execute = _execute  # type: ignore[method-assign]


@contextmanager
def no_tenant_named() -> Iterator[None]:
    """As a request or command begins: no tenant is named."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter(**_: Any) -> None:
    _found().append(_say(""))


def _leave(**_: Any) -> None:
    if found := _found():
        _say(found.pop())


def _found() -> list[str]:
    """What connections said before what runs now began, outermost first."""
    if not hasattr(_running, "found"):
        _running.found = []
    found: list[str] = _running.found
    return found


def _open(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if not _found():
        connection.connection.execute(
            tenancy.OPEN_TO_ALL, [prove_tenant(tenancy.ALL_TENANTS)]
        )


def _say(value: str) -> str:
    """Set the tenant past Django, and return what it was."""
    raw = connection.connection
    # Where a transaction has failed its rollback brings back what was.
    if raw and not raw.closed and raw.info.transaction_status != _FAILED:
        proof = prove_tenant(value)
        return tenancy._text(tenancy._ask(raw, _NAME, value, proof), 0)
    return "" if _found() else tenancy.ALL_TENANTS


def _execute_as_in_production(command: BaseCommand, *args: Any, **options: Any) -> Any:
    with no_tenant_named():
        return _execute(command, *args, **options)
