"""Record notices, copy them to the members who receive them, and send the mails."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import time, timedelta
from smtplib import SMTPException
from typing import TYPE_CHECKING

from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.models import Membership, Notice, NoticeChoices, NoticeCopy, NoticeMail
from accounts.operations.audit.entries import record_change
from accounts.queries.languages import get_mail_language
from accounts.queries.notices import (
    NoticePreferences,
    build_notice_recipient,
    compute_next_digest_time,
    compute_notice_mail_time,
    find_notice_settings,
    get_default_notice_levels,
    list_recipients_of_notice,
    list_team_notice_recipients,
)
from accounts.states import (
    NoticeKind,
    NoticeLevel,
    list_selectable_notice_levels,
    notice_ignores_quiet_hours,
)
from portal.lib.errors import DomainError
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.sentences import StoredSentence, read_sentence
from portal.lib.web.links import build_absolute_url, get_public_host
from portal.ui.dates import write_date

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from uuid import UUID

    from accounts.models import Tenant
    from accounts.queries.notices import Recipient
    from portal.lib.actor import Actor

MAIL_JOB = "accounts.mail_notices"
# Ours: the preview of last week's mails reads these; four weeks more are kept.
NOTICE_RETENTION = timedelta(days=35)
# Ours: a mail server that was away for the runs of a job is tried again after this.
REST = timedelta(minutes=15)
_MAILS_OF_ONE_RUN = 500
_log = logging.getLogger(__name__)


class MailRefused(Exception):
    """The mail server refused a mail; the job runs again."""


@dataclass(frozen=True, slots=True)
class NoticeEvent:
    """An event to notify members about; the fields are those of Notice.

    `only_for_id` is the one member who is notified, None for all who chose the kind.
    """

    kind: NoticeKind
    key: str
    words: StoredSentence | str
    path: str
    is_late: bool = False
    only_for_id: UUID | None = None


@transaction.atomic
def change_notice_preferences(
    *,
    tenant: Tenant,
    actor: Actor,
    membership: Membership,
    preferences: NoticePreferences,
) -> NoticeChoices:
    """Change a member's notification settings in one environment.

    What equals the usual is not kept, so that it follows a change of roles. Mail that
    waits goes out as it was due, less the kinds that were switched off. Raises:
    level_unknown, quiet_empty, hour_invalid.
    """
    usual = get_default_notice_levels(
        roles=membership.roles, environment=tenant.environment
    )
    for kind, level in preferences.levels.items():
        if kind not in usual or level not in list_selectable_notice_levels(kind):
            raise DomainError(
                "level_unknown", _("Select one of the offered options."), kind
            )
    if preferences.quiet is not None and preferences.quiet[0] == preferences.quiet[1]:
        raise DomainError(
            "quiet_empty", _("Enter an end that differs from the start."), "quiet_until"
        )
    if not 0 <= preferences.digest_hour <= 23:
        raise DomainError(
            "hour_invalid", _("Enter an hour from 0 to 23."), "digest_hour"
        )
    Membership.objects.select_for_update(no_key=True).get(pk=membership.pk)
    choices = find_notice_settings(
        tenant=tenant, membership=membership
    ) or NoticeChoices(tenant=tenant, membership=membership)
    quiet_from, quiet_until = preferences.quiet or (None, None)
    new_values = {
        "levels": {
            kind.value: level.value
            for kind, level in preferences.levels.items()
            if level != usual[kind]
        },
        "quiet_from": quiet_from,
        "quiet_until": quiet_until,
        "digest_hour": preferences.digest_hour,
    }
    changes = {
        field: [_plain(getattr(choices, field)), _plain(value)]
        for field, value in new_values.items()
        if getattr(choices, field) != value
    }
    if changes:
        for field, value in new_values.items():
            setattr(choices, field, value)
        choices.save()
        record_change(
            tenant=tenant,
            actor=actor,
            verb="change_notices",
            subject="notice_choices",
            subject_id=membership.member_id,
            changes=changes,
        )
    return choices


@transaction.atomic
def record_notice_mailed_by_caller(
    *, tenant: Tenant, event: NoticeEvent, at: datetime
) -> list[str]:
    """Record a notice; return the addresses the caller must mail now.

    The addresses are the caller's to mail, in its own words. Whoever has a copy already
    is not among them, so that a job may run again. Source: Issue "Trust", 5.
    """
    return [
        membership.member.email
        for membership in _create_copies(tenant, event, at, True)
    ]


@transaction.atomic
def post_notice(*, tenant: Tenant, event: NoticeEvent, at: datetime) -> Notice:
    """Record a notice and queue it for every member who receives it.

    For events without a mail of their own: `enqueue_due_notice_mails` mails them when
    due. The same event is recorded once.
    """
    _create_copies(tenant, event, at, False)
    found: Notice = Notice.objects.for_tenant(tenant).get(
        kind=event.kind, key=event.key
    )
    return found


def _create_copies(
    tenant: Tenant, event: NoticeEvent, at: datetime, has_own_mail: bool
) -> list[Membership]:
    notice, _ = Notice.objects.for_tenant(tenant).get_or_create(
        kind=event.kind,
        key=event.key,
        defaults={
            "tenant": tenant,
            **_store_words(event.words),
            "path": event.path,
            "is_late": event.is_late,
            "only_for_id": event.only_for_id,
            "at": at,
        },
    )
    pierces = notice_ignores_quiet_hours(
        kind=event.kind, environment=tenant.environment
    )
    copied = set(notice.copies.values_list("membership_id", flat=True))
    now, copies = [], []
    for recipient, level in list_recipients_of_notice(
        list_team_notice_recipients(tenant), tenant=tenant, notice=notice
    ):
        membership = recipient.membership
        if membership.pk in copied:
            continue
        turn = compute_notice_mail_time(
            recipient=recipient, level=level, notice=notice, pierces=pierces
        )
        if has_own_mail and not turn.by_digest and turn.due_at <= at:
            now.append(membership)
            continue
        copies.append(
            NoticeCopy(
                tenant=tenant,
                notice=notice,
                membership=membership,
                due_at=turn.due_at,
                by_digest=turn.by_digest,
            )
        )
    NoticeCopy.objects.for_tenant(tenant).bulk_create(copies, ignore_conflicts=True)
    return now


def _store_words(words: StoredSentence | str) -> dict[str, object]:
    if isinstance(words, str):
        return {"words": words}
    return {"words": words.write_in_english(), "sentence": words.to_json()}


def _write_words(notice: Notice) -> str:
    """Write a notice in the language of its reader."""
    sentence = read_sentence(notice.sentence)
    return notice.words if sentence is None else sentence.write()


def enqueue_due_notice_mails(*, at: datetime) -> int:
    """Put due notices into mails, one per member and environment; return how many.

    Over all tenants. A mail is a row and a job of one transaction, and a copy is in one
    mail, so that of two runs at once one sends it. A member has one digest on a day of
    theirs: what comes late for it waits for the next.
    """
    due = NoticeCopy.unscoped.filter(
        mail=None, due_at__lte=at, membership__team__deleted_at=None
    )
    groups = due.values_list("membership_id", "tenant_id", "by_digest").distinct()
    number = 0
    for membership_pk, tenant_pk, by_digest in groups.order_by(
        "membership_id", "tenant_id", "by_digest"
    )[:_MAILS_OF_ONE_RUN]:
        number += _create_mail(membership_pk, tenant_pk, by_digest, at)
    return number


@transaction.atomic
def _create_mail(
    membership_pk: int, tenant_pk: int, by_digest: bool, at: datetime
) -> int:
    membership = (
        Membership.objects.select_for_update(no_key=True, of=("self",))
        .select_related("member", "team")
        .get(pk=membership_pk)
    )
    tenant = membership.team.tenants.select_related("team").get(pk=tenant_pk)
    copies = NoticeCopy.objects.for_tenant(tenant).filter(
        membership=membership, by_digest=by_digest, mail=None, due_at__lte=at
    )
    if not copies.exists():
        return 0  # another run was quicker
    mails = NoticeMail.objects.for_tenant(tenant)
    recipient = build_notice_recipient(
        tenant=tenant,
        membership=membership,
        choices=find_notice_settings(tenant=tenant, membership=membership),
    )
    day = at.astimezone(recipient.zone).date() if by_digest else None
    if day is not None and mails.filter(membership=membership, day=day).exists():
        tomorrow = compute_next_digest_time(
            after=at, hour=recipient.preferences.digest_hour, zone=recipient.zone
        )
        copies.update(due_at=tomorrow)
        return 0
    mail = NoticeMail(tenant=tenant, membership=membership, day=day, created_at=at)
    mail.save(force_insert=True)
    copies.update(mail=mail)
    enqueue_job(
        MAIL_JOB, tenant=tenant, lock=f"notices-{mail.pk}", mail_id=str(mail.pk)
    )
    return 1


def send_notice_mail(*, tenant: Tenant, mail_id: UUID) -> bool:
    """Send a queued mail; return whether it was sent.

    Kinds that the member has switched off meanwhile, or may no longer hear of, are left
    out. The mail names its own Message-ID, by which a second one of a run that was cut
    off is known. Raises: MailRefused.
    """
    mails = NoticeMail.objects.for_tenant(tenant).filter(pk=mail_id, sent_at=None)
    mail: NoticeMail | None = mails.select_related("membership__member").first()
    if mail is None:
        return False
    membership = mail.membership
    recipient = build_notice_recipient(
        tenant=tenant,
        membership=membership,
        choices=find_notice_settings(tenant=tenant, membership=membership),
    )
    notices_sent = [
        copy.notice
        for copy in mail.copies.select_related("notice").order_by("notice__at", "pk")
        if recipient.preferences.levels.get(
            NoticeKind(copy.notice.kind), NoticeLevel.OFF
        )
        != NoticeLevel.OFF
    ]
    is_sent = bool(notices_sent) and membership.member.is_active
    if is_sent:
        with translation.override(get_mail_language(membership.member)):
            message = _build_mail(tenant, mail, recipient, notices_sent)
        try:
            message.send()
        except (OSError, SMTPException):
            _log.warning("mail of notices %s could not be sent", mail.pk)
            raise MailRefused from None
    mails.update(sent_at=timezone.now())
    return is_sent


def _build_mail(
    tenant: Tenant, mail: NoticeMail, recipient: Recipient, notices_sent: list[Notice]
) -> EmailMessage:
    """Write the mail of some notices in the language of its reader."""
    sections = [
        (
            kind.label,
            [
                (
                    _moment(each.at, recipient.zone),
                    _write_words(each),
                    build_absolute_url(each.path),
                )
                for each in notices_sent
                if each.kind == kind
            ],
        )
        for kind in NoticeKind
    ]
    link = build_notice_settings_link(tenant)
    context = {
        "team": tenant.team.name,
        "environment": tenant.get_environment_display(),
        "is_sandbox": tenant.is_sandbox,
        "is_digest": mail.day is not None,
        "day": write_date(mail.day, "j M Y"),
        "number": len(notices_sent),
        "only_words": _write_words(notices_sent[0]).rstrip("."),
        "sections": [each for each in sections if each[1]],
        "settings_link": link,
    }
    subject = render_to_string("accounts/email/notices_subject.txt", context)
    return EmailMessage(
        subject=" ".join(subject.split()),
        body=render_to_string("accounts/email/notices_message.txt", context),
        to=[recipient.membership.member.email],
        headers={
            "Message-ID": f"<notices-{mail.pk}@{get_public_host()}>",
            "List-Unsubscribe": f"<{link}>",
        },
    )


@transaction.atomic
def requeue_notices_of_refused_mail(
    *, tenant: Tenant, mail_id: UUID, at: datetime
) -> None:
    """Queue the notices of a refused mail again, after REST."""
    mails = NoticeMail.objects.for_tenant(tenant).filter(pk=mail_id, sent_at=None)
    waiting = mails.select_for_update().first()
    if waiting is None:
        return
    waiting.copies.update(mail=None, due_at=at + REST)
    waiting.delete()


def delete_old_notices(*, at: datetime) -> int:
    """Delete notices older than NOTICE_RETENTION, with mails; return how many.

    Over all tenants. One that waits for a mail stays.
    """
    before = at - NOTICE_RETENTION
    old = Notice.unscoped.filter(at__lt=before)
    waiting = NoticeCopy.unscoped.filter(mail=None, notice__in=old)
    _, removed = old.exclude(pk__in=waiting.values("notice")).delete()
    NoticeMail.unscoped.filter(created_at__lt=before, copies=None).delete()
    return removed.get(Notice._meta.label, 0)


def build_notice_settings_link(tenant: Tenant) -> str:
    """Return the absolute URL of a member's notification settings."""
    return build_absolute_url(
        reverse("team:notifications", args=[tenant.team.slug, tenant.environment])
    )


def _moment(at: datetime, zone: tzinfo) -> str:
    return write_date(at.astimezone(zone), "j M, H:i T")


def _plain(value: object) -> object:
    return f"{value:%H:%M}" if isinstance(value, time) else value
