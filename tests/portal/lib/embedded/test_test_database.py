from __future__ import annotations

import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from django.apps import apps
from django.db import connection
from psycopg import sql

from tests.database import (
    PREFIX,
    ROOT,
    SOURCES,
    copy_template,
    digest_sources,
    drop_databases_of_dead_runs,
    drop_templates,
)

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
    dead = {make_database(f"{PREFIX}{NO_PID}{kind}") for kind in ("", "_upgrade")}

    drop_databases_of_dead_runs()  # of another run, which may be at it as well

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


def test_a_template_is_named_after_all_that_it_is_made_from(tmp_path, time_machine):
    time_machine.move_to(datetime(2026, 11, 23, tzinfo=UTC))
    sources = ("migrations/*.py", "labs.csv")
    (tmp_path / "migrations").mkdir()
    first, second = (tmp_path / "migrations" / f"000{n}.py" for n in (1, 2))
    rows = tmp_path / "labs.csv"
    first.write_text("a")
    rows.write_text("1,Northgate")
    seen = [digest_sources(tmp_path, sources)]
    assert digest_sources(tmp_path, sources) == seen[0]

    for path, text in ((first, "b"), (second, "c"), (rows, "2,Northgate")):
        path.write_text(text)
        seen.append(digest_sources(tmp_path, sources))
    first.rename(first.with_name("0003.py"))
    seen.append(digest_sources(tmp_path, sources))
    time_machine.move_to(datetime(2026, 12, 1, tzinfo=UTC))
    seen.append(digest_sources(tmp_path, sources))

    assert len(set(seen)) == len(seen)
    rows.unlink()
    with pytest.raises(FileNotFoundError, match=r"labs\.csv"):
        digest_sources(tmp_path, sources)


def test_the_migrations_of_each_app_count():
    counted = {path for source in SOURCES for path in ROOT.glob(source)}
    labels = ("accounts", "webhooks", "users", "labs", "reports", "portal")
    own = {Path(apps.get_app_config(label).path) / "migrations" for label in labels}

    assert own <= {path.parent for path in counted}


@pytest.fixture
def make_copy(transactional_db, make_database):
    """Make a database by `copy_template`, from templates of this test's own."""
    own = connection.settings_dict
    here, test = own["NAME"], own["TEST"]["NAME"]
    own["TEST"]["NAME"] = name = f"{PREFIX}{os.getpid()}_copy"
    migrated = []

    def migrate(**_options):
        migrated.append(make_database(name))

    def copy(digest):
        copy_template(migrate, f"{PREFIX}{os.getpid()}_template_", digest)
        connection.close()
        own["NAME"] = here
        return len(migrated)

    yield copy
    own["TEST"]["NAME"] = test
    with connection._nodb_cursor() as cursor:
        drop_templates(cursor, f"{PREFIX}{os.getpid()}_template_")


def test_a_second_run_copies_the_template_and_a_change_makes_a_new_one(make_copy):
    def templates():
        prefix = f"{PREFIX}{os.getpid()}_template_"
        names = {name for name in database_names() if name.startswith(prefix)}
        return {name.removeprefix(prefix) for name in names}

    assert (make_copy("one"), templates()) == (1, {"one"})
    assert (make_copy("one"), templates()) == (1, {"one"})
    assert f"{PREFIX}{os.getpid()}_copy" in database_names()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE {PREFIX}{os.getpid()}_copy")
    assert (make_copy("two"), templates()) == (2, {"two"})
