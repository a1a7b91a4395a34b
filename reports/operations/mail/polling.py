"""Poll mailboxes: judge each new mail once, store its documents, file it.

A mail's row and its documents are stored in one transaction, then it is marked as read
or moved. A worker killed before that does it at the next poll: the row is known by the
mail's digest, and a document by its own. No mail is ever answered.
"""

from __future__ import annotations

import hashlib
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError, Unavailable
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.secrets.encryption import decrypt_secret
from reports.gateways.mailbox import MailboxFailed, open_mail_folder
from reports.gateways.signatures import DnsUnavailable
from reports.models import ReceivedMail, ReportMailbox, UnmatchedDocument
from reports.operations.documents.receiving import check_documents, store_documents
from reports.operations.mail.judging import (
    MAX_MAIL_BYTES,
    MailRefused,
    judge_mail,
    read_sender_domain,
)
from reports.operations.mail.mailbox import build_mail_server
from reports.operations.reading.files import delete_stored_report_files
from reports.states import MailOutcome, MailReason

if TYPE_CHECKING:
    from accounts.models import Tenant
    from reports.gateways.mailbox import MailFolder
    from reports.models import ReportFile

POLL_JOB = "reports.poll_mailbox"
# Of one visit, after which the next one goes on: a slow server must not keep a worker.
VISIT_S = 300
MAX_MAILS = 100
MAILS_RETENTION = timedelta(days=90)


def enqueue_mailbox_polls() -> int:
    """Enqueue a poll of each mailbox, over all teams; return how many.

    In a job by the clock, which reads the rows of all.
    """
    rows = ReportMailbox.unscoped.filter(tenant__team__deleted_at=None)
    mailboxes = list(rows.select_related("tenant"))
    for mailbox in mailboxes:
        enqueue_job(
            POLL_JOB, tenant=mailbox.tenant, lock=f"report_mailbox:{mailbox.tenant_id}"
        )
    return len(mailboxes)


def poll_report_mailbox(*, tenant: Tenant) -> None:
    """Judge what is new in a tenant's mailbox, and again what is held.

    Safe to repeat and to run twice at once. A server that can't be reached is visited
    again by the clock. Source: Ours.
    """
    mailbox = ReportMailbox.objects.for_tenant(tenant).first()
    if mailbox is None:
        return
    mailbox.tenant = tenant
    server = build_mail_server(mailbox, decrypt_secret(mailbox.password))
    try:
        with open_mail_folder(server) as folder:
            _visit(mailbox, folder)
    except MailboxFailed as failure:
        mailbox.failing_since = mailbox.failing_since or timezone.now()
        mailbox.fault = failure.fault
        mailbox.save(update_fields=["failing_since", "fault"])
        return
    mailbox.polled_at, mailbox.failing_since, mailbox.fault = timezone.now(), None, ""
    mailbox.save(update_fields=["polled_at", "failing_since", "fault"])


def delete_old_mails() -> int:
    """Delete rows of mails that were filed and came MAILS_RETENTION ago."""
    rows = ReceivedMail.unscoped.filter(
        received_at__lt=timezone.now() - MAILS_RETENTION, filed_at__isnull=False
    )
    return int(rows.delete()[0])


def _visit(mailbox: ReportMailbox, folder: MailFolder) -> None:
    ends_at = time.monotonic() + VISIT_S
    if folder.uid_validity != mailbox.uid_validity:  # the server counts anew
        mailbox.uid_validity, mailbox.last_uid = folder.uid_validity, 0
        mailbox.save(update_fields=["uid_validity", "last_uid"])
    mails = ReceivedMail.objects.for_tenant(mailbox.tenant).filter(
        mailbox=mailbox, uid_validity=folder.uid_validity, filed_at=None
    )
    for mail in mails.exclude(outcome=MailOutcome.HELD):
        _file(mailbox, folder, mail)
    held = list(mails.filter(outcome=MailOutcome.HELD).values_list("uid", flat=True))
    for uid in [*held, *folder.list_uids(after=mailbox.last_uid)[:MAX_MAILS]]:
        if time.monotonic() > ends_at:
            break
        _take(mailbox, folder, uid)


def _take(mailbox: ReportMailbox, folder: MailFolder, uid: int) -> None:
    """Judge a mail, store what follows, and file it unless it is held."""
    size = folder.fetch_size(uid)
    if size is None:  # removed meanwhile
        _advance(mailbox, uid)
        return
    is_small = size <= MAX_MAIL_BYTES
    raw = folder.fetch(uid) if is_small else folder.fetch_header(uid)
    digest = hashlib.sha256(raw if is_small else raw + b"%d" % size).hexdigest()
    domain = read_sender_domain(raw)
    files: list[ReportFile] = []
    outcome, reason = MailOutcome.REFUSED, ""
    known = _find_mail(mailbox, digest)
    if known is None or known.outcome == MailOutcome.HELD:
        try:
            judged = judge_mail(mailbox=mailbox, raw=raw, size=size)
            files = check_documents(tenant=mailbox.tenant, parts=judged.parts)
            outcome = MailOutcome.ACCEPTED
        except MailRefused as refusal:
            reason = refusal.reason
        except DnsUnavailable:
            outcome, reason = MailOutcome.HELD, MailReason.DNS_UNAVAILABLE
        except Unavailable as away:
            outcome, reason = MailOutcome.HELD, away.code
        except DomainError as refusal:
            reason = refusal.code
    mail = _store(mailbox, uid, digest, domain, outcome, reason, files)
    if mail.outcome != MailOutcome.HELD:
        _file(mailbox, folder, mail)


def _store(
    mailbox: ReportMailbox,
    uid: int,
    digest: str,
    domain: str,
    outcome: MailOutcome,
    reason: str,
    files: list[ReportFile],
) -> ReceivedMail:
    """Store a judged mail and its documents, all or nothing.

    One that was decided before, by another worker or before the server counted anew,
    keeps its outcome.
    """
    try:
        with transaction.atomic():
            ReportMailbox.objects.for_tenant(mailbox.tenant).select_for_update(
                no_key=True
            ).get(pk=mailbox.pk)
            known = _find_mail(mailbox, digest)
            mail = known or ReceivedMail(
                tenant=mailbox.tenant, mailbox=mailbox, digest=digest
            )
            mail.uid_validity, mail.uid = mailbox.uid_validity, uid
            is_decided = known is not None and known.outcome != MailOutcome.HELD
            if is_decided:
                mail.filed_at = None
            else:
                mail.sender_domain, mail.outcome, mail.reason = domain, outcome, reason
                if outcome != MailOutcome.HELD:
                    mail.decided_at = timezone.now()
            mail.save()
            if files and not is_decided:
                _store_documents(mailbox, mail, files)
            elif files:
                _delete_on_commit(files)
            mailbox.last_mail_at = max(
                mailbox.last_mail_at or mail.received_at, mail.received_at
            )
            mailbox.last_uid = max(mailbox.last_uid, uid)
            mailbox.save(update_fields=["last_mail_at", "last_uid"])
    except BaseException:
        delete_stored_report_files([file.stored_as for file in files])
        raise
    return mail


def _store_documents(
    mailbox: ReportMailbox, mail: ReceivedMail, files: list[ReportFile]
) -> None:
    digests = [file.sha256 for file in files]
    known = UnmatchedDocument.objects.for_tenant(mailbox.tenant).filter(
        sha256__in=digests
    )
    if set(known.values_list("sha256", flat=True)) >= set(digests):
        mail.outcome, mail.reason = MailOutcome.REFUSED, MailReason.KNOWN_DOCUMENT
        mail.save(update_fields=["outcome", "reason"])
        _delete_on_commit(files)
        return
    actor = Actor(ActorKind.SYSTEM, f"mail {mail.pk}", mail.sender_domain)
    store_documents(tenant=mailbox.tenant, actor=actor, files=files, mail=mail)


def _delete_on_commit(files: list[ReportFile]) -> None:
    names = [file.stored_as for file in files]
    transaction.on_commit(lambda: delete_stored_report_files(names))


def _file(mailbox: ReportMailbox, folder: MailFolder, mail: ReceivedMail) -> None:
    folder.file_mail(mail.uid, handled_folder=mailbox.handled_folder)
    mail.filed_at = timezone.now()
    mail.save(update_fields=["filed_at"])


def _advance(mailbox: ReportMailbox, uid: int) -> None:
    held = ReceivedMail.objects.for_tenant(mailbox.tenant).filter(
        mailbox=mailbox,
        uid_validity=mailbox.uid_validity,
        uid=uid,
        outcome=MailOutcome.HELD,
    )
    held.update(
        outcome=MailOutcome.REFUSED,
        reason=MailReason.MAIL_REMOVED,
        decided_at=timezone.now(),
        filed_at=timezone.now(),
    )
    mailbox.last_uid = max(mailbox.last_uid, uid)
    mailbox.save(update_fields=["last_uid"])


def _find_mail(mailbox: ReportMailbox, digest: str) -> ReceivedMail | None:
    rows = ReceivedMail.objects.for_tenant(mailbox.tenant)
    found: ReceivedMail | None = rows.filter(mailbox=mailbox, digest=digest).first()
    return found
