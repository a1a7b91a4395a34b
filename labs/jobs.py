"""The jobs of labs: each calls one operation.

Must not be here: the work itself.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import Tenant
from labs.operations.appointment_upkeep import (
    SETTLE_JOB,
    complete_visits,
    forget_sandbox_visits,
    keep_visits,
    release,
    settle_visit,
)
from labs.operations.appointments import RELEASE_JOB
from labs.operations.call_offs import CALL_OFF_JOB, call_off
from labs.operations.critical import (
    MAIL_JOB,
    escalate_critical,
    hand_over_mail,
    mail_critical,
)
from labs.operations.inbound_files import (
    TAKE_JOB,
    enqueue_waiting_files,
    take_files,
)
from labs.operations.patient_notices import (
    SEND_JOB,
    give_up_notices,
    send_waiting_notices,
)
from labs.operations.requisition_watches import READY_JOB, mail_requisition
from labs.operations.requisitions import (
    REQUISITION_JOB,
    enqueue_due_requisitions,
    make_requisition,
)
from labs.operations.simulation import SIMULATE_JOB, unpack_flags, walk_order
from portal.lib.actor import Actor
from portal.lib.jobs import job, periodic


@job(REQUISITION_JOB)
def requisition(*, tenant_pk: int, order_id: str) -> None:
    """Announce an order to its lab."""
    make_requisition(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        actor=Actor.system(REQUISITION_JOB),
        order_id=UUID(order_id),
    )


@job(READY_JOB)
def requisition_mail(*, tenant_pk: int, order_id: str) -> None:
    """Mail those who wait for an order's requisition."""
    mail_requisition(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        order_id=UUID(order_id),
    )


def _give_up_notices(*, tenant_pk: int, order_id: str) -> None:
    give_up_notices(tenant=Tenant.objects.get(pk=tenant_pk), order_id=order_id)


@job(SEND_JOB, on_give_up=_give_up_notices)
def send_notices(*, tenant_pk: int, order_id: str) -> None:
    """Send what a patient is to be told of an order."""
    send_waiting_notices(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        order_id=order_id,
    )


@job(CALL_OFF_JOB)
def tell_of_call_off(*, tenant_pk: int, order_id: str) -> None:
    """Tell an order's lab that it was called off."""
    call_off(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        order_id=UUID(order_id),
    )


@job(TAKE_JOB)
def take_hl7(*, tenant_pk: int, lab_slug: str, account_id: str | None) -> None:
    """Take the files that a lab has dropped into one folder."""
    take_files(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        actor=Actor.system(TAKE_JOB),
        lab_slug=lab_slug,
        account_id=UUID(account_id) if account_id else None,
    )


@periodic("* * * * *", "labs.look_for_hl7")
def look_for_hl7() -> None:
    """Look for files that labs have dropped."""
    enqueue_waiting_files()


@job(SIMULATE_JOB)
def simulate(
    *,
    tenant_pk: int,
    order_id: str,
    final_status: str,
    flags: dict[str, Any] | None = None,
) -> None:
    """Walk a sandbox order after its delay."""
    walk_order(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        actor=Actor.system(SIMULATE_JOB),
        order_id=UUID(order_id),
        goal=final_status,
        flags=unpack_flags(flags or {}),
    )


@periodic("5 0 * * *", "labs.start_scheduled")
def start_scheduled() -> None:
    """Start the orders whose day has come."""
    enqueue_due_requisitions()


def _hand_over(*, tenant_pk: int, alert_id: int, escalation: int) -> None:
    hand_over_mail(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        alert_id=alert_id,
        escalation=escalation,
    )


@job(MAIL_JOB, on_give_up=_hand_over)
def critical_mail(*, tenant_pk: int, alert_id: int, escalation: int) -> None:
    """Mail that a critical result waits."""
    mail_critical(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        alert_id=alert_id,
        escalation=escalation,
    )


@periodic("* * * * *", "labs.escalate_critical")
def escalate() -> None:
    """Tell more people of critical results whose limit has passed."""
    escalate_critical(at=timezone.now())


@job(RELEASE_JOB)
def release_visit(*, tenant_pk: int, reference: str) -> None:
    """Give a booking back to its provider."""
    release(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        reference=UUID(reference),
    )


@job(SETTLE_JOB)
def settle(*, tenant_pk: int, appointment_id: str) -> None:
    """Confirm a visit that waits, or give it up."""
    settle_visit(
        tenant=Tenant.objects.select_related("team").get(pk=tenant_pk),
        appointment_id=UUID(appointment_id),
    )


@periodic("* * * * *", "labs.keep_visits")
def keep() -> None:
    """Free holds that have ended, settle visits that wait."""
    keep_visits(at=timezone.now())


@periodic("15 * * * *", "labs.complete_visits")
def complete() -> None:
    """Complete the visits whose samples have reached the lab."""
    complete_visits(at=timezone.now())


@periodic("25 0 * * *", "labs.forget_sandbox_visits")
def forget() -> None:
    """Let the sandbox's provider forget."""
    forget_sandbox_visits(at=timezone.now())
