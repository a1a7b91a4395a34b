"""Jobs of floor and roof: its own tables are kept small, demo data comes and goes."""

from __future__ import annotations

from portal.demo.sandbox import (
    LOAD_JOB,
    REMOVE_JOB,
    allow_demo_removal_again,
    erase_demo_users,
    load_requested_demo_data,
    mark_demo_loading_finished,
)
from portal.lib.idempotency import delete_expired_answers
from portal.lib.jobs.jobs import delete_finished_jobs, periodic_job, tenant_job


@periodic_job("17 * * * *", "portal.remove_finished_jobs")
def delete_old_finished_jobs() -> None:
    """Delete jobs that ended days ago."""
    delete_finished_jobs()


@periodic_job("27 * * * *", "portal.purge_answers")
def delete_expired_idempotency_answers() -> None:
    """Delete stored answers of idempotent calls that have expired."""
    delete_expired_answers()


@tenant_job(LOAD_JOB, on_give_up=mark_demo_loading_finished)
def load_sandbox_demo_data(*, tenant_pk: int) -> None:
    """Load demo data into a sandbox."""
    load_requested_demo_data(tenant_pk=tenant_pk)


@tenant_job(REMOVE_JOB, on_give_up=allow_demo_removal_again)
def erase_sandbox_demo_users(*, tenant_pk: int) -> None:
    """Erase the demo users of a sandbox."""
    erase_demo_users(tenant_pk=tenant_pk)
