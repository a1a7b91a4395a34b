"""Critical results: open alerts, acknowledge them, escalate overdue ones.

Mails name no patient and no value; they only link to the result.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import timedelta
from smtplib import SMTPException
from typing import TYPE_CHECKING

from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from accounts.operations.notices import (
    NoticeEvent,
    build_notice_settings_link,
    post_notice,
    record_notice_mailed_by_caller,
)
from accounts.queries.languages import group_addresses_by_language
from accounts.states import NoticeKind
from labs.models import CriticalAlert
from labs.models.critical import ACTION_MAX_LENGTH, NOTIFIED_PERSON_MAX_LENGTH
from labs.states.critical import NotificationMethod, compute_next_escalation_time
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import Conflict, DomainError, NotAllowed, NotFound
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.periods import find_time_zone_by_name
from portal.lib.sentences import StoredSentence
from portal.lib.web.links import build_absolute_url
from portal.ui.dates import write_date

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet

    from accounts.models import Tenant
    from labs.models import Order, ResultVersion

MAIL_JOB = "labs.mail_critical"
_log = logging.getLogger(__name__)


class MailNotAccepted(Exception):
    """The mail server did not accept a mail; the job runs again."""


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """What was done about a critical result, as entered by the member.

    `was_read_back` says that `notified_person` repeated the result at `notified_at`;
    all three are left out by a member who treats the patient.
    """

    action: str
    notification_method: str
    notified_person: str = ""
    notified_at: datetime | None = None
    was_read_back: bool = False


@transaction.atomic
def open_critical_alert(*, order: Order, version: ResultVersion) -> CriticalAlert:
    """Open an alert for a version with new critical results.

    An order whose clock runs already keeps it, as it does one that came with the report
    of this version (`version` is not set yet), acknowledged or not. Mail goes at once
    to the team's address for critical results and to members who want that. Source:
    Ours (spec silent): one clock for an order, as one person is informed of all.
    """
    alerts = _lock_alerts_of_order(order)
    running = alerts.filter(Q(acknowledged_at=None) | Q(version=None))
    # Descending, NULL comes first: one that is not acknowledged.
    found: CriticalAlert | None = running.order_by("-acknowledged_at").first()
    return found or start_critical_clock(order.tenant, order=order, version=version)


def open_critical_alert_without_order(*, tenant: Tenant) -> CriticalAlert:
    """Open an alert of critical results that no order was found for.

    In the caller's transaction. No event is sent: on the wire each is about an order,
    and matching the report sends it. Source: Ours (spec silent).
    """
    return start_critical_clock(tenant)


def start_critical_clock(tenant: Tenant, **about: object) -> CriticalAlert:
    """Store an alert of `about` whose clock starts now, and enqueue its first mail.

    In the caller's transaction.
    """
    now = timezone.now()
    due_at = now + timedelta(minutes=tenant.critical_result_limit_minutes)
    alert = CriticalAlert(
        tenant=tenant,
        opened_at=now,
        due_at=due_at,
        escalate_at=due_at,
        **about,
    )
    alert.save(force_insert=True)
    _enqueue_critical_mail(alert)
    return alert


def move_critical_alert_to_order(*, alert_id: int, order: Order) -> None:
    """Make a report's alert that of the order it was matched to; its clock goes on.

    In the caller's transaction, with the order locked, before the results are stored.
    An order has one clock that runs: of two, the earlier. An acknowledged alert moves
    too, so that nobody is called about the same result twice. One that another report
    has moved stays.
    """
    alerts = CriticalAlert.objects.for_tenant(order.tenant).select_for_update()
    alert: CriticalAlert = alerts.get(pk=alert_id)
    if alert.order_id is not None:
        return
    running = _lock_alerts_of_order(order).filter(acknowledged_at=None).first()
    if running is None or alert.acknowledged_at is not None:
        alert.order = order
        alert.save(update_fields=["order"])
        return
    is_further = alert.escalations > running.escalations
    running.opened_at = min(running.opened_at, alert.opened_at)
    running.due_at = min(running.due_at, alert.due_at)
    running.escalate_at = min(running.escalate_at, alert.escalate_at)
    running.escalations = max(running.escalations, alert.escalations)
    running.save(update_fields=["opened_at", "due_at", "escalate_at", "escalations"])
    alert.reports.update(alert=running)
    alert.delete()
    if is_further:  # the mail of that step may have gone with its alert
        _enqueue_critical_mail(running)


def set_version_of_moved_alerts(*, version: ResultVersion) -> None:
    """Set the version of alerts that came to its order with a report."""
    CriticalAlert.objects.for_tenant(version.tenant).filter(
        order_id=version.order_id, version=None
    ).update(version=version)


@transaction.atomic
def acknowledge_critical_alert(
    *,
    tenant: Tenant,
    actor: Actor,
    alert_id: int,
    acknowledgement: Acknowledgement,
    name: str,
) -> CriticalAlert:
    """Acknowledge an alert: store what was done and who was notified.

    `name` is the member's as people know it. Raises: actor_not_a_member (403);
    critical_alert_not_found (404); already_acknowledged (409); action_missing,
    action_too_long, told_by_unknown, told_missing, told_too_long, told_at_missing,
    told_at_early, told_at_late, read_back_missing. Source: Ours (spec silent): read
    back as laboratories are held to, ISO 15189:2022 7.4.1.3.
    """
    if actor.kind != ActorKind.MEMBER:
        raise NotAllowed(
            "actor_not_a_member",
            _("Only a signed-in member can acknowledge a critical result."),
        )
    now = timezone.now()
    rows = CriticalAlert.objects.for_tenant(tenant).filter(
        order__user__deleted_at=None, user__deleted_at=None
    )
    alert: CriticalAlert | None = (
        rows.select_for_update(of=("self",))
        .select_related("order__user", "user")
        .filter(pk=alert_id)
        .first()
    )
    if alert is None:
        raise NotFound("critical_alert_not_found", _("Critical result not found."))
    if alert.acknowledged_at is not None:
        raise Conflict(
            "already_acknowledged",
            _("Already acknowledged by %(member)s.") % {"member": alert.member_name},
        )
    _validate_acknowledgement(acknowledgement, alert, now)
    was_other_notified = (
        acknowledgement.notification_method != NotificationMethod.TREATING
    )
    alert.acknowledged_at = now
    alert.member_id = actor.key
    alert.member_name = name
    alert.action = acknowledgement.action.strip()
    alert.notification_method = acknowledgement.notification_method
    alert.notified_person = (
        acknowledgement.notified_person.strip() if was_other_notified else ""
    )
    alert.notified_at = acknowledgement.notified_at if was_other_notified else None
    alert.was_read_back = was_other_notified
    alert.save(
        update_fields=[
            "acknowledged_at",
            "member_id",
            "member_name",
            "action",
            "notification_method",
            "notified_person",
            "notified_at",
            "was_read_back",
        ]
    )
    record_change(
        tenant=tenant,
        actor=actor,
        verb="acknowledge_critical",
        subject="critical_alert",
        subject_id=alert.pk,
        user_uuid=alert.person.uuid if alert.person else None,
        changes={"order": [None, str(alert.order_id)]} if alert.order else None,
    )
    return alert


@transaction.atomic
def escalate_overdue_alerts(*, at: datetime) -> int:
    """Enqueue mails for alerts past their limit at a moment; return how many.

    Over all tenants; returns how many. Each mail is a job in the same transaction, and
    the wait until the next one is set with it: a run that dies sends none twice.
    Source: Ours (spec silent): nobody may miss one because a mail was missed.
    """
    due = (
        CriticalAlert.unscoped.select_for_update(skip_locked=True, of=("self",))
        .select_related("tenant")
        .filter(
            acknowledged_at=None,
            escalate_at__lte=at,
            order__user__deleted_at=None,
            user__deleted_at=None,
        )
        .order_by("escalate_at")
    )
    number = 0
    for alert in due[:500]:
        alert.escalations += 1
        limit = timedelta(minutes=alert.tenant.critical_result_limit_minutes)
        alert.escalate_at = compute_next_escalation_time(
            at=at, limit=limit, number=alert.escalations
        )
        alert.save(update_fields=["escalations", "escalate_at"])
        _enqueue_critical_mail(alert)
        number += 1
    return number


def mail_critical_alert(*, tenant: Tenant, alert_id: int, escalation: int) -> None:
    """Mail that a critical result needs acknowledgement; nothing once it is.

    It goes to the team's address, and to members as they chose: `escalation` 0 to those
    who want to know at once, later ones also to all who may acknowledge. Raises:
    MailRefused.
    """
    alert = _find_unacknowledged_alert(tenant, alert_id)
    if alert is None:
        return
    event = _build_critical_notice(tenant, alert, escalation)
    members = record_notice_mailed_by_caller(
        tenant=tenant, event=event, at=timezone.now()
    )
    first = tenant.critical_result_notification_email
    recipients = list(dict.fromkeys([*([first] if first else []), *members]))
    if not recipients:
        return
    for language, addresses in group_addresses_by_language(recipients).items():
        with translation.override(language):
            mail = _build_mail(tenant, alert, event, escalation, addresses)
        try:
            mail.send()
        except (OSError, SMTPException):
            _log.warning("mail of critical alert %s was not taken", alert.pk)
            raise MailNotAccepted from None


def _build_mail(
    tenant: Tenant,
    alert: CriticalAlert,
    event: NoticeEvent,
    escalation: int,
    addresses: list[str],
) -> EmailMessage:
    """Write the mail of an alert in the language of its readers."""
    since = alert.opened_at.astimezone(find_time_zone_by_name(tenant.team.time_zone))
    context = {
        "team": tenant.team.name,
        "environment": tenant.get_environment_display(),
        "order": str(alert.order_id)[:8] if alert.order_id else "",
        "is_uploaded": alert.parsed_report_id is not None,
        "since": write_date(since, "j M Y, H:i T"),
        "is_escalation": escalation > 0,
        "is_sandbox": tenant.is_sandbox,
        "link": build_absolute_url(event.path),
        "settings_link": build_notice_settings_link(tenant),
    }
    subject = render_to_string("labs/email/critical_subject.txt", context)
    return EmailMessage(
        subject=" ".join(subject.split()),
        body=render_to_string("labs/email/critical_message.txt", context),
        to=addresses,
    )


def post_failed_critical_mail_notice(
    *, tenant: Tenant, alert_id: int, escalation: int
) -> None:
    """Queue a notice to members for a mail that failed on every attempt.

    Nothing once somebody has acknowledged it.
    """
    alert = _find_unacknowledged_alert(tenant, alert_id)
    if alert is not None:
        post_notice(
            tenant=tenant,
            event=_build_critical_notice(tenant, alert, escalation),
            at=timezone.now(),
        )


def _find_unacknowledged_alert(tenant: Tenant, alert_id: int) -> CriticalAlert | None:
    alerts = CriticalAlert.objects.for_tenant(tenant).filter(
        pk=alert_id,
        acknowledged_at=None,
        order__user__deleted_at=None,
        user__deleted_at=None,
    )
    found: CriticalAlert | None = alerts.first()
    return found


def _build_critical_notice(
    tenant: Tenant, alert: CriticalAlert, escalation: int
) -> NoticeEvent:
    """Build the notice of one escalation step."""
    return NoticeEvent(
        kind=NoticeKind.CRITICAL_RESULT,
        key=f"{alert.pk}-{escalation}",
        words=StoredSentence(
            "A critical result is past your team's acknowledgement limit."
        )
        if escalation
        else StoredSentence("A critical result needs acknowledgement."),
        path=reverse("labs:critical", args=[tenant.team.slug, tenant.environment]),
        is_late=escalation > 0,
    )


def _validate_acknowledgement(
    acknowledgement: Acknowledgement, alert: CriticalAlert, now: datetime
) -> None:
    action, notified = (
        acknowledgement.action.strip(),
        acknowledgement.notified_person.strip(),
    )
    if not action:
        raise DomainError("action_missing", _("Enter what was done."), "action")
    if len(action) > ACTION_MAX_LENGTH:
        raise DomainError(
            "action_too_long",
            _("Enter at most %(most)d characters.") % {"most": ACTION_MAX_LENGTH},
            "action",
        )
    if acknowledgement.notification_method not in NotificationMethod.values:
        raise DomainError(
            "told_by_unknown",
            _("Choose how the clinician was notified."),
            "notification_method",
        )
    if acknowledgement.notification_method == NotificationMethod.TREATING:
        return
    if not notified:
        raise DomainError(
            "told_missing", _("Enter who was notified."), "notified_person"
        )
    if len(notified) > NOTIFIED_PERSON_MAX_LENGTH:
        raise DomainError(
            "told_too_long",
            _("Enter at most %(most)d characters.")
            % {"most": NOTIFIED_PERSON_MAX_LENGTH},
            "notified_person",
        )
    if acknowledgement.notified_at is None:
        raise DomainError(
            "told_at_missing", _("Enter when they were notified."), "notified_at"
        )
    # Minutes are what people enter, so the minute of its coming counts as after it.
    if acknowledgement.notified_at < alert.opened_at.replace(second=0, microsecond=0):
        raise DomainError(
            "told_at_early", _("Enter a time after the result arrived."), "notified_at"
        )
    if acknowledgement.notified_at > now:
        raise DomainError(
            "told_at_late", _("Enter a time that is not in the future."), "notified_at"
        )
    if not acknowledgement.was_read_back:
        raise DomainError(
            "read_back_missing",
            _("Ask them to read the result back, then confirm the read-back."),
            "was_read_back",
        )


def _lock_alerts_of_order(order: Order) -> QuerySet[CriticalAlert]:
    alerts = CriticalAlert.objects.for_tenant(order.tenant).filter(order=order)
    locked: QuerySet[CriticalAlert] = alerts.select_for_update()
    return locked


def _enqueue_critical_mail(alert: CriticalAlert) -> None:
    enqueue_job(
        MAIL_JOB,
        tenant=alert.tenant,
        lock=f"critical-{alert.pk}",
        alert_id=alert.pk,
        escalation=alert.escalations,
    )
