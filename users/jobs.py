"""Background jobs of the users app.

A job calls one operation.
"""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.models import Tenant
from portal.lib.actor import Actor
from portal.lib.jobs.jobs import enqueue_job, periodic_job, tenant_job
from users.demo.sandbox import LOAD_JOB, load_demo_source
from users.operations.connect.link_sessions import delete_ended_connect_links
from users.operations.connect.reconnect_mails import mail_user_about_broken_source
from users.operations.data.daily_totals import (
    TOTALS_JOB,
    enqueue_daily_totals,
    update_daily_totals_of_tenant,
)
from users.operations.data.summaries import delete_old_arrivals
from users.operations.demo_sources import enqueue_demo_user_expiries, expire_demo_user
from users.operations.imports.files import delete_orphan_import_files
from users.operations.imports.runs import (
    IMPORT_JOB,
    mark_health_data_import_failed,
    run_health_data_import,
)
from users.operations.imports.status import cancel_unconfirmed_imports
from users.operations.packing import pack_part_of_turn
from users.operations.phones.pairing import delete_old_pairing_codes
from users.operations.phones.uploads import (
    STORE_JOB,
    delete_old_uploads,
    fail_next_upload,
    store_next_upload,
)
from users.operations.pulling.pulling import (
    enqueue_due_source_pulls,
    fail_connection_pulls,
    run_connection_pulls,
)
from users.operations.pulling.pushed import delete_old_pushed_content
from users.operations.pulling.refresh import delete_old_refreshes
from users.operations.sources.budgets import delete_old_user_budgets
from users.operations.sources.bulk import delete_old_bulk_operations
from users.operations.sources.cadences import (
    enqueue_learning_of_data_intervals,
    update_usual_data_intervals,
)
from users.operations.sources.connections import RECONNECT_MAIL_JOB
from users.operations.sources.consents import CONSENT_JOB, check_connection_consent
from users.operations.sources.failure_notices import post_failed_source_notices
from users.operations.sources.gaps import (
    GAP_JOB,
    check_due_source_gaps,
    enqueue_due_gap_checks,
)
from users.operations.sources.grants import (
    delete_connection_tokens,
    revoke_grant_at_source,
)
from users.operations.sources.pausing import (
    enqueue_due_source_pauses,
    pause_sources_past_ingestion_end,
)
from users.operations.sources.pulls import delete_old_pulls
from users.operations.sources.silence_notices import post_silent_source_notices
from users.operations.users.export import (
    EXPORT_JOB,
    delete_old_user_exports,
    mark_user_export_failed,
    run_user_export,
)
from users.operations.users.users import enqueue_due_user_erasures, erase_user
from users.store.packed.candidates import PARTS
from users.store.partitions import ensure_upcoming_sample_partitions

SWEEPS = Actor.system("users.sweep")
DEMO = Actor.system("demo")
PULLS = Actor.system("users.pull")


@tenant_job("users.erase")
def erase_due_user(*, tenant_pk: int, **inputs: Any) -> None:
    """Erase the user `user_id`, if the deletion can no longer be undone."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    erase_user(tenant=tenant, actor=SWEEPS, user_uuid=UUID(inputs["user_id"]))


@tenant_job("users.pause")
def pause_user_sources_after_ingestion(*, tenant_pk: int, **inputs: Any) -> None:
    """Pause the connections of the user `user_id`, if ingestion has ended."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    pause_sources_past_ingestion_end(
        tenant=tenant, actor=SWEEPS, user_uuid=UUID(inputs["user_id"])
    )


@tenant_job(LOAD_JOB)
def store_demo_source_data(*, tenant_pk: int, **inputs: Any) -> None:
    """Store the data of a demo person's source."""
    load_demo_source(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        actor=DEMO,
        user_uuid=UUID(inputs["user_id"]),
        provider=inputs["provider"],
        quiet_days=inputs["quiet_days"],
        earlier_days=inputs.get("earlier_days", 0),
    )


@tenant_job("users.expire_demo_user")
def delete_expired_demo_user(*, tenant_pk: int, **inputs: Any) -> None:
    """Delete the demo user `user_id`, if it has expired."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    expire_demo_user(tenant=tenant, actor=SWEEPS, user_uuid=UUID(inputs["user_id"]))


@periodic_job("17 * * * *", "users.sweep")
def enqueue_due_erasures_pauses_and_expiries() -> None:
    """Enqueue due erasures, pauses and demo expiries; hourly."""
    enqueue_due_user_erasures()
    enqueue_due_source_pauses()
    enqueue_demo_user_expiries()


@periodic_job("43 3 * * *", "users.remove_old_arrivals")
def delete_old_arrivals_pulls_and_refreshes() -> None:
    """Delete old records of how data came, and of bulk operations; daily."""
    delete_old_pushed_content()
    delete_old_arrivals()
    delete_old_pulls()
    delete_old_refreshes()
    delete_old_user_budgets()
    delete_old_bulk_operations()


@periodic_job("53 3 * * *", "users.remove_old_links")
def delete_old_connect_links() -> None:
    """Delete links that ended long ago; daily."""
    delete_ended_connect_links()


@periodic_job("23 2 * * *", "users.ensure_months")
def create_upcoming_sample_partitions() -> None:
    """Create the month partitions that samples will need soon; daily."""
    ensure_upcoming_sample_partitions()


def pack_closed_days_of_samples(number: int) -> None:
    """Pack closed days of samples, if PACK_SAMPLES says so; hourly, a user daily."""
    if settings.PACK_SAMPLES:
        pack_part_of_turn(now=timezone.now(), number=number)


# One job would keep one processor busy, however many workers there are.
for _number in range(PARTS):
    periodic_job("7 * * * *", f"users.pack_days_{_number}", queue="packing")(
        partial(pack_closed_days_of_samples, _number)
    )


@tenant_job("users.learn_cadences")
def learn_usual_data_intervals(*, tenant_pk: int, **_inputs: Any) -> None:
    """Update how often each source of a tenant usually sends data."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    update_usual_data_intervals(tenant=tenant)


@periodic_job("*/10 * * * *", "users.enqueue_learning")
def schedule_learning_of_data_intervals() -> None:
    """Enqueue learning every ten minutes; queries.silence needs it hourly."""
    enqueue_learning_of_data_intervals()


@periodic_job("28 * * * *", "users.tell_silences")
def notify_of_sources_that_stopped_sending() -> None:
    """Post a notice for each source that stopped sending data; hourly."""
    post_silent_source_notices(at=timezone.now())


@periodic_job("33 * * * *", "users.notify_failures")
def notify_of_failed_sources() -> None:
    """Post a notice for each source that users have to connect again; hourly."""
    post_failed_source_notices(at=timezone.now())


@tenant_job(RECONNECT_MAIL_JOB)
def mail_user_to_connect_again(*, tenant_pk: int, **inputs: Any) -> None:
    """Mail the user of the broken connection `connection_pk` a link to sign in."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    mail_user_about_broken_source(tenant=tenant, connection_pk=inputs["connection_pk"])


def _fail_open_pulls(*, tenant_pk: int, **inputs: Any) -> None:
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    fail_connection_pulls(
        tenant=tenant, actor=PULLS, connection_pk=inputs["connection_pk"]
    )


@tenant_job("users.pull", on_give_up=_fail_open_pulls)
def pull_connection_data(*, tenant_pk: int, **inputs: Any) -> None:
    """Run the open pulls of the connection `connection_pk`; enqueue the rest."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    connection_pk = inputs["connection_pk"]
    wait = run_connection_pulls(tenant=tenant, actor=PULLS, connection_pk=connection_pk)
    if wait is not None:
        enqueue_job(
            "users.pull",
            tenant=tenant,
            lock=f"users.pull:{connection_pk}",
            after=wait,
            connection_pk=connection_pk,
        )


@tenant_job(CONSENT_JOB)
def check_consent_at_source(*, tenant_pk: int, **inputs: Any) -> None:
    """Ask the source of the connection `connection_pk` what is still granted."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    check_connection_consent(
        tenant=tenant, actor=PULLS, connection_pk=inputs["connection_pk"]
    )


@periodic_job("*/15 * * * *", "users.enqueue_due_pulls")
def schedule_due_source_pulls_and_gap_checks() -> None:
    """Enqueue pulls and gap checks of cloud sources that are due; every 15 minutes."""
    enqueue_due_source_pulls()
    enqueue_due_gap_checks()


@tenant_job(GAP_JOB)
def check_source_gaps(*, tenant_pk: int, **_inputs: Any) -> None:
    """Check the sources of a tenant for gaps; enqueue the rest."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    if check_due_source_gaps(tenant=tenant):
        enqueue_job(GAP_JOB, tenant=tenant, lock=f"{GAP_JOB}:{tenant_pk}")


def _delete_unrevoked_grant(*, tenant_pk: int, **inputs: Any) -> None:
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    delete_connection_tokens(tenant=tenant, connection_pk=inputs["connection_pk"])


@tenant_job("users.revoke", on_give_up=_delete_unrevoked_grant)
def revoke_connection_grant(*, tenant_pk: int, **inputs: Any) -> None:
    """Revoke the grant of the ended connection `connection_pk` at its source."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    connection_pk = inputs["connection_pk"]
    wait = revoke_grant_at_source(tenant=tenant, connection_pk=connection_pk)
    if wait is not None:
        enqueue_job(
            "users.revoke", tenant=tenant, after=wait, connection_pk=connection_pk
        )


def fail_abandoned_health_data_import(*, tenant_pk: int, job_id: str) -> None:
    """Mark an import as failed after all its runs failed."""
    mark_health_data_import_failed(tenant_pk=tenant_pk, job_id=UUID(job_id))


# A queue of its own, so that workers can be set aside for it: it may take minutes.
@tenant_job(IMPORT_JOB, queue="imports", on_give_up=fail_abandoned_health_data_import)
def import_uploaded_health_data(*, tenant_pk: int, job_id: str) -> None:
    """Import an uploaded file of a user's data."""
    run_health_data_import(tenant_pk=tenant_pk, job_id=UUID(job_id))


@periodic_job("50 3 * * *", "users.sweep_orphan_imports")
def remove_orphan_import_files() -> None:
    """Cancel unconfirmed imports, and delete files that no import refers to; daily."""
    cancel_unconfirmed_imports()
    delete_orphan_import_files()


def fail_abandoned_user_export(*, tenant_pk: int, export_id: str) -> None:
    """Mark an export as failed after all its runs failed."""
    tenant = Tenant.objects.get(pk=tenant_pk)
    mark_user_export_failed(tenant=tenant, export_id=UUID(export_id))


# With the imports: both may take minutes.
@tenant_job(EXPORT_JOB, queue="imports", on_give_up=fail_abandoned_user_export)
def create_user_export(*, tenant_pk: int, export_id: str) -> None:
    """Create an archive of all data about a user."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    run_user_export(tenant=tenant, export_id=UUID(export_id))


@periodic_job("57 3 * * *", "users.remove_old_exports")
def delete_expired_user_exports() -> None:
    """Delete expired archives; daily."""
    delete_old_user_exports()


def _give_up_upload(*, tenant_pk: int, **inputs: Any) -> None:
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    fail_next_upload(tenant=tenant, user_pk=inputs["user_pk"])


@tenant_job(STORE_JOB, on_give_up=_give_up_upload)
def store_phone_uploads(*, tenant_pk: int, **inputs: Any) -> None:
    """Store the oldest batch that waits of the user `user_pk`; enqueue the rest."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    store_next_upload(tenant=tenant, user_pk=inputs["user_pk"])


@periodic_job("44 * * * *", "users.remove_phone_rows")
def delete_old_phone_rows() -> None:
    """Delete ended pairing codes, and old batches and pieces of phones; hourly."""
    delete_old_pairing_codes()
    delete_old_uploads()


@periodic_job("*/10 * * * *", "users.enqueue_daily_totals")
def schedule_daily_totals() -> None:
    """Enqueue totals of days where samples arrived; every ten minutes."""
    enqueue_daily_totals()


@tenant_job(TOTALS_JOB)
def update_totals_of_days(*, tenant_pk: int, **_inputs: Any) -> None:
    """Work out the activity of a tenant's users whose samples arrived lately."""
    tenant = Tenant.objects.select_related("team").get(pk=tenant_pk)
    update_daily_totals_of_tenant(tenant=tenant)
