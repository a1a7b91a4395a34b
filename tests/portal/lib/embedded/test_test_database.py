from __future__ import annotations

import os
from contextlib import closing

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from tests.database import MIGRATED, PREFIX, drop_databases_of_dead_runs

NO_PID = 2**22 + 1  # more than Linux gives to any process


@pytest.fixture
def make_database(db):
    """Make a database beside ours; those still there afterwards are dropped."""
    made = []

    def execute(statement, name):
        with connection._nodb_cursor() as cursor:
            cursor.connection.execute(sql.SQL(statement).format(sql.Identifier(name)))

    def make(name):
        execute("CREATE DATABASE {}", name)
        made.append(name)
        return name

    yield make
    for name in made:
        execute("DROP DATABASE IF EXISTS {}", name)


def database_names():
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database")
        return {name for (name,) in cursor.fetchall()}


@pytest.mark.django_db
def test_this_run_has_a_database_named_after_its_process():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        (name,) = cursor.fetchone()

    assert name == f"{PREFIX}{os.getpid()}"
    assert connection.settings_dict["CONN_MAX_AGE"] == 0


def test_the_database_of_a_dead_run_is_dropped(make_database):
    dead = {make_database(f"{PREFIX}{NO_PID}{kind}") for kind in ("", MIGRATED)}

    dropped = drop_databases_of_dead_runs()

    assert dead <= set(dropped)
    assert dead.isdisjoint(database_names())


def test_databases_of_live_runs_and_of_others_are_kept(make_database):
    live = make_database(f"{PREFIX}{os.getppid()}")
    other = make_database(f"{PREFIX}kept")

    drop_databases_of_dead_runs()

    assert {live, other} <= database_names()


def test_a_database_in_use_is_kept_though_its_process_is_not_to_be_seen(make_database):
    used = make_database(f"{PREFIX}{NO_PID + 1}")
    elsewhere = connection.get_connection_params() | {"dbname": used}
    elsewhere = {
        key: value
        for key, value in elsewhere.items()
        if key in {"host", "port", "user", "password", "dbname"}
    }

    with closing(psycopg.connect(**elsewhere)):
        drop_databases_of_dead_runs()

        assert used in database_names()
