"""Documents of an order: render them, and issue the requisition's link."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_read
from labs.documents.instructions import OrderNumbers, render_collection_instructions
from labs.documents.labels import LabelStock, render_specimen_labels
from labs.documents.links import LINK_TTL, verify_requisition_link_token
from labs.documents.requisition import RequisitionContent, render_requisition_pdf
from labs.documents.results import ReportContent, render_results_pdf
from labs.documents.sheet import Document
from labs.operations.catalogue.diagnoses import describe_diagnoses
from labs.operations.order_status.status import audit_order_change, lock_order
from labs.operations.orders.requisitions import build_requisition_comment
from labs.queries.orders.answers import list_order_answers
from labs.queries.orders.history import had_requisition_created
from labs.queries.orders.orders import get_order_with_details
from portal.lib.actor import Actor
from portal.lib.errors import DomainError, Invalid, NotFound
from portal.lib.periods import find_time_zone_by_name
from portal.lib.tenancy import acting_for
from portal.lib.web.links import build_absolute_url
from users.operations.users.languages import (
    find_mail_language,
    find_patient_language,
)

if TYPE_CHECKING:
    from datetime import date

    from labs.models import LabTest, Order
    from labs.queries.results.results import ResultSet

LABELS_AT_MOST = 90
LABELS_USUAL = 3  # Contract 6.16
LINK_ACTOR = "requisition_link"


def render_requisition_as_first_printed(order: Order) -> Document:
    """Return an order's requisition as first printed.

    Raises: requisition_not_found (404), before it is made and for imports. Source:
    Contract 6.16.
    """
    _require_requisition_created(order)
    return Document(
        _file_name("requisition", order),
        render_requisition_pdf(collect_requisition_content(order)),
    )


def collect_requisition_content(order: Order) -> RequisitionContent:
    """Collect the content of an order's requisition, created or not."""
    insured = (order.health_insurance or {}).get("diagnosis_codes") or ()
    codes = dict.fromkeys((*order.icd_codes, *insured))
    return RequisitionContent(
        order=order,
        ordered_at=order.created_at.astimezone(
            find_time_zone_by_name(order.tenant.team.time_zone)
        ),
        comment=get_requisition_comment(order),
        answers=list_order_answers(order),
        diagnoses=describe_diagnoses(tuple(codes)),
        url=_order_page_url(order),
    )


def render_order_specimen_labels(
    order: Order,
    *,
    collected_on: date,
    number: int = LABELS_USUAL,
    stock: LabelStock = LabelStock.SHEET,
) -> Document:
    """Render specimen labels of an order.

    Raises: requisition_not_found (404); labels_out_of_range (422). Source: Contract
    6.16; Ours: at most LABELS_AT_MOST.
    """
    _require_requisition_created(order)
    if not 1 <= number <= LABELS_AT_MOST:
        raise Invalid(
            "labels_out_of_range",
            _("Enter a number of labels from 1 to %(most)d.")
            % {"most": LABELS_AT_MOST},
            "number_of_labels",
            place="query",
        )
    body = render_specimen_labels(
        order, collected_on=collected_on, number=number, stock=stock
    )
    return Document(_file_name("labels", order), body)


def render_order_instructions(order: Order) -> Document:
    """Render the collection instructions of an order, in its patient's language.

    Raises: instructions_not_found (404), where its test has none. Source: Contract
    6.16.
    """
    panel = order.lab_test
    _require_has_instructions(panel)
    marks = OrderNumbers(order_id=str(order.pk), sample_id=order.sample_id)
    return Document(
        _file_name("instructions", order),
        render_collection_instructions(
            panel, of=marks, language=find_mail_language(order.user)
        ),
    )


def render_panel_instructions(*, panel: LabTest, tenant: Tenant) -> Document:
    """Render the collection instructions of a panel, in the language of patients.

    Raises: instructions_not_found (404). Source: Contract 6.3.
    """
    _require_has_instructions(panel)
    return Document(
        f"instructions-{panel.slug}.pdf",
        render_collection_instructions(panel, language=find_patient_language(tenant)),
    )


def render_results_report(*, found: ResultSet, tenant: Tenant) -> Document:
    """Render the result report of an order or transaction, in English.

    Source: Contract 6.15, 6.16; Ours: it is the laboratory's report, which is read by
    other clinicians and their systems.
    """
    order = found.order
    order.tenant = tenant
    content = ReportContent(
        found=found,
        zone=find_time_zone_by_name(tenant.team.time_zone),
        url=_order_page_url(order),
    )
    return Document(_file_name("results", order), render_results_pdf(content))


def get_requisition_comment(order: Order) -> str:
    """Return the comment the requisition prints, or printed when created."""
    if order.requisition_issued_at is not None:
        return order.requisition_comment
    return build_requisition_comment(
        lab=order.lab, account=order.lab_account, comments=order.comments
    )


@transaction.atomic
def reissue_requisition_link(*, order: Order, actor: Actor) -> Order:
    """Issue a new link, valid for 7 days; the earlier one is revoked.

    Raises: requisition_not_found (404). Source: Specification 8; Ours: a link that went
    astray can be stopped, and the audit says who made another.
    """
    order = lock_order(order)
    _require_requisition_created(order)
    comment = get_requisition_comment(order)
    before, now = order.requisition_issued_at, timezone.now()
    order.requisition_issued_at = order.updated_at = now
    order.requisition_comment = comment
    order.save(
        update_fields=["requisition_issued_at", "requisition_comment", "updated_at"]
    )
    audit_order_change(
        order,
        actor,
        "reissue_requisition_link",
        {"requisition_issued_at": [before and before.isoformat(), now.isoformat()]},
    )
    return order


def open_requisition_link(*, token: str, address: str | None) -> Document:
    """Return the requisition of a link, and audit that it was opened.

    Raises: requisition_link_unknown (404), of no link of ours, of one that another took
    the place of, and of a deleted user or team; requisition_link_expired, after seven
    days. Source: Specification 8; contract D19.
    """
    claim = verify_requisition_link_token(token)
    if claim is None:
        raise _unknown_link_error()
    tenants = Tenant.objects.select_related("team")
    tenant = tenants.filter(pk=claim.tenant_id, team__deleted_at=None).first()
    if tenant is None:
        raise _unknown_link_error()
    with acting_for(tenant):
        try:
            order = get_order_with_details(tenant=tenant, order_id=claim.order_id)
        except NotFound:
            raise _unknown_link_error() from None
        if order.requisition_issued_at != claim.issued_at:
            raise _unknown_link_error()
        if not timedelta() <= timezone.now() - claim.issued_at < LINK_TTL:
            raise DomainError(
                "requisition_link_expired",
                _("This link has expired: links are valid for 7 days."),
            )
        document = render_requisition_as_first_printed(order)
        system = Actor.system(LINK_ACTOR)
        record_read(
            tenant=tenant,
            actor=Actor(system.kind, system.key, system.label, address),
            subject="requisition",
            subject_id=order.pk,
            user_uuid=order.user.uuid,
        )
    return document


def _require_requisition_created(order: Order) -> None:
    if not had_requisition_created(order):
        raise NotFound("requisition_not_found", _("This order has no requisition yet."))


def _require_has_instructions(panel: LabTest) -> None:
    if not panel.has_collection_instructions:
        raise NotFound(
            "instructions_not_found", _("This test has no collection instructions.")
        )


def _unknown_link_error() -> NotFound:
    return NotFound("requisition_link_unknown", _("This link is not valid."))


def _file_name(what: str, order: Order) -> str:
    return f"{what}-{str(order.pk)[:8]}.pdf"


def _order_page_url(order: Order) -> str:
    place = {
        "team_slug": order.tenant.team.slug,
        "environment": order.tenant.environment,
        "order_id": order.pk,
    }
    return build_absolute_url(reverse("labs:order", kwargs=place))
