"""Judge a mail: whose it is, whether it may count, and which documents it has.

Nothing of a mail's words is used: its text is not read, no link is opened, and the
order is found by what the documents print.
"""

from __future__ import annotations

import email
import re
from dataclasses import dataclass
from email.policy import compat32
from email.utils import getaddresses, parseaddr
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.mail.utils import DNS_NAME

from reports.gateways.signatures import find_signature_fault
from reports.operations.jobs.submission import ReportPart
from reports.parser.intake import FileKind
from reports.states import MailReason

if TYPE_CHECKING:
    from email.message import Message

    from reports.models import ReportMailbox

MAX_MAIL_BYTES = 16 * 1024 * 1024  # 10 MB of files, as mail writes them
MAX_PARTS = 200
DOMAIN_MAX_LENGTH = 253
_ADDRESS = re.compile(r"[^\s@<>,;\"()]{1,64}@([a-z0-9][-a-z0-9]{0,62}\.)+[a-z0-9-]+")
_KINDS = frozenset(str(kind) for kind in FileKind)
# By which mail programs send files whose kind they do not know.
_UNNAMED = {"application/octet-stream", "binary/octet-stream", "application/pdf"}
_BY_ENDING = {
    ".pdf": FileKind.PDF,
    ".jpg": FileKind.JPEG,
    ".jpeg": FileKind.JPEG,
    ".png": FileKind.PNG,
}
# What mail programs attach beside what a person attached.
_ACCOMPANYING = {
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
    "application/pgp-signature",
    "text/vcard",
    "text/x-vcard",
}
# RFC 3834, 2. Laboratories' systems send reports as `auto-generated`: no reply.
_REPLIES = ("auto-replied", "auto-notified")
_BULK = {"bulk", "list", "junk", "auto_reply"}


_BROKEN = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


class MailRefused(Exception):
    """A mail that is not accepted; `reason` is the code of a MailReason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class JudgedMail:
    """A mail of a known sender and the documents in it."""

    sender_domain: str
    parts: tuple[ReportPart, ...]


def parse_mail(raw: bytes) -> Message:
    """Parse a mail, by the policy that takes any header as it is."""
    return email.message_from_bytes(raw, policy=compat32)


def read_sender(mail: Message) -> str:
    """Return the one sender's address, lower case; empty if that is not clear."""
    senders = [str(value) for value in mail.get_all("from", [])]
    named = getaddresses(senders)
    if len(senders) != 1 or len(named) != 1:
        return ""
    address = named[0][1].lower()
    return address if _ADDRESS.fullmatch(address) else ""


def read_sender_domain(raw: bytes) -> str:
    """Return the domain of a mail's sender, empty if that is not clear."""
    try:
        return read_sender(parse_mail(raw)).rpartition("@")[2][:DOMAIN_MAX_LENGTH]
    except _BROKEN:
        return ""


def judge_mail(*, mailbox: ReportMailbox, raw: bytes, size: int) -> JudgedMail:
    """Return the documents of a mail that may count; of one too large, the header.

    The cheap checks first: what comes from nobody on the list asks no DNS. Raises:
    MailRefused; DnsUnavailable. Source: RFC 3834 (loops), RFC 6376; the list is Ours.
    """
    try:
        mail = parse_mail(raw)
        return _judge(mailbox, mail, raw, size)
    except _BROKEN:
        # Of the library, on what no mail program writes: one mail stops no mailbox.
        raise MailRefused(MailReason.MAIL_MALFORMED) from None


def _judge(mailbox: ReportMailbox, mail: Message, raw: bytes, size: int) -> JudgedMail:
    sender = read_sender(mail)
    domain = sender.rpartition("@")[2]
    for reason, is_so in (
        (MailReason.SENDER_UNCLEAR, not sender),
        (MailReason.OWN_MAIL, _is_own(mail, sender, mailbox)),
        (MailReason.AUTOMATIC_REPLY, _is_automatic_reply(mail)),
        (MailReason.MAILING_LIST, _is_of_list(mail)),
        (MailReason.SENDER_NOT_LISTED, not {sender, domain} & set(mailbox.senders)),
        (MailReason.MAIL_TOO_LARGE, size > MAX_MAIL_BYTES),
    ):
        if is_so:
            raise MailRefused(reason)
    fault = find_signature_fault(raw, domain=domain)
    if fault is not None:
        raise MailRefused(fault)
    return JudgedMail(domain, _list_documents(mail))


def _is_own(mail: Message, sender: str, mailbox: ReportMailbox) -> bool:
    ours = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].lower()
    message_id = str(mail.get("message-id", "")).strip().rstrip(">").lower()
    return (
        sender in {mailbox.address, mailbox.user_name, ours}
        or message_id.rpartition("@")[2] == DNS_NAME.get_fqdn().lower()
    )


def _is_automatic_reply(mail: Message) -> bool:
    said = str(mail.get("auto-submitted", "")).strip().lower()
    return (
        said.startswith(_REPLIES)
        or mail.get_content_type() == "multipart/report"
        or str(mail.get("return-path", "")).strip() == "<>"
    )


def _is_of_list(mail: Message) -> bool:
    precedence = str(mail.get("precedence", "")).strip().lower()
    return precedence in _BULK or any(name.lower().startswith("list-") for name in mail)


def _list_documents(mail: Message) -> tuple[ReportPart, ...]:
    """Return the files of a mail in order, pictures of its text left out.

    Raises: MailRefused.
    """
    found = []
    for number, part in enumerate(mail.walk()):
        if number >= MAX_PARTS:
            raise MailRefused(MailReason.MAIL_MALFORMED)
        if part.get_content_maintype() == "message":
            raise MailRefused(MailReason.UNSUPPORTED_FILE)  # a forwarded mail
        if part.is_multipart() or not _is_file(part):
            continue
        kind = _find_kind(part)
        if kind is None:
            raise MailRefused(MailReason.UNSUPPORTED_FILE)
        content = part.get_payload(decode=True)
        if not isinstance(content, bytes):
            raise MailRefused(MailReason.MAIL_MALFORMED)
        found.append(ReportPart(content, kind))
    if not found:
        raise MailRefused(MailReason.NO_DOCUMENT)
    return tuple(found)


def _is_file(part: Message) -> bool:
    kind = part.get_content_type()
    if kind in _ACCOMPANYING:
        return False
    if part.get_content_disposition() == "attachment":
        return True
    # A picture inside the text, such as a logo, is shown by its Content-ID.
    if part.get_content_maintype() == "image":
        return part.get_filename() is not None and "content-id" not in part
    return part.get_content_maintype() != "text" or part.get_filename() is not None


def _find_kind(part: Message) -> str | None:
    """Return the media type that a file claims; its bytes are compared with it."""
    kind = part.get_content_type()
    if kind in _KINDS and kind != FileKind.PDF:
        return kind
    name = str(part.get_filename() or "").lower()
    by_name = next((of for end, of in _BY_ENDING.items() if name.endswith(end)), None)
    if kind in _UNNAMED:
        return str(by_name or (FileKind.PDF if kind == FileKind.PDF else "")) or None
    return None
