"""Which users have rows to pack."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portal.lib.database import rows
from users.store.distribution import are_samples_distributed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

# Users of one statement. Most that it looks at have nothing to pack, and one look takes
# as long as their recent rows are many.
_STEP_USERS = 500
# Rows of users who were erased have none.
_USERS = """
    SELECT person.id, boundary.before{has_rows}
    FROM (
        SELECT id FROM users_user
        WHERE id > %(after)s AND mod(id, %(shares)s) = ANY(%(share)s)
        ORDER BY id LIMIT %(limit)s
    ) person
    CROSS JOIN LATERAL (
        SELECT CASE WHEN EXISTS (
            SELECT 1 FROM users_arrival
            WHERE user_id = person.id AND at > %(quiet_since)s
                AND (created > 0 OR updated > 0)
        ) THEN %(late)s ELSE %(early)s END::timestamptz AS before
    ) boundary
    ORDER BY person.id
"""
_HAS_ROWS = """, EXISTS (
        SELECT 1 FROM users_sample
        WHERE user_id = person.id AND ts < boundary.before
    )"""
# Where samples are on other machines than users: one look each, at the user's machine.
_LOOK = "SELECT 1 FROM users_sample WHERE user_id = %s AND ts < %s LIMIT 1"
TURNS = 24
# Ours: as many processes as gain on a machine of four cores; those of a turn.
PARTS = 4


class Candidate(NamedTuple):
    """A user with rows before a time, all of which may be packed."""

    user_id: int
    before: datetime


def find_users_to_pack(
    *,
    early: datetime,
    late: datetime,
    quiet_since: datetime,
    turn: int | None = None,
    part: int | None = None,
) -> Iterator[Candidate]:
    """Yield the users with rows before `early`, or `late` if they are busy.

    Busy is who got anything new after `quiet_since`. With a `turn` from 0 to 23 only
    the users of it, a 24th of all, with a `part` from 0 to 3 a quarter of those. Over
    all tenants: who has which setting makes no difference to how they are kept.
    """
    after, shares = 0, range(TURNS * PARTS)
    share = [
        each
        for each in shares
        if turn in {None, each % TURNS} and part in {None, each // TURNS}
    ]
    is_spread = are_samples_distributed()
    statement = _USERS.format(has_rows="" if is_spread else _HAS_ROWS)
    while True:
        found = rows.fetch_rows(
            statement,
            {
                "after": after,
                "shares": len(shares),
                "share": share,
                "limit": _STEP_USERS,
                "late": late,
                "early": early,
                "quiet_since": quiet_since,
            },
        )
        if not found:
            return
        for user_id, before, *has_rows in found:
            if any(has_rows) or (
                is_spread and rows.fetch_rows(_LOOK, [user_id, before])
            ):
                yield Candidate(user_id, before)
        after = found[-1][0]
