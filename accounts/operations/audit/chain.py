"""Seal audit entries into a hash chain, anchor its end and verify both.

A seal covers what was committed since the last one, so recording an entry waits for
nobody. Whoever changes an entry, or takes one away, breaks the chain; whoever makes the
whole chain anew differs from the anchors, which are kept outside of the database. Must
not be here: recording entries (audit), or reading them for people (queries.audit).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import AuditEntry, Tenant
from accounts.models.audit import AuditSeal
from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

logger = logging.getLogger("assay.audit")

HASH_BYTES = 32
_START = bytes(HASH_BYTES)
# An entry that was written in a transaction may be committed this much later.
LATE = timedelta(hours=1)
# A team that is older has a chain: sealing runs each minute.
SEALED_WITHIN = timedelta(minutes=10)
# The first entry of every tenant: `create_team` writes it with the tenant itself.
OPENING_VERB = "create_team"
BATCH = 5_000
_LOCK = 7_301_844_120_551  # any number that nothing else locks by
_COLUMNS = (
    "id, tenant_id, at, verb, subject, subject_id, user_uuid, actor_kind, actor_key,"
    " actor_label, host(address), changes::text, request_id"
)
_FLOOR = """
SELECT top_id FROM accounts_auditseal WHERE sealed_at <= %(before)s
ORDER BY sealed_at DESC, top_id DESC LIMIT 1
"""
_UNSEALED = f"""
WITH sealed AS MATERIALIZED (
    SELECT unnest(entry_ids) AS id FROM accounts_auditseal
    WHERE sealed_at > %(before)s
)
SELECT {_COLUMNS} FROM accounts_auditentry AS entry
WHERE id > %(floor)s AND NOT EXISTS (SELECT FROM sealed WHERE sealed.id = entry.id)
ORDER BY id LIMIT %(limit)s
"""  # noqa: S608 - of constants
_THESE = f"""
SELECT {_COLUMNS} FROM accounts_auditentry WHERE id = ANY(%(ids)s)
"""  # noqa: S608 - of constants
_NEVER_SEALED = """
WITH sealed AS MATERIALIZED (
    SELECT unnest(entry_ids) AS id FROM accounts_auditseal
    WHERE tenant_id = %(tenant)s
)
SELECT id, at FROM accounts_auditentry AS entry
WHERE tenant_id = %(tenant)s AND id <= %(floor)s
    AND NOT EXISTS (SELECT FROM sealed WHERE sealed.id = entry.id)
ORDER BY id LIMIT 1
"""


class Fault(StrEnum):
    """The kind of a fault in the chain."""

    ENTRY_CHANGED = "entry_changed"
    ENTRY_MISSING = "entry_missing"
    ENTRY_UNSEALED = "entry_unsealed"
    SEAL_CHANGED = "seal_changed"
    SEAL_MISSING = "seal_missing"
    ANCHOR_DIFFERS = "anchor_differs"
    CHAIN_EMPTY = "chain_empty"
    CHAIN_CUT = "chain_cut"


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """The first fault in a tenant's chain.

    `entry_id` is None where a seal or an anchor is at fault; `seal` is the number of
    the seal. `says` is for people and holds nothing of the entry.
    """

    fault: Fault
    seal: int
    entry_id: int | None
    says: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of verifying a chain; `broken` is None if all matches."""

    entries: int
    seals: int
    anchors: int
    broken: ChainBreak | None


@dataclass(frozen=True, slots=True)
class Anchor:
    """The end of a tenant's chain at a time, as recorded elsewhere."""

    at: str
    tenant: int
    seal: int
    entries: int
    head: str


@dataclass(slots=True)
class _Chain:
    """The growing end of a tenant's chain."""

    number: int
    total: int
    head: bytes


def seal_new_audit_entries(*, now: datetime | None = None) -> int:
    """Seal committed entries that no seal contains yet; return how many.

    Over all tenants, in batches of BATCH, each a transaction. Runs of it wait for one
    another. Source: Ours: a chain that each entry joined by itself would let the
    tenant's writes through one at a time.
    """
    now = now or timezone.now()
    number = 0
    while True:
        done = _seal_batch(now)
        number += done
        if done < BATCH:
            return number


@transaction.atomic
def _seal_batch(now: datetime) -> int:
    with rows.open_database_cursor() as opened:
        opened.execute(b"SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    before = now - LATE
    floor = _floor(before)
    found = rows.fetch_rows(
        _UNSEALED, {"before": before, "floor": floor, "limit": BATCH}
    )
    if not found:
        return 0
    top = max(floor, _top_id(), found[-1][0])
    by_tenant: dict[int, list[Sequence[Any]]] = {}
    for row in found:
        by_tenant.setdefault(row[1], []).append(row)
    for tenant_pk, entries in sorted(by_tenant.items()):
        chain = _find_chain_end(tenant_pk)
        hashes = list(_hash_entries(chain.head, entries))
        AuditSeal.unscoped.create(
            tenant_id=tenant_pk,
            number=chain.number + 1,
            sealed_at=now,
            entry_ids=[row[0] for row in entries],
            hashes=b"".join(hashes),
            total=chain.total + len(entries),
            top_id=top,
        )
    return len(found)


def _floor(before: datetime) -> int:
    """Return the ID up to which no transaction can still commit."""
    found = rows.fetch_rows(_FLOOR, {"before": before})
    return int(found[0][0]) if found else 0


def _top_id() -> int:
    last = AuditSeal.unscoped.order_by("-sealed_at", "-top_id")
    return last.values_list("top_id", flat=True).first() or 0


def _find_chain_end(tenant_pk: int) -> _Chain:
    last = AuditSeal.unscoped.filter(tenant_id=tenant_pk).order_by("-number").first()
    if last is None:
        return _Chain(0, 0, _START)
    return _Chain(last.number, last.total, bytes(last.hashes)[-HASH_BYTES:])


def _hash_entries(head: bytes, entries: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    for row in entries:
        head = hash_audit_entry(head, row)
        yield head


def hash_audit_entry(before: bytes, row: Sequence[Any]) -> bytes:
    """Return the SHA-256 of the previous hash and the entry as JSON.

    The JSON is a list in the order of the columns, without spaces, keys sorted, letters
    as UTF-8; moments in UTC to the microsecond, `changes` as an object. Source: Ours:
    an export holds all it takes to reckon it again.
    """
    key, tenant, at, *texts, changes, request_id = row
    plain = [
        key,
        tenant,
        at.astimezone(UTC).isoformat(timespec="microseconds"),
        *(None if text is None else str(text) for text in texts),
        json.loads(changes),
        request_id,
    ]
    written = json.dumps(
        plain, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(before + written.encode()).digest()


def record_audit_chain_anchors(*, now: datetime | None = None) -> int:
    """Record where each tenant's chain ends, outside the database.

    A line for each tenant whose chain grew since its last anchor, in AUDIT_ANCHORS and
    in the log; returns how many. Raises: OSError. Source: Ours: the last entries can be
    taken away together with their seals, but not from a file on another machine.
    """
    now = now or timezone.now()
    last = {tenant: each.seal for tenant, each in find_last_audit_anchors().items()}
    ends = AuditSeal.unscoped.order_by("tenant_id", "-number").distinct("tenant_id")
    lines = [
        {
            "at": now.astimezone(UTC).isoformat(timespec="seconds"),
            "tenant": seal.tenant_id,
            "seal": seal.number,
            "entries": seal.total,
            "head": bytes(seal.hashes)[-HASH_BYTES:].hex(),
        }
        for seal in ends
        if seal.number != last.get(seal.tenant_id)
    ]
    if not lines:
        return 0
    path = Path(settings.AUDIT_ANCHORS)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a") as opened:
        for line in lines:
            opened.write(json.dumps(line) + "\n")
            logger.info("audit anchor %s", json.dumps(line))
        opened.flush()
        os.fsync(opened.fileno())
    return len(lines)


def read_audit_anchors(path: Path | None = None) -> list[Anchor]:
    """Return the anchors of a file, oldest first; of AUDIT_ANCHORS by default.

    A line that is no anchor is passed over: a log's lines may stand between.
    """
    return list(_iterate_anchors(path or Path(settings.AUDIT_ANCHORS)))


def find_last_audit_anchors() -> dict[int, Anchor]:
    """Return each tenant's last anchor, reading AUDIT_ANCHORS line by line.

    Source: Ours: a year of hours and many teams are millions of lines.
    """
    return {
        each.tenant: each for each in _iterate_anchors(Path(settings.AUDIT_ANCHORS))
    }


def _iterate_anchors(path: Path) -> Iterator[Anchor]:
    if not path.exists():
        return
    with path.open() as opened:
        for line in opened:
            start = line.find("{")
            try:
                yield Anchor(**json.loads(line[start:]))
            except (ValueError, TypeError):
                continue


def check_audit_chain(*, tenant: Tenant, anchors: Iterable[Anchor]) -> Checked:
    """Recompute a tenant's chain and compare it with its anchors.

    Reads seal by seal, so that memory stays bounded. Source: Ours.
    """
    mine = [each for each in anchors if each.tenant == tenant.pk]
    by_seal = {each.seal: each for each in mine}
    head, number, entries = _START, 0, 0
    broken: ChainBreak | None = None
    seals = AuditSeal.objects.for_tenant(tenant).order_by("number")
    for seal in seals.iterator(chunk_size=20):
        broken = _check_seal(seal, head, number, entries)
        if broken is None and (anchor := by_seal.pop(seal.number, None)):
            broken = _check_anchor(seal, anchor)
        if broken:
            break
        head = bytes(seal.hashes)[-HASH_BYTES:]
        number, entries = seal.number, seal.total
    if broken is None and by_seal:
        anchor = min(by_seal.values(), key=lambda each: each.seal)
        broken = describe_truncated_audit_chain(number, entries, anchor)
    if broken is None and not number:
        broken = _find_emptied(tenant)
    if broken is None:
        broken = _find_unsealed(tenant)
    return Checked(entries, number, len(mine), broken)


def _check_seal(
    seal: AuditSeal, head: bytes, number: int, entries: int
) -> ChainBreak | None:
    if seal.number != number + 1:
        return ChainBreak(
            Fault.SEAL_MISSING,
            number + 1,
            None,
            f"seal {number + 1} is missing between {number} and {seal.number}",
        )
    hashes = bytes(seal.hashes)
    ids = seal.entry_ids
    is_whole = len(hashes) == HASH_BYTES * len(ids) and ids
    if not is_whole or seal.total != entries + len(ids):
        return ChainBreak(
            Fault.SEAL_CHANGED, seal.number, None, f"seal {seal.number} was changed"
        )
    kept = {row[0]: row for row in rows.fetch_rows(_THESE, {"ids": ids})}
    sealed = f"sealed {seal.sealed_at:%Y-%m-%d %H:%M} UTC, in seal {seal.number}"
    for place, entry_id in enumerate(ids):
        row = kept.get(entry_id)
        if row is None:
            return ChainBreak(
                Fault.ENTRY_MISSING,
                seal.number,
                entry_id,
                f"entry {entry_id} is missing; it was {sealed}",
            )
        head = hash_audit_entry(head, row)
        if head != hashes[place * HASH_BYTES : (place + 1) * HASH_BYTES]:
            return ChainBreak(
                Fault.ENTRY_CHANGED,
                seal.number,
                entry_id,
                f"entry {entry_id} differs from what was {sealed}",
            )
    if number == 0:
        return check_first_audit_entry(kept[ids[0]][3])
    return None


def check_first_audit_entry(verb: str) -> ChainBreak | None:
    """Check that the chain starts with the creation of its team."""
    if verb == OPENING_VERB:
        return None
    return ChainBreak(
        Fault.CHAIN_CUT,
        1,
        None,
        "the chain does not start with the creation of the team: earlier entries"
        " were removed",
    )


def describe_unsealed_audit_chain(
    created_at: datetime, *, has_entries: bool
) -> ChainBreak:
    """Describe a tenant without a seal after SEALED_WITHIN."""
    return ChainBreak(
        Fault.CHAIN_EMPTY,
        0,
        None,
        "the chain is empty although entries exist: its seals were removed, or no"
        " worker sealed them"
        if has_entries
        else "the audit is empty although the team was created on"
        f" {created_at:%Y-%m-%d}: its entries were removed",
    )


def _find_emptied(tenant: Tenant) -> ChainBreak | None:
    """Find a chain without seals whose tenant must have entries."""
    if timezone.now() - tenant.created_at < SEALED_WITHIN:
        return None
    has_entries = AuditEntry.objects.for_tenant(tenant).exists()
    return describe_unsealed_audit_chain(tenant.created_at, has_entries=has_entries)


def _check_anchor(seal: AuditSeal, anchor: Anchor) -> ChainBreak | None:
    if bytes(seal.hashes)[-HASH_BYTES:].hex() == anchor.head:
        return None
    return describe_changed_audit_seal(anchor)


def describe_changed_audit_seal(anchor: Anchor) -> ChainBreak:
    """Describe a seal that differs from its anchor."""
    return ChainBreak(
        Fault.ANCHOR_DIFFERS,
        anchor.seal,
        None,
        f"the chain was rebuilt: seal {anchor.seal} differs from the anchor of"
        f" {anchor.at}",
    )


def describe_truncated_audit_chain(
    number: int, entries: int, anchor: Anchor
) -> ChainBreak:
    """Describe a chain that ends before an anchored seal."""
    return ChainBreak(
        Fault.SEAL_MISSING,
        anchor.seal,
        None,
        f"the chain ends at seal {number} with {entries} entries, but on"
        f" {anchor.at} it had seal {anchor.seal} with {anchor.entries}",
    )


def _find_unsealed(tenant: Tenant) -> ChainBreak | None:
    """Find an entry among sealed ones that no seal contains."""
    floor = _floor(timezone.now() - LATE)
    found = rows.fetch_rows(_NEVER_SEALED, {"tenant": tenant.pk, "floor": floor})
    if not found:
        return None
    return ChainBreak(
        Fault.ENTRY_UNSEALED,
        0,
        int(found[0][0]),
        f"entry {found[0][0]} lies between sealed entries but is not sealed",
    )
