"""Upgrade an installation of the last release to today's schema."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations import state
from django.db.migrations.executor import MigrationExecutor
from django.test import Client

from accounts.models import Member
from accounts.webhooks.models import Endpoint
from portal.lib.secrets.encryption import decrypt_secret
from portal.lib.tenancy import across_tenants
from tests.clients import ApiClient
from tests.database import PREFIX
from tests.portal import earlier_rows as earlier

RELEASE = json.loads((Path(__file__).parent / "previous_release.json").read_text())
OURS = re.compile(r"\b(accounts|webhooks|users|labs|reports|exchange|portal|assay)_")
# What PostgreSQL holds of tables, but for their partitions, and of functions.
SCHEMA = """
WITH tables AS (
    SELECT oid AS id, oid::regclass::text AS name,
        relpersistence, reloptions, relforcerowsecurity
    FROM pg_class
    WHERE relkind IN ('r', 'p') AND NOT relispartition
        AND relnamespace = 'public'::regnamespace
)
SELECT concat_ws(' ', name, relpersistence, reloptions, relforcerowsecurity) FROM tables
UNION ALL
SELECT concat_ws(
    ' ', name, attname, format_type(atttypid, atttypmod), attnotnull, attstorage,
    attidentity, pg_get_expr(adbin, adrelid)
)
FROM tables JOIN pg_attribute ON attrelid = tables.id
    LEFT JOIN pg_attrdef ON adrelid = tables.id AND adnum = attnum
WHERE attnum > 0 AND NOT attisdropped
UNION ALL
SELECT concat_ws(' ', name, conname, pg_get_constraintdef(pg_constraint.oid))
FROM tables JOIN pg_constraint ON conrelid = tables.id
UNION ALL
SELECT pg_get_indexdef(indexrelid) FROM tables JOIN pg_index ON indrelid = tables.id
UNION ALL
SELECT pg_get_triggerdef(pg_trigger.oid)
FROM tables JOIN pg_trigger ON tgrelid = tables.id AND NOT tgisinternal
UNION ALL
SELECT concat_ws(' ', tablename, policyname, cmd, qual, with_check) FROM pg_policies
UNION ALL
SELECT pg_get_functiondef(pg_proc.oid)
FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
WHERE pronamespace = 'public'::regnamespace AND lanname IN ('plpgsql', 'sql')
"""


@pytest.fixture
def empty_database(transactional_db):
    """Enter a database of its own, unmigrated; the schema of the suite's is given."""
    own = connection.settings_dict
    # By a name that the next run drops, should this one be killed.
    here, name = own["NAME"], f"{PREFIX}{os.getpid()}_upgrade"
    today = schema()
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    connection.close()
    own["NAME"] = name
    yield today
    connection.close()
    own["NAME"] = here
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name}")


def schema():
    with connection.cursor() as cursor:
        cursor.execute(SCHEMA)
        return sorted(line for (line,) in cursor.fetchall())


def migrate(leaves, then=None):
    """Bring the schema to these leaves; the state of models that it is then in.

    Without what `migrate` installs and asks besides: the suite's own database has that.
    """
    executor = MigrationExecutor(connection)
    newest = dict(executor.loader.graph.leaf_nodes())
    return executor.migrate(sorted((newest | leaves).items()), state=then)


def digest(lines):
    """Digest the part of a schema that migrations of Assay make."""
    own = "\n".join(line for line in lines if OURS.search(line))
    return hashlib.sha256(own.encode()).hexdigest()


def rows_of(tables):
    """Each row of these tables, as the database writes it."""
    with across_tenants(why="counts what an upgrade kept"), connection.cursor() as c:
        held = {}
        for table in sorted(tables):
            c.execute(f"SELECT to_jsonb(kept) FROM {table} AS kept")  # noqa: S608
            held[table] = [json.loads(text) for (text,) in c.fetchall()]
    return held


def kept(now, before):
    """The rows of now, in the columns of before, that are rows of before."""
    found = [{name: row[name] for name in before[0]} for row in now]
    return len([row for row in before if row in found])


@pytest.mark.long
@pytest.mark.timeout(300, func_only=True)
def test_the_last_release_is_upgraded_with_its_rows(empty_database):
    then = migrate(RELEASE["leaves"])
    # Installations have run these migrations: a change to them would not reach any.
    if connection.pg_version // 10000 == RELEASE["postgresql"]:
        assert digest(schema()) == RELEASE["schema"]
    # The state's own models have been made one by one, some of them twice.
    tables = earlier.plant(state.ProjectState(then.models, then.real_apps).apps)
    before = rows_of(tables)

    migrate({}, then)

    assert schema() == empty_database
    after = rows_of(tables)
    assert {name: kept(after[name], rows) for name, rows in before.items()} == {
        name: len(rows) for name, rows in before.items()
    }
    api = ApiClient(earlier.KEY)
    user, order = f"/v2/user/{earlier.USER}", f"/v3/order/{earlier.ORDER}"
    assert api.get(user).json()["client_user_id"] == "mbr_1"
    assert api.get(f"{user}/info/latest").json()["dob"] == "1990-05-17"
    heart = f"/v2/timeseries/{earlier.USER}/heartrate/grouped"
    (group,) = api.get(heart, {"start_date": "2024-11-20"}).json()["groups"]["oura"]
    assert [sample["value"] for sample in group["data"]] == [58.0, 61.0, 66.0]
    assert api.get(order).json()["status"] == "completed"
    (result,) = api.get(f"{order}/result").json()["results"]
    assert (result["name"], result["result"]) == ("Glucose", "400")
    parsed = api.get(f"/lab_report/v1/parser/job/{earlier.JOB}").json()
    names = [row["test_name"] for row in parsed["data"]["results"]]
    assert names == ["Glucose", "Sodium"]
    assert len(api.get("/v2/events").json()["data"]) == 1
    with across_tenants(why="reads one secret"):
        secret = Endpoint.unscoped.get().secret
    assert decrypt_secret(secret) == earlier.SECRET
    web = Client()
    web.force_login(Member.objects.get())
    for page in ("", "users/", "orders/", "reports/", "webhooks/"):
        assert web.get(f"/t/north/sandbox/{page}").status_code == 200, page


@pytest.mark.django_db
def test_a_database_of_another_version_is_not_migrated():
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('labs', '0002_of_another_version', now())"
        )

    with pytest.raises(CommandError, match=r"labs\.0002_of_another_version"):
        call_command("migrate", verbosity=0)
