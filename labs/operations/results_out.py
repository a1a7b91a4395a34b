"""Send an order's results to a team's own system, as HL7 messages.

A job writes what an order has that was not queued yet: a fault of writing never stops a
lab's results from being stored. Each version of the results and each document of the
lab is one message, whose control id says which. Versions stored before the connection
was set up are sent only when somebody asks.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.gateways.hl7.results_out import (
    ResultsToSend,
    build_hl7_document_message,
    build_hl7_results_message,
)
from labs.models import Hl7OutboundMessage, LabDocument
from labs.operations.documents.lab_documents import (
    check_lab_document,
    read_lab_document,
)
from labs.operations.order_status.status import lock_order
from labs.operations.outbound import send_hl7_message
from labs.queries.connections import find_hl7_connection
from labs.queries.orders.orders import orders_with_details
from labs.queries.results.documents import list_lab_documents
from labs.queries.results.outgoing import (
    find_orders_with_unsent_results,
    format_document_control_id,
    format_results_control_id,
    list_control_ids_of_order,
)
from labs.queries.results.results import (
    compare_result_versions,
    get_result_identity_key,
    list_missing_results_of_version,
    list_result_versions,
    list_results_of_version,
)
from labs.states.lab_documents import LabDocumentStatus
from portal.lib.errors import DomainError, NotFound
from portal.lib.jobs.jobs import enqueue_job

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Hl7Connection, Order, ResultVersion
    from portal.lib.actor import Actor

RESULTS_JOB = "labs.send_results"
# What a job that failed has left is looked for this far back.
SEARCHED = timedelta(days=14)


def enqueue_results_message(order: Order) -> None:
    """Enqueue sending what is new of an order; nothing without a connection."""
    connection = find_hl7_connection(tenant=order.tenant, account=None)
    if connection is not None:
        _enqueue(order.tenant, order.pk)


def check_and_send_lab_document(*, tenant: Tenant, document_id: UUID) -> None:
    """Check a held document of a lab, then enqueue sending it to the own system.

    Raises: as check_lab_document.
    """
    check_lab_document(tenant=tenant, document_id=document_id)
    rows = LabDocument.objects.for_tenant(tenant).select_related("order")
    document = rows.filter(pk=document_id, status=LabDocumentStatus.AVAILABLE).first()
    if document is not None:
        document.order.tenant = tenant
        enqueue_results_message(document.order)


def enqueue_unsent_results() -> int:
    """Enqueue the orders whose latest results no job has queued; return how many.

    Over all tenants. Source: Ours: a job may end without having worked.
    """
    found = find_orders_with_unsent_results(since=timezone.now() - SEARCHED)
    for tenant, order_id in found:
        _enqueue(tenant, order_id)
    return len(found)


def _enqueue(tenant: Tenant, order_id: UUID) -> None:
    enqueue_job(
        RESULTS_JOB,
        tenant=tenant,
        lock=f"{RESULTS_JOB} {order_id}",
        order_id=str(order_id),
    )


@transaction.atomic
def queue_new_results(*, tenant: Tenant, order_id: UUID) -> int:
    """Queue the messages of an order that are not queued yet; return how many.

    Results of versions first to last, then the lab's documents. Raises:
    storage_unavailable (503).
    """
    found = _find_order(tenant, order_id)
    connection = find_hl7_connection(tenant=tenant, account=None)
    if found is None or connection is None:
        return 0
    lock_order(found)
    known = list_control_ids_of_order(connection=connection, order=found)
    since = connection.created_at
    versions = list_result_versions(order=found)[::-1]
    number = 0
    for before, version in zip([None, *versions], versions, strict=False):
        control_id = format_results_control_id(version)
        if version.created_at >= since and control_id not in known:
            _send_version(connection, found, version, before, control_id)
            number += 1
    for document in list_lab_documents(order=found):
        control_id = format_document_control_id(document)
        is_new = document.created_at >= since and control_id not in known
        if is_new and document.status == LabDocumentStatus.AVAILABLE:
            _send_document(connection, found, document, control_id)
            number += 1
    return number


@transaction.atomic
def resend_results(*, order: Order, actor: Actor) -> Hl7OutboundMessage:
    """Queue an order's current results again, under a new control id.

    Raises: own_system_not_found, results_not_found (404); results_waiting, while a
    message of them still waits to be sent. Source: Ours (spec silent).
    """
    connection = find_hl7_connection(tenant=order.tenant, account=None)
    if connection is None:
        raise _own_system_not_found()
    found = _find_order(order.tenant, order.pk)
    versions = list_result_versions(order=order)
    if found is None or not versions:
        raise NotFound("results_not_found", _("This order has no results yet."))
    lock_order(found)
    rows = Hl7OutboundMessage.objects.for_tenant(order.tenant)
    if rows.filter(connection=connection, order=found, status="queued").exists():
        raise DomainError(
            "results_waiting", _("A message of this order still waits to be sent.")
        )
    version, *earlier = versions
    first = format_results_control_id(version)
    known = list_control_ids_of_order(connection=connection, order=found)
    again = sum(one == first or one.startswith(f"{first}.") for one in known) + 1
    control_id = first if again == 1 else f"{first}.{again}"
    message = _send_version(
        connection, found, version, earlier[0] if earlier else None, control_id
    )
    record_change(
        tenant=order.tenant,
        actor=actor,
        verb="resend_results",
        subject="order",
        subject_id=order.pk,
        changes={"version": [None, version.number]},
    )
    return message


@transaction.atomic
def remove_own_system(*, tenant: Tenant, actor: Actor) -> None:
    """Remove the connection to a team's own system, with what waits to be sent.

    Raises: own_system_not_found (404). Source: Ours (spec silent).
    """
    connection = find_hl7_connection(tenant=tenant, account=None)
    if connection is None:
        raise _own_system_not_found()
    key = connection.pk
    connection.delete()
    record_change(
        tenant=tenant,
        actor=actor,
        verb="remove_own_system",
        subject="hl7_connection",
        subject_id=key,
    )


def _own_system_not_found() -> NotFound:
    return NotFound("own_system_not_found", _("No system of your own is connected."))


def _find_order(tenant: Tenant, order_id: UUID) -> Order | None:
    found: Order | None = orders_with_details(tenant=tenant).filter(pk=order_id).first()
    if found is not None:
        found.tenant = tenant
    return found


def _send_version(
    connection: Hl7Connection,
    order: Order,
    version: ResultVersion,
    before: ResultVersion | None,
    control_id: str,
) -> Hl7OutboundMessage:
    rows = list_results_of_version(version)
    gaps = list_missing_results_of_version(version)
    changes = compare_result_versions(before=before, after=version) if before else ()
    # A preliminary value that became another is not a correction.
    settled = [one for one in changes if one.before and not one.before.is_preliminary]
    missing = {get_result_identity_key(gap) for gap in gaps}
    results = ResultsToSend(
        order=order,
        version=version,
        rows=rows,
        gaps=gaps,
        samples=sorted(version.samples.all(), key=lambda one: one.sample_id),
        corrected=frozenset(
            get_result_identity_key(one.after) for one in settled if one.after
        ),
        withdrawn=frozenset(
            key
            for one in changes
            if one.before
            and not one.after
            and (key := get_result_identity_key(one.before)) in missing
        ),
        markers={marker.pk: marker for marker in order.placed.markers},
    )
    content = build_hl7_results_message(
        results, control_id=control_id, at=timezone.now()
    )
    return send_hl7_message(
        connection=connection, control_id=control_id, content=content, order=order
    )


def _send_document(
    connection: Hl7Connection, order: Order, document: LabDocument, control_id: str
) -> None:
    earlier = [
        one
        for one in list_lab_documents(order=order)
        if one.series == document.series and one.number < document.number
    ]
    content = build_hl7_document_message(
        order,
        content=read_lab_document(document).body,
        sub_id=str(earlier[0].number if earlier else document.number),
        is_correction=bool(earlier),
        control_id=control_id,
        at=timezone.now(),
    )
    send_hl7_message(
        connection=connection, control_id=control_id, content=content, order=order
    )
