"""Process messages from labs: results, and acknowledgements of orders.

A message is stored under the digest of its bytes, in the same transaction as its
effects, so that it is processed exactly once.
"""

from __future__ import annotations

import hashlib
import logging
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.db import InterfaceError, OperationalError, transaction
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.gateways.hl7.acknowledgements import (
    get_hl7_acknowledgement_code,
    parse_hl7_message_header,
)
from labs.gateways.hl7.messages import (
    DATA_TYPE_ERROR,
    REQUIRED_MISSING,
    UNSUPPORTED_PROCESSING,
    MalformedMessage,
    parse_hl7_message,
    split_hl7_messages,
)
from labs.gateways.hl7.orders import get_sample_id_of_control_id
from labs.gateways.hl7.results import parse_hl7_result_reports
from labs.models import InboundMessage
from labs.operations.inbound.repeated_failures import fails_for_good
from labs.operations.inbound.reports import store_lab_reports
from labs.queries.inbound import find_orders_by_lab_report_numbers
from labs.states.accounts import HeldLinesAnswer
from labs.states.inbound import MESSAGE_MOVES, MessageStatus
from portal.lib.database.transitions import move_status
from portal.lib.errors import DomainError, Unavailable
from portal.lib.slots import NoSlot, Work, hold_work_slot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from accounts.models import Tenant
    from labs.gateways.hl7.acknowledgements import MessageHeader
    from labs.gateways.hl7.drop import DroppedFile
    from labs.gateways.hl7.reports import Report
    from labs.models import Lab, LabAccount
    from portal.lib.actor import Actor

logger = logging.getLogger(__name__)

INTERNAL_ERROR = "207"  # table 0357
FAILED_INSIDE = MalformedMessage(
    INTERNAL_ERROR, "", "The message could not be processed."
)
_TOO_LARGE = MalformedMessage(DATA_TYPE_ERROR, "", "The file is larger than 10 MB.")
# ORR answers orders of labs before v2.5, some of which answer an OML with it.
_ANSWERS = {"ACK", "ORL", "ORR"}
_AGREED = {"AA", "CA"}
# ORC-1, table 0119: unable to accept, unable to cancel, cancelled by the lab.
_DECLINED = {"UA", "UC", "OC"}
_NAME_MAX_LENGTH = 255
_KIND_MAX_LENGTH = 50
# Ours: read in 0.1 s. The longest message that is read takes 1.3 s (MAX_PARTS).
_SHORT = 50_000


@dataclass(frozen=True, slots=True)
class MessageKey:
    """The identity of a message: tenant, lab, account and bytes."""

    tenant: Tenant
    lab: Lab
    account: LabAccount | None
    digest: str
    file_name: str

    @property
    def label(self) -> str:
        """Return a text that is this message's alone."""
        account = self.account.pk if self.account else None
        return f"{self.tenant.pk} {self.lab.pk} {account} {self.digest}"


def process_hl7_file_content(
    *,
    tenant: Tenant,
    actor: Actor,
    lab: Lab,
    account: LabAccount | None,
    dropped: DroppedFile,
) -> list[InboundMessage]:
    """Process the messages of a file; return already processed ones unchanged.

    A file that can't be split is one malformed message.
    """
    broken: MalformedMessage | None = None
    if dropped.content is None:
        contents, broken = [b""], _TOO_LARGE
    else:
        try:
            contents = split_hl7_messages(dropped.content)
        except MalformedMessage as refusal:
            contents, broken = [dropped.content], refusal
    taken = []
    for content in contents:
        key = MessageKey(
            tenant=tenant,
            lab=lab,
            account=account,
            digest=hashlib.sha256(content).hexdigest() if content else dropped.digest,
            file_name=_decode_file_name(dropped.name)[:_NAME_MAX_LENGTH],
        )
        taken.append(_process_message(actor, key, content, broken))
    return taken


def _process_message(
    actor: Actor, key: MessageKey, content: bytes, broken: MalformedMessage | None
) -> InboundMessage:
    known = _find_processed_message(key)
    if known is not None:
        return known
    try:
        if broken is None:
            return _store_message(actor, key, content)
        refusal = broken
    except MalformedMessage as found:
        refusal = found
    except Exception as fault:  # kept, answered and shown instead
        is_of_database = isinstance(fault, (OperationalError, InterfaceError))
        if is_of_database and not fails_for_good(fault, key=key.label):
            raise
        known = _find_processed_message(key)  # another run may just have taken it
        if known is not None:
            return known
        # The type alone: its text may hold health data.
        logger.warning("a message failed: %s", type(fault).__name__)
        refusal = FAILED_INSIDE
    return _store_malformed_message(actor, key, content, refusal)


def _find_processed_message(key: MessageKey) -> InboundMessage | None:
    rows = InboundMessage.objects.for_tenant(key.tenant)
    found: InboundMessage | None = rows.filter(
        lab=key.lab, lab_account=key.account, digest=key.digest
    ).first()
    return found


def _parse_reports(tenant: Tenant, content: bytes) -> list[Report]:
    """Return the reports of a message.

    Raises: Malformed. Source: Ours: a production environment takes no test messages.
    """
    parsed = parse_hl7_message(content)
    reports = parse_hl7_result_reports(parsed, zone=get_default_lab_time_zone(tenant))
    if not tenant.is_sandbox and parsed.header.text(11) not in {"P", ""}:
        raise MalformedMessage(
            UNSUPPORTED_PROCESSING,
            "MSH-11",
            "This folder does not accept test messages.",
        )
    return reports


@transaction.atomic
def _store_message(actor: Actor, key: MessageKey, content: bytes) -> InboundMessage:
    """Store a message with its reports. Raises: MalformedMessage."""
    header = parse_hl7_message_header(content)
    if header.kind.partition("^")[0] in _ANSWERS:
        return _store_acknowledgement(actor, key, header, content)
    reports = _parse_reports(key.tenant, content)
    message = _create_message(
        actor,
        key,
        header,
        "take_message",
        status=MessageStatus.TAKEN,
        answer=_choose_answer(key.account, reports),
    )
    store_lab_reports(actor=actor, message=message, reports=reports)
    return message


def _choose_answer(account: LabAccount | None, reports: list[Report]) -> str:
    """Return MSA-1: by the account's setting where lines are held.

    Source: Ours: AA by default. All of the message is stored, and a sender that reads
    AE sends it again or stops behind it.
    """
    if account is not None and any(report.doubts for report in reports):
        return account.held_lines_answer
    return HeldLinesAnswer.ACCEPTED


def _create_message(
    actor: Actor, key: MessageKey, header: MessageHeader, verb: str, **fields: Any
) -> InboundMessage:
    message = InboundMessage(
        tenant=key.tenant,
        lab=key.lab,
        lab_account=key.account,
        digest=key.digest,
        file_name=key.file_name,
        control_id=header.control_id,
        kind=header.kind[:_KIND_MAX_LENGTH],
        sender=header.sending_facility or header.sending_application,
        **fields,
    )
    message.save(force_insert=True)
    _record_message_change(actor, message, verb)
    return message


def _store_acknowledgement(
    actor: Actor, key: MessageKey, header: MessageHeader, content: bytes
) -> InboundMessage:
    """Store a lab's acknowledgement of an order; a rejection needs review.

    A response (ORL, ORR) may accept the message and decline its order.
    """
    segments = parse_hl7_message(content).segments
    answer = next((one for one in segments if one.name == "MSA"), None)
    if answer is None:
        raise MalformedMessage(
            REQUIRED_MISSING, "MSA", "The acknowledgement has no MSA segment."
        )
    orders = find_orders_by_lab_report_numbers(
        tenant=key.tenant,
        lab=key.lab,
        placers=(),
        fillers=(),
        samples=(get_sample_id_of_control_id(answer.text(2)),),
    )
    order = orders[0] if orders else None
    is_declined = any(
        one.name == "ORC" and one.text(1) in _DECLINED for one in segments
    )
    if answer.text(1) in _AGREED and not is_declined:
        status = MessageStatus.TAKEN
        return _create_message(
            actor, key, header, "take_answer", status=status, order=order
        )
    return _create_message(
        actor,
        key,
        header,
        "take_answer",
        status=MessageStatus.REFUSED,
        order=order,
        content=content,
        error_code=answer.text(1)[:2],
        error_text="The lab rejected an order or its cancellation.",
    )


@transaction.atomic
def _store_malformed_message(
    actor: Actor, key: MessageKey, content: bytes, refusal: MalformedMessage
) -> InboundMessage:
    return _create_message(
        actor,
        key,
        parse_hl7_message_header(content),
        "take_malformed",
        status=MessageStatus.MALFORMED,
        content=content,
        answer=get_hl7_acknowledgement_code(refusal),
        error_code=refusal.code,
        error_place=refusal.place,
        error_text=refusal.says,
    )


def refuse_hl7_message(
    *, actor: Actor, key: MessageKey, content: bytes, refusal: MalformedMessage
) -> InboundMessage:
    """Store a message that its connection refuses; return a stored one unchanged.

    It is shown with the malformed messages, and can be processed after all.
    """
    known = _find_processed_message(key)
    return known or _store_malformed_message(actor, key, content, refusal)


@transaction.atomic
def reprocess_malformed_lab_message(
    *, message: InboundMessage, actor: Actor
) -> InboundMessage:
    """Process a malformed message again, if it can be parsed now.

    The lab, which was told of a failure, is told no other thing by this. Raises:
    transition_not_allowed; still_malformed; reader_busy (503). Source: Ours: what a
    later version reads need not be sent again.
    """
    content = bytes(message.content)
    try:
        with limit_concurrent_message_parsing(message.tenant, length=len(content)):
            reports = _parse_reports(message.tenant, content)
    except MalformedMessage as refusal:
        raise DomainError("still_malformed", refusal.says) from None
    move_status(message, moves=MESSAGE_MOVES, to=MessageStatus.TAKEN, content=b"")
    _record_message_change(actor, message, "read_again")
    store_lab_reports(actor=actor, message=message, reports=reports)
    return message


@contextmanager
def limit_concurrent_message_parsing(tenant: Tenant, *, length: int) -> Iterator[None]:
    """Limit how many requests parse a long message at the same time.

    length: of the message, in bytes or characters. Raises: reader_busy (503). Source:
    Ours: a laboratory's message must not hold the threads that others are answered by.
    """
    with ExitStack() as held:
        if length > _SHORT:
            try:
                held.enter_context(hold_work_slot(Work.STORED, tenant=tenant))
            except NoSlot:
                raise Unavailable(
                    "reader_busy",
                    _("Another long message is being processed. Try again shortly."),
                ) from None
        yield


def get_default_lab_time_zone(tenant: Tenant) -> ZoneInfo:
    """Return the time zone for lab times without one. Source: Ours: labs are near."""
    return ZoneInfo(tenant.team.time_zone)


def _decode_file_name(name: str) -> str:
    """Return a file's name as text: on disk it may be any bytes."""
    return name.encode("utf-8", "replace").decode().replace("\x00", "")


def _record_message_change(actor: Actor, message: InboundMessage, verb: str) -> None:
    record_change(
        tenant=message.tenant,
        actor=actor,
        verb=verb,
        subject="lab_message",
        subject_id=message.pk,
    )
