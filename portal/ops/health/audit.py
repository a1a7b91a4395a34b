"""The check of the audit: its tables refuse changes, its chains begin and end well."""

from __future__ import annotations

from django.conf import settings
from psycopg.errors import UndefinedTable

from accounts.operations.audit.chain import find_last_audit_anchors
from accounts.operations.audit.tampering import (
    find_broken_audit_chains,
    find_oldest_unsealed_audit_time,
    find_unprotected_audit_tables,
)
from portal.lib.tenancy import across_tenants
from portal.ops.health.findings import Finding

_RECKON = (
    "Keep a copy of the database and its log; `manage.py verify_audit --anchors FILE`"
    " with a copy of the anchors from elsewhere says what is missing."
)


def check_audit_log_integrity() -> Finding:
    """Check that the audit log shows no sign of changes."""
    try:
        open_ways = find_unprotected_audit_tables()
        with across_tenants(why="the chains of all teams are looked at"):
            tampered = find_broken_audit_chains(anchors=find_last_audit_anchors())
            since = find_oldest_unsealed_audit_time()
    except UndefinedTable:  # no such tables before the first migrate
        return Finding(
            False, "The audit log has no tables.", "Run `manage.py migrate`.", True
        )
    except OSError as error:
        return Finding(
            False,
            f"The anchors of the audit log can't be read: {error.strerror}.",
            f"Let this server read {settings.AUDIT_ANCHORS}, or set AUDIT_ANCHORS.",
            works_still=True,
        )
    if open_ways:
        return Finding(
            False,
            f"The audit log can be changed: {'; '.join(open_ways)}.",
            "Find out who changed the tables; then bring the triggers back as in the"
            " migrations of accounts, and run `manage.py verify_audit`.",
        )
    if tampered:
        (place, broken), *more = tampered
        others = f" So are {len(more)} more." if more else ""
        return Finding(
            False,
            f"The audit log of {place} is broken: {broken.says}.{others}",
            _RECKON,
        )
    if since:
        return Finding(
            False,
            f"Audit log entries have not been sealed since {since:%Y-%m-%d %H:%M} UTC.",
            "Check that a worker is running: its job accounts.seal_audit runs every"
            " minute.",
        )
    return Finding(True, "The audit log rejects changes and its chains are intact.")
