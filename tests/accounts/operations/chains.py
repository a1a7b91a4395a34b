"""Chains over the audit for tests: entries, and what who owns the tables can do."""

from __future__ import annotations

from contextlib import contextmanager

from django.db import connection

from accounts.models import AuditEntry
from accounts.operations.audit.chain import check_audit_chain, read_audit_anchors
from accounts.operations.audit.entries import record_change
from tests.factories.accounts import ACTOR


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


def remove(*tables):
    for table in tables:
        with tampering(table) as cursor:
            cursor.execute(f"TRUNCATE {table}")


def check(tenant):
    return check_audit_chain(tenant=tenant, anchors=read_audit_anchors())


def fault(tenant):
    broken = check(tenant).broken
    return broken and (broken.fault, broken.entry_id)
