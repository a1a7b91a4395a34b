"""Row-level security: what PostgreSQL itself refuses, whatever our code forgets."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, LiteralString

import pytest
from django.apps import apps
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone
from psycopg import sql

from labs.models import CriticalAlert, Order
from labs.operations.results.critical import escalate_overdue_alerts
from portal.lib.tenancy import TenantOwned, acting_for, iterate_as_tenant
from portal.ops.isolation.probing import list_tables_with_row_security
from tests.architecture.test_strangers import samples  # noqa: F401 - a fixture
from tests.factories.accounts import make_tenant
from tests.factories.labs import make_order
from tests.factories.users import make_user
from tests.fence import no_tenant_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Tenant tables that no policy holds, and why.
NOT_FENCED = {
    "accounts.ApiCall": "routes and numbers; written past every scope, in bulk",
    "accounts.ApiCallTally": "numbers",
    "accounts.ApiKey": "read before the tenant is known",
    "accounts.AuditEntry": "written at sign-in, for teams that nobody has entered yet",
    "accounts.AuditSeal": "hashes of the audit",
    "accounts.Notice": "what happened, in words that name nobody",
    "accounts.NoticeChoices": "what a member wants mailed",
    "accounts.NoticeCopy": "as accounts.Notice",
    "accounts.NoticeMail": "as accounts.Notice",
    "accounts.SavedView": "filters of lists",
    "portal.DemoData": "which users are made up",
    "users.Arrival": "counts of rows",
    "users.Cadence": "how often sources send",
    "users.Connection": "read by links, before the tenant is known",
    "users.ConnectionEntry": "as users.Connection",
    "users.DemoUser": "which users are made up",
    "users.Device": "a name of a device; read with every batch of samples",
    "users.ErasureReceipt": "numbers of rows that are gone",
    "users.Feed": "a dictionary of samples, read with every batch of them",
    "users.ImportJob": "what became of a file; its rows are samples and summaries",
    "users.LinkSession": "read by its link, before the tenant is known",
    "users.Origin": "as users.Feed",
    "users.Pull": "times and counts",
    "users.Refresh": "times",
    "users.Series": "as users.Feed",
    "users.SourceGrant": "encrypted",
    "users.Supply": "times",
    "users.User": "joined by all that is fenced; names are in users.UserInfo",
    "users.UserCount": "a number",
    "users.UserExport": "what became of a wish; its file lies elsewhere",
    "users.WorkoutStream": "as samples: read through a user, who is fenced by code",
    "labs.LabTest": "panels, of the catalogue",
    "labs.Payor": "insurers, of the catalogue",
    "labs.RequisitionWatch": "who waits for a paper",
    "reports.LoincAlias": "words of labs and their codes",
    "webhooks.Attempt": "statuses and times",
    "webhooks.Delivery": "statuses and times; claimed for all tenants at once",
    "webhooks.Endpoint": "as webhooks.Delivery; its secrets are encrypted",
    "webhooks.Replay": "filters and numbers",
    "webhooks.ReplayItem": "which deliveries",
}
TENANT_MODELS = {m for m in apps.get_models() if issubclass(m, TenantOwned)}
FENCED = sorted(
    (m for m in TENANT_MODELS if m._meta.label not in NOT_FENCED),
    key=lambda model: model._meta.label,
)


def rows(statement: Any, *given: object) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return cursor.fetchall()


def count(tables: Iterable[str]) -> dict[str, int]:
    return {name: on("SELECT count(*) FROM {}", name)[0][0] for name in tables}


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
    }
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

    with acting_for(charlie_tenant):
        assert count(held) == dict.fromkeys(held, 0)
        for name in held:
            written = on("UPDATE {} SET tenant_id = tenant_id RETURNING 1", name)
            removed = on("DELETE FROM {} RETURNING 1", name)
            assert (name, written, removed) == (name, [], [])
    with acting_for(alice_tenant):
        assert count(held) == held
        # Nor is a row given away, or made for another.
        for name in held:
            with refused("row-level security"):
                on("UPDATE {} SET tenant_id = %s", name, charlie_tenant.pk)
    with no_tenant_named():
        for name in held:
            with refused("no tenant is named"):
                on("SELECT 1 FROM {}", name)
    assert count(held) == held


@pytest.mark.django_db
def test_a_row_of_another_tenant_is_not_written(alice_tenant, charlie_tenant):
    user = make_user(tenant=charlie_tenant)

    with acting_for(alice_tenant), refused("row-level security"):
        make_order(tenant=charlie_tenant, user=user)

    assert not Order.objects.for_tenant(charlie_tenant).exists()


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
