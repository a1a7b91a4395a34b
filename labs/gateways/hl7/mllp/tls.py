"""TLS contexts of MLLP: both sides show a certificate, the peer's is pinned."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from django.conf import settings

from labs.gateways.hl7.faults import ConnectionFailed
from labs.states.connections import TransportFault

if TYPE_CHECKING:
    from datetime import datetime


class CertificatesInvalid(ValueError):
    """The text holds no certificates as PEM."""


def read_peer_certificates(pem: str) -> list[x509.Certificate]:
    """Return the certificates of a PEM text. Raises: CertificatesInvalid."""
    try:
        return x509.load_pem_x509_certificates(pem.encode())
    except ValueError:
        raise CertificatesInvalid from None


def find_last_expiry(pem: str) -> datetime | None:
    """Return when the last of the certificates ends; None without any."""
    if not pem:
        return None
    return max(each.not_valid_after_utc for each in read_peer_certificates(pem))


def read_own_certificate_expiry() -> datetime | None:
    """Return when this server's certificate ends; None where it has none.

    Raises: OSError, CertificatesInvalid.
    """
    if not (settings.MLLP_CERTIFICATE and settings.MLLP_KEY):
        return None
    pem = Path(settings.MLLP_CERTIFICATE).read_text()
    return read_peer_certificates(pem)[0].not_valid_after_utc


def make_server_context(peer_certificates: str) -> ssl.SSLContext:
    """Make the context of a port that accepts a peer with one of these certificates.

    Raises: ConnectionFailed, where this server has no certificate of its own.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    _pin(context, peer_certificates)
    return _load_own_certificate(context)


def make_client_context(peer_certificates: str) -> ssl.SSLContext:
    """Make the context for calling a server, with our certificate for the client.

    With certificates of the peer its own must be one of them; without any, one that
    the system trusts for the host's name. Raises: ConnectionFailed.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if peer_certificates:
        # Self-signed ones name what their makers liked. The pin says more than a name.
        context.check_hostname = False
        _pin(context, peer_certificates)
    else:
        context.load_default_certs()
    return _load_own_certificate(context)


def is_pinned(tls: ssl.SSLObject, peer_certificates: str) -> bool:
    """Return whether the peer's certificate is one of these, not just signed by one."""
    shown = tls.getpeercert(binary_form=True)
    known = read_peer_certificates(peer_certificates)
    return shown in {each.public_bytes(Encoding.DER) for each in known}


def _pin(context: ssl.SSLContext, pem: str) -> None:
    # A certificate may be trusted by itself, without who signed it.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=pem)


def _load_own_certificate(context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if not (settings.MLLP_CERTIFICATE and settings.MLLP_KEY):
        raise ConnectionFailed(TransportFault.SETTINGS)
    try:
        context.load_cert_chain(settings.MLLP_CERTIFICATE, settings.MLLP_KEY)
    except (OSError, ssl.SSLError):
        raise ConnectionFailed(TransportFault.SETTINGS) from None
    return context
