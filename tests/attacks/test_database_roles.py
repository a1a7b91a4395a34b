"""Arbitrary SQL as the web server's role: what PostgreSQL itself refuses.

As if a request had been made to run a stranger's statements on the connection that it
has, which names the stranger's own team.
"""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import sql

from accounts.models import Tenant
from portal.lib.database.roles import (
    APPEND_ONLY,
    BUNDLED_WEB_ROLE,
    BUNDLED_WORK_ROLE,
    ServingRoles,
    grant_rights_to_serving_roles,
)
from portal.lib.database.tenant_proofs import prove_tenant
from portal.ops.isolation.probing import list_tables_with_row_security
from tests.architecture.test_fence import FENCED_BY_USER, INSERTS
from tests.architecture.test_fence import run as run_as_owner
from tests.factories.accounts import make_tenant
from tests.factories.labs import make_order
from tests.factories.users import make_user
from users.models import User

PRIVILEGE = psycopg.errors.InsufficientPrivilege
UNDEFINED = psycopg.errors.ObjectNotInPrerequisiteState
REFUSED = {
    # The structure of the database, and what a session could plant for the next one.
    "DROP TABLE labs_order": PRIVILEGE,
    "ALTER TABLE labs_order DISABLE ROW LEVEL SECURITY": PRIVILEGE,
    "ALTER TABLE labs_order OWNER TO CURRENT_USER": PRIVILEGE,
    "ALTER TABLE accounts_auditentry DISABLE TRIGGER USER": PRIVILEGE,
    "DROP POLICY tenant_fence ON labs_order": PRIVILEGE,
    "CREATE POLICY mine ON labs_order USING (true)": PRIVILEGE,
    "CREATE TABLE public.mine (id int)": PRIVILEGE,
    "CREATE TEMP TABLE labs_order (id int)": PRIVILEGE,
    "CREATE TEMP VIEW mine AS SELECT * FROM labs_order": PRIVILEGE,
    "SELECT * INTO TEMP mine FROM labs_order": PRIVILEGE,
    "CREATE VIEW public.mine AS SELECT * FROM labs_order": PRIVILEGE,
    "CREATE FUNCTION public.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'": PRIVILEGE,
    "CREATE FUNCTION pg_temp.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'": PRIVILEGE,
    "CREATE OR REPLACE FUNCTION assay_tenant() RETURNS bigint LANGUAGE sql"
    " AS 'SELECT NULL::bigint'": PRIVILEGE,
    "CREATE SCHEMA mine": PRIVILEGE,
    "CREATE EXTENSION dblink": PRIVILEGE,
    "CREATE TRIGGER mine BEFORE INSERT ON labs_order FOR EACH ROW"
    " EXECUTE FUNCTION accounts_audit_append_only()": PRIVILEGE,
    "CREATE RULE mine AS ON SELECT TO labs_order DO INSTEAD SELECT 1": PRIVILEGE,
    "DO LANGUAGE plpgsql $$ BEGIN EXECUTE 'DROP TABLE labs_order'; END $$": PRIVILEGE,
    "TRUNCATE labs_order": PRIVILEGE,
    "TRUNCATE users_sample": PRIVILEGE,
    # The machine.
    "COPY labs_order TO PROGRAM 'cat'": PRIVILEGE,
    "COPY labs_order TO '/tmp/mine'": PRIVILEGE,
    "COPY accounts_member (email) FROM '/etc/passwd'": PRIVILEGE,
    "SELECT pg_read_file('/etc/passwd')": PRIVILEGE,
    "SELECT pg_ls_dir('.')": PRIVILEGE,
    "SELECT lo_import('/etc/passwd')": PRIVILEGE,
    "LOAD '/tmp/mine.so'": PRIVILEGE,
    # Other roles.
    "SELECT rolpassword FROM pg_authid": PRIVILEGE,
    "SELECT passwd FROM pg_shadow": PRIVILEGE,
    "SET ROLE assay": PRIVILEGE,
    "SET ROLE assay_work": PRIVILEGE,
    "SET ROLE postgres": PRIVILEGE,
    "SET SESSION AUTHORIZATION assay": PRIVILEGE,
    "CREATE ROLE mine SUPERUSER": PRIVILEGE,
    "ALTER ROLE CURRENT_USER BYPASSRLS": PRIVILEGE,
    "ALTER ROLE CURRENT_USER SUPERUSER": PRIVILEGE,
    "GRANT assay TO CURRENT_USER": PRIVILEGE,
    "SET session_replication_role = replica": PRIVILEGE,
    # The key that signs tenants, and parts of a table that have no policy.
    "SELECT * FROM assay_private.tenant_key": PRIVILEGE,
    "INSERT INTO assay_private.tenant_key VALUES ('x', '', '')": PRIVILEGE,
    "SELECT * FROM users_sample_before_2025": PRIVILEGE,
    "SELECT users_clear_sample_month('labs_order')": (
        psycopg.errors.InvalidParameterValue
    ),
    "SELECT users_add_sample_month('2026-01-02')": psycopg.errors.InvalidParameterValue,
    "SELECT users_add_sample_month('2999-01-01')": psycopg.errors.InvalidParameterValue,
    # What was recorded.
    "UPDATE accounts_auditentry SET verb = 'x'": PRIVILEGE,
    "DELETE FROM accounts_auditentry": PRIVILEGE,
    "TRUNCATE accounts_auditentry": PRIVILEGE,
    "UPDATE accounts_auditseal SET number = 1": PRIVILEGE,
    "DELETE FROM accounts_auditseal": PRIVILEGE,
    "DELETE FROM users_erasurereceipt": PRIVILEGE,
    "MERGE INTO accounts_auditentry USING (SELECT 1) AS x ON true"
    " WHEN MATCHED THEN DELETE": PRIVILEGE,
    "DELETE FROM django_migrations": PRIVILEGE,
    # Samples, which name a user and no tenant.
    "UPDATE users_sample SET user_id = {other_user}": PRIVILEGE,
    "UPDATE users_packedday SET user_id = {other_user}": PRIVILEGE,
    "INSERT INTO users_sample VALUES"
    " ('2026-02-01', {other_user}, 1, 0, 0, 0, 1, 1)": PRIVILEGE,
    "SELECT assay_is_user_of_tenant({other_user}); INSERT INTO users_sampleextra"
    " (user_id, feed, series, ts, extra)"
    " VALUES ({other_user}, 1, 1, '2026-02-01', '{}')": PRIVILEGE,
    "SET assay.tenant = '*'; SELECT FROM users_sample": PRIVILEGE,
    "CREATE OR REPLACE FUNCTION assay_is_user_of_tenant(person bigint)"
    " RETURNS boolean LANGUAGE sql AS 'SELECT true'": PRIVILEGE,
    # The note of the user whose samples are read, by name and by number.
    "SELECT setval('assay_private.user_of_samples', {other_user})": PRIVILEGE,
    "SELECT setval({note}::regclass, {other_user})": PRIVILEGE,
    "SELECT nextval({note}::regclass)": PRIVILEGE,
    "ALTER SEQUENCE assay_private.user_of_samples RESTART": PRIVILEGE,
    "DISCARD SEQUENCES; SELECT FROM users_sample": UNDEFINED,
    # Another tenant, by each way to name it.
    "SET row_security = off; SELECT FROM labs_order": PRIVILEGE,
    "SET assay.tenant = '*'; SELECT FROM labs_order": PRIVILEGE,
    "SET assay.tenant = '*'; SET assay.tenant_proof = ''; TABLE labs_order": PRIVILEGE,
    "SET LOCAL assay.tenant = '*'; PREPARE mine AS SELECT FROM labs_order;"
    " EXECUTE mine": PRIVILEGE,
    "SET assay.tenant = '{other}'; SELECT FROM labs_order": PRIVILEGE,
    "SET assay.tenant = ''; SELECT FROM labs_order": PRIVILEGE,
    "RESET assay.tenant; SELECT FROM labs_order": PRIVILEGE,
    "INSERT INTO labs_order (SELECT (labs_order).* FROM labs_order);"
    " UPDATE labs_order SET tenant_id = {other}": psycopg.errors.UniqueViolation,
    "UPDATE labs_order SET tenant_id = {other}": PRIVILEGE,
    "DECLARE mine CURSOR FOR SELECT FROM labs_order; SET assay.tenant = '*';"
    " FETCH ALL FROM mine": PRIVILEGE,
}
# Of these a stranger makes statements of any order.
SETTINGS = (
    *("SET assay.tenant = '*'", "SET LOCAL assay.tenant = '*'", "RESET ALL"),
    *("SET assay.tenant = '{other}'", "SET assay.tenant = '{own}'"),
    "SELECT assay_is_user_of_tenant({other_user})",
    *("SELECT assay_forget_user()", "DISCARD SEQUENCES"),
    *("SET assay.tenant = '{own} '", "SET assay.tenant = '0{other}'"),
    *("RESET assay.tenant", "RESET assay.tenant_proof", "SET row_security = off"),
    *("SET assay.tenant_proof = ''", "SET assay.tenant_proof = '{forged}'"),
    *("SET assay.tenant_proof = '{proof}'", "SET search_path = pg_temp, public"),
    *("SET session_replication_role = replica", "SET ROLE assay"),
    *("SAVEPOINT mine", "ROLLBACK TO mine", "DEALLOCATE ALL"),
    "SELECT set_config('assay.tenant', '*', true), set_config('role', 'assay', true)",
    "DO $$ BEGIN PERFORM set_config('assay.tenant', '*', false); END $$",
)


def sign_in(role):
    fields = connection.get_connection_params() | {"user": role}
    fields = {k: v for k, v in fields.items() if k not in {"context", "cursor_factory"}}
    return psycopg.connect(**fields)


@pytest.fixture
def tenants(transactional_db):
    """A stranger's own tenant and another, each with an order; keys are installed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_roles WHERE rolname = %s", [BUNDLED_WEB_ROLE])
        if cursor.fetchone() is None:
            pytest.skip("only the bundled PostgreSQL has the roles")
    grant_rights_to_serving_roles(ServingRoles(BUNDLED_WEB_ROLE, BUNDLED_WORK_ROLE))
    own, other = make_tenant(), make_tenant()
    for tenant in (own, other):
        user = make_user(tenant=tenant)
        make_order(tenant=tenant, user=user)
        for statement in INSERTS.values():
            run_as_owner(statement, user.pk)
    return own, other


def find_users(tenant):
    return [*User.objects.for_tenant(tenant).values_list("pk", flat=True)]


def find_note():
    with connection.cursor() as cursor:
        cursor.execute("SELECT 'assay_private.user_of_samples'::regclass::oid")
        return cursor.fetchone()[0]


def enter(opened, tenant):
    opened.execute(
        "SELECT set_config('assay.tenant', %s, false),"
        " set_config('assay.tenant_proof', %s, false), assay_forget_user()",
        [str(tenant.pk), prove_tenant(str(tenant.pk))],
    )


def test_statements_of_a_stranger_are_refused_and_change_nothing(tenants):
    own, other = tenants
    values = {
        "other": other.pk,
        "other_user": find_users(other)[0],
        "note": find_note(),
    }
    fenced = [*list_tables_with_row_security(), *FENCED_BY_USER]
    with connection.cursor() as cursor:
        before = contents(cursor, fenced)

    with closing(sign_in(BUNDLED_WEB_ROLE)) as opened:
        enter(opened, own)
        opened.commit()
        refusals: dict[str, type[psycopg.Error] | None] = {}
        for statement in REFUSED:
            try:
                opened.execute(fill_in(statement, values))
            except psycopg.Error as error:
                refusals[statement] = type(error)
            else:
                refusals[statement] = None
            opened.rollback()
        assert refusals == REFUSED
        # Nor does a session see what others of its role run.
        with closing(sign_in(BUNDLED_WEB_ROLE)) as beside:
            beside.execute("SELECT 'a name'")
            found = opened.execute(
                # Other processes of the suite have sessions of the role too.
                "SELECT count(*), max(query) FROM pg_stat_activity WHERE pid = ANY(%s)",
                [[opened.info.backend_pid, beside.info.backend_pid]],
            )
            assert found.fetchone() == (2, "")
        # What was asked within its own team was answered.
        assert opened.execute("SELECT DISTINCT tenant_id FROM labs_order").fetchall()

    with connection.cursor() as cursor:
        assert contents(cursor, fenced) == before


def contents(cursor, tables):
    found = {}
    for name in (*tables, *sorted(APPEND_ONLY)):
        cursor.execute(
            sql.SQL("SELECT count(*), sum(hashtext(t::text)) FROM {} t").format(
                sql.Identifier(name)
            )
        )
        found[name] = cursor.fetchone()
    return found


def test_no_order_of_settings_opens_another_tenant(tenants):
    own, other = tenants
    fenced = [*list_tables_with_row_security(), *FENCED_BY_USER]
    forged = f"{prove_tenant(str(own.pk)).partition(':')[0]}:{'0' * 64}"
    values = {
        "own": own.pk,
        "other": other.pk,
        "forged": forged,
        "proof": prove_tenant(str(own.pk)),
        "other_user": find_users(other)[0],
    }
    own_users = set(find_users(own))
    seen, seen_by_user = set(), set()

    with closing(sign_in(BUNDLED_WEB_ROLE)) as opened:

        @settings(
            max_examples=40,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(st.lists(st.sampled_from(SETTINGS), max_size=6), st.sampled_from(fenced))
        def check(statements, table):
            opened.rollback()
            enter(opened, own)
            opened.commit()
            for statement in statements:
                run(opened, fill_in(statement, values))
            is_of_user = table in FENCED_BY_USER
            found = run(
                opened,
                sql.SQL("SELECT DISTINCT {} FROM {}").format(
                    sql.Identifier("user_id" if is_of_user else "tenant_id"),
                    sql.Identifier(table),
                ),
            )
            whose = own_users if is_of_user else {own.pk}
            assert {key for (key,) in found or ()} <= whose
            found = run(opened, "SELECT DISTINCT tenant_id FROM labs_order")
            seen.update(found or ())
            found = run(opened, "SELECT DISTINCT user_id FROM users_sample")
            seen_by_user.update(found or ())
            opened.rollback()

        check()

    assert seen_by_user == {(key,) for key in own_users}
    assert seen == {(own.pk,)}  # some orders let the stranger read its own


def test_numbers_of_records_are_found_within_the_tenant(tenants):
    own, other = tenants
    find = "SELECT count(*) FROM users_find_numbers({}, 'order', '%', true, 100)"
    with closing(sign_in(BUNDLED_WEB_ROLE)) as opened:
        assert run(opened, "SELECT FROM users_recordnumber") is None
        assert run(opened, find.format(own.pk)) is None
        enter(opened, own)
        opened.commit()
        seen = run(opened, "SELECT DISTINCT tenant_id FROM users_recordnumber")
        assert seen == [(own.pk,)]
        ((number,),) = run(opened, find.format(own.pk))
        assert number >= 1
        for forged in (str(other.pk), "NULL"):
            assert run(opened, find.format(forged)) == [(0,)]
        steal = "UPDATE users_recordnumber SET tenant_id = {}"
        assert run(opened, steal.format(other.pk)) is None


def fill_in(statement, values):
    for name, value in values.items():
        statement = statement.replace(f"{{{name}}}", str(value))
    return statement


def run(opened, statement):
    """Return the rows of a statement; None where it is refused, which undoes it."""
    try:
        with opened.transaction():
            cursor = opened.execute(statement)
            return cursor.fetchall() if cursor.description else []
    except psycopg.Error:
        return None


def test_workers_read_all_tenants_with_a_signature_alone(tenants):
    with closing(sign_in(BUNDLED_WORK_ROLE)) as opened:
        opened.execute("SET assay.tenant = '*'")
        with pytest.raises(PRIVILEGE):
            opened.execute("SELECT FROM labs_order")
        opened.rollback()
        opened.execute(
            "SELECT set_config('assay.tenant', '*', false),"
            " set_config('assay.tenant_proof', %s, false)",
            [prove_tenant("*")],
        )
        found = opened.execute("SELECT DISTINCT tenant_id FROM labs_order").fetchall()
        with pytest.raises(PRIVILEGE):
            opened.execute("DELETE FROM accounts_auditentry")

    assert {tenant for (tenant,) in found} == {tenant.pk for tenant in tenants}
    assert Tenant.objects.filter(pk__in=[tenant.pk for tenant in tenants]).count() == 2
