"""Provide the suite's database: a plugin that tests/conftest.py names.

Each process has a database of its own, named after host and process, so that two runs
in one checkout or on one server never meet; those of runs that were killed are dropped.
It is a copy of a template, which the first run migrates and later runs find again. The
template is named after all that it is made from, so that a change makes a new one;
`--create-db` makes a new one at once.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString

import psycopg
import pytest
from django.conf import settings
from django.core import signals
from django.core.management import call_command
from django.db import close_old_connections, connection, transaction
from django.test import TransactionTestCase
from psycopg import sql
from pytest_django.plugin import DjangoDbBlocker

from portal.lib.database.tenant_proofs import prove_tenant
from portal.lib.embedded import server
from portal.lib.tenancy import ALL_TENANTS, OPEN_TO_ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from django.db.backends.utils import CursorWrapper

# Process ids mean something on one host only (a container is a host of its own).
PREFIX = f"test_assay_{hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]}_"
ROOT = Path(settings.BASE_DIR)
# Of one checkout: another may stand at other migrations.
TEMPLATE = f"{PREFIX}template_{hashlib.sha256(bytes(ROOT)).hexdigest()[:8]}_"
# What a migrated database is made from: migrations, those of packages, rows that are
# installed after them, and the code that does so. A pattern that finds nothing fails.
SOURCES = (
    "*/migrations/*.py",
    "*/*/migrations/*.py",
    "uv.lock",
    "portal/lib/database/schema.py",
    "portal/lib/tenancy.py",
    "labs/data/*.csv",
    "labs/operations/catalogue/*.py",
    "users/store/partitions.py",
    "tests/database.py",
)

TABLES = """
SELECT oid::regclass::text FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition
    AND relnamespace = 'public'::regnamespace
    AND relname NOT LIKE ALL(ARRAY['django_migrations', 'procrastinate_%'])
ORDER BY oid
"""
# A table that refuses to lose rows (the audit) loses them as its owner's alone. Those
# that count others' rows are younger than they, and so are emptied after them.
EMPTY = """
DO $$
DECLARE name text; has_rows boolean;
BEGIN
    FOREACH name IN ARRAY {tables}::text[] LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s)', name) INTO has_rows;
        CONTINUE WHEN NOT has_rows;
        IF EXISTS (
            SELECT FROM pg_trigger WHERE tgrelid = name::regclass AND NOT tgisinternal
                AND tgtype & 2 <> 0 -- BEFORE
        ) THEN
            EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', name);
            EXECUTE format('TRUNCATE %s', name);
            EXECUTE format('ALTER TABLE %s ENABLE TRIGGER USER', name);
        ELSE
            EXECUTE format('DELETE FROM %s', name);
        END IF;
    END LOOP;
END $$
"""
GUARDED = """
SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger JOIN pg_class ON oid = tgrelid
WHERE NOT tgisinternal AND tgtype & 2 <> 0
    AND relnamespace = 'public'::regnamespace AND relname NOT LIKE 'procrastinate_%'
"""
# Jobs that a test committed would wait in the queue of all that follow it.
QUEUE = "SELECT FROM procrastinate_jobs LIMIT 1"
HASHES = "SELECT hashtextextended(kept::text, 0) FROM {} AS kept"
DELETE_ADDED = "DELETE FROM {} AS kept WHERE hashtextextended(kept::text, 0) <> ALL(%s)"
# What a migrated database holds: by table, a hash of each row.
laid: dict[str, list[int]] = {}


def pytest_configure() -> None:
    """Make DATABASE_URL all it takes to run the suite on a server of one's own.

    With it settings expect a production's key and collected static files.
    """
    settings.SECRET_KEY = secrets.token_urlsafe(50)
    settings.WHITENOISE_USE_FINDERS = settings.WHITENOISE_AUTOREFRESH = True
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {
            "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        }
    }
    TransactionTestCase._fixture_teardown = flush


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Note what the migrated database holds."""
    with django_db_blocker.unblock():
        _remember_installed_rows()


def flush(_test: TransactionTestCase) -> None:
    """Leave what a migrated database holds, and nothing else.

    Django's own flush empties every table and lays reference rows anew, which takes
    twenty times as long: it is left to tests that changed such rows.
    """
    from tests.jobs import empty_queue  # a plugin too, which pytest has yet to rewrite

    others = [name for name in _tables() if name not in laid]
    with transaction.atomic(), connection.cursor() as cursor:
        # Still of one tenant or none after an answer that nobody read to its end.
        cursor.execute(OPEN_TO_ALL, [prove_tenant(ALL_TENANTS)])
        cursor.execute(QUEUE)
        if cursor.fetchone() is not None:
            empty_queue()
        cursor.execute(sql.SQL(EMPTY).format(tables=sql.Literal(others)))
        for name, rows in laid.items():
            cursor.execute(sql.SQL(DELETE_ADDED).format(sql.SQL(name)), [rows])
    if any(len(_hashes(name)) != len(rows) for name, rows in laid.items()):
        with without_delete_triggers():
            call_command("flush", verbosity=0, interactive=False, reset_sequences=False)
        _remember_installed_rows()


@contextmanager
def without_delete_triggers() -> Iterator[None]:
    """Let tables that refuse to lose rows lose them, as only their owner can."""
    with connection.cursor() as cursor:
        cursor.execute(GUARDED)
        names = [name for (name,) in cursor.fetchall()]
        for name in names:
            cursor.execute(f"ALTER TABLE {name} DISABLE TRIGGER USER")
        try:
            yield
        finally:
            for name in names:
                cursor.execute(f"ALTER TABLE {name} ENABLE TRIGGER USER")


def _remember_installed_rows() -> None:
    laid.clear()
    for name in _tables():
        if rows := _hashes(name):
            laid[name] = rows


def _tables() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        return [name for (name,) in cursor.fetchall()]


def _hashes(table: str) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(HASHES).format(sql.SQL(table)))
        return [value for (value,) in cursor.fetchall()]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_blocker: DjangoDbBlocker,
    django_db_createdb: bool,
) -> None:
    """Point Django at this run's own database, before it is made."""
    connection.settings_dict["CLUSTER"] = server.TEST
    connection.settings_dict["TEST"]["NAME"] = f"{PREFIX}{os.getpid()}"
    # A job thread's open connection would block dropping the database.
    connection.settings_dict["CONN_MAX_AGE"] = 0
    # A run's workers share one that is made for them; the next run finds no other.
    run = f"{_run_pid()}" if django_db_createdb else ""
    connection.creation.create_test_db = partial(  # type: ignore[method-assign]
        copy_template,
        connection.creation.create_test_db,
        TEMPLATE,
        digest_sources() + run,
    )
    with django_db_blocker.unblock():
        drop_databases_of_dead_runs()


def _run_pid() -> int:
    return os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


def digest_sources(root: Path = ROOT, sources: Iterable[str] = SOURCES) -> str:
    """Digest the files that a migrated database is made from, and the month.

    Raises: FileNotFoundError, a pattern finds nothing: what it named has moved.
    """
    digest = hashlib.sha256()
    # Of samples there are partitions up to the next months.
    digest.update(f"{datetime.now(UTC):%Y-%m}".encode())
    for source in sources:
        paths = sorted(root.glob(source))
        if not paths:
            raise FileNotFoundError(f"SOURCES in tests/database.py: {source}")
        for path in paths:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root)} {len(content)} ".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def copy_template(
    create_test_db: Callable[..., str], prefix: str, digest: str, **options: Any
) -> str:
    """Make this process's database as a copy of the template, which Django may make.

    One process of a checkout at a time: the others wait, and a template in the making
    is never copied. A killed one leaves no half of a template, as PostgreSQL makes a
    copy whole or not at all.
    """
    name: str = connection.settings_dict["TEST"]["NAME"]
    template = prefix + digest
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext(%s))", [prefix])
        cursor.execute("SELECT FROM pg_database WHERE datname = %s", [template])
        if cursor.fetchone() is None:
            create_test_db(**options)
            connection.close()
            drop_templates(cursor, prefix)
            _execute(cursor, "CREATE DATABASE {} TEMPLATE {}", template, name)
        else:
            _execute(cursor, "DROP DATABASE IF EXISTS {}", name)
            _execute(cursor, "CREATE DATABASE {} TEMPLATE {}", name, template)
            connection.close()
            settings.DATABASES[connection.alias]["NAME"] = name
            connection.settings_dict["NAME"] = name
    connection.ensure_connection()
    return name


def drop_templates(cursor: CursorWrapper, prefix: str) -> None:
    """Drop the templates of a checkout, which are those of earlier states."""
    cursor.execute(
        "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [prefix]
    )
    for (name,) in cursor.fetchall():
        with suppress(psycopg.errors.ObjectInUse):
            _execute(cursor, "DROP DATABASE {}", name)


def _execute(cursor: CursorWrapper, statement: LiteralString, *names: str) -> None:
    named = sql.SQL(statement).format(*map(sql.Identifier, names))
    cursor.connection.execute(named)


def drop_databases_of_dead_runs() -> list[str]:
    """Drop this host's test databases whose process is gone; return their names.

    A database in use is left alone: its process may live where we cannot see it.
    """
    dropped = []
    with connection._nodb_cursor() as cursor:
        cursor.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX]
        )
        for (name,) in cursor.fetchall():
            pid = name.removeprefix(PREFIX).partition("_")[0]
            if not pid.isdigit() or _is_alive(int(pid)):
                continue
            with suppress(
                psycopg.errors.ObjectInUse, psycopg.errors.InvalidCatalogName
            ):
                _execute(cursor, "DROP DATABASE {}", name)
                dropped.append(name)
    return dropped


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@pytest.fixture
def _one_connection() -> Iterator[None]:
    """A server ends its connection with each call; here it is the test's own."""
    ends = (signals.request_started, signals.request_finished)
    for end in ends:
        end.disconnect(close_old_connections)
    yield
    for end in ends:
        end.connect(close_old_connections)
