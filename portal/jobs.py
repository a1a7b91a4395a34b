"""Jobs of floor and roof: its own tables are kept small, demo data comes and goes.

Must not be here: jobs of an app.
"""

from __future__ import annotations

from portal.demo.sandbox import (
    LOAD_JOB,
    REMOVE_JOB,
    finish_loading,
    finish_removal,
    load_demo_sandbox,
    remove_demo_sandbox,
)
from portal.lib.idempotency import purge_answers
from portal.lib.jobs import job, periodic, remove_finished_jobs


@periodic("17 * * * *", "portal.remove_finished_jobs")
def remove_finished() -> None:
    """Forget jobs that ended days ago."""
    remove_finished_jobs()


@periodic("27 * * * *", "portal.purge_answers")
def purge_old_answers() -> None:
    """Forget answers of the idempotency store past their time."""
    purge_answers()


@job(LOAD_JOB, on_give_up=finish_loading)
def load_demo_data(*, tenant_pk: int) -> None:
    """Load demo data into a sandbox."""
    load_demo_sandbox(tenant_pk=tenant_pk)


@job(REMOVE_JOB, on_give_up=finish_removal)
def remove_demo_data(*, tenant_pk: int) -> None:
    """Erase the demo users of a sandbox."""
    remove_demo_sandbox(tenant_pk=tenant_pk)
