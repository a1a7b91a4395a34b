"""Reads of mailboxes, of their mails, and of documents without an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, Min, Q
from django.utils.translation import gettext as _

from portal.lib.database.sorting import sort_as_asked
from portal.lib.errors import NotFound
from portal.lib.tenancy import across_tenants
from reports.models import ReceivedMail, ReportMailbox, UnmatchedDocument
from reports.states import MailOutcome

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.models import Tenant

_NEWEST = ("-received_at", "-pk")
_OF_DOCUMENT = ("order__user", "order__lab_test", "job", "mail")


@dataclass(frozen=True, slots=True)
class MailboxStates:
    """All mailboxes, over all teams; times are None where nothing ever was."""

    mailboxes: int
    failing: int
    failing_since: datetime | None
    polled_at: datetime | None
    held_since: datetime | None


def find_report_mailbox(*, tenant: Tenant) -> ReportMailbox | None:
    """Return the tenant's mailbox, None if there is none."""
    found: ReportMailbox | None = ReportMailbox.objects.for_tenant(tenant).first()
    if found is not None:
        found.tenant = tenant
    return found


def list_recent_mails(*, mailbox: ReportMailbox, limit: int) -> list[ReceivedMail]:
    """Return the mails that came last, newest first."""
    rows = ReceivedMail.objects.for_tenant(mailbox.tenant).filter(mailbox=mailbox)
    return list(rows.order_by("-received_at", "-pk")[:limit])


def count_held_mails(*, mailbox: ReportMailbox) -> int:
    """Count the mails that are judged again at the next poll."""
    rows = ReceivedMail.objects.for_tenant(mailbox.tenant).filter(
        mailbox=mailbox, outcome=MailOutcome.HELD
    )
    return int(rows.count())


def read_mailbox_states() -> MailboxStates:
    """Return how the mailboxes of all teams are; two queries."""
    with across_tenants(why="the server's health is that of every team"):
        boxes = ReportMailbox.unscoped.filter(tenant__team__deleted_at=None).aggregate(
            number=Count("pk"),
            failing=Count("pk", filter=Q(failing_since__isnull=False)),
            failing_since=Min("failing_since"),
            polled_at=Min("polled_at"),
        )
        held = ReceivedMail.unscoped.filter(
            outcome=MailOutcome.HELD, mailbox__tenant__team__deleted_at=None
        ).aggregate(since=Min("received_at"))
    return MailboxStates(
        boxes["number"],
        boxes["failing"],
        boxes["failing_since"],
        boxes["polled_at"],
        held["since"],
    )


def list_documents(
    *,
    tenant: Tenant,
    statuses: tuple[str, ...] = (),
    after: tuple[datetime, UUID] | None = None,
    offset: int = 0,
    limit: int,
    order_by: str = "",
) -> tuple[list[UnmatchedDocument], int]:
    """Return a page of documents that needed an order, newest first, and their number.

    after: time and ID of the last of the page before. `order_by`: the path to sort the
    newest by, with a minus for downwards. Two queries.
    """
    rows = UnmatchedDocument.objects.for_tenant(tenant)
    if statuses:
        rows = rows.filter(status__in=statuses)
    page = rows.select_related(*_OF_DOCUMENT).order_by(*_NEWEST)
    page = sort_as_asked(page, order_by=order_by, newest=_NEWEST)
    if after is not None:
        at, key = after
        page = page.filter(Q(received_at__lt=at) | Q(received_at=at, pk__lt=key))
    found = list(page[offset : offset + limit])
    for document in found:
        document.tenant = tenant
    return found, rows.count()


def get_unmatched_document(*, tenant: Tenant, document_id: UUID) -> UnmatchedDocument:
    """Return a document. Raises: document_not_found (404)."""
    rows = UnmatchedDocument.objects.for_tenant(tenant).select_related(*_OF_DOCUMENT)
    found: UnmatchedDocument | None = rows.filter(pk=document_id).first()
    if found is None:
        raise NotFound("document_not_found", _("Document not found."))
    found.tenant = tenant
    return found
