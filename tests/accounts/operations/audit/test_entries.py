from __future__ import annotations

import uuid

import pytest
from django.db import InternalError, ProgrammingError, connection, transaction

from accounts.models import AuditEntry
from accounts.operations.audit.entries import record_change, record_read
from portal.lib.actor import Actor, ActorKind
from tests.factories.accounts import make_tenant

pytestmark = pytest.mark.django_db


def test_a_line_keeps_who_what_whose_and_from_where():
    tenant, user = make_tenant(), uuid.uuid4()
    actor = Actor(ActorKind.API_KEY, "17", "ci", "192.0.2.7")

    record_change(
        tenant=tenant,
        actor=actor,
        verb="change_user",
        subject="user",
        subject_id=user,
        user_uuid=user,
        changes={"ingestion_end": [None, "2026-01-31"]},
    )

    line = AuditEntry.objects.for_tenant(tenant).get(verb="change_user")
    assert (line.actor_kind, line.actor_key, line.actor_label, line.address) == (
        "api_key",
        "17",
        "ci",
        "192.0.2.7",
    )
    assert (line.subject, line.subject_id, line.user_uuid) == ("user", str(user), user)
    assert line.changes == {"ingestion_end": [None, "2026-01-31"]}


def test_a_read_is_a_line_without_changes():
    tenant = make_tenant()

    record_read(
        tenant=tenant, actor=Actor.system("x"), subject="parsing_job", subject_id="1"
    )

    line = AuditEntry.objects.for_tenant(tenant).get(verb="read")
    assert (line.subject, line.changes, line.user_uuid) == ("parsing_job", {}, None)


def test_a_line_goes_with_the_transaction_it_describes():
    tenant = make_tenant()

    with transaction.atomic():
        record_read(
            tenant=tenant, actor=Actor.system("x"), subject="user", subject_id="1"
        )
        transaction.set_rollback(True)

    assert not AuditEntry.objects.for_tenant(tenant).filter(verb="read").exists()


@pytest.mark.parametrize(
    "statement",
    ["UPDATE accounts_auditentry SET verb = 'x'", "DELETE FROM accounts_auditentry"],
)
def test_the_database_refuses_to_change_or_remove_a_line(statement):
    tenant = make_tenant()

    def tamper() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)

    with pytest.raises((InternalError, ProgrammingError)):
        tamper()

    assert AuditEntry.objects.for_tenant(tenant).get().verb == "create_team"
