"""Notices to patients about their orders, as the team allows.

A message says that the team has something for the patient, never which test or result.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation

from accounts.operations.audit.entries import record_change
from accounts.operations.mails.composing import compose_mail
from accounts.queries.branding import find_team_branding
from labs.gateways.patient_messages.base import (
    MessageRefused,
    MessageRejected,
    PatientMessage,
)
from labs.gateways.patient_messages.senders import find_patient_message_sender
from labs.gateways.patient_messages.twilio import UNSUBSCRIBED
from labs.models import PatientNotice
from labs.states.catalogue import CollectionMethod
from labs.states.orders import Interpretation, split_order_status
from labs.states.patient_notices import (
    NOTICE_MOVES,
    NOTICE_OF_STEP,
    ONCE,
    NoticeChannel,
    NoticeKind,
    NoticeStatus,
)
from portal.lib.actor import Actor
from portal.lib.database.transitions import move_status
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.web.links import build_absolute_url
from users.operations.users.languages import find_mail_language

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.models import Order, OrderEvent

SEND_JOB = "labs.send_patient_notice"
# Ours: what is a day late says nothing new any more.
_PAUSES_END = timedelta(days=1)
_DIGITS_SHOWN = 4
_STATUS_SALT = "labs.text-status"


def queue_patient_order_notices(*, order: Order, event: OrderEvent) -> None:
    """Store a patient's notices of an order event and enqueue sending them.

    In the caller's transaction. Nothing where the team, the order or the patient's
    details leave no channel, and nothing of critical results: people tell those.
    Source: Contract 9.2; Ours: which steps.
    """
    kind = _notice_kind_of_order(order)
    channels = _enabled_channels(order)
    if kind is None or not channels:
        return
    mine = PatientNotice.objects.for_tenant(order.tenant).filter(order=order)
    if kind in ONCE and mine.filter(kind=kind).exists():
        return
    now = timezone.now()
    is_live = {
        channel: find_patient_message_sender(tenant=order.tenant, channel=channel)
        is not None
        for channel in channels
    }
    PatientNotice.objects.for_tenant(order.tenant).bulk_create(
        PatientNotice(
            tenant=order.tenant,
            order=order,
            event=event,
            kind=kind,
            channel=channel,
            status=NoticeStatus.WAITING if live else NoticeStatus.RECORDED,
            created_at=now,
            closed_at=None if live else now,
        )
        for channel, live in is_live.items()
    )
    if any(is_live.values()):
        _enqueue_sending(order.tenant, str(order.pk))


def build_text_status_url(notice: PatientNotice) -> str:
    """Return the URL where the provider reports what became of a text.

    It names no order and no patient; who posts to it must sign.
    """
    token = Signer(salt=_STATUS_SALT).sign_object([notice.tenant_id, notice.pk])
    return build_absolute_url(f"{reverse('text_status')}?notice={token}")


def find_notice_of_token(token: str) -> tuple[int, int] | None:
    """Return the tenant and the notice that a status URL names; None if not ours."""
    try:
        tenant_pk, notice_pk = Signer(salt=_STATUS_SALT).unsign_object(token)
    except (BadSignature, ValueError):
        return None
    return tenant_pk, notice_pk


@transaction.atomic
def set_order_sms_enabled(*, order: Order, actor: Actor, enabled: bool) -> Order:
    """Enable or disable an order's text messages, where the team allows them.

    Source: Contract 10 (communication_settings).
    """
    rows = type(order).objects.for_tenant(order.tenant).select_for_update()
    locked: Order = rows.get(pk=order.pk)
    if locked.sms_enabled != enabled:
        rows.filter(pk=order.pk).update(sms_enabled=enabled)
        record_change(
            tenant=order.tenant,
            actor=actor,
            verb="set_order_texts",
            subject="order",
            subject_id=order.pk,
            user_uuid=order.user.uuid,
            changes={"sms_enabled": [locked.sms_enabled, enabled]},
        )
    order.sms_enabled = enabled
    return order


def send_queued_notices(*, tenant: Tenant, order_id: str) -> None:
    """Send an order's queued notices, oldest first.

    Asks other servers, so never inside a transaction. What the server answered is sent
    once. A message that was handed over just before its worker died or the answer was
    lost is sent again, unless the provider's callback has said meanwhile that it has
    it. One that fails does not hold up the others. A provider that asks for a pause
    gets it, for a day at most. Raises: MessageRefused; the job runs again. Source:
    Ours.
    """
    failures = []
    for notice in _queued_notices(tenant, order_id):
        try:
            _send_notice(tenant, notice)
        except MessageRefused as refusal:
            failures.append(refusal)
    waits = [one.retry_after for one in failures if one.retry_after]
    if waits and len(waits) == len(failures):
        _enqueue_sending(tenant, order_id, after=max(waits))
    elif failures:
        raise failures[0]


def mark_queued_notices_refused(*, tenant: Tenant, order_id: str) -> None:
    """Mark an order's queued notices as rejected."""
    for notice in _queued_notices(tenant, order_id):
        set_notice_status(notice=notice, status=NoticeStatus.REFUSED)


@transaction.atomic
def set_notice_status(
    *, notice: PatientNotice, status: NoticeStatus, **changes: object
) -> None:
    """Set the status of a notice, unless a later one was reported before.

    An `error_code` that says that the patient has opted out switches off the texts of
    the order.
    """
    rows = PatientNotice.objects.for_tenant(notice.tenant).select_for_update()
    row: PatientNotice = rows.select_related("order__user").get(pk=notice.pk)
    if not NOTICE_MOVES.allows(row.status, status):
        return
    closed_at = row.closed_at or timezone.now()
    move_status(row, moves=NOTICE_MOVES, to=status, closed_at=closed_at, **changes)
    if changes.get("error_code") == UNSUBSCRIBED:
        row.order.tenant = notice.tenant
        set_order_sms_enabled(
            order=row.order, actor=Actor.system(SEND_JOB), enabled=False
        )


def _send_notice(tenant: Tenant, notice: PatientNotice) -> None:
    """Send one notice. Raises: MessageRefused."""
    order = notice.order
    order.tenant = tenant
    is_text = notice.channel == NoticeChannel.SMS
    messenger = find_patient_message_sender(tenant=tenant, channel=notice.channel)
    message = _build_message(order, notice)
    if messenger is None or not message.to or (is_text and not order.sms_enabled):
        set_notice_status(notice=notice, status=NoticeStatus.RECORDED)
        return
    recipient = mask_number(message.to) if is_text else ""
    try:
        receipt = messenger.send(message)
    except MessageRejected as rejection:
        set_notice_status(
            notice=notice,
            status=NoticeStatus.REFUSED,
            recipient=recipient,
            error_code=rejection.code,
        )
    except MessageRefused as refusal:
        if refusal.retry_after is None or _is_past_pauses(notice):
            raise MessageRefused from None
        raise
    else:
        set_notice_status(
            notice=notice,
            status=receipt.status,
            recipient=recipient,
            provider_id=receipt.provider_id,
        )


def _is_past_pauses(notice: PatientNotice) -> bool:
    return timezone.now() - notice.created_at > _PAUSES_END


def mask_number(number: str) -> str:
    """Return a phone number without all but its last digits."""
    return f"•••{number[-_DIGITS_SHOWN:]}"


def _enqueue_sending(
    tenant: Tenant, order_id: str, *, after: timedelta | None = None
) -> None:
    enqueue_job(
        SEND_JOB,
        tenant=tenant,
        lock=f"patient-notice-{order_id}",
        after=after,
        order_id=order_id,
    )


def _queued_notices(tenant: Tenant, order_id: str) -> list[PatientNotice]:
    found = PatientNotice.objects.for_tenant(tenant).filter(
        order_id=order_id,
        status=NoticeStatus.WAITING,
        order__user__deleted_at=None,
    )
    return list(found.select_related("tenant", "order__user").order_by("id"))


def _notice_kind_of_order(order: Order) -> NoticeKind | None:
    low = split_order_status(order.status).low
    if low == "requisition_created" and order.method == CollectionMethod.WALK_IN_TEST:
        return NoticeKind.REQUISITION_READY
    kind = NOTICE_OF_STEP.get(low)
    is_critical = order.interpretation == Interpretation.CRITICAL
    return None if kind == NoticeKind.RESULTS_READY and is_critical else kind


def _enabled_channels(order: Order) -> list[NoticeChannel]:
    """Return channels the team enabled and the patient has an address for."""
    tenant, details = order.tenant, order.patient_details or {}
    by_mail = tenant.lab_tests_patient_email_communication_enabled
    by_text = tenant.lab_tests_patient_sms_communication_enabled and order.sms_enabled
    channels = []
    if by_mail and details.get("email"):
        channels.append(NoticeChannel.EMAIL)
    if by_text and details.get("phone_number"):
        channels.append(NoticeChannel.SMS)
    return channels


def _build_message(order: Order, notice: PatientNotice) -> PatientMessage:
    order.user.tenant = order.tenant
    details = order.patient_details or {}
    language = find_mail_language(order.user)
    if notice.channel == NoticeChannel.EMAIL:
        mail = compose_mail(
            tenant=order.tenant, kind=notice.kind, language=language, values={}
        )
        return PatientMessage(
            to=str(details.get("email") or ""),
            subject=mail.subject,
            text=mail.text,
            html=mail.html,
            reply_to=mail.reply_to,
        )
    company = find_team_branding(order.tenant).company
    with translation.override(language):
        text = render_to_string(
            "labs/email/patient_notice_sms.txt",
            {"kind": notice.kind, "company": company},
        )
    return PatientMessage(
        to=str(details.get("phone_number") or ""),
        text=text,
        status_url=build_text_status_url(notice),
    )
