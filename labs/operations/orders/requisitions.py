"""Requisitions: send orders to the lab, at once or on their start date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from labs.models import Order
from labs.operations.gateways import get_lab_gateway
from labs.operations.order_status.approval_gate import awaits_approval
from labs.operations.order_status.status import advance_order, lock_order
from labs.operations.orders.requisition_watches import enqueue_requisition_mails
from labs.queries.orders.history import find_last_known_order_status
from labs.queries.orders.orders import orders_with_details
from labs.states.catalogue import COMMENT_LABS
from labs.states.order_queues import AWAITS_REQUISITION
from labs.states.orders import split_order_status
from portal.lib.errors import DomainError
from portal.lib.jobs.jobs import enqueue_job

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Lab, LabAccount
    from portal.lib.actor import Actor

REQUISITION_JOB = "labs.make_requisition"


def build_requisition_comment(
    *, lab: Lab, account: LabAccount | None, comments: str
) -> str:
    """Return an order's comment after its account's default notes.

    Empty at labs that take none. Source: Specification 8; contract 6.1, 6.4
    (`default_clinical_notes`).
    """
    if lab.slug not in COMMENT_LABS:
        return ""
    default = account.default_clinical_notes if account else ""
    return "\n".join(text for text in (default.strip(), comments.strip()) if text)


def enqueue_requisition(order: Order) -> None:
    """Enqueue an order's requisition if it is due (contract 6.12).

    The sandbox waits for simulation, but for a lab that reports by document; a
    scheduled order waits for its day, one that a physician must approve for that.
    """
    account = order.lab_account
    is_simulated = order.tenant.is_sandbox and not (
        account is not None and account.reports_by_document
    )
    starts_later = order.activate_by and order.activate_by > timezone.now().date()
    if not (is_simulated or starts_later or awaits_approval(order)):
        enqueue_job(
            REQUISITION_JOB,
            tenant=order.tenant,
            lock=f"order-{order.pk}",
            order_id=str(order.pk),
        )


def create_requisition(*, tenant: Tenant, actor: Actor, order_id: UUID) -> None:
    """Send an order to its lab and advance it; do nothing if already advanced.

    A kit keeps the sample id that is printed on it. Raises: LabUnavailable (nothing was
    written; the job runs again); sample_id_taken. Source: Contract 6.12.
    """
    order = orders_with_details(tenant=tenant).filter(pk=order_id).first()
    if order is None:
        return
    order.tenant = tenant
    if not _awaits_requisition(order):
        return
    # The lab gets the comment that the requisition will print.
    order.requisition_comment = _requisition_comment(order)
    # The lab responds before the transaction that stores its response.
    answer = get_lab_gateway(tenant, order.lab_account).request_requisition(order)
    with transaction.atomic():
        order = lock_order(order)
        if _awaits_requisition(order):
            _store_requisition(order, actor, order.sample_id or answer.sample_id)
            if answer.queue is not None:
                answer.queue()


def _awaits_requisition(order: Order) -> bool:
    low = split_order_status(find_last_known_order_status(order)).low
    is_next = low in AWAITS_REQUISITION and not order.moved_from
    return is_next and not awaits_approval(order)


def _requisition_comment(order: Order) -> str:
    return build_requisition_comment(
        lab=order.lab, account=order.lab_account, comments=order.comments
    )


def _store_requisition(order: Order, actor: Actor, sample_id: str) -> None:
    try:
        with transaction.atomic():
            advance_order(
                order=order,
                actor=actor,
                to="requisition_created",
                changes={
                    "sample_id": sample_id,
                    "requisition_issued_at": timezone.now(),
                    "requisition_comment": _requisition_comment(order),
                },
            )
    except IntegrityError:
        raise DomainError(
            "sample_id_taken",
            _("The lab assigned a sample ID that another order already has."),
        ) from None
    enqueue_requisition_mails(order)


def enqueue_due_requisitions() -> int:
    """Enqueue requisitions of scheduled orders whose start date has come.

    Over all tenants; returns how many. Source: Contract 6.6 (`activate_by`).
    """
    due = (
        Order.unscoped.select_related("tenant")
        .filter(
            activate_by__lte=timezone.now().date(),
            status__endswith=".ordered",
            moved_from="",
            user__deleted_at=None,
        )
        .iterator(chunk_size=500)
    )
    number = 0
    for order in due:
        enqueue_requisition(order)
        number += 1
    return number
