"""`manage.py database_roles`, what `doctor` says of roles, who a command runs as."""

from __future__ import annotations

import os
from contextlib import closing

import psycopg
import pytest
from django.conf import settings as configured
from django.core.management import CommandError, call_command
from django.db import connection
from psycopg import sql

from portal.lib.database import roles
from portal.ops.health.roles import check_serving_roles, check_tenant_key

pytestmark = pytest.mark.django_db
PASSWORD = "only-for-a-test"


def url(role):
    fields = connection.settings_dict
    return (
        f"postgresql://{role}:{PASSWORD}@/{fields['NAME']}"
        f"?host={fields['HOST']}&port={fields['PORT']}"
    )


@pytest.fixture
def admin():
    """Sign in as the bundled server's superuser, who may make roles."""
    if configured.DATABASE_URL:
        pytest.skip("only on the bundled PostgreSQL there is a superuser to ask")
    fields = connection.settings_dict
    with closing(
        psycopg.connect(
            host=fields["HOST"],
            port=fields["PORT"],
            user="postgres",
            dbname="postgres",
            autocommit=True,
        )
    ) as opened:
        yield opened


@pytest.fixture
def three_roles(admin, settings):
    """Name roles that nobody made, in the environment of a production."""
    owner = connection.settings_dict["USER"]
    web, work = (f"test_{kind}_{os.getpid()}" for kind in ("web", "work"))
    settings.DATABASE_URL = url(web)
    settings.DATABASE_WORK_URL = url(work)
    settings.DATABASE_OWNER_URL = url(owner)
    settings.DATABASE_ADMIN_URL = url("postgres")
    yield web, work
    # The rights were granted in the test's own transaction.
    connection.connection.rollback()
    for name in (web, work):
        admin.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))


def test_the_command_makes_roles_that_serve_and_doctor_watches_them(
    three_roles, admin, settings, capsys
):
    web, work = three_roles
    missing = check_serving_roles()
    assert (missing.state, web in missing.sentence) == ("fail", True)

    call_command("database_roles", "--sql")
    printed = capsys.readouterr().out
    assert f'CREATE ROLE "{web}" LOGIN NOSUPERUSER NOBYPASSRLS' in printed
    assert PASSWORD not in printed
    settings.DATABASE_ADMIN_URL = ""
    with pytest.raises(CommandError, match="DATABASE_ADMIN_URL"):
        call_command("database_roles")
    settings.DATABASE_ADMIN_URL = url("postgres")
    for _ in range(2):
        call_command("database_roles")

    assert PASSWORD not in capsys.readouterr().out
    made = admin.execute(
        "SELECT rolname, rolpassword LIKE 'SCRAM-SHA-256$%%', rolsuper, rolbypassrls,"
        " rolcreaterole, rolcreatedb FROM pg_authid WHERE rolname = ANY(%s)"
        " ORDER BY rolname",
        [[web, work]],
    ).fetchall()
    assert made == [(name, True, *[False] * 4) for name in (web, work)]
    assert check_serving_roles().state == "ok"
    # A right that is given by hand is found, and taken away by the next run.
    for right, what in {
        "UPDATE ON accounts_auditentry": "can change the audit",
        "TRUNCATE ON users_erasurereceipt": "can change the audit",
        "CREATE ON SCHEMA public": "can create tables",
    }.items():
        with connection.cursor() as cursor:
            cursor.execute(f"GRANT {right} TO {web}")
        found = check_serving_roles()
        assert (found.state, what in found.sentence) == ("warn", True), right
        if "SCHEMA" not in right:
            call_command("database_roles")
            assert check_serving_roles().state == "ok"


def test_one_role_for_everything_still_works_and_doctor_warns(settings):
    settings.DATABASE_URL = url("assay")

    found = check_serving_roles()

    assert (found.state, "assay" in found.sentence) == ("warn", True)
    assert roles.find_serving_roles() is None
    with pytest.raises(CommandError, match="DATABASE_OWNER_URL"):
        call_command("database_roles")


def test_doctor_says_when_the_database_knows_another_key(monkeypatch):
    assert check_tenant_key().state == "ok"
    # The suite's role owns the tables, and needs no signature.
    with connection.cursor() as cursor:
        cursor.execute("ALTER FUNCTION assay_tenant() SECURITY INVOKER")
        cursor.execute(
            "CREATE OR REPLACE FUNCTION assay_tenant() RETURNS bigint LANGUAGE plpgsql"
            " AS $$ BEGIN RAISE insufficient_privilege; END $$"
        )

    assert check_tenant_key().state == "fail"


@pytest.mark.parametrize(
    ("command", "role"),
    [
        *[("migrate", "owner"), ("backup", "owner"), ("restore", "owner")],
        *[("worker", "work"), ("deliver_webhooks", "work"), ("doctor", "work")],
        *[("create_team", "work"), ("mcp", "web"), ("runserver", "web")],
    ],
)
def test_each_command_signs_in_as_its_role(command, role, settings, monkeypatch):
    for name in ("web", "work", "owner"):
        variable = "DATABASE_URL" if name == "web" else f"DATABASE_{name.upper()}_URL"
        setattr(settings, variable, f"postgres://{name}:x@db.example/assay")
    own = {"USER": "web", "HOST": "db.example", "OPTIONS": {"connect_timeout": 5}}
    monkeypatch.setattr(roles, "connections", FakeConnections(own))

    roles.use_database_role_of(command)

    assert own["USER"] == role
    assert own["OPTIONS"] == {"connect_timeout": 5}


class FakeConnections:
    def __init__(self, own):
        self.settings = {"default": own}
