from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from procrastinate.contrib.django import app
from psycopg import sql

from accounts.models import AuditEntry
from accounts.models.audit import AuditSeal
from accounts.operations import audit_chain
from accounts.operations.audit import record_change
from accounts.operations.audit_chain import (
    LATE,
    SEALED_WITHIN,
    Fault,
    anchor_audit,
    check_chain,
    read_anchors,
    seal_audit,
)
from portal.health.audit import check_audit
from tests.factories.accounts import ACTOR, make_tenant

pytestmark = pytest.mark.django_db
VERBS = ["DELETE", "TRUNCATE", "UPDATE"]
_CHANGE = "UPDATE accounts_auditentry SET {} WHERE id = %s"


@pytest.fixture(autouse=True)
def _anchors(tmp_path):
    before = settings.AUDIT_ANCHORS
    settings.AUDIT_ANCHORS = tmp_path / "anchors.ndjson"
    yield
    settings.AUDIT_ANCHORS = before


def record(tenant, number=1):
    for each in range(number):
        record_change(
            tenant=tenant,
            actor=ACTOR,
            verb="change_user",
            subject="user",
            subject_id=each,
            changes={"name": ["é", None], "count": [1.5, 2]},
        )


def ids(tenant):
    found = AuditEntry.objects.for_tenant(tenant).order_by("id")
    return list(found.values_list("id", flat=True))


@contextmanager
def tampering(table):
    """What whoever owns the tables can do to one of them."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield cursor
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def check(tenant):
    return check_chain(tenant=tenant, anchors=read_anchors())


def fault(tenant):
    broken = check(tenant).broken
    return broken and (broken.fault, broken.entry_id)


@pytest.fixture
def tenant():
    """Two seals of three and two entries, each anchored, beside another's."""
    made, other = make_tenant(), make_tenant()
    record(made, 2)
    seal_audit()
    anchor_audit()
    record(made, 2)
    record(other)
    seal_audit()
    anchor_audit()
    return made


def test_entries_are_chained_in_each_tenant_once(tenant):
    again = seal_audit()

    seals = AuditSeal.objects.for_tenant(tenant).order_by("number")
    checked = check(tenant)
    assert again == 0
    assert [seal.total for seal in seals] == [3, 5]
    assert [key for seal in seals for key in seal.entry_ids] == ids(tenant)
    assert (checked.entries, checked.seals, checked.anchors) == (5, 2, 2)
    assert checked.broken is None
    assert anchor_audit() == 0


def test_an_entry_that_is_committed_late_is_sealed_all_the_same(tenant, time_machine):
    low = ids(tenant)[1]
    with tampering("accounts_auditseal") as cursor:
        # As if it had not been visible when its neighbours were sealed.
        cursor.execute("TRUNCATE accounts_auditseal")
    settings.AUDIT_ANCHORS.unlink()
    kept = audit_chain._UNSEALED
    hidden = kept.replace("WHERE id > ", f"WHERE id <> {low} AND id > ")
    audit_chain._UNSEALED = hidden
    seal_audit()
    audit_chain._UNSEALED = kept

    assert seal_audit() == 1

    last = AuditSeal.objects.for_tenant(tenant).latest("number")
    assert last.entry_ids == [low]
    assert last.top_id >= ids(tenant)[-1]
    time_machine.move_to(timezone.now() + 2 * LATE)
    assert seal_audit() == 0
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
    assert check_chain(tenant=tenant, anchors=[]).broken is None


def test_a_chain_made_anew_differs_from_the_anchor(tenant):
    with tampering("accounts_auditentry") as cursor:
        cursor.execute("UPDATE accounts_auditentry SET actor_label = 'nobody'")
    with tampering("accounts_auditseal") as cursor:
        cursor.execute("TRUNCATE accounts_auditseal")
    seal_audit()

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

    seal_audit()

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


def remove(*tables):
    for table in tables:
        with tampering(table) as cursor:
            cursor.execute(f"TRUNCATE {table}")


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        (
            ["accounts_auditentry", "accounts_auditseal"],
            "there is no entry, not even of the creation of the team on",
        ),
        (["accounts_auditseal"], "the chain is empty although there are entries"),
    ],
)
def test_an_empty_chain_is_a_fault_without_an_anchor(
    tenant, time_machine, tables, says
):
    settings.AUDIT_ANCHORS.unlink()
    time_machine.move_to(tenant.created_at + SEALED_WITHIN - timedelta(seconds=1))
    remove(*tables)
    young = fault(tenant)
    time_machine.move_to(tenant.created_at + SEALED_WITHIN)

    assert young is None
    assert fault(tenant) == (Fault.CHAIN_EMPTY, None)
    assert check(tenant).broken.says.startswith(says)
    assert check_audit().state == "fail"
    assert says in check_audit().sentence


def test_a_chain_begun_again_after_all_was_removed_is_a_fault_without_an_anchor(tenant):
    settings.AUDIT_ANCHORS.unlink()
    remove("accounts_auditentry", "accounts_auditseal")
    record(tenant, 3)
    seal_audit()

    assert fault(tenant) == (Fault.CHAIN_CUT, None)
    assert check_audit().state == "fail"
    assert "does not begin with the creation of the team" in check_audit().sentence


def test_entries_removed_below_their_seals_show_in_doctor_at_once(tenant):
    settings.AUDIT_ANCHORS.unlink()
    last = ids(tenant)[-1]
    with tampering("accounts_auditentry") as cursor:
        cursor.execute("DELETE FROM accounts_auditentry WHERE id = %s", [last])

    place = f"{tenant.team.slug} sandbox"
    assert check_audit().sentence == (
        f"The audit of {place} is broken: entry {last} of seal 2 is gone."
    )


def test_doctor_compares_the_ends_of_the_chains_with_the_anchors(tenant):
    well = check_audit()
    with tampering("accounts_auditseal") as cursor:
        cursor.execute("DELETE FROM accounts_auditseal WHERE number = 2")
    early = check_audit().sentence
    with tampering("accounts_auditentry") as cursor:
        cursor.execute("UPDATE accounts_auditentry SET actor_label = 'nobody'")
    seal_audit()
    anew = check_audit().sentence

    assert well.ok
    assert "the chain ends at seal 1 with 3 entries" in early
    assert "the chain was made anew: at seal 2" in anew


def test_an_anchor_of_a_tenant_that_is_gone_is_a_fault(tenant):
    anchored = {"at": "2026-01-01", "tenant": 987654, "seal": 3, "entries": 9}
    with settings.AUDIT_ANCHORS.open("a") as opened:
        opened.write(json.dumps({**anchored, "head": "00"}) + "\n")
    err = StringIO()

    with pytest.raises(CommandError):
        call_command("verify_audit", stdout=StringIO(), stderr=err)

    assert err.getvalue() == (
        "tenant 987654: BROKEN: it is gone, and on 2026-01-01 it had 9 entries.\n"
    )
    assert check_audit().sentence == (
        "The audit of tenant 987654 is broken: it is gone, and on 2026-01-01 it had 9"
        " entries."
    )


@pytest.mark.parametrize(
    ("statement", "phrases"),
    [
        (
            "ALTER TABLE accounts_auditseal DISABLE TRIGGER USER",
            [f"accounts_auditseal does not refuse {verb}" for verb in VERBS],
        ),
        (
            "ALTER TABLE accounts_auditentry DISABLE TRIGGER audit_no_truncate",
            ["accounts_auditentry does not refuse TRUNCATE"],
        ),
        (
            "ALTER TABLE accounts_auditentry ENABLE REPLICA TRIGGER audit_no_truncate",
            ["accounts_auditentry does not refuse TRUNCATE"],
        ),
        (
            "DROP TRIGGER audit_append_only ON accounts_auditentry",
            [
                f"accounts_auditentry does not refuse {verb}"
                for verb in VERBS
                if verb != "TRUNCATE"
            ],
        ),
        (
            """
            DROP TRIGGER audit_append_only ON accounts_auditentry;
            CREATE TRIGGER audit_append_only
            BEFORE UPDATE OR DELETE ON accounts_auditentry
            FOR EACH ROW WHEN (old.id < 0) EXECUTE FUNCTION accounts_audit_append_only()
            """,
            [
                f"accounts_auditentry does not refuse {verb}"
                for verb in VERBS
                if verb != "TRUNCATE"
            ],
        ),
        (
            """
            CREATE OR REPLACE FUNCTION accounts_audit_append_only() RETURNS trigger
            LANGUAGE plpgsql AS $$ BEGIN RETURN old; END $$
            """,
            [
                f"accounts_audit{kind} does not refuse {verb}"
                for kind in ("entry", "seal")
                for verb in VERBS
            ],
        ),
        (
            """
            CREATE TRIGGER quiet BEFORE INSERT ON accounts_auditentry
            FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()
            """,
            ["accounts_auditentry has a trigger on INSERT"],
        ),
        (
            "CREATE RULE quiet AS ON INSERT TO accounts_auditentry DO INSTEAD NOTHING",
            ["accounts_auditentry has the rule quiet"],
        ),
    ],
)
def test_tables_that_can_be_changed_are_a_fault(tenant, statement, phrases):
    err = StringIO()
    call_command("verify_audit", stdout=StringIO(), stderr=StringIO())
    with connection.cursor() as cursor:
        cursor.execute(statement)

    with pytest.raises(CommandError):
        call_command("verify_audit", stdout=StringIO(), stderr=err)

    assert err.getvalue().splitlines() == [f"BROKEN: {each}." for each in phrases]
    assert check_audit().state == "fail"
    assert check_audit().sentence == f"The audit can be changed: {'; '.join(phrases)}."


def test_entries_that_wait_too_long_for_their_seal_show_in_doctor(tenant, time_machine):
    settings.AUDIT_ANCHORS.unlink()
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    record(tenant)
    time_machine.move_to(now + SEALED_WITHIN - timedelta(seconds=1), tick=False)
    soon = check_audit()
    time_machine.move_to(now + SEALED_WITHIN, tick=False)

    assert soon.ok
    assert check_audit().sentence == (
        f"Entries of the audit wait to be sealed since {now:%Y-%m-%d %H:%M} UTC."
    )


def test_the_ends_of_the_chains_are_anchored_every_hour():
    (runs,) = [
        each.cron
        for each in app.periodic_registry.periodic_tasks.values()
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

    assert f"{slug} sandbox: 5 entries in 2 seals fit, and 2 anchors." in out.getvalue()
    assert f"{slug} sandbox: BROKEN: entry {third} is not what was sealed" in (
        err.getvalue()
    )
    assert err.getvalue().count("BROKEN") == 1
