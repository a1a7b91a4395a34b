"""Mails of a lab, signed by DKIM, and an IMAP server that is a list in memory."""

from __future__ import annotations

from email.message import EmailMessage
from functools import cache
from typing import Any

import dkim
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from reports.gateways import mailbox as imap
from reports.gateways import signatures
from reports.models import ReportMailbox
from reports.operations.mail.mailbox import MailboxRequest, configure_report_mailbox
from tests.factories.accounts import ACTOR

LAB = "results@lab.example"
ADDRESS = "reports@clinic.example"
SELECTOR = "assay"
PDF = "application/pdf"


@cache
def signing_key() -> tuple[bytes, bytes]:
    """A private key as PEM, and the TXT record of its public key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    text = b"".join(public.splitlines()[1:-1])
    return private, b"v=DKIM1; k=rsa; p=" + text


def make_mail(
    *files: bytes | tuple[bytes, str, str],
    sender: str = LAB,
    number: int = 1,
    headers: dict[str, str] | None = None,
) -> EmailMessage:
    """A mail with files, each bytes of a PDF or with its media type and name."""
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = ADDRESS
    mail["Subject"] = "Results of order 4711"
    mail["Date"] = "Thu, 26 Nov 2026 09:00:00 +0000"
    mail["Message-ID"] = f"<{number}@lab.example>"
    for name, value in (headers or {}).items():
        mail[name] = value
    mail.set_content("See http://lab.example/act?order=4711")
    for file in files:
        content, kind, name = file if isinstance(file, tuple) else (file, PDF, "r.pdf")
        maintype, subtype = kind.split("/")
        mail.add_attachment(content, maintype=maintype, subtype=subtype, filename=name)
    return mail


def sign_mail(mail: EmailMessage, *, domain: str = "lab.example", **options: Any):
    """The mail's bytes with a DKIM signature of a domain."""
    raw = mail.as_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    signature = dkim.sign(
        raw, SELECTOR.encode(), domain.encode(), signing_key()[0], **options
    )
    return signature + raw


class Dns:
    """TXT records of the lab's key; `is_away` gives no answer."""

    def __init__(self) -> None:
        self.is_away = False
        self.asked: list[str] = []

    def __call__(self, name: str) -> bytes | None:
        self.asked.append(name)
        if self.is_away:
            raise signatures.DnsUnavailable
        known = f"{SELECTOR}._domainkey.lab.example"
        return signing_key()[1] if name == known else None


class ImapServer:
    """Mails by UID, and what was done with them; stands for imaplib's connection."""

    capabilities = ("IMAP4REV1", "MOVE")

    def __init__(self) -> None:
        self.mails: dict[int, bytes] = {}
        self.seen: list[int] = []
        self.moved: list[int] = []
        self.uid_validity = 1
        self.refuses: str = ""
        self.stores_fail = False

    def deliver(self, *raws: bytes) -> None:
        for raw in raws:
            self.mails[max(self.mails, default=0) + 1] = raw

    def __call__(self, *_server: Any) -> ImapServer:
        if self.refuses == "connect":
            raise ConnectionRefusedError
        return self

    def authenticate(self, _mechanism: str, answer: Any) -> tuple[str, list[Any]]:
        if self.refuses == "sign_in" or b"secret" not in answer(b""):
            raise imap.imaplib.IMAP4.error
        return "OK", []

    def select(self, folder: str) -> tuple[str, list[Any]]:
        return ("NO" if self.refuses == "folder" else "OK"), [folder]

    def response(self, _code: str) -> tuple[str, list[Any]]:
        return "UIDVALIDITY", [b"%d" % self.uid_validity]

    def logout(self) -> None:
        pass

    def uid(self, command: str, *given: Any) -> tuple[str, Any]:
        return "OK", list(getattr(self, f"_{command.lower()}")(*given))

    def _search(self, _charset: None, _uid: str, numbers: str) -> list[bytes]:
        first = int(numbers.partition(":")[0])
        after = [n for n in self.mails if n >= first] or list(self.mails)[-1:]
        return [b" ".join(b"%d" % n for n in after)]

    def _fetch(self, uid: str, what: str) -> list[Any]:
        raw = self.mails.get(int(uid))
        if raw is None:
            return [None]
        if "SIZE" in what:
            return [b"1 (UID %s RFC822.SIZE %d)" % (uid.encode(), len(raw))]
        if "HEADER" in what:
            raw = raw.partition(b"\r\n\r\n")[0]
        return [(b"1 (BODY[] {%d}" % len(raw), raw), b")"]

    def _store(self, uid: str, _what: str, flags: str) -> list[Any]:
        if self.stores_fail:
            raise imap.imaplib.IMAP4.abort
        assert flags == r"(\Seen)"
        self.seen.append(int(uid))
        return []

    def _move(self, uid: str, _folder: str) -> list[Any]:
        self.moved.append(int(uid))
        self.mails.pop(int(uid), None)
        return []

    def list(self, _place: str, name: str) -> tuple[str, Any]:
        return "OK", [name.encode() if "Handled" in name else None]


def set_up_mailbox(tenant: Any, **changes: Any) -> ReportMailbox:
    """The tenant's mailbox, which accepts mails of the lab."""
    return configure_report_mailbox(
        tenant=tenant,
        actor=ACTOR,
        request=MailboxRequest(
            **{
                "address": ADDRESS,
                "host": "imap.clinic.example",
                "user_name": "",
                "senders": ("lab.example",),
                "password": "secret",
                **changes,
            }
        ),
    )
