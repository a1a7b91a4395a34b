"""Read the event feed: events in ID order, none skipped.

Ids are given when an event is written, but it can be read only after its transaction
ended, so that an id may appear below one that was read before. Each transaction that
writes events therefore holds a shared lock whose key says above which id its own are
(EMIT); the feed ends below the lowest of these. Ids, unlike transaction numbers, are
kept by a dump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portal.lib.database import rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from accounts.models import Tenant

# The lock's key: this byte, 16 bits of the tenant, 40 bits of the id. Tenants that
# share their 16 bits wait for one another, no more.
FEED_LOCK = 0x45
TENANT_MASK = 0xFFFF
FLOOR_MASK = (1 << 40) - 1
# Ours: how many events a page may pass over to find those of the wanted types.
SCANNED_MAX = 10_000

# What is written after the first number was read has a higher id; what was being
# written before holds its lock, or is to be seen by the next statement.
_SETTLED = f"""
SELECT least(last_value, (
    SELECT min(((classid::bigint << 32) | objid::bigint) & {FLOOR_MASK})
    FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid::bigint >> 8
            = (({FEED_LOCK}::bigint << 16) | (%(tenant)s::bigint & {TENANT_MASK}))
        AND pid <> pg_backend_pid() AND last_value IS NOT NULL
))
FROM webhooks_event_id_seq
"""  # noqa: S608 - numbers of our own

_PAGE = """
WITH next AS MATERIALIZED (
    SELECT id, event_type, is_test FROM webhooks_event
    WHERE tenant_id = %(tenant)s AND id > %(after)s AND id <= %(settled)s
    ORDER BY id LIMIT %(scanned)s
), wanted AS (
    SELECT id FROM next
    WHERE NOT is_test AND (%(types)s::text[] IS NULL OR EXISTS (
        SELECT 1 FROM unnest(%(types)s::text[]) AS f(wanted)
        WHERE f.wanted = event_type
            OR (f.wanted LIKE '%%.' AND starts_with(event_type, f.wanted))
    ))
    ORDER BY id LIMIT %(limit)s
)
SELECT event.id, event.message_id, event.created_at, event.body, NULL
FROM wanted JOIN webhooks_event AS event USING (id)
UNION ALL
SELECT max(id), '', NULL, '', count(*) FROM next
ORDER BY 5 NULLS FIRST, 1
"""


class FeedEvent(NamedTuple):
    """An event of the feed; `body` is the envelope as it was sent."""

    position: int
    message_id: str
    created_at: datetime
    body: str


class FeedPage(NamedTuple):
    """Events after a position, and the position to go on from.

    At the end the position is the one that was asked for; a page may be empty before
    that, where events of other types were passed over.
    """

    events: list[FeedEvent]
    position: int


def list_event_feed(
    *, tenant: Tenant, after: int, limit: int, types: Sequence[str] | None = None
) -> FeedPage:
    """Return up to `limit` whole events after a position, oldest first.

    `types` are exact ones, and prefixes that end in a dot; tests are left out. An event
    that is being written holds back later ones until its transaction ends. Two queries,
    bounded by SCANNED_MAX whatever is stored. Source: Contract 10; Ours: a reader loses
    nothing.
    """
    settled = rows.fetch_rows(_SETTLED, {"tenant": tenant.pk})[0][0]
    found = rows.fetch_rows(
        _PAGE,
        {
            "tenant": tenant.pk,
            "after": after,
            "settled": settled,
            "scanned": SCANNED_MAX if types else limit,
            "types": list(types) if types else None,
            "limit": limit,
        },
    )
    *events, (last, *_) = found
    page = [FeedEvent(*row[:4]) for row in events]
    # A full page ends at its last event; what was scanned behind it is not done with.
    done = page[-1].position if len(page) == limit else last
    return FeedPage(page, done or after)
