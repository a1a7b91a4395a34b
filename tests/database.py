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
from django.db import connection
from psycopg import sql
from pytest_django.plugin import DjangoDbBlocker

from portal.lib.embedded import server

# Process ids mean something on one host only (a container is a host of its own).
PREFIX = f"test_assay_{hashlib.sha256(socket.gethostname().encode()).hexdigest()[:6]}_"


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
