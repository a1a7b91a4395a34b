"""Row-level security: what PostgreSQL itself refuses, whatever our code forgets."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, LiteralString

import pytest
from django.db import DataError, ProgrammingError, connection, transaction
from django.utils import timezone
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from accounts.models import AuditEntry
from accounts.operations.audit.entries import record_change
from labs.models import CriticalAlert
from labs.operations.results.critical import escalate_overdue_alerts
from portal.lib.actor import Actor
from portal.lib.database.roles import APPEND_ONLY
from portal.lib.table_rules import list_table_rules
from portal.lib.tenancy import TenantOwned, acting_for, iterate_as_tenant
from portal.ops.isolation.probing import list_tables_with_row_security
from tests.architecture.test_strangers import samples  # noqa: F401 - a fixture
from tests.factories.accounts import make_tenant
from tests.factories.labs import make_order
from tests.factories.users import make_user
from tests.fence import no_tenant_named
from users.models import User

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from accounts.models import Tenant

FENCED = [
    model
    for model, rules in list_table_rules()
    if issubclass(model, TenantOwned) and not rules.without_fence
]

# Rows of a user, who is of a tenant (users 0029).
FENCED_BY_USER = ("users_sample", "users_sampleextra", "users_packedday")
INSERTS: dict[str, LiteralString] = {
    "users_sample": "INSERT INTO users_sample VALUES"
    " ('2026-01-01', %s, 1, 0, 0, 0, 1, 1)",
    "users_sampleextra": "INSERT INTO users_sampleextra"
    " (user_id, feed, series, ts, extra) VALUES (%s, 1, 1, '2026-01-01', '{}')",
    "users_packedday": "INSERT INTO users_packedday (user_id, series, feed, day,"
    " first, last, last_tz_offset, longest, count, total, low, high, codec,"
    " checksum, payload) VALUES (%s, 1, 1, '2026-01-01', '2026-01-01',"
    " '2026-01-01', 0, 0, 1, 1, 1, 1, 1, 1, '')",
}


def rows(statement: Any, *given: object) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return cursor.fetchall()


def run(statement: LiteralString, *given: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)


def count(tables: Iterable[str]) -> dict[str, int]:
    return {name: on("SELECT count(*) FROM {}", name)[0][0] for name in tables}


def count_of(tenant: Tenant, tables: Iterable[str]) -> Iterator[tuple[str, int]]:
    for name in tables:
        statement = "SELECT count(*) FROM {} WHERE tenant_id = %s"
        yield name, on(statement, name, tenant.pk)[0][0]


def on(statement: LiteralString, table: str, *given: object) -> list[tuple[Any, ...]]:
    return rows(sql.SQL(statement).format(sql.Identifier(table)), *given)


@contextmanager
def refused(why: str) -> Iterator[None]:
    with pytest.raises(ProgrammingError, match=why), transaction.atomic():
        yield


@pytest.mark.django_db
def test_every_tenant_table_has_the_policy_or_says_why_not():
    assert set(list_tables_with_row_security()) == {
        model._meta.db_table for model in FENCED
    }, (
        "end the table's migration with enable_tenant_row_security, or declare in the"
        " rules of its model `without_fence`, the reason why not"
    )
    by_user = {*list_tables_with_row_security(by="user_id")}
    assert {*FENCED_BY_USER} < by_user
    # Only a tenant's table can have the policy of tenants.
    assert [
        model
        for model, rules in list_table_rules()
        if rules.without_fence and not issubclass(model, TenantOwned)
    ] == []
    # The owner and a superuser would pass: the suite's role is no such one.
    (role,) = rows(
        "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    )
    assert role == (False, False)


@pytest.mark.django_db
def test_raw_sql_as_another_tenant_meets_nothing(
    samples,  # noqa: F811
    alice_tenant,
    charlie_tenant,
):
    counted = count(model._meta.db_table for model in FENCED)
    held = {name: number for name, number in counted.items() if number}
    assert {"labs_order", "labs_result", "users_summary"} <= held.keys()
    assert {"reports_parsingjob", "webhooks_event"} <= held.keys()
    assert {"accounts_auditentry"} == held.keys() & APPEND_ONLY

    # Of that other tenant there is the entry of its creation alone.
    own = {name: number for name, number in count_of(charlie_tenant, held) if number}
    assert own.keys() == {"accounts_auditentry"}
    with acting_for(charlie_tenant):
        assert count(held) == dict.fromkeys(held, 0) | own
        for name in held.keys() - APPEND_ONLY:
            written = on("UPDATE {} SET tenant_id = tenant_id RETURNING 1", name)
            removed = on("DELETE FROM {} RETURNING 1", name)
            assert (name, written, removed) == (name, [], [])
    all_of_it = dict(count_of(alice_tenant, held))
    with acting_for(alice_tenant):
        assert count(held) == all_of_it
        # Nor is a row given away, or made for another.
        for name in held.keys() - APPEND_ONLY:
            with refused("row-level security"):
                on("UPDATE {} SET tenant_id = %s", name, charlie_tenant.pk)
    with no_tenant_named():
        for name in held:
            with refused("no tenant is named"):
                on("SELECT 1 FROM {}", name)
    assert count(held) == held


@pytest.mark.django_db
def test_a_row_of_another_tenant_is_not_written(alice_tenant, charlie_tenant):
    with acting_for(alice_tenant), refused("row-level security"):
        make_user(tenant=charlie_tenant)

    entries = AuditEntry.objects.for_tenant(charlie_tenant)
    before = entries.count()
    with (
        acting_for(alice_tenant),
        pytest.raises(InsufficientPrivilege, match="row-level security"),
        transaction.atomic(),
    ):
        record_change(
            tenant=charlie_tenant,
            actor=Actor.system("stranger"),
            verb="rotate_key",
            subject="key",
            subject_id=1,
        )

    assert not User.objects.for_tenant(charlie_tenant).exists()
    assert entries.count() == before


def read_and_fail(tenant: Tenant, user: int) -> None:
    with acting_for(tenant):
        assert rows("SELECT assay_is_user_of_tenant(%s)", user) == [(True,)]
        rows("SELECT 1 / 0")


@pytest.mark.django_db
def test_samples_belong_to_the_tenant_of_their_user(alice_tenant, charlie_tenant):
    mine, more, theirs = (
        make_user(tenant=tenant).pk
        for tenant in (alice_tenant, alice_tenant, charlie_tenant)
    )
    assert INSERTS.keys() == set(FENCED_BY_USER)
    for statement in INSERTS.values():
        for user in (mine, more, theirs):
            run(statement, user)

    # Whichever user was read last: one's own, and in the name of another tenant.
    for before, last in ((alice_tenant, mine), (charlie_tenant, theirs)):
        for table in FENCED_BY_USER:
            users = "SELECT user_id FROM {} ORDER BY user_id"
            with acting_for(before):
                assert rows("SELECT assay_is_user_of_tenant(%s)", last) == [(True,)]
                assert on(users, table)[0] == (last,)
            with acting_for(alice_tenant):
                assert rows("SELECT assay_is_user_of_tenant(%s)", theirs) == [(False,)]
                assert on(users, table) == [(mine,), (more,)], (last, table)
                gone = on(
                    "DELETE FROM {} WHERE user_id = %s RETURNING 1", table, theirs
                )
                assert gone == []
                with refused("row-level security"):
                    on("UPDATE {} SET user_id = %s", table, theirs)
            with acting_for(charlie_tenant):
                assert on(users, table) == [(theirs,)], (last, table)
                with refused("row-level security"):
                    run(INSERTS[table].replace("2026", "2025"), mine)
            with no_tenant_named(), refused("no tenant is named"):
                on(users, table)
            assert on(users, table) == [(mine,), (more,), (theirs,)]

    # Nor does work for another that fails within a transaction leave its user noted.
    for table in FENCED_BY_USER:
        users = "SELECT user_id FROM {} ORDER BY user_id"
        with acting_for(alice_tenant):
            with pytest.raises(DataError), transaction.atomic():
                read_and_fail(charlie_tenant, theirs)
            assert on(users, table) == [(mine,), (more,)], table


@pytest.mark.django_db
def test_a_sweep_without_a_scope_fails(samples):  # noqa: F811
    before = list(CriticalAlert.unscoped.values())
    at = timezone.now() + timedelta(days=30)

    with no_tenant_named(), refused("no tenant is named"):
        escalate_overdue_alerts(at=at)

    assert list(CriticalAlert.unscoped.values()) == before


@pytest.mark.django_db
def test_what_is_sent_in_parts_is_read_as_the_tenant(alice_tenant):
    mine, other = (
        make_order(tenant=tenant) for tenant in (alice_tenant, make_tenant())
    )

    def read():
        for order in (mine, other):
            yield rows("SELECT id FROM labs_order WHERE id = %s", order.pk)

    with no_tenant_named():
        parts = list(iterate_as_tenant(alice_tenant, read()))

    assert parts == [[(mine.pk,)], []]
