"""Find signs of tampering with the audit without recomputing its chains.

A few statements however many entries there are, for `doctor` and the first lines of
`verify_audit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.utils import timezone

from accounts.operations.audit.chain import (
    SEALED_WITHIN,
    ChainBreak,
    Fault,
    check_first_audit_entry,
    describe_changed_audit_seal,
    describe_truncated_audit_chain,
    describe_unsealed_audit_chain,
)
from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from accounts.operations.audit.chain import Anchor

TABLES = ["accounts_auditentry", "accounts_auditseal"]
# Bits of pg_trigger.tgtype. The function is compared too: its owner can replace it.
_UNGUARDED = r"""
WITH held AS (
    SELECT pg_class.oid AS id, relname AS name FROM pg_class
    WHERE pg_class.oid = ANY(%(tables)s::text[]::regclass[])
), guards AS (
    SELECT tgrelid, tgtype::int AS bits,
        tgenabled IN ('O', 'A') AND tgqual IS NULL AND cardinality(tgattr::int[]) = 0
            AND proname = 'accounts_audit_append_only'
            AND prosrc ~ '^\s*BEGIN\s+RAISE EXCEPTION [^;]*;\s*END\s*$' AS refuses
    FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE NOT tgisinternal
)
SELECT name || ' does not refuse ' || verb
FROM held CROSS JOIN (
    VALUES ('UPDATE', 16), ('DELETE', 8), ('TRUNCATE', 32)
) AS verbs(verb, bit)
WHERE NOT EXISTS (
    SELECT FROM guards WHERE tgrelid = held.id AND refuses AND bits & bit > 0
)
UNION ALL
SELECT name || ' has a trigger on INSERT' FROM held
WHERE EXISTS (SELECT FROM guards WHERE tgrelid = held.id AND bits & 4 > 0)
UNION ALL
SELECT name || ' has the rule ' || rulename
FROM held JOIN pg_rewrite ON ev_class = held.id
ORDER BY 1
"""
_ENDS = """
SELECT tenant.id, slug, environment, tenant.created_at,
    EXISTS (SELECT FROM accounts_auditentry WHERE tenant_id = tenant.id),
    first.number, first.entry_ids[1], opening.verb,
    last.number, last.total, last.entry_ids[cardinality(last.entry_ids)],
    newest.id IS NOT NULL
FROM accounts_tenant AS tenant
JOIN accounts_team AS team ON team.id = tenant.team_id
LEFT JOIN LATERAL (
    SELECT number, entry_ids FROM accounts_auditseal
    WHERE tenant_id = tenant.id ORDER BY number LIMIT 1
) AS first ON true
LEFT JOIN LATERAL (
    SELECT number, total, entry_ids FROM accounts_auditseal
    WHERE tenant_id = tenant.id ORDER BY number DESC LIMIT 1
) AS last ON true
LEFT JOIN accounts_auditentry AS opening
    ON opening.id = first.entry_ids[1] AND opening.tenant_id = tenant.id
LEFT JOIN accounts_auditentry AS newest
    ON newest.id = last.entry_ids[cardinality(last.entry_ids)]
    AND newest.tenant_id = tenant.id
ORDER BY slug, tenant.id
"""
_HEADS = """
SELECT tenant_id, encode(substring(hashes FROM octet_length(hashes) - 31), 'hex')
FROM accounts_auditseal
JOIN unnest(%(tenants)s::bigint[], %(seals)s::int[]) AS asked(tenant, seal)
    ON tenant_id = tenant AND number = seal
"""
_WAITING = """
SELECT min(at) FROM accounts_auditentry
WHERE id > (
    SELECT coalesce(max(top_id), 0) FROM (
        SELECT top_id FROM accounts_auditseal
        ORDER BY sealed_at DESC, top_id DESC LIMIT 1
    ) AS newest
)
"""


class _Ends(NamedTuple):
    """The first and last seal of a tenant; None and False if it has none."""

    tenant: int
    slug: str
    environment: str
    created_at: datetime
    has_entries: bool
    first_seal: int | None
    first_entry: int | None
    first_verb: str | None
    last_seal: int | None
    total: int | None
    last_entry: int | None
    has_last_entry: bool


def find_unprotected_audit_tables() -> list[str]:
    """Describe each way the audit tables can be changed; empty if none.

    A trigger that is missing, disabled or conditional, or whose function was replaced;
    a trigger on INSERT or a rule, which could drop entries. Source: Ours: the role that
    owns a table can do all of that, and undo it only if it remembers to.
    """
    return [text for (text,) in rows.fetch_rows(_UNGUARDED, {"tables": TABLES})]


def find_broken_audit_chains(
    *, anchors: Mapping[int, Anchor]
) -> list[tuple[str, ChainBreak]]:
    """Return the faults at the ends of the chains: (environment, fault).

    `anchors` has the last one of each tenant; empty without a file. Source: Ours: a
    table that was truncated, or a chain begun anew, shows in one run of `doctor`.
    """
    heads: dict[int, str] = dict(
        rows.fetch_rows(
            _HEADS,
            {
                "tenants": list(anchors),
                "seals": [each.seal for each in anchors.values()],
            },
        )
    )
    found = []
    known = set()
    for row in rows.fetch_rows(_ENDS):
        ends = _Ends(*row)
        known.add(ends.tenant)
        anchor = anchors.get(ends.tenant)
        broken = next(_find_faults(ends, anchor, heads.get(ends.tenant)), None)
        if broken:
            found.append((f"{ends.slug} {ends.environment}", broken))
    found += [
        (f"tenant {anchor.tenant}", describe_missing_audited_tenant(anchor))
        for anchor in anchors.values()
        if anchor.tenant not in known
    ]
    return found


def describe_missing_audited_tenant(anchor: Anchor) -> ChainBreak:
    """Describe an anchored tenant that is missing from the database."""
    return ChainBreak(
        Fault.SEAL_MISSING,
        anchor.seal,
        None,
        f"it is missing, but on {anchor.at} it had {anchor.entries} entries",
    )


def _find_faults(
    ends: _Ends, anchor: Anchor | None, head: str | None
) -> Iterator[ChainBreak]:
    if anchor and (ends.last_seal or 0) < anchor.seal:
        yield describe_truncated_audit_chain(
            ends.last_seal or 0, ends.total or 0, anchor
        )
    if anchor and head != anchor.head:
        yield describe_changed_audit_seal(anchor)
    if ends.last_seal is None:
        if timezone.now() - ends.created_at >= SEALED_WITHIN:
            yield describe_unsealed_audit_chain(
                ends.created_at, has_entries=ends.has_entries
            )
        return
    if ends.first_seal != 1:
        yield ChainBreak(Fault.SEAL_MISSING, 1, None, "seal 1 is missing")
    if ends.first_verb is None:
        yield _describe_missing_entry(1, ends.first_entry)
    elif broken := check_first_audit_entry(ends.first_verb):
        yield broken
    if not ends.has_last_entry:
        yield _describe_missing_entry(ends.last_seal, ends.last_entry)


def _describe_missing_entry(seal: int, entry: int | None) -> ChainBreak:
    return ChainBreak(
        Fault.ENTRY_MISSING, seal, entry, f"entry {entry} of seal {seal} is missing"
    )


def find_oldest_unsealed_audit_time() -> datetime | None:
    """Return when the oldest unsealed entry was written, if over SEALED_WITHIN.

    Source: Ours: an entry that no seal holds can be removed unseen.
    """
    ((oldest,),) = rows.fetch_rows(_WAITING)
    if oldest is None or timezone.now() - oldest < SEALED_WITHIN:
        return None
    return oldest  # type: ignore[no-any-return]  # a timestamptz
