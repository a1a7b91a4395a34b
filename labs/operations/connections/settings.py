"""Set how a team exchanges HL7 messages with a lab, or with a system of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.operations.audit.entries import record_change
from labs.gateways.hl7.drop import DropFolder
from labs.gateways.hl7.faults import ConnectionFailed
from labs.gateways.hl7.lab import check_hl7_connection
from labs.gateways.hl7.mllp.ports import parse_port_ranges
from labs.gateways.hl7.mllp.tls import CertificatesInvalid, read_peer_certificates
from labs.gateways.hl7.networks import may_be_called, may_go_unencrypted
from labs.gateways.hl7.sftp import SftpSettingsInvalid, check_host_key, check_secret
from labs.models import Hl7Connection
from labs.models.connection import (
    FOLDER_MAX_LENGTH,
    HOST_MAX_LENGTH,
    USER_MAX_LENGTH,
)
from labs.operations.connections.reporting import (
    record_connection_failure,
    record_connection_success,
)
from labs.queries.connections import find_hl7_connection, list_used_listen_ports
from labs.states.connections import Transport, TransportFault
from portal.lib.errors import DomainError, Unavailable
from portal.lib.network.addresses import parse_ip_address
from portal.lib.secrets.encryption import decrypt_secret, encrypt_secret

if TYPE_CHECKING:
    from accounts.models import Tenant
    from labs.models import LabAccount
    from portal.lib.actor import Actor

PEM_MAX_LENGTH = 50_000
HOST_KEY_MAX_LENGTH = 2_000
MAX_CERTIFICATES = 5
SFTP_PORT = 22
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_SETTINGS = (
    *("transport", "host", "port", "peer_certificates", "is_unencrypted"),
    *("user_name", "host_key", "incoming_folder", "outgoing_folder"),
)


@dataclass(frozen=True, slots=True)
class ConnectionRequest:
    """The settings as entered; an empty secret keeps the stored one.

    `peer_certificates` are PEM. `host_key` is a public key as in known_hosts, without
    the host. What the transport does not use is ignored.
    """

    transport: str
    host: str = ""
    port: int | None = None
    peer_certificates: str = ""
    is_unencrypted: bool = False
    user_name: str = ""
    host_key: str = ""
    incoming_folder: str = ""
    outgoing_folder: str = ""
    secret: str = field(default="", repr=False)


def configure_hl7_connection(
    *,
    tenant: Tenant,
    actor: Actor,
    account: LabAccount | None,
    request: ConnectionRequest,
) -> Hl7Connection:
    """Set the connection of a lab account, or of the team's own system (None).

    MLLP gets a port of its own, which it keeps. Messages that wait are sent over the
    new transport. Raises: transport_unknown; connection_host_invalid,
    connection_address_not_allowed, connection_port_invalid; certificates_missing,
    certificates_invalid, unencrypted_not_allowed, no_listen_port;
    sftp_user_name_missing, sftp_secret_missing, sftp_secret_invalid,
    sftp_host_key_invalid, sftp_folder_invalid. Source: Ours (contract 9.3: operators
    and the dashboard set up accounts).
    """
    transport = Transport.known(request.transport)
    if transport is None:
        raise DomainError(
            "transport_unknown", _("Choose how to exchange messages."), "transport"
        )
    before = find_hl7_connection(tenant=tenant, account=account)
    values = _BLANK | _VALIDATORS[transport](request)
    if transport == Transport.SFTP:
        values["secret"] = _validate_secret(request, before)
    else:
        values["secret"] = ""
    listens = transport == Transport.MLLP and account is not None
    port = _choose_listen_port(before) if listens else None
    try:
        return _store(tenant, actor, account, {**values, "listen_port": port})
    except IntegrityError:
        raise _no_listen_port() from None


def check_connection_now(*, connection: Hl7Connection) -> None:
    """Reach the other side and record whether it was; no message is sent.

    Not inside a transaction. Raises: connection_failed (503).
    """
    try:
        if connection.transport == Transport.FOLDER:
            _create_folder(connection)
        check_hl7_connection(connection)
    except ConnectionFailed as failure:
        record_connection_failure(connection, fault=failure.fault)
        raise Unavailable(
            "connection_failed",
            _("Not connected: %(reason)s.") % {"reason": failure.fault.label},
        ) from None
    record_connection_success(connection)


def _create_folder(connection: Hl7Connection) -> None:
    try:
        DropFolder.for_connection(connection).create()
    except OSError:
        raise ConnectionFailed(TransportFault.FOLDER) from None


@transaction.atomic
def _store(
    tenant: Tenant, actor: Actor, account: LabAccount | None, values: dict[str, Any]
) -> Hl7Connection:
    rows = Hl7Connection.objects.for_tenant(tenant).select_for_update()
    found = rows.filter(account=account).first()
    connection = found or Hl7Connection(tenant=tenant, account=account)
    changes: dict[str, object] = {
        name: [getattr(found, name) if found else None, values[name]]
        for name in (*_SETTINGS, "listen_port")
        if found is None or getattr(found, name) != values[name]
    }
    if found and found.secret != values["secret"]:
        changes["secret"] = ["stored", "replaced"]
    if not changes:
        return connection
    for name, value in values.items():
        setattr(connection, name, value)
    connection.updated_at = timezone.now()
    connection.failing_since, connection.fault = None, ""
    connection.save()
    record_change(
        tenant=tenant,
        actor=actor,
        verb="set_hl7_connection",
        subject="hl7_connection",
        subject_id=connection.pk,
        changes=changes,
    )
    return connection


_BLANK: dict[str, Any] = {
    **dict.fromkeys(_SETTINGS, ""),
    "port": None,
    "is_unencrypted": False,
}


def _validate_folder(request: ConnectionRequest) -> dict[str, Any]:
    del request
    return {"transport": Transport.FOLDER}


def _validate_mllp(request: ConnectionRequest) -> dict[str, Any]:
    host = _validate_host(request.host)
    pem = request.peer_certificates.strip()
    if request.is_unencrypted:
        is_address = parse_ip_address(host) is not None
        if not settings.MLLP_UNENCRYPTED_NETWORKS and not may_go_unencrypted(host):
            raise _unencrypted_not_allowed()
        if is_address and not may_go_unencrypted(host):
            raise _unencrypted_not_allowed()
        pem = ""
    else:
        _validate_certificates(pem)
    return {
        "transport": Transport.MLLP,
        "host": host,
        "port": _validate_port(request.port),
        "peer_certificates": pem,
        "is_unencrypted": request.is_unencrypted,
    }


def _validate_sftp(request: ConnectionRequest) -> dict[str, Any]:
    user_name = request.user_name.strip()
    if not user_name or len(user_name) > USER_MAX_LENGTH:
        raise DomainError(
            "sftp_user_name_missing",
            _("Enter the user name on the SFTP server."),
            "user_name",
        )
    host_key = request.host_key.strip()
    try:
        check_host_key(host_key[:HOST_KEY_MAX_LENGTH])
    except SftpSettingsInvalid:
        raise DomainError(
            "sftp_host_key_invalid",
            _("Enter the server's public key, such as ssh-ed25519 AAAA…"),
            "host_key",
        ) from None
    folders = {
        name: _validate_path(getattr(request, name), name)
        for name in ("incoming_folder", "outgoing_folder")
    }
    if len(set(folders.values())) == 1:
        raise DomainError(
            "sftp_folder_invalid",
            _("Enter two different folders."),
            "outgoing_folder",
        )
    return {
        "transport": Transport.SFTP,
        "host": _validate_host(request.host),
        "port": _validate_port(request.port or SFTP_PORT),
        "user_name": user_name,
        "host_key": host_key,
        **folders,
    }


_VALIDATORS = {
    Transport.FOLDER: _validate_folder,
    Transport.MLLP: _validate_mllp,
    Transport.SFTP: _validate_sftp,
}


def _validate_host(text: str) -> str:
    host = text.strip()
    address = parse_ip_address(host)
    if len(host) > HOST_MAX_LENGTH or not (address or _HOST.fullmatch(host)):
        raise DomainError(
            "connection_host_invalid", _("Enter a host name or IP address."), "host"
        )
    if address is not None and not may_be_called(host):
        raise DomainError(
            "connection_address_not_allowed",
            _(
                "This address is private. An operator allows its network with"
                " LAB_NETWORKS."
            ),
            "host",
        )
    return host


def _validate_port(port: int | None) -> int:
    if port is None or not 1 <= port <= 65_535:
        raise DomainError(
            "connection_port_invalid", _("Enter a port from 1 to 65535."), "port"
        )
    return port


def _validate_certificates(pem: str) -> None:
    if not pem:
        raise DomainError(
            "certificates_missing",
            _("Enter the certificate that the other system shows."),
            "peer_certificates",
        )
    try:
        found = read_peer_certificates(pem) if len(pem) <= PEM_MAX_LENGTH else []
    except CertificatesInvalid:
        found = []
    if not 1 <= len(found) <= MAX_CERTIFICATES:
        raise DomainError(
            "certificates_invalid",
            _("Enter 1 to %(most)d certificates as PEM (BEGIN CERTIFICATE).")
            % {"most": MAX_CERTIFICATES},
            "peer_certificates",
        )


def _validate_path(text: str, name: str) -> str:
    path = text.strip().rstrip("/")
    if not path or len(path) > FOLDER_MAX_LENGTH or not path.isprintable():
        raise DomainError(
            "sftp_folder_invalid", _("Enter a folder on the SFTP server."), name
        )
    return path


def _validate_secret(request: ConnectionRequest, before: Hl7Connection | None) -> str:
    """Return the secret as stored: the given one, or the one of this server and user.

    A stored secret is never sent to another server.
    """
    secret = request.secret
    if "-----BEGIN " in secret:
        secret = secret.strip() + "\n"
    if not secret:
        is_same = (
            before is not None
            and before.secret
            and (before.host, before.user_name, before.host_key)
            == (
                request.host.strip(),
                request.user_name.strip(),
                request.host_key.strip(),
            )
        )
        if before is not None and is_same:
            return before.secret
        raise DomainError(
            "sftp_secret_missing", _("Enter a password or a private key."), "secret"
        )
    try:
        check_secret(secret)
    except SftpSettingsInvalid:
        raise DomainError(
            "sftp_secret_invalid",
            _("Enter a private key in OpenSSH or PEM form, without a passphrase."),
            "secret",
        ) from None
    if before is not None and before.secret and decrypt_secret(before.secret) == secret:
        return before.secret
    return encrypt_secret(secret)


def _choose_listen_port(before: Hl7Connection | None) -> int:
    offered = parse_port_ranges(settings.MLLP_PORTS)
    if before is not None and before.listen_port in offered:
        return before.listen_port
    used = list_used_listen_ports()
    free = [port for port in offered if port not in used]
    if not free:
        raise _no_listen_port()
    return free[0]


def _no_listen_port() -> DomainError:
    return DomainError(
        "no_listen_port",
        _("All ports for labs are in use. An operator adds some to MLLP_PORTS."),
        "transport",
    )


def _unencrypted_not_allowed() -> DomainError:
    return DomainError(
        "unencrypted_not_allowed",
        _(
            "Without TLS anyone on the way can read and change messages. An operator"
            " allows it for a network with MLLP_UNENCRYPTED_NETWORKS."
        ),
        "is_unencrypted",
    )
