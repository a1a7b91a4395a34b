"""Uploads shown to a scanner for malware before they are kept, where one is named.

UPLOAD_SCANNER names ClamAV's clamd, by TCP (`clamd://scanner.example:3310`) or by the
path of its socket (`clamd:///run/clamav/clamd.ctl`); empty: nothing is scanned. Must
not be here: which files may be uploaded.
"""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from portal.lib.errors import DomainError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

INFECTED = "file_infected"
UNAVAILABLE = "scanner_unavailable"
PORT = 3310
# Of each exchange with clamd, which reads a large archive before it answers.
TIMEOUT_S = 120
_CHUNK_BYTES = 256 * 1024
_ANSWER_MAX_BYTES = 4096


class ScannerSilent(Exception):
    """The scanner gave no result."""


def require_malware_free_upload(upload: BinaryIO) -> None:
    """Refuse an upload that the scanner names; its place is at the start again then.

    Without a verdict it is refused as well: who wants uploads scanned wants no others.
    Raises: file_infected (400), scanner_unavailable (503). Source: Ours.
    """
    if not settings.UPLOAD_SCANNER:
        return
    upload.seek(0)
    try:
        is_clean = SCANNERS[parse_scanner_address().scheme](upload)
    except (ScannerSilent, OSError):
        raise Unavailable(
            UNAVAILABLE,
            _("The malware scanner is not available. Try again later."),
            "file",
        ) from None
    if not is_clean:
        # What it found is not told: it helps whoever tries what gets through.
        raise DomainError(
            INFECTED, _("The malware scanner rejected this file."), "file"
        )
    upload.seek(0)


def parse_scanner_address() -> SplitResult:
    """Return the address of UPLOAD_SCANNER, in its parts."""
    return urlsplit(settings.UPLOAD_SCANNER)


def scan_with_clamd(upload: BinaryIO) -> bool:
    """Return whether clamd finds no malware. Raises: ScannerSilent, OSError."""
    with _connect() as clamd:
        clamd.settimeout(TIMEOUT_S)
        try:
            clamd.sendall(b"zINSTREAM\0")
            while chunk := upload.read(_CHUNK_BYTES):
                clamd.sendall(struct.pack(">I", len(chunk)) + chunk)
            clamd.sendall(struct.pack(">I", 0))
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has said why, such as a size over its own limit
        with clamd.makefile("rb") as answers:
            answer = answers.read(_ANSWER_MAX_BYTES).rstrip(b"\0\n")
    if answer.endswith(b" FOUND"):
        return False
    if answer == b"stream: OK":
        return True
    raise ScannerSilent


def _connect() -> socket.socket:
    address = parse_scanner_address()
    if address.hostname:
        return socket.create_connection(
            (address.hostname, address.port or PORT), TIMEOUT_S
        )
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        opened.settimeout(TIMEOUT_S)
        opened.connect(address.path)
    except BaseException:
        opened.close()
        raise
    return opened


# By the scheme of UPLOAD_SCANNER; another scanner is one entry more.
SCANNERS: dict[str, Callable[[BinaryIO], bool]] = {"clamd": scan_with_clamd}
