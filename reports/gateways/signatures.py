"""DKIM signatures of mails (RFC 6376), and the DNS that has their keys.

By dkimpy, which is kept and has the RFC's own test vectors. What RFC 8301 no longer
accepts (rsa-sha1, keys below 1,024 bits) is no signature here, nor is one that leaves
the end of the mail open (`l=`): whoever adds to a mail would be believed.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import dkim
import dns.exception
import dns.resolver
from django.conf import settings
from dkim.util import InvalidTagValueList, parse_tag_value

from reports.states import MailReason

if TYPE_CHECKING:
    from collections.abc import Callable

    # The TXT record of a name, None if there is none. Raises: DnsUnavailable.
    LookUp = Callable[[str], bytes | None]

DNS_TIMEOUT_S = 5
DNS_PORT = 53
KEY_MIN_BITS = 1024
# Relays add some; more are there to keep us busy.
MAX_SIGNATURES = 8
_ALGORITHM = b"rsa-sha256"
# The library writes names and texts of mails to its log.
_log = logging.Logger("dkim", level=logging.CRITICAL + 1)  # noqa: LOG001 - no handler


class DnsUnavailable(Exception):
    """DNS gave no answer, so nothing is known of a key."""


def find_signature_fault(
    raw: bytes, *, domain: str, look_up: LookUp | None = None
) -> MailReason | None:
    """Return why a mail is not signed for a domain, None if it is.

    A signature counts if its `d=` is the domain or a parent of it (relaxed alignment of
    RFC 7489, 3.1.1). Raises: DnsUnavailable. Source: RFC 6376; Ours: one signature that
    holds is enough.
    """
    ask = look_up or look_up_txt
    reason: MailReason | None = MailReason.NOT_SIGNED

    def answer(name: bytes, timeout: int = DNS_TIMEOUT_S) -> bytes | None:
        del timeout
        return ask(name.decode("ascii", "replace").rstrip("."))

    try:
        verifier = dkim.DKIM(raw, logger=_log, minkey=KEY_MIN_BITS)
    except dkim.DKIMException:
        return MailReason.MAIL_MALFORMED
    signatures = [
        value for name, value in verifier.headers if name.lower() == b"dkim-signature"
    ]
    for index, value in enumerate(signatures[:MAX_SIGNATURES]):
        if not _counts(value, domain):
            continue
        try:
            if dkim.DKIM(raw, logger=_log, minkey=KEY_MIN_BITS).verify(index, answer):
                return None
        except (dkim.DKIMException, ValueError, IndexError):
            pass
        reason = MailReason.SIGNATURE_INVALID
    return reason


def look_up_txt(name: str) -> bytes | None:
    """Return the TXT record of a name by DNS. Raises: DnsUnavailable."""
    try:
        found = _get_resolver().resolve(
            name, "TXT", lifetime=DNS_TIMEOUT_S, search=False
        )
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer, dns.exception.SyntaxError):
        return None
    except (dns.exception.DNSException, OSError):
        raise DnsUnavailable from None
    return b"".join(next(iter(found)).strings)


def _get_resolver() -> dns.resolver.Resolver:
    """Return a resolver of MAIL_DNS_SERVERS, or of the system."""
    servers = settings.MAIL_DNS_SERVERS
    if not servers:
        return dns.resolver.Resolver()
    resolver = dns.resolver.Resolver(configure=False)
    pairs = [server.partition("#") for server in servers]
    resolver.nameservers = [host for host, _, _ in pairs]
    resolver.nameserver_ports = {host: int(port) for host, _, port in pairs if port}
    return resolver


def _counts(signature: bytes, domain: str) -> bool:
    """Return whether a signature is for the domain, and of a kind that counts."""
    try:
        tags = parse_tag_value(signature)
    except InvalidTagValueList:
        return False
    signed = tags.get(b"d", b"").decode("ascii", "replace").lower().rstrip(".")
    return (
        "." in signed
        and (domain == signed or domain.endswith(f".{signed}"))
        and b"l" not in tags
        and tags.get(b"a", b"").lower() == _ALGORITHM
    )
