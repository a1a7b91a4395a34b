"""Confirm and change the email address of a member.

A link is good for one day, for the member it was made for, while their address is what
it was.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
from datetime import UTC, datetime, timedelta
from smtplib import SMTPException
from typing import TYPE_CHECKING

from allauth.mfa.models import Authenticator
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Member
from accounts.models.member import EMAIL_MAX_LENGTH
from accounts.operations.members.profile import record_own_change_in_team_audits
from portal.lib.errors import DomainError
from portal.lib.secrets.encryption import (
    UnreadableSecret,
    decrypt_secret,
    encrypt_secret,
)
from portal.lib.web.links import build_absolute_url

if TYPE_CHECKING:
    from portal.lib.actor import Actor

_log = logging.getLogger(__name__)
ADDRESS_LINK_TTL = timedelta(hours=24)


def send_address_confirmation_mail(member: Member) -> bool:
    """Email a member a link that confirms their address; False if refused.

    Source: Ours: whoever holds an account must read its mail, as a link there sets its
    password.
    """
    return _mail_link(member, member.email)


def request_email_address_change(*, member: Member, email: str) -> str:
    """Email a link that confirms a new address; return the normalized address.

    An address of another account gets a mail that says so, and whoever asked is told
    the same: nobody learns who has an account. Raises: email_invalid, email_same.
    """
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError:
        raise _invalid_address_error() from None
    if len(email) > EMAIL_MAX_LENGTH:
        raise _invalid_address_error()
    if email == member.email:
        raise DomainError(
            "email_same", _("You already sign in with this address."), "email"
        )
    if Member.objects.filter(email=email).exists():
        _mail("address_taken", email, {})
    else:
        _mail_link(member, email)
    return email


def confirm_email_address(*, member: Member, actor: Actor, token: str) -> Member:
    """Confirm a member's address with the token of a mailed link.

    A new one takes the place of the old, which is told. Raises: link_dead (used, late,
    of another member, or the address has an account by now). Source: Ours.
    """
    email, present = _read_token(member, token)
    with transaction.atomic():
        member = Member.objects.select_for_update().get(pk=member.pk)
        if member.email != present:
            raise _expired_link_error()
        member.email = email
        member.email_confirmed_at = timezone.now()
        try:
            with transaction.atomic():
                member.save(update_fields=["email", "email_confirmed_at"])
        except IntegrityError:
            raise _expired_link_error() from None
        if email != present:
            changes = {"email": [present, email]}
            record_own_change_in_team_audits(
                member=member, actor=actor, verb="change_address", changes=changes
            )
    if email != present:
        _mail("address_changed", present, {"email": email})
    return member


@transaction.atomic
def confirm_email_address_by_password_link(member: Member) -> None:
    """Confirm the address: its owner set a password by a mailed link.

    If it had not been shown before, whatever second factor was set up meanwhile may be
    a stranger's, and goes. Source: Ours: who makes an account in another's name must
    not stay in it.
    """
    if member.email_confirmed_at is None:
        Authenticator.objects.filter(user=member).delete()
    Member.objects.filter(pk=member.pk).update(email_confirmed_at=timezone.now())


def _mail_link(member: Member, email: str) -> bool:
    payload = {
        "member": str(member.pk),
        "email": email,
        "present": member.email,
        "ends": int((timezone.now() + ADDRESS_LINK_TTL).timestamp()),
    }
    sealed = base64.urlsafe_b64encode(encrypt_secret(json.dumps(payload)).encode())
    path = reverse("address_link", kwargs={"token": sealed.decode().rstrip("=")})
    context = {
        "link": build_absolute_url(path),
        "is_change": email != member.email,
    }
    return _mail("confirm_address", email, context)


def _read_token(member: Member, token: str) -> tuple[str, str]:
    """Return a token's new and previous address. Raises: link_dead."""
    try:
        sealed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        payload = json.loads(decrypt_secret(sealed.decode()))
    except (UnreadableSecret, UnicodeDecodeError, binascii.Error, ValueError):
        raise _expired_link_error() from None
    ends = datetime.fromtimestamp(payload["ends"], UTC)
    if payload["member"] != str(member.pk) or ends <= timezone.now():
        raise _expired_link_error()
    return payload["email"], payload["present"]


def _mail(template: str, email: str, context: dict[str, object]) -> bool:
    subject = render_to_string(f"accounts/email/{template}_subject.txt", context)
    text = render_to_string(f"accounts/email/{template}_message.txt", context)
    try:
        send_mail(" ".join(subject.split()), text, None, [email])
    except (OSError, SMTPException):
        _log.warning("mail %s could not be sent", template)
        return False
    return True


def _invalid_address_error() -> DomainError:
    return DomainError("email_invalid", _("Enter a valid email address."), "email")


def _expired_link_error() -> DomainError:
    return DomainError(
        "link_dead", _("This link was used or is older than 1 day. Request a new one.")
    )
