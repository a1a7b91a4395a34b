"""Mails that ask a user to connect a broken source again, and their end.

They name no source, as some sources are for one disease alone.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from smtplib import SMTPException
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, Signer
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from accounts.operations.mails.composing import compose_mail
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError, NotFound
from portal.lib.tenancy import acting_for
from portal.lib.web.links import build_absolute_url
from users.models import Connection, LinkSession, SourceCredentials, User, UserInfo
from users.operations.connect.link_sessions import (
    MAILED_LINK_TTL,
    LinkRequest,
    build_link_mail_values,
    create_connect_link,
)
from users.operations.sources.connections import add_connection_timeline_entry
from users.operations.users.languages import find_mail_language
from users.queries import lock_user
from users.states import ConnectionStatus, EntryKind, explain_connection_status
from users.states.credentials import CredentialsState

if TYPE_CHECKING:
    from django.core.mail import EmailMultiAlternatives

# Ours: a source that breaks again and again is mailed about once a week.
LEAST_PAUSE = timedelta(days=7)
MAIL_ACTOR = Actor.system("users.reconnect_mail")
_SALT = "users.reconnect-mail"
_log = logging.getLogger(__name__)


class MailNotAccepted(Exception):
    """The mail server did not accept a mail; the job runs again."""


def mail_user_about_broken_source(*, tenant: Tenant, connection_pk: int) -> bool:
    """Mail a user a link that connects a broken source again; return whether sent.

    Once for each break, and at most once in LEAST_PAUSE for each source. Nothing is
    sent if the team turned the mails off, the user stopped them or has no address, the
    source works again, signing in again would not help, or it can't be connected here.
    A worker killed while it sends may send none, never two. Never call it inside a
    transaction. Raises: MailNotAccepted (the job runs again). Source: Issue "Sources",
    6; Ours: how often.
    """
    try:
        claimed = _claim(tenant, connection_pk)
    except DomainError:
        return False  # the user was deleted, or the source is not offered any more
    if claimed is None:
        return False
    connection, session, address, before = claimed
    try:
        _build_mail(session, address).send()
    except (OSError, SMTPException):
        _log.warning("the mail about connection %s was not accepted", connection_pk)
        _release(connection, session, before)
        raise MailNotAccepted from None
    with transaction.atomic():
        add_connection_timeline_entry(
            connection=connection, actor=MAIL_ACTOR, kind=EntryKind.EMAILED
        )
    return True


def find_user_of_mail_token(token: str) -> User:
    """Return the live user that a mail's token names. Raises: link_unknown (404)."""
    try:
        tenant_pk, _dash, hexed = _signer().unsign(token).partition("-")
        claim = int(tenant_pk), UUID(hexed)
    except (BadSignature, ValueError):
        raise _unknown() from None
    tenants = Tenant.objects.select_related("team").filter(team__deleted_at=None)
    tenant = tenants.filter(pk=claim[0]).first()
    if tenant is None:
        raise _unknown()
    with acting_for(tenant):
        mine = User.objects.for_tenant(tenant).filter(uuid=claim[1], deleted_at=None)
        user: User | None = mine.first()
    if user is None:
        raise _unknown()
    user.tenant = tenant
    return user


def stop_reconnect_mails(*, token: str, address: str | None) -> User:
    """End the mails to the user of a token for good; a second call changes nothing.

    `address` is the IP address of whoever asked. Raises: link_unknown (404). Source:
    RFC 8058 (one click).
    """
    user = find_user_of_mail_token(token)
    with acting_for(user.tenant), transaction.atomic():
        kept = lock_user(user)
        if kept.reconnect_mails_stopped_at is None:
            kept.reconnect_mails_stopped_at = timezone.now()
            kept.save(update_fields=["reconnect_mails_stopped_at"])
            record_change(
                tenant=user.tenant,
                actor=Actor(
                    ActorKind.SYSTEM, MAIL_ACTOR.key, MAIL_ACTOR.label, address
                ),
                verb="stop_reconnect_mails",
                subject="user",
                subject_id=user.uuid,
                user_uuid=user.uuid,
            )
    return user


def build_stop_link(user: User) -> str:
    """Return the absolute URL that ends these mails to a user."""
    signed = _signer().sign(f"{user.tenant_id}-{user.uuid.hex}")
    query = urlencode({"token": signed})
    return build_absolute_url(f"{reverse('connect:stop_mails')}?{query}")


@transaction.atomic
def _claim(
    tenant: Tenant, connection_pk: int
) -> tuple[Connection, LinkSession, str, datetime | None] | None:
    """Record that a mail is sent, and create its link; None if none is due."""
    live = Connection.objects.for_tenant(tenant).live().select_related("user")
    connection: Connection | None = live.filter(pk=connection_pk).first()
    if connection is None or not tenant.source_reconnect_mails_enabled:
        return None
    user = lock_user(connection.user)
    connection.refresh_from_db()
    connection.tenant, connection.user = tenant, user
    address = _find_address(user)
    before = connection.reconnect_mailed_at
    if not (
        _is_for_the_user(connection)
        and user.reconnect_mails_stopped_at is None
        and address
        and _is_due(connection)
    ):
        return None
    session = create_connect_link(
        user=user,
        actor=MAIL_ACTOR,
        request=LinkRequest(provider=connection.provider),
        lasts=MAILED_LINK_TTL,
    )
    session.user, session.tenant = user, tenant
    connection.reconnect_mailed_at = timezone.now()
    connection.save(update_fields=["reconnect_mailed_at"])
    return connection, session, address, before


def _is_for_the_user(connection: Connection) -> bool:
    """Return whether signing in again would repair a connection."""
    condition = explain_connection_status(
        connection.status, error_type=connection.error_type
    )
    if connection.status != ConnectionStatus.ERROR or not condition.needs_user:
        return False
    rejected = SourceCredentials.objects.for_tenant(connection.tenant).filter(
        provider=connection.provider, state=CredentialsState.REJECTED
    )
    return not connection.is_demo and not rejected.exists()


def _is_due(connection: Connection) -> bool:
    before, broke = connection.reconnect_mailed_at, connection.errored_at
    if before is None:
        return True
    return (
        broke is not None and before < broke and before <= timezone.now() - LEAST_PAUSE
    )


def _find_address(user: User) -> str:
    """Return the user's email address; empty if there is none that is valid."""
    mine = UserInfo.objects.for_tenant(user.tenant).filter(user=user)
    address = mine.values_list("email", flat=True).first() or ""
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address


def _build_mail(session: LinkSession, address: str) -> EmailMultiAlternatives:
    stop_link = build_stop_link(session.user)
    mail = compose_mail(
        tenant=session.tenant,
        kind="reconnect",
        language=find_mail_language(session.user),
        values=build_link_mail_values(session),
        stop_link=stop_link,
    )
    return mail.address(
        address,
        headers={
            "List-Unsubscribe": f"<{stop_link}>",
            "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        },
    )


@transaction.atomic
def _release(
    connection: Connection, session: LinkSession, before: datetime | None
) -> None:
    """Undo a claim whose mail was not accepted."""
    session.delete()
    connection.reconnect_mailed_at = before
    connection.save(update_fields=["reconnect_mailed_at"])


def _signer() -> Signer:
    return Signer(salt=_SALT, sep=".")


def _unknown() -> NotFound:
    return NotFound("link_unknown", _("This link is not valid."))
