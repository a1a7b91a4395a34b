"""The mailbox in which a team receives reports: set it up, check it, remove it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from labs.gateways.hl7.networks import may_be_called
from portal.lib.errors import DomainError, NotFound, Unavailable
from portal.lib.network.addresses import parse_ip_address
from portal.lib.secrets.encryption import decrypt_secret, encrypt_secret
from reports.gateways.mailbox import (
    MailboxFailed,
    MailServer,
    is_loopback,
    open_mail_folder,
)
from reports.models import ReportMailbox
from reports.models.mail import ADDRESS_MAX_LENGTH, HOST_MAX_LENGTH, NAME_MAX_LENGTH
from reports.queries.mail import find_report_mailbox
from reports.states import MailboxFault, MailEncryption

if TYPE_CHECKING:
    from portal.lib.actor import Actor

PASSWORD_MAX_LENGTH = 1000
SENDERS_MAX = 100
_HOST = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_DOMAIN = r"([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z][-a-z0-9]{0,61}[a-z0-9]"
_ADDRESS = re.compile(rf"[^\s@<>,;\"()]{{1,64}}@{_DOMAIN}")
_SENDER = re.compile(rf"([^\s@<>,;\"()]{{1,64}}@)?{_DOMAIN}")
_PORTS = {MailEncryption.TLS: 993}
_PORT = 143
_MAX_PORT = 65_535
_KEPT = ("address", "host", "port", "encryption", "user_name", "folder")
_AUDITED = (*_KEPT, "handled_folder", "senders")
_FIELDS = {
    MailboxFault.SIGN_IN: "password",
    MailboxFault.FOLDER: "folder",
}


@dataclass(frozen=True, slots=True)
class MailboxRequest:
    """A mailbox as entered; an empty password keeps that of this server and user name.

    `port` None: the usual one. `senders` are addresses or domains.
    """

    address: str
    host: str
    user_name: str
    senders: tuple[str, ...]
    encryption: str = MailEncryption.TLS
    port: int | None = None
    folder: str = "INBOX"
    handled_folder: str = ""
    password: str = field(default="", repr=False)


def configure_report_mailbox(
    *, tenant: Tenant, actor: Actor, request: MailboxRequest
) -> ReportMailbox:
    """Set or change a tenant's mailbox, after signing in to it.

    The folder is opened, no mail is read. Not inside a transaction. Raises:
    mailbox_address_invalid, mailbox_host_invalid, mailbox_address_not_allowed,
    mailbox_port_invalid, mailbox_unencrypted, mailbox_user_name_missing,
    mailbox_password_missing, mailbox_folder_invalid, mailbox_senders_missing,
    mailbox_sender_invalid; mailbox_refused; mailbox_unavailable (503). Source: Ours.
    """
    before = find_report_mailbox(tenant=tenant)
    values = _validate(request)
    password = request.password
    if not password and before is not None:
        same = (before.host, before.user_name) == (values["host"], values["user_name"])
        password = decrypt_secret(before.password) if same else ""
    if not password or len(password) > PASSWORD_MAX_LENGTH or "\0" in password:
        raise DomainError(
            "mailbox_password_missing", _("Enter the mailbox's password."), "password"
        )
    wanted = ReportMailbox(tenant=tenant, **values)
    _check(wanted, password)
    return _store(tenant, actor, values, password)


def check_report_mailbox(*, tenant: Tenant) -> ReportMailbox:
    """Sign in to the stored mailbox and record whether it worked; no mail is read.

    Raises: mailbox_not_found (404); mailbox_refused; mailbox_unavailable (503).
    """
    mailbox = _get_mailbox(tenant)
    try:
        _check(mailbox, decrypt_secret(mailbox.password))
    except DomainError:
        _record_fault(mailbox)
        raise
    mailbox.failing_since, mailbox.fault = None, ""
    mailbox.save(update_fields=["failing_since", "fault"])
    return mailbox


@transaction.atomic
def remove_report_mailbox(*, tenant: Tenant, actor: Actor) -> None:
    """Remove the mailbox and what is known of its mails; received documents stay.

    Raises: mailbox_not_found (404).
    """
    mailbox = _get_mailbox(tenant)
    key, shown = mailbox.pk, _audited_fields(mailbox)
    mailbox.delete()
    record_change(
        tenant=tenant,
        actor=actor,
        verb="remove_report_mailbox",
        subject="report_mailbox",
        subject_id=key,
        changes={name: [value, None] for name, value in shown.items()},
    )


def build_mail_server(mailbox: ReportMailbox, password: str) -> MailServer:
    """Return where a mailbox is, and how to sign in."""
    return MailServer(
        host=mailbox.host,
        port=mailbox.port,
        encryption=mailbox.encryption,
        user_name=mailbox.user_name,
        folder=mailbox.folder,
        password=password,
    )


def _check(mailbox: ReportMailbox, password: str) -> None:
    """Sign in and open the folders. Raises: mailbox_refused; mailbox_unavailable."""
    try:
        with open_mail_folder(build_mail_server(mailbox, password)) as folder:
            if mailbox.handled_folder and not folder.has_folder(mailbox.handled_folder):
                raise DomainError(
                    "mailbox_refused",
                    _("The mailbox has no such folder."),
                    "handled_folder",
                )
    except MailboxFailed as failure:
        says = _("Not connected: %(reason)s.") % {"reason": failure.fault.label}
        if failure.fault in _FIELDS:
            raise DomainError("mailbox_refused", says, _FIELDS[failure.fault]) from None
        raise Unavailable("mailbox_unavailable", says, "host") from None


def _validate(request: MailboxRequest) -> dict[str, object]:
    encryption = MailEncryption.known(request.encryption)
    if encryption is None:
        raise DomainError(
            "mailbox_unencrypted", _("Choose how to connect."), "encryption"
        )
    host = _validate_host(request.host)
    if encryption == MailEncryption.NONE and not is_loopback(host):
        raise DomainError(
            "mailbox_unencrypted",
            _("Only a server on this machine may be called without encryption."),
            "encryption",
        )
    port = request.port or _PORTS.get(encryption, _PORT)
    if not 1 <= port <= _MAX_PORT:
        raise DomainError(
            "mailbox_port_invalid", _("Enter a port from 1 to 65535."), "port"
        )
    address = request.address.strip().lower()
    if len(address) > ADDRESS_MAX_LENGTH or not _ADDRESS.fullmatch(address):
        raise DomainError(
            "mailbox_address_invalid",
            _("Enter the mailbox's address, such as reports@clinic.example."),
            "address",
        )
    user_name = request.user_name.strip() or address
    if len(user_name) > ADDRESS_MAX_LENGTH or not user_name.isprintable():
        raise DomainError(
            "mailbox_user_name_missing",
            _("Enter the user name of at most 254 characters."),
            "user_name",
        )
    folder = _validate_folder(request.folder.strip() or "INBOX", "folder")
    handled = _validate_folder(request.handled_folder.strip(), "handled_folder")
    if handled == folder:
        raise DomainError(
            "mailbox_folder_invalid",
            _("Enter two different folders."),
            "handled_folder",
        )
    return {
        "address": address,
        "host": host,
        "port": port,
        "encryption": encryption,
        "user_name": user_name,
        "folder": folder,
        "handled_folder": handled,
        "senders": _validate_senders(request.senders),
    }


def _validate_host(text: str) -> str:
    host = text.strip().lower()
    address = parse_ip_address(host)
    if len(host) > HOST_MAX_LENGTH or not (address or _HOST.fullmatch(host)):
        raise DomainError(
            "mailbox_host_invalid", _("Enter a host name or IP address."), "host"
        )
    if address is not None and not may_be_called(host):
        raise DomainError(
            "mailbox_address_not_allowed",
            _(
                "This address is private. An operator allows its network with"
                " LAB_NETWORKS."
            ),
            "host",
        )
    return host


def _validate_folder(name: str, field_name: str) -> str:
    if len(name) > NAME_MAX_LENGTH or not (name.isprintable() or not name):
        raise DomainError(
            "mailbox_folder_invalid",
            _("Enter a folder name of at most 200 characters."),
            field_name,
        )
    return name


def _validate_senders(given: tuple[str, ...]) -> list[str]:
    senders = list(
        dict.fromkeys(
            sender for one in given if (sender := one.strip().lower().lstrip("@"))
        )
    )
    if not senders or len(senders) > SENDERS_MAX:
        raise DomainError(
            "mailbox_senders_missing",
            _("Enter 1 to %(most)d senders, one on each line.") % {"most": SENDERS_MAX},
            "senders",
        )
    for sender in senders:
        if len(sender) > ADDRESS_MAX_LENGTH or not _SENDER.fullmatch(sender):
            raise DomainError(
                "mailbox_sender_invalid",
                _("Enter addresses or domains, such as lab.example."),
                "senders",
            )
    return senders


@transaction.atomic
def _store(
    tenant: Tenant, actor: Actor, values: dict[str, object], password: str
) -> ReportMailbox:
    # Two members who save at once: the later one wins, and there is one row.
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    found = find_report_mailbox(tenant=tenant)
    mailbox = found or ReportMailbox(tenant=tenant)
    before = _audited_fields(mailbox) if found else {}
    is_rotated = found is not None and decrypt_secret(found.password) != password
    is_other = any(before.get(name) != values[name] for name in ("host", "user_name"))
    for name, value in values.items():
        setattr(mailbox, name, value)
    mailbox.password = encrypt_secret(password)
    if is_other or before.get("folder") != values["folder"]:
        mailbox.uid_validity = mailbox.last_uid = 0
    mailbox.failing_since, mailbox.fault = None, ""
    mailbox.save()
    changes: dict[str, object] = {
        name: [before.get(name), value]
        for name, value in _audited_fields(mailbox).items()
        if before.get(name) != value
    }
    if is_rotated:
        changes["password"] = ["stored", "replaced"]
    record_change(
        tenant=tenant,
        actor=actor,
        verb="set_report_mailbox",
        subject="report_mailbox",
        subject_id=mailbox.pk,
        changes=changes,
    )
    return mailbox


def _audited_fields(mailbox: ReportMailbox) -> dict[str, object]:
    return {name: getattr(mailbox, name) for name in _AUDITED}


def _record_fault(mailbox: ReportMailbox) -> None:
    mailbox.failing_since = mailbox.failing_since or timezone.now()
    mailbox.save(update_fields=["failing_since"])


def _get_mailbox(tenant: Tenant) -> ReportMailbox:
    mailbox = find_report_mailbox(tenant=tenant)
    if mailbox is None:
        raise NotFound("mailbox_not_found", _("No mailbox is set up."))
    return mailbox
