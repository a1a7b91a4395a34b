"""Periodic jobs of the floor: its own tables are kept small.

Must not be here: jobs of an app.
"""

from __future__ import annotations

from portal.lib.idempotency import purge_answers
from portal.lib.jobs import periodic, remove_finished_jobs


@periodic("17 * * * *", "portal.remove_finished_jobs")
def remove_finished() -> None:
    """Forget jobs that ended days ago."""
    remove_finished_jobs()


@periodic("27 * * * *", "portal.purge_answers")
def purge_old_answers() -> None:
    """Forget answers of the idempotency store past their time."""
    purge_answers()
