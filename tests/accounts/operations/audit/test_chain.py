from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from psycopg import sql

from accounts.models.audit import AuditSeal
from accounts.operations.audit import chain
from accounts.operations.audit.chain import (
    LATE,
    Fault,
    check_audit_chain,
    record_audit_chain_anchors,
    seal_new_audit_entries,
)
from tests.accounts.operations.chains import (
    check,
    fault,
    ids,
    record,
    tampering,
)
from tests.jobs import periodic_jobs

pytestmark = pytest.mark.django_db
VERBS = ["DELETE", "TRUNCATE", "UPDATE"]
_CHANGE = "UPDATE accounts_auditentry SET {} WHERE id = %s"


@pytest.fixture
def tenant(chained_tenant):
    return chained_tenant


def test_entries_are_chained_in_each_tenant_once(tenant):
    again = seal_new_audit_entries()

    seals = AuditSeal.objects.for_tenant(tenant).order_by("number")
    checked = check(tenant)
    assert again == 0
    assert [seal.total for seal in seals] == [3, 5]
    assert [key for seal in seals for key in seal.entry_ids] == ids(tenant)
    assert (checked.entries, checked.seals, checked.anchors) == (5, 2, 2)
    assert checked.broken is None
    assert record_audit_chain_anchors() == 0


def test_an_entry_that_is_committed_late_is_sealed_all_the_same(tenant, time_machine):
    low = ids(tenant)[1]
    with tampering("accounts_auditseal") as cursor:
        # As if it had not been visible when its neighbours were sealed.
        cursor.execute("TRUNCATE accounts_auditseal")
    settings.AUDIT_ANCHORS.unlink()
    kept = chain._UNSEALED
    hidden = kept.replace("WHERE id > ", f"WHERE id <> {low} AND id > ")
    chain._UNSEALED = hidden
    seal_new_audit_entries()
    chain._UNSEALED = kept

    assert seal_new_audit_entries() == 1

    last = AuditSeal.objects.for_tenant(tenant).latest("number")
    assert last.entry_ids == [low]
    assert last.top_id >= ids(tenant)[-1]
    time_machine.move_to(timezone.now() + 2 * LATE)
    assert seal_new_audit_entries() == 0
    assert fault(tenant) is None


@pytest.mark.parametrize(
    "change",
    [
        "verb = 'change_usez'",
        "changes = jsonb_set(changes, '{count,0}', '1.25')",
        "address = '192.0.2.1'",
        "request_id = 'x'",
        "at = at + interval '1 microsecond'",
        "tenant_id = tenant_id + 1",
        "user_uuid = gen_random_uuid()",
    ],
)
def test_a_changed_entry_is_named(tenant, change):
    third = ids(tenant)[2]

    with tampering("accounts_auditentry") as cursor:
        cursor.execute(sql.SQL(_CHANGE).format(sql.SQL(change)), [third])

    assert fault(tenant) == (Fault.ENTRY_CHANGED, third)


def test_entries_taken_away_are_named(tenant):
    fourth = ids(tenant)[3]

    with tampering("accounts_auditentry") as cursor:
        cursor.execute("DELETE FROM accounts_auditentry WHERE id >= %s", [fourth])

    assert fault(tenant) == (Fault.ENTRY_MISSING, fourth)


def test_the_last_entries_taken_away_with_their_seals_differ_from_the_anchor(tenant):
    last = AuditSeal.objects.for_tenant(tenant).latest("number")

    with tampering("accounts_auditentry") as cursor:
        cursor.execute(
            "DELETE FROM accounts_auditentry WHERE id = ANY(%s)", [last.entry_ids]
        )
    with tampering("accounts_auditseal") as cursor:
        cursor.execute("DELETE FROM accounts_auditseal WHERE id = %s", [last.pk])

    assert fault(tenant) == (Fault.SEAL_MISSING, None)
    assert check_audit_chain(tenant=tenant, anchors=[]).broken is None


def test_a_chain_made_anew_differs_from_the_anchor(tenant):
    with tampering("accounts_auditentry") as cursor:
        cursor.execute("UPDATE accounts_auditentry SET actor_label = 'nobody'")
    with tampering("accounts_auditseal") as cursor:
        cursor.execute("TRUNCATE accounts_auditseal")
    seal_new_audit_entries()

    assert fault(tenant) == (Fault.ANCHOR_DIFFERS, None)


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("DELETE FROM accounts_auditseal WHERE number = 1", Fault.SEAL_MISSING),
        ("UPDATE accounts_auditseal SET total = total + 1", Fault.SEAL_CHANGED),
        ("UPDATE accounts_auditseal SET hashes = '\\x00'", Fault.SEAL_CHANGED),
    ],
)
def test_a_touched_seal_is_found(tenant, statement, found):
    with tampering("accounts_auditseal") as cursor:
        cursor.execute(statement)

    assert fault(tenant) == (found, None)


def test_an_entry_slipped_in_among_sealed_ones_is_named(tenant, time_machine):
    time_machine.move_to(timezone.now() + timedelta(minutes=1) + LATE)
    record(tenant, 2)
    slipped, last = ids(tenant)[-2:]
    with tampering("accounts_auditentry") as cursor:
        cursor.execute("UPDATE accounts_auditentry SET id = -1 WHERE id = %s", [last])

    seal_new_audit_entries()

    assert slipped > 0
    assert fault(tenant) == (Fault.ENTRY_UNSEALED, -1)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE accounts_auditseal SET total = 0",
        "DELETE FROM accounts_auditseal",
        "TRUNCATE accounts_auditseal",
        "TRUNCATE accounts_auditentry",
        "TRUNCATE accounts_auditentry, accounts_auditseal RESTART IDENTITY CASCADE",
    ],
)
def test_the_database_refuses_to_touch_entries_and_seals(tenant, statement):
    def tamper():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)

    with pytest.raises(DatabaseError, match="append-only"):
        tamper()

    assert fault(tenant) is None
    assert check(tenant).entries == 5


def test_the_ends_of_the_chains_are_anchored_every_hour():
    (runs,) = [
        each.cron
        for each in periodic_jobs().values()
        if each.task.name == "accounts.anchor_audit"
    ]

    minute, *rest = runs.split()
    assert 0 <= int(minute) < 60
    assert rest == ["*"] * 4


def test_the_command_names_what_does_not_fit(tenant):
    out, err = StringIO(), StringIO()
    third = ids(tenant)[2]
    slug = tenant.team.slug
    call_command("verify_audit", "--team", slug, stdout=out)
    with tampering("accounts_auditentry") as cursor:
        cursor.execute(sql.SQL(_CHANGE).format(sql.SQL("verb = 'x'")), [third])

    with pytest.raises(CommandError):
        call_command("verify_audit", stdout=StringIO(), stderr=err)

    assert (
        f"{slug} sandbox: 5 entries in 2 seals and 2 anchors match." in out.getvalue()
    )
    assert f"{slug} sandbox: BROKEN: entry {third} differs from what was sealed" in (
        err.getvalue()
    )
    assert err.getvalue().count("BROKEN") == 1
