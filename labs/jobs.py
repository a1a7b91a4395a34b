"""Background jobs of labs: each calls one operation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import Tenant
from labs.operations.appointments.booking import RELEASE_JOB, SITE_MAIL_JOB
from labs.operations.appointments.site_confirmation import mail_visit_to_site
from labs.operations.appointments.upkeep import (
    SETTLE_JOB,
    cancel_unused_booking_at_provider,
    complete_collected_appointments,
    confirm_or_cancel_unconfirmed_appointment,
    delete_old_sandbox_bookings,
    release_expired_holds_and_check_appointments,
)
from labs.operations.connections.answers import delete_ended_messages
from labs.operations.connections.files import (
    enqueue_file_exchanges,
    exchange_hl7_files,
)
from labs.operations.documents.lab_documents import (
    CHECK_JOB,
    delete_orphan_lab_documents,
    refuse_unreadable_lab_document,
)
from labs.operations.inbound.files import (
    TAKE_JOB,
    enqueue_hl7_folders_having_files,
    process_files_of_hl7_folder,
)
from labs.operations.inbound.unchecked_reports import open_alerts_of_unchecked_reports
from labs.operations.order_status.lab_cancellations import (
    CALL_OFF_JOB,
    cancel_order_at_lab,
)
from labs.operations.order_status.patient_notices import (
    SEND_JOB,
    mark_queued_notices_refused,
    send_queued_notices,
)
from labs.operations.orders.order_counts import fold_order_counts
from labs.operations.orders.requisition_watches import (
    READY_JOB,
    mail_requisition_subscribers,
)
from labs.operations.orders.requisitions import (
    REQUISITION_JOB,
    create_requisition,
    enqueue_due_requisitions,
)
from labs.operations.outbound import EXCHANGE_JOB
from labs.operations.physicians.waiting_notices import post_approval_notices
from labs.operations.results.critical import (
    MAIL_JOB,
    escalate_overdue_alerts,
    mail_critical_alert,
    post_failed_critical_mail_notice,
)
from labs.operations.results_out import (
    RESULTS_JOB,
    check_and_send_lab_document,
    enqueue_unsent_results,
    queue_new_results,
)
from labs.operations.shipments.couriers import delete_old_courier_messages
from labs.operations.simulation.orders import (
    SIMULATE_JOB,
    advance_order_to_goal,
    decode_simulation_flags,
)
from portal.lib.actor import Actor
from portal.lib.jobs.jobs import periodic_job, tenant_job


@tenant_job(REQUISITION_JOB)
def request_requisition_from_lab(*, tenant_pk: int, order_id: str) -> None:
    """Send an order to its lab."""
    create_requisition(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        actor=Actor.system(REQUISITION_JOB),
        order_id=UUID(order_id),
    )


@tenant_job(READY_JOB)
def run_requisition_ready_mail_job(*, tenant_pk: int, order_id: str) -> None:
    """Mail the subscribers of an order's requisition."""
    mail_requisition_subscribers(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        order_id=UUID(order_id),
    )


@tenant_job(SITE_MAIL_JOB)
def run_site_mail_job(*, tenant_pk: int, appointment_id: str) -> None:
    """Mail a service center the visit that it is asked to confirm."""
    mail_visit_to_site(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        appointment_id=UUID(appointment_id),
    )


def _mark_notices_refused(*, tenant_pk: int, order_id: str) -> None:
    mark_queued_notices_refused(
        tenant=Tenant.objects.get(pk=tenant_pk), order_id=order_id
    )


@tenant_job(SEND_JOB, on_give_up=_mark_notices_refused)
def send_patient_notices(*, tenant_pk: int, order_id: str) -> None:
    """Send an order's queued notices to its patient."""
    send_queued_notices(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        order_id=order_id,
    )


@tenant_job(CALL_OFF_JOB)
def run_lab_cancellation_job(*, tenant_pk: int, order_id: str) -> None:
    """Cancel an order at its lab."""
    cancel_order_at_lab(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        order_id=UUID(order_id),
    )


@tenant_job(TAKE_JOB)
def process_hl7_folder(
    *, tenant_pk: int, lab_slug: str, account_id: str | None
) -> None:
    """Process the files a lab placed in one folder."""
    process_files_of_hl7_folder(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        actor=Actor.system(TAKE_JOB),
        lab_slug=lab_slug,
        account_id=UUID(account_id) if account_id else None,
    )


@periodic_job("*/5 * * * *", "labs.notify_physicians")
def notify_physicians_of_waiting_orders() -> None:
    """Post notices to physicians who have orders to approve."""
    post_approval_notices(at=timezone.now())


@periodic_job("* * * * *", "labs.look_for_hl7")
def enqueue_hl7_folders_with_files() -> None:
    """Enqueue the folders that have files from labs."""
    enqueue_hl7_folders_having_files()


@periodic_job("* * * * *", "labs.check_unmatched")
def run_unchecked_report_check() -> None:
    """Open alerts of critical results in reports that were never searched for them."""
    open_alerts_of_unchecked_reports()


def _refuse_lab_document(*, tenant_pk: int, document_id: str) -> None:
    refuse_unreadable_lab_document(
        tenant=Tenant.objects.get(pk=tenant_pk), document_id=UUID(document_id)
    )


@tenant_job(CHECK_JOB, on_give_up=_refuse_lab_document)
def run_lab_document_check(*, tenant_pk: int, document_id: str) -> None:
    """Scan and open a document that a lab sent."""
    check_and_send_lab_document(
        tenant=Tenant.objects.get(pk=tenant_pk), document_id=UUID(document_id)
    )


@periodic_job("36 * * * *", "labs.fold_counts")
def fold_changes_of_order_counts() -> None:
    """Make one row of the changes that count orders; hourly."""
    fold_order_counts()


@periodic_job("50 2 * * *", "labs.sweep_documents")
def run_orphan_lab_document_cleanup() -> None:
    """Delete files of labs' documents that no row names."""
    delete_orphan_lab_documents()


@tenant_job(EXCHANGE_JOB)
def exchange_files_of_connection(*, tenant_pk: int, connection_id: str) -> None:
    """Send and receive the files of one connection."""
    exchange_hl7_files(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        actor=Actor.system(EXCHANGE_JOB),
        connection_id=UUID(connection_id),
    )


@periodic_job("* * * * *", "labs.look_for_hl7_connections")
def enqueue_connections_with_files() -> None:
    """Enqueue visits of SFTP servers, and of folders that messages wait for."""
    enqueue_file_exchanges()


@tenant_job(RESULTS_JOB)
def queue_results_for_own_system(*, tenant_pk: int, order_id: str) -> None:
    """Queue an order's new results for the team's own system."""
    queue_new_results(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        order_id=UUID(order_id),
    )


@periodic_job("*/5 * * * *", "labs.look_for_results")
def enqueue_results_not_queued() -> None:
    """Enqueue checked documents and left results for teams' own systems."""
    enqueue_unsent_results()


@periodic_job("50 0 * * *", "labs.hl7_cleanup")
def run_outbound_message_cleanup() -> None:
    """Delete messages that other systems answered long ago."""
    delete_ended_messages()


@tenant_job(SIMULATE_JOB)
def run_order_simulation_job(
    *,
    tenant_pk: int,
    order_id: str,
    final_status: str,
    flags: dict[str, Any] | None = None,
) -> None:
    """Advance a sandbox order after its delay."""
    advance_order_to_goal(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        actor=Actor.system(SIMULATE_JOB),
        order_id=UUID(order_id),
        goal=final_status,
        flags=decode_simulation_flags(flags or {}),
    )


@periodic_job("5 0 * * *", "labs.start_scheduled")
def start_scheduled_orders() -> None:
    """Start the orders whose start date has come."""
    enqueue_due_requisitions()


def _queue_critical_notice(*, tenant_pk: int, alert_id: int, escalation: int) -> None:
    post_failed_critical_mail_notice(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        alert_id=alert_id,
        escalation=escalation,
    )


@tenant_job(MAIL_JOB, on_give_up=_queue_critical_notice)
def run_critical_result_mail_job(
    *, tenant_pk: int, alert_id: int, escalation: int
) -> None:
    """Mail that a critical result needs acknowledgement."""
    mail_critical_alert(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        alert_id=alert_id,
        escalation=escalation,
    )


@periodic_job("* * * * *", "labs.escalate_critical")
def run_critical_alert_escalation() -> None:
    """Escalate critical results that nobody acknowledged in time."""
    escalate_overdue_alerts(at=timezone.now())


@tenant_job(RELEASE_JOB)
def cancel_booking_at_provider(*, tenant_pk: int, reference: str) -> None:
    """Cancel a booking at its provider."""
    cancel_unused_booking_at_provider(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        reference=UUID(reference),
    )


@tenant_job(SETTLE_JOB)
def run_confirm_or_cancel_appointment_job(
    *, tenant_pk: int, appointment_id: str
) -> None:
    """Confirm or cancel an unconfirmed appointment."""
    confirm_or_cancel_unconfirmed_appointment(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        appointment_id=UUID(appointment_id),
    )


@periodic_job("* * * * *", "labs.keep_visits")
def run_expired_hold_and_appointment_check() -> None:
    """Release expired slot holds and enqueue checks of unconfirmed appointments."""
    release_expired_holds_and_check_appointments(at=timezone.now())


@periodic_job("15 * * * *", "labs.complete_visits")
def run_collected_appointment_completion() -> None:
    """Complete appointments whose samples reached the lab."""
    complete_collected_appointments(at=timezone.now())


@periodic_job("40 * * * *", "labs.couriers")
def run_courier_message_cleanup() -> None:
    """Delete the digests of couriers' messages that can no longer be repeated."""
    delete_old_courier_messages(at=timezone.now())


@periodic_job("25 0 * * *", "labs.forget_sandbox_visits")
def run_sandbox_booking_cleanup() -> None:
    """Delete old bookings of the sandbox provider."""
    delete_old_sandbox_bookings(at=timezone.now())
