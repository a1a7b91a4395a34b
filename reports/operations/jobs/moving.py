"""Move a report that is not signed to another order, or detach it from its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from accounts.states import CheckMode
from labs.operations.order_status.status import lock_order
from portal.lib.errors import DomainError
from reports.models import ParsingJob, ReportResult, Review
from reports.operations.jobs.holds import lock_job_and_open_review
from reports.operations.jobs.status import send_parsing_job_event
from reports.operations.jobs.submission import (
    get_order_for_report,
    require_clinician_review_enabled,
)
from reports.operations.orders.comparing import has_ordered_row
from reports.operations.review.reviews import (
    build_initial_review_rows,
    open_report_review,
    validate_review_reason,
)
from reports.queries.intake import (
    get_check_mode,
    list_order_findings,
    list_patient_findings,
    select_hold_reasons,
)
from reports.states import (
    ORDER_REASONS,
    PATIENT_REASONS,
    HoldReason,
    ParsingJobStatus,
    ReviewStatus,
)

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Order
    from portal.lib.actor import Actor

# Checks whose outcome depends on the order.
_OF_ORDER = {*PATIENT_REASONS.values(), *ORDER_REASONS}


@transaction.atomic
def move_report_to_order(
    *,
    tenant: Tenant,
    actor: Actor,
    job_id: UUID,
    order_id: UUID | None,
    reason: str,
) -> ParsingJob:
    """Move a report that waits for review to an order of its user; None detaches it.

    It is checked against the new order, which may hold it again, and what a reviewer
    decided about its identity or its missing results is forgotten. Its rows stay as
    they were reviewed. On its order already: nothing changes. Raises: not_found (404);
    reason_missing, reason_too_long; report_not_in_review, as of one that is signed;
    report_on_order_already, where the order has a report of the same file; as
    get_order_for_report; human_review_unavailable. Source: Ours.
    """
    why = validate_review_reason(reason)
    job, review = lock_job_and_open_review(tenant=tenant, job_id=job_id)
    if job.status != ParsingJobStatus.PENDING_REVIEW:
        raise DomainError(
            "report_not_in_review",
            _("Only a report that is pending review can be moved."),
        )
    if job.order_id == order_id:
        return job
    before, order = job.order_id, None
    if order_id is not None:
        require_clinician_review_enabled(tenant)
        order = get_order_for_report(
            tenant=tenant, order_id=order_id, user_uuid=job.user.uuid
        )
        _require_no_same_report(job, order)
        job.needs_human_review = True
    job.order = order
    _check_again(job)
    job.save(update_fields=["order", "needs_human_review", "findings", "hold_reasons"])
    if review is not None:
        open_reviews = Review.objects.for_tenant(tenant).filter(
            job=job, status=ReviewStatus.OPEN
        )
        open_reviews.update(identity_decided="", not_performed=[])
    elif order is not None:
        rows = ReportResult.objects.for_tenant(tenant).filter(job=job, version=0)
        open_report_review(
            job=job,
            rows=build_initial_review_rows(rows.order_by("position")),
            notes=job.notes or [],
        )
    send_parsing_job_event(job, "updated")
    record_change(
        tenant=tenant,
        actor=actor,
        verb="move_report" if order else "detach_report",
        subject="parsing_job",
        subject_id=job.id,
        user_uuid=job.user.uuid,
        changes={
            "order": [
                str(before) if before else None,
                str(order.pk) if order else None,
            ],
            "why": why,
        },
    )
    return job


def _require_no_same_report(job: ParsingJob, order: Order) -> None:
    lock_order(order)
    jobs = ParsingJob.objects.for_tenant(job.tenant).filter(
        order=order, sha256=job.sha256
    )
    if jobs.exclude(status=ParsingJobStatus.FAILED).exclude(pk=job.pk).exists():
        raise DomainError(
            "report_on_order_already",
            _("This order has a report of the same file."),
            "order_id",
        )


def _check_again(job: ParsingJob) -> None:
    """Set what the checks find against a report on the order that it has now."""
    metadata = job.metadata or {}
    rows = ReportResult.objects.for_tenant(job.tenant).filter(job=job, version=0)
    found = set(list_patient_findings(job=job, metadata=metadata))
    found |= set(
        list_order_findings(
            job=job, metadata=metadata, has_ordered_row=has_ordered_row(job, rows)
        )
    )
    found = {one for one in found if get_check_mode(job.tenant, one) != CheckMode.OFF}
    held = set(select_hold_reasons(job.tenant, found))
    job.findings = _join(job.findings, found)
    job.hold_reasons = _join(job.hold_reasons, held)


def _join(known: list[str], found: set[HoldReason]) -> list[str]:
    """Return known codes with those of the order replaced, in the order of the enum."""
    kept = {code for code in known if code not in _OF_ORDER}
    return [str(code) for code in HoldReason if code in kept or code in found]
