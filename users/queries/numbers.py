"""Find records of users by any part of a number: an ID, or one of a sample or lab."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from portal.lib.database import rows

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from users.states import NumberedKind

# The index is of runs of three letters.
_LEAST = 3
# Of an ID fewer would fit some record by chance: a million have six in some place.
LEAST_OF_ID = 6
_NO_NUMBER = re.compile(r"[^0-9A-Za-z]")
_NO_HEX = re.compile(r"[^0-9A-F]")
# So many are put in order; a part that more numbers have is too short to be of use.
_MOST = 1_000
_FIND = """
SELECT record FROM (
    SELECT record, user_id, number FROM users_recordnumber
    WHERE tenant_id = %(tenant)s AND kind = %(kind)s AND number = %(whole)s
    UNION ALL (
        SELECT record, user_id, number
        FROM users_find_numbers(
            %(tenant)s, %(kind)s, %(part)s, %(with_ids)s, %(most)s
        )
    )
) found
WHERE NOT EXISTS (
    SELECT FROM users_user WHERE id = user_id AND deleted_at IS NOT NULL
)
GROUP BY record
ORDER BY bool_or(number = %(whole)s) DESC, bool_or(starts_with(number, %(whole)s)) DESC,
    record
LIMIT %(limit)s
"""


def spell_number(text: str) -> str:
    """Return a number as it is recorded: capitals, letters and digits alone."""
    return _NO_NUMBER.sub("", text).upper()


def spell_part_of_id(text: str) -> str:
    """Return a part of an ID as spell_number does; empty for what is none."""
    part = spell_number(text)
    return "" if len(part) < LEAST_OF_ID or _NO_HEX.search(part) else part


def find_records_by_number(
    *, tenant: Tenant, kind: NumberedKind, text: str, limit: int
) -> list[UUID]:
    """Return orders or reports of live users with `text` in one of their numbers.

    Their IDs: first of those that have it as a whole, then that begin with it. `text`
    has three letters or digits, of an ID six; less finds nothing. One query, by an
    index.
    """
    whole = spell_number(text)
    if len(whole) < _LEAST:
        return []
    found = rows.fetch_rows(
        _FIND,
        {
            "tenant": tenant.pk,
            "kind": str(kind),
            "whole": whole,
            "part": f"%{whole}%",
            "with_ids": len(whole) >= LEAST_OF_ID,
            "most": _MOST,
            "limit": limit,
        },
    )
    return [record for (record,) in found]
