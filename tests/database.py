"""Which database the suite uses: a plugin that tests/conftest.py names.

Each run has a database of its own, named after host and process, so that two runs in
one checkout or on one server never meet; those of runs that were killed are dropped.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
from contextlib import suppress

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.test import TransactionTestCase
from psycopg import sql
from pytest_django.plugin import DjangoDbBlocker

from portal.lib.embedded import server

# Process ids mean something on one host only (a container is a host of its own).
PREFIX = f"test_assay_{hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]}_"

TABLES = """
SELECT oid::regclass::text FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition
    AND relnamespace = 'public'::regnamespace
    AND relname NOT LIKE ALL(ARRAY['django_migrations', 'procrastinate_%'])
"""
# A table that refuses to lose rows one by one (the audit) loses them at once.
EMPTY = """
DO $$
DECLARE name text; has_rows boolean;
BEGIN
    FOREACH name IN ARRAY {tables}::text[] LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', name) INTO has_rows;
        CONTINUE WHEN NOT has_rows;
        IF EXISTS (
            SELECT FROM pg_trigger WHERE tgrelid = name::regclass AND NOT tgisinternal
        ) THEN
            EXECUTE format('TRUNCATE %s', name);
        ELSE
            EXECUTE format('DELETE FROM %s', name);
        END IF;
    END LOOP;
END $$
"""
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
        _note_what_is_laid()


def flush(_test: TransactionTestCase) -> None:
    """Leave what a migrated database holds, and nothing else.

    Django's own flush empties every table and lays reference rows anew, which takes
    twenty times as long: it is left to tests that changed such rows.
    """
    others = [name for name in _tables() if name not in laid]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql.SQL(EMPTY).format(tables=sql.Literal(others)))
        for name, rows in laid.items():
            cursor.execute(sql.SQL(DELETE_ADDED).format(sql.SQL(name)), [rows])
    if any(len(_hashes(name)) != len(rows) for name, rows in laid.items()):
        call_command("flush", verbosity=0, interactive=False, reset_sequences=False)
        _note_what_is_laid()


def _note_what_is_laid() -> None:
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
def django_db_modify_db_settings(django_db_blocker: DjangoDbBlocker) -> None:
    """Point Django at this run's own database, before it is made."""
    connection.settings_dict["CLUSTER"] = server.TEST
    connection.settings_dict["TEST"]["NAME"] = f"{PREFIX}{os.getpid()}"
    # A job thread's open connection would block dropping the database.
    connection.settings_dict["CONN_MAX_AGE"] = 0
    with django_db_blocker.unblock():
        drop_databases_of_dead_runs()


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
            pid = name.removeprefix(PREFIX)
            if not pid.isdigit() or _is_alive(int(pid)):
                continue
            with suppress(
                psycopg.errors.ObjectInUse, psycopg.errors.InvalidCatalogName
            ):
                cursor.connection.execute(
                    sql.SQL("DROP DATABASE {}").format(sql.Identifier(name))
                )
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
