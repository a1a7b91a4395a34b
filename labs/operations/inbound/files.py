"""HL7 files from labs: process, acknowledge, archive.

A file's messages are stored first, then acknowledged, and the file is archived last, so
that an interrupted run can resume.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from django.utils import timezone

from accounts.models import Tenant
from labs.gateways.hl7.acknowledgements import (
    build_hl7_acknowledgement,
    parse_hl7_message_header,
)
from labs.gateways.hl7.drop import DropFolder, list_hl7_drop_folders
from labs.gateways.hl7.messages import MalformedMessage
from labs.models import LabAccount
from labs.operations.inbound.processing import process_hl7_file_content
from labs.operations.inbound.repeated_failures import fails_for_good
from labs.operations.inbound.reports import list_doubts_of_message
from labs.queries.accounts import list_linked_lab_accounts
from labs.queries.catalogue import find_lab_by_slug
from labs.states.inbound import MessageStatus
from portal.lib.jobs.jobs import enqueue_job
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from labs.gateways.hl7.drop import DroppedFile
    from labs.models import InboundMessage, Lab
    from portal.lib.actor import Actor

logger = logging.getLogger(__name__)

TAKE_JOB = "labs.take_hl7"


def create_hl7_drop_folders(*, tenant: Tenant) -> list[tuple[LabAccount, DropFolder]]:
    """Create the HL7 folders of the lab accounts a tenant may use."""
    made = []
    for account in list_linked_lab_accounts(tenant=tenant):
        drop = DropFolder.for_account(tenant=tenant, lab=account.lab, account=account)
        drop.create()
        made.append((account, drop))
    return made


def enqueue_hl7_folders_having_files() -> int:
    """Enqueue a job for each folder with files; return how many.

    Over all tenants. Source: Ours: a folder says nothing by itself.
    """
    number = 0
    for tenant, drop in _list_drops_with_files():
        enqueue_job(
            TAKE_JOB,
            tenant=tenant,
            lock=f"{TAKE_JOB} {drop.path}",
            lab_slug=drop.lab_slug,
            account_id=str(drop.account_id) if drop.account_id else None,
        )
        number += 1
    return number


def process_files_of_all_hl7_folders(*, actor: Actor) -> int:
    """Process the files of every folder now; return how many."""
    number = 0
    for tenant, drop in _list_drops_with_files():
        with acting_for(tenant):
            number += process_files_of_hl7_folder(
                tenant=tenant,
                actor=actor,
                lab_slug=drop.lab_slug,
                account_id=drop.account_id,
            )
    return number


def _list_drops_with_files() -> Iterator[tuple[Tenant, DropFolder]]:
    now = timezone.now()
    for drop in list_hl7_drop_folders():
        drop.delete_old_archive(now=now)
        if not drop.list_waiting_files(now=now):
            continue
        tenants = Tenant.objects.select_related("team").filter(
            team__slug=drop.team_slug, environment=drop.environment
        )
        if tenant := tenants.first():
            yield tenant, drop


def process_files_of_hl7_folder(
    *, tenant: Tenant, actor: Actor, lab_slug: str, account_id: UUID | None
) -> int:
    """Process the files of one folder, oldest first; return how many.

    A folder of no lab or account of the tenant's organisation is left alone. Raises:
    OSError, DatabaseError (what was not put away is taken again).
    """
    lab = find_lab_by_slug(tenant=tenant, slug=lab_slug)
    accounts = LabAccount.objects.of_organisation(tenant).filter(lab=lab)
    account = accounts.filter(pk=account_id).first() if account_id else None
    if lab is None or (account_id and account is None):
        return 0
    drop = DropFolder.for_account(tenant=tenant, lab=lab, account=account)
    number = 0
    for name in drop.list_waiting_files(now=timezone.now()):
        dropped = drop.read_file(name)
        if dropped is None:
            continue
        try:
            _process_file(tenant, actor, lab, account, drop, dropped)
        except OSError:
            raise
        except Exception as fault:
            # It must not hold up the files behind it.
            if not fails_for_good(fault, key=f"{drop.path} {dropped.digest}"):
                raise
            # The type alone: its text may hold health data.
            logger.warning(
                "a file of lab %s was not stored: %s", lab.slug, type(fault).__name__
            )
            continue
        number += 1
    return number


def _process_file(
    tenant: Tenant,
    actor: Actor,
    lab: Lab,
    account: LabAccount | None,
    drop: DropFolder,
    dropped: DroppedFile,
) -> None:
    messages = process_hl7_file_content(
        tenant=tenant, actor=actor, lab=lab, account=account, dropped=dropped
    )
    for message in messages:
        if message.answer:
            drop.write_file(
                f"ack-{message.digest[:16]}.hl7",
                build_stored_message_acknowledgement(message),
            )
    failed = any(message.status == MessageStatus.MALFORMED for message in messages)
    drop.archive_file(dropped, failed=failed)


def build_stored_message_acknowledgement(message: InboundMessage) -> bytes:
    """Return the ACK of a stored message; the same bytes each time."""
    header = parse_hl7_message_header(_read_header_line(message))
    refusal = None
    if message.error_code:
        refusal = MalformedMessage(
            message.error_code, message.error_place, message.error_text
        )
    return build_hl7_acknowledgement(
        header,
        control_id=f"ACK{message.digest[:16]}",
        at=message.received_at,
        refusal=refusal,
        doubts=list_doubts_of_message(message),
        code=message.answer,
    )


def _read_header_line(message: InboundMessage) -> bytes:
    if message.content:
        return bytes(message.content)
    first = message.reports.order_by("position").values_list("text", flat=True)[:1]
    return "".join(first).encode()
