"""Background jobs of the users app.

A job calls one operation.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import Tenant
from portal.lib.actor import Actor
from portal.lib.jobs import enqueue, job, periodic
from users.operations.cadences import enqueue_cadence_learning, learn_cadences
from users.operations.demo import LOAD_JOB, load_demo_source
from users.operations.demo_sources import enqueue_due_expiries, expire_demo_user
from users.operations.grants import delete_grant, revoke_grant
from users.operations.import_files import sweep_orphan_imports
from users.operations.imports import IMPORT_JOB, fail_import, run_import
from users.operations.link_sessions import remove_old_link_sessions
from users.operations.pausing import enqueue_due_pauses, pause_sources
from users.operations.pulling import enqueue_due_pulls, fail_pulls, run_pulls
from users.operations.pulls import remove_old_pulls
from users.operations.refresh import remove_old_refreshes
from users.operations.silences import notify_silent_sources
from users.operations.summaries import remove_old_arrivals
from users.operations.user_export import (
    EXPORT_JOB,
    fail_export,
    remove_old_exports,
    run_export,
)
from users.operations.users import enqueue_due_erasures, erase_user
from users.wearables.partitions import ensure_months_ahead

SWEEPS = Actor.system("users.sweep")
DEMO = Actor.system("demo")
PULLS = Actor.system("users.pull")


@job("users.erase")
def erase_due_user(*, tenant_pk: int, **inputs: Any) -> None:
    """Erase the user `user_id`, if the deletion can no longer be undone."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    erase_user(tenant=tenant, actor=SWEEPS, user_uuid=UUID(inputs["user_id"]))


@job("users.pause")
def pause_due_sources(*, tenant_pk: int, **inputs: Any) -> None:
    """Pause the connections of the user `user_id`, if ingestion has ended."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    pause_sources(tenant=tenant, actor=SWEEPS, user_uuid=UUID(inputs["user_id"]))


@job(LOAD_JOB)
def store_demo_data(*, tenant_pk: int, **inputs: Any) -> None:
    """Store the data of a demo person's source."""
    load_demo_source(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        actor=DEMO,
        user_uuid=UUID(inputs["user_id"]),
        provider=inputs["provider"],
        quiet_days=inputs["quiet_days"],
    )


@job("users.expire_demo_user")
def delete_expired_demo_user(*, tenant_pk: int, **inputs: Any) -> None:
    """Delete the demo user `user_id`, if it has expired."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    expire_demo_user(tenant=tenant, actor=SWEEPS, user_uuid=UUID(inputs["user_id"]))


@periodic("17 * * * *", "users.sweep")
def enqueue_due_jobs() -> None:
    """Enqueue due erasures, pauses and demo expiries; hourly."""
    enqueue_due_erasures()
    enqueue_due_pauses()
    enqueue_due_expiries()


@periodic("43 3 * * *", "users.remove_old_arrivals")
def remove_expired_arrivals() -> None:
    """Delete old arrivals, pulls and refreshes; daily."""
    remove_old_arrivals()
    remove_old_pulls()
    remove_old_refreshes()


@periodic("53 3 * * *", "users.remove_old_links")
def remove_expired_links() -> None:
    """Delete links that ended long ago; daily."""
    remove_old_link_sessions()


@periodic("23 2 * * *", "users.ensure_months")
def create_month_partitions() -> None:
    """Create the month partitions that samples will need soon; daily."""
    ensure_months_ahead()


@job("users.learn_cadences")
def learn_tenant_cadences(*, tenant_pk: int, **_inputs: Any) -> None:
    """Learn from a tenant's arrivals how often data comes."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    learn_cadences(tenant=tenant)


@periodic("*/10 * * * *", "users.enqueue_learning")
def schedule_cadence_learning() -> None:
    """Enqueue learning every ten minutes; queries.silence needs it hourly."""
    enqueue_cadence_learning()


@periodic("28 * * * *", "users.tell_silences")
def notify_of_silent_sources() -> None:
    """Post a notice for each source that went silent; hourly."""
    notify_silent_sources(at=timezone.now())


def _fail_open_pulls(*, tenant_pk: int, **inputs: Any) -> None:
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    fail_pulls(tenant=tenant, actor=PULLS, connection_pk=inputs["connection_pk"])


@job("users.pull", on_give_up=_fail_open_pulls)
def pull_connection(*, tenant_pk: int, **inputs: Any) -> None:
    """Run the open pulls of the connection `connection_pk`; enqueue the rest."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    connection_pk = inputs["connection_pk"]
    wait = run_pulls(tenant=tenant, actor=PULLS, connection_pk=connection_pk)
    if wait is not None:
        enqueue(
            "users.pull",
            tenant=tenant,
            lock=f"users.pull:{connection_pk}",
            after=wait,
            connection_pk=connection_pk,
        )


@periodic("*/15 * * * *", "users.enqueue_due_pulls")
def schedule_due_pulls() -> None:
    """Enqueue pulls of the cloud sources that are due; every 15 minutes."""
    enqueue_due_pulls()


def _delete_unrevoked_grant(*, tenant_pk: int, **inputs: Any) -> None:
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    delete_grant(tenant=tenant, connection_pk=inputs["connection_pk"])


@job("users.revoke", on_give_up=_delete_unrevoked_grant)
def revoke_connection_grant(*, tenant_pk: int, **inputs: Any) -> None:
    """Revoke the grant of the ended connection `connection_pk` at its source."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    connection_pk = inputs["connection_pk"]
    wait = revoke_grant(tenant=tenant, connection_pk=connection_pk)
    if wait is not None:
        enqueue("users.revoke", tenant=tenant, after=wait, connection_pk=connection_pk)


def fail_abandoned_import(*, tenant_pk: int, job_id: str) -> None:
    """Mark an import as failed after all its runs failed."""
    fail_import(tenant_pk=tenant_pk, job_id=UUID(job_id))


# A queue of its own, so that workers can be set aside for it: it may take minutes.
@job(IMPORT_JOB, queue="imports", on_give_up=fail_abandoned_import)
def import_uploaded_file(*, tenant_pk: int, job_id: str) -> None:
    """Import an uploaded file of a user's data."""
    run_import(tenant_pk=tenant_pk, job_id=UUID(job_id))


@periodic("50 3 * * *", "users.sweep_orphan_imports")
def remove_orphan_import_files() -> None:
    """Delete files that no import refers to; daily."""
    sweep_orphan_imports()


def fail_abandoned_export(*, tenant_pk: int, export_id: str) -> None:
    """Mark an export as failed after all its runs failed."""
    tenant = Tenant.objects.get(pk=tenant_pk)
    fail_export(tenant=tenant, export_id=UUID(export_id))


# With the imports: both may take minutes.
@job(EXPORT_JOB, queue="imports", on_give_up=fail_abandoned_export)
def create_user_export(*, tenant_pk: int, export_id: str) -> None:
    """Create an archive of all data about a user."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    run_export(tenant=tenant, export_id=UUID(export_id))


@periodic("57 3 * * *", "users.remove_old_exports")
def remove_expired_exports() -> None:
    """Delete expired archives; daily."""
    remove_old_exports()
