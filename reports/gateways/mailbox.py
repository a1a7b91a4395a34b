"""A folder of a mailbox on an IMAP server: list, read and file its mails.

By imaplib of the standard library: six commands are needed, and imap-tools would parse
the mails as well, which is done here only after their signature is checked. Connections
go to addresses that may be called, and no answer is read without a bound.
"""

from __future__ import annotations

import imaplib
import re
import socket
import ssl
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from labs.gateways.hl7.networks import may_be_called
from portal.lib.network.addresses import parse_ip_address
from reports.states import MailboxFault, MailEncryption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TIMEOUT_S = 30
# Of one answer: a mail of MAX_MAIL_BYTES and what IMAP writes around it.
MAX_ANSWER_BYTES = 20 * 1024 * 1024
HEADER_MAX_BYTES = 64 * 1024
_UID_VALIDITY = re.compile(rb"\d+")
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)")


class MailboxFailed(Exception):
    """The server can't be reached, refuses us or answers what IMAP does not."""

    def __init__(self, fault: MailboxFault) -> None:
        super().__init__(fault)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where a mailbox is, and how to sign in."""

    host: str
    port: int
    encryption: str
    user_name: str
    folder: str
    password: str = field(repr=False)


class _Connection(imaplib.IMAP4):
    """A connection to an address that may be called, whose answers are bounded."""

    def __init__(self, server: MailServer, context: ssl.SSLContext | None) -> None:
        self._tls = context if server.encryption == MailEncryption.TLS else None
        super().__init__(server.host, server.port, timeout=TIMEOUT_S)

    def _create_socket(self, timeout: float | None) -> Any:
        opened = socket.create_connection(
            (_look_up(self.host, self.port), self.port), timeout
        )
        if self._tls is None:
            return opened
        return self._tls.wrap_socket(opened, server_hostname=self.host)

    def read(self, size: int) -> bytes:
        if size > MAX_ANSWER_BYTES:
            raise self.abort("answer too large")
        return super().read(size)


class MailFolder:
    """A selected folder. Each method raises MailboxFailed."""

    def __init__(self, connection: imaplib.IMAP4, uid_validity: int) -> None:
        self.uid_validity = uid_validity
        self._connection = connection

    def list_uids(self, *, after: int) -> list[int]:
        """Return the UIDs of mails that came after one, oldest first."""
        # `n:*` always names the last mail, also where its UID is below n.
        found = self._run("SEARCH", None, "UID", f"{after + 1}:*")
        numbers = b" ".join(part for part in found if isinstance(part, bytes)).split()
        return sorted(uid for uid in map(int, numbers) if uid > after)

    def fetch_size(self, uid: int) -> int | None:
        """Return a mail's size in bytes; None if it is gone."""
        for part in self._run("FETCH", str(uid), "(RFC822.SIZE)"):
            text = part[0] if isinstance(part, tuple) else part
            if found := _SIZE.search(text or b""):
                return int(found[1])
        return None

    def fetch_header(self, uid: int) -> bytes:
        """Return a mail's header, cut after HEADER_MAX_BYTES; empty if it is gone."""
        return self._fetch(uid, f"(BODY.PEEK[HEADER]<0.{HEADER_MAX_BYTES}>)")

    def fetch(self, uid: int) -> bytes:
        """Return a mail, which stays unread; empty if it is gone."""
        return self._fetch(uid, "(BODY.PEEK[])")

    def file_mail(self, uid: int, *, handled_folder: str) -> None:
        """Mark a mail as read and move it, if a folder is named; again does nothing."""
        self._run("STORE", str(uid), "+FLAGS.SILENT", r"(\Seen)")
        if not handled_folder:
            return
        if "MOVE" in self._connection.capabilities:
            self._run("MOVE", str(uid), _quote(handled_folder))
        else:
            self._run("COPY", str(uid), _quote(handled_folder))
            self._run("STORE", str(uid), "+FLAGS.SILENT", r"(\Deleted)")
            self._run("EXPUNGE", str(uid))  # UIDPLUS: RFC 4315

    def has_folder(self, name: str) -> bool:
        """Return whether the mailbox has another folder."""
        found = _run(self._connection.list, '""', _quote(name))
        return any(found)

    def _fetch(self, uid: int, parts: str) -> bytes:
        for part in self._run("FETCH", str(uid), parts):
            if isinstance(part, tuple):
                return bytes(part[1])
        return b""

    def _run(self, command: str, *arguments: Any) -> list[Any]:
        return _run(self._connection.uid, command, *arguments)


@contextmanager
def open_mail_folder(server: MailServer) -> Iterator[MailFolder]:
    """Sign in and select the folder. Raises: MailboxFailed."""
    context = ssl.create_default_context()
    try:
        connection = _Connection(server, context)
    except ssl.SSLError:
        raise MailboxFailed(MailboxFault.TLS) from None
    except (OSError, imaplib.IMAP4.error):
        raise MailboxFailed(MailboxFault.UNREACHABLE) from None
    try:
        if server.encryption == MailEncryption.STARTTLS:
            _start_tls(connection, context)
        _sign_in(connection, server)
        yield MailFolder(connection, _select(connection, server.folder))
    finally:
        with suppress(OSError, imaplib.IMAP4.error):
            connection.logout()


def is_loopback(host: str) -> bool:
    """Return whether a host is an address of this machine."""
    address = parse_ip_address(host)
    return address is not None and address.is_loopback


def _look_up(host: str, port: int) -> str:
    """Return the first address of a host that may be called."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise MailboxFailed(MailboxFault.UNREACHABLE) from None
    for *_, place in found:
        if may_be_called(str(place[0])):
            return str(place[0])
    raise MailboxFailed(MailboxFault.NOT_ALLOWED)


def _start_tls(connection: imaplib.IMAP4, context: ssl.SSLContext) -> None:
    try:
        connection.starttls(context)
    except (ssl.SSLError, imaplib.IMAP4.error):
        raise MailboxFailed(MailboxFault.TLS) from None
    except OSError:
        raise MailboxFailed(MailboxFault.UNREACHABLE) from None


def _sign_in(connection: imaplib.IMAP4, server: MailServer) -> None:
    try:
        # AUTHENTICATE PLAIN, unlike LOGIN, takes any character in a password.
        _run(
            connection.authenticate,
            "PLAIN",
            lambda _challenge: f"\0{server.user_name}\0{server.password}".encode(),
        )
    except imaplib.IMAP4.error:
        raise MailboxFailed(MailboxFault.SIGN_IN) from None


def _select(connection: imaplib.IMAP4, folder: str) -> int:
    try:
        status, _ = connection.select(_quote(folder))
        _, found = connection.response("UIDVALIDITY")
    except imaplib.IMAP4.abort:
        raise MailboxFailed(MailboxFault.PROTOCOL) from None
    except imaplib.IMAP4.error:
        raise MailboxFailed(MailboxFault.FOLDER) from None
    except OSError:
        raise MailboxFailed(MailboxFault.UNREACHABLE) from None
    if status != "OK":
        raise MailboxFailed(MailboxFault.FOLDER)
    number = _UID_VALIDITY.search((found or [b""])[0] or b"")
    if number is None:
        raise MailboxFailed(MailboxFault.PROTOCOL)
    return int(number[0])


def _quote(folder: str) -> str:
    """Return a folder's name quoted, in the modified UTF-7 of RFC 3501."""
    written = re.sub(
        r"[^\x20-\x7e]+",
        lambda part: (
            "&" + part[0].encode("utf-7").decode()[1:-1].replace("/", ",") + "-"
        ),
        folder.replace("&", "&-"),
    )
    escaped = written.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _run(command: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Run a command and return its data. Raises: MailboxFailed; imaplib's error."""
    try:
        status, data = command(*arguments)
    except imaplib.IMAP4.abort:
        raise MailboxFailed(MailboxFault.PROTOCOL) from None
    except imaplib.IMAP4.error:
        if command.__name__ == "authenticate":
            raise
        raise MailboxFailed(MailboxFault.PROTOCOL) from None
    except (OSError, ValueError):
        raise MailboxFailed(MailboxFault.UNREACHABLE) from None
    if status != "OK":
        raise MailboxFailed(MailboxFault.PROTOCOL)
    return list(data)
