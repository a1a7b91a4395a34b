"""Mails to members who asked to be notified of a requisition.

Mails name no patient and no test; they only link to the order.
"""

from __future__ import annotations

import logging
from smtplib import SMTPException
from typing import TYPE_CHECKING

from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.queries import list_team_members
from accounts.queries.languages import get_mail_language
from accounts.states import Area, roles_allow_access
from labs.models import RequisitionWatch
from labs.operations.order_status.status import audit_order_change, lock_order
from labs.queries.orders.history import find_last_known_order_status
from labs.states.order_queues import AWAITS_REQUISITION
from labs.states.orders import split_order_status
from portal.lib.errors import DomainError
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.web.links import build_absolute_url

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import Member, Tenant
    from labs.models import Order
    from portal.lib.actor import Actor

READY_JOB = "labs.mail_requisition"
_log = logging.getLogger(__name__)


class MailNotAccepted(Exception):
    """The mail server did not accept a mail; the job runs again."""


@transaction.atomic
def subscribe_to_requisition(*, order: Order, actor: Actor, member: Member) -> None:
    """Subscribe a member to an order's requisition; repeated calls do nothing.

    Raises: requisition_not_awaited, where it is made already or never will be. Source:
    Issue "Service centers and appointments".
    """
    order = lock_order(order)
    if (
        split_order_status(find_last_known_order_status(order)).low
        not in AWAITS_REQUISITION
    ):
        raise DomainError(
            "requisition_not_awaited",
            _("This order's requisition is already created, or the order ended."),
        )
    _watch, is_new = RequisitionWatch.objects.for_tenant(order.tenant).get_or_create(
        order=order, member=member, defaults={"tenant": order.tenant}
    )
    if is_new:
        audit_order_change(order, actor, "watch_requisition")


def enqueue_requisition_mails(order: Order) -> None:
    """Enqueue mails to the subscribers of an order's requisition."""
    watches = RequisitionWatch.objects.for_tenant(order.tenant)
    if watches.filter(order=order).exists():
        enqueue_job(
            READY_JOB,
            tenant=order.tenant,
            lock=f"requisition-mail-{order.pk}",
            order_id=str(order.pk),
        )


def mail_requisition_subscribers(*, tenant: Tenant, order_id: UUID) -> None:
    """Mail each subscriber once; skip those who lost the right to book.

    Raises: MailRefused; who was mailed before is not mailed again.
    """
    able = {
        one.member_id
        for one in list_team_members(tenant.team)
        if roles_allow_access(
            roles=one.roles,
            area=Area.BOOKINGS,
            write=True,
            environment=tenant.environment,
        )
    }
    watches = RequisitionWatch.objects.for_tenant(tenant).filter(
        order_id=order_id, order__user__deleted_at=None
    )
    for watch in watches.select_related("member").order_by("pk"):
        if watch.member_id in able:
            with translation.override(get_mail_language(watch.member)):
                _mail_watcher(tenant, watch)
        watch.delete()


def _mail_watcher(tenant: Tenant, watch: RequisitionWatch) -> None:
    context = {
        "team": tenant.team.name,
        "environment": tenant.get_environment_display(),
        "order": str(watch.order_id)[:8],
        "is_sandbox": tenant.is_sandbox,
        "link": build_absolute_url(
            reverse(
                "labs:order",
                args=[tenant.team.slug, tenant.environment, watch.order_id],
            )
        ),
    }
    subject = render_to_string("labs/email/requisition_ready_subject.txt", context)
    mail = EmailMessage(
        subject=" ".join(subject.split()),
        body=render_to_string("labs/email/requisition_ready_message.txt", context),
        to=[watch.member.email],
    )
    try:
        mail.send()
    except (OSError, SMTPException):
        _log.warning("mail of requisition watch %s was not taken", watch.pk)
        raise MailNotAccepted from None
