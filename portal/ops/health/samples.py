"""The check of packed samples: what is packed can be read."""

from __future__ import annotations

from psycopg.errors import UndefinedTable

from portal.ops.health.findings import Finding
from users.store.packed.checking import check_packed_days

# A page waits for it; `manage.py pack_samples --check` reads all.
_SECONDS = 1.0


def check_packed_samples() -> Finding:
    """Check that packed days of samples decode, as many as a second allows."""
    try:
        checked = check_packed_days(seconds=_SECONDS)
    except UndefinedTable:
        return Finding(
            False, "Packed samples have no table.", "Run `manage.py migrate`.", True
        )
    if checked.corrupt:
        user_id, key = checked.corrupt[0]
        return Finding(
            False,
            f"{len(checked.corrupt)} packed days of samples are corrupt, the first of"
            f" user {user_id}, series {key.series}, feed {key.feed}, day {key.day}.",
            "`manage.py pack_samples --check` lists them; bring them back from a backup"
            " (docs/explanation/packed-days.md).",
        )
    if checked.is_complete:
        return Finding(True, f"All {checked.number} packed days of samples are sound.")
    return Finding(
        True,
        f"{checked.number} of the packed days of samples were checked and are sound;"
        " `manage.py pack_samples --check` checks all.",
    )
