from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from accounts.operations.audit.chain import SEALED_WITHIN, Fault, seal_new_audit_entries
from portal.ops.health.audit import check_audit_log_integrity
from tests.accounts.operations.chains import (
    check,
    fault,
    ids,
    record,
    remove,
    tampering,
)

pytestmark = pytest.mark.django_db
VERBS = ["DELETE", "TRUNCATE", "UPDATE"]


@pytest.fixture
def tenant(chained_tenant):
    return chained_tenant


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        (
            ["accounts_auditentry", "accounts_auditseal"],
            "the audit is empty although the team was created on",
        ),
        (["accounts_auditseal"], "the chain is empty although entries exist"),
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
    assert check_audit_log_integrity().state == "fail"
    assert says in check_audit_log_integrity().sentence


def test_a_chain_begun_again_after_all_was_removed_is_a_fault_without_an_anchor(tenant):
    settings.AUDIT_ANCHORS.unlink()
    remove("accounts_auditentry", "accounts_auditseal")
    record(tenant, 3)
    seal_new_audit_entries()

    assert fault(tenant) == (Fault.CHAIN_CUT, None)
    assert check_audit_log_integrity().state == "fail"
    assert (
        "does not start with the creation of the team"
        in check_audit_log_integrity().sentence
    )


def test_entries_removed_below_their_seals_show_in_doctor_at_once(tenant):
    settings.AUDIT_ANCHORS.unlink()
    last = ids(tenant)[-1]
    with tampering("accounts_auditentry") as cursor:
        cursor.execute("DELETE FROM accounts_auditentry WHERE id = %s", [last])

    place = f"{tenant.team.slug} sandbox"
    assert check_audit_log_integrity().sentence == (
        f"The audit log of {place} is broken: entry {last} of seal 2 is missing."
    )


def test_doctor_compares_the_ends_of_the_chains_with_the_anchors(tenant):
    well = check_audit_log_integrity()
    with tampering("accounts_auditseal") as cursor:
        cursor.execute(
            "DELETE FROM accounts_auditseal WHERE number = 2 AND tenant_id = %s",
            [tenant.pk],
        )
    early = check_audit_log_integrity().sentence
    with tampering("accounts_auditentry") as cursor:
        cursor.execute(
            "UPDATE accounts_auditentry SET actor_label = 'nobody'"
            " WHERE tenant_id = %s",
            [tenant.pk],
        )
    seal_new_audit_entries()
    anew = check_audit_log_integrity().sentence

    assert well.ok
    assert "the chain ends at seal 1 with 3 entries" in early
    assert "the chain was rebuilt: seal 2" in anew


def test_an_anchor_of_a_tenant_that_is_gone_is_a_fault(tenant):
    anchored = {"at": "2026-01-01", "tenant": 987654, "seal": 3, "entries": 9}
    with settings.AUDIT_ANCHORS.open("a") as opened:
        opened.write(json.dumps({**anchored, "head": "00"}) + "\n")
    err = StringIO()

    with pytest.raises(CommandError):
        call_command("verify_audit", stdout=StringIO(), stderr=err)

    assert err.getvalue() == (
        "tenant 987654: BROKEN: it is missing, but on 2026-01-01 it had 9 entries.\n"
    )
    assert check_audit_log_integrity().sentence == (
        "The audit log of tenant 987654 is broken: it is missing, but on 2026-01-01"
        " it had 9 entries."
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
    assert check_audit_log_integrity().state == "fail"
    assert (
        check_audit_log_integrity().sentence
        == f"The audit log can be changed: {'; '.join(phrases)}."
    )


def test_entries_that_wait_too_long_for_their_seal_show_in_doctor(tenant, time_machine):
    settings.AUDIT_ANCHORS.unlink()
    now = timezone.now()
    time_machine.move_to(now, tick=False)
    record(tenant)
    time_machine.move_to(now + SEALED_WITHIN - timedelta(seconds=1), tick=False)
    soon = check_audit_log_integrity()
    time_machine.move_to(now + SEALED_WITHIN, tick=False)

    assert soon.ok
    assert check_audit_log_integrity().sentence == (
        f"Audit log entries have not been sealed since {now:%Y-%m-%d %H:%M} UTC."
    )
