"""Link sessions: create, find, e-mail and revoke connect links."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from datetime import UTC, timedelta
from smtplib import SMTPException
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit, urlunsplit
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, Signer
from django.core.validators import URLValidator, validate_email
from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.models import Tenant
from accounts.operations.audit.entries import record_change
from accounts.operations.mails.composing import compose_mail
from portal.lib.actor import Actor, ActorKind
from portal.lib.errors import DomainError, Invalid, NotFound
from portal.lib.tenancy import acting_for
from portal.lib.web.links import build_absolute_url
from portal.ui.dates import format_day_and_time
from users.models import LinkSession
from users.models.sources.link_session import REDIRECT_URL_MAX_LENGTH
from users.operations.connect.linking import is_source_offered
from users.operations.users.languages import find_mail_language
from users.queries import lock_user
from users.wearables.providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from users.models import User

# Ours: contract 3.6 names no time. A client makes a link when it is wanted; one that a
# member mails waits to be read.
LINK_TTL = timedelta(hours=1)
MAILED_LINK_TTL = timedelta(days=7)
# Of one link: mail in our name is not to be had without end.
MAILS_AT_MOST = 5
# Ours: an ended link is told from one that never was for so long.
LINK_RETENTION = timedelta(days=30)
LINK_ACTOR = "link_session"
_SALT = "users.link-session"
_EMAIL_MAX_LENGTH = 254
# Printable ASCII but for blanks, quotes, angle brackets and backslashes.
_PLAIN_URL = re.compile(r"[!#-;=?-\[\]^_a-z{|}~]+")
_log = logging.getLogger(__name__)
_is_https_url = URLValidator(schemes=["https"])


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """Options of a new link, as in LinkSession."""

    provider: str = ""
    filter_on_providers: tuple[str, ...] = ()
    redirect_url: str = ""
    redirects_on_error: bool = False
    redirects_on_close: bool = False
    opens_portal: bool = False
    order_id: UUID | None = None


@transaction.atomic
def create_connect_link(
    *,
    user: User,
    actor: Actor,
    request: LinkRequest | None = None,
    lasts: timedelta = LINK_TTL,
) -> LinkSession:
    """Create a link that lets its holder connect sources of a live user.

    Raises: not_found; source_not_offered (nothing connects it here); 422
    provider_unknown, provider_filtered (it is not among the only
    ones shown), redirect_url_invalid (https, a host, no password), redirect_url_missing
    (of redirects_on_error or redirects_on_close). Source: Contract 3.6; Ours: the page
    sends people nowhere but to the address that was given here, by who holds a key.
    """
    request = request or LinkRequest()
    _check(request)
    if request.provider and not is_source_offered(
        tenant=user.tenant, provider=request.provider
    ):
        raise DomainError(
            "source_not_offered", _("This source cannot be connected here."), "provider"
        )
    user = lock_user(user)
    session = LinkSession(
        tenant=user.tenant,
        user=user,
        provider=request.provider,
        filter_on_providers=list(dict.fromkeys(request.filter_on_providers)),
        redirect_url=request.redirect_url,
        redirects_on_error=request.redirects_on_error,
        redirects_on_close=request.redirects_on_close,
        opens_portal=request.opens_portal,
        order_id=request.order_id,
        expires_at=timezone.now() + lasts,
    )
    session.save(force_insert=True)
    _record(session, actor, "create_link_session")
    return session


def sign_connect_link_token(session: LinkSession) -> str:
    """Return the signed token of a link; always the same one.

    Source: Ours: it is kept nowhere, and a copy of the database opens no link.
    """
    return _signer().sign(f"{session.tenant_id}-{session.uuid.hex}")


def build_connect_link_url(session: LinkSession, *, provider: str = "") -> str:
    """Return the absolute URL of a link; its token is in the unlogged query.

    With a provider it goes on to the source's own sign-in.
    """
    parameters = {
        "token": sign_connect_link_token(session),
        **({"provider": provider} if provider else {}),
    }
    query = urlencode(parameters)
    return build_absolute_url(f"{reverse('connect:open')}?{query}")


def find_open_connect_link(token: str) -> LinkSession:
    """Return the open session of a token, with its user and tenant; no audit.

    Raises: link_unknown (404), also of a deleted user's; link_ended. Source: Contract
    3.6.
    """
    claim = _read_token(token)
    tenant = claim and (
        Tenant.objects.select_related("team")
        .filter(pk=claim[0], team__deleted_at=None)
        .first()
    )
    if not claim or tenant is None:
        raise _unknown()
    with acting_for(tenant):
        found = LinkSession.objects.for_tenant(tenant).select_related("user")
        session: LinkSession | None = found.filter(
            uuid=claim[1], user__deleted_at=None
        ).first()
    if session is None:
        raise _unknown()
    session.tenant = session.user.tenant = tenant
    if not session.is_open():
        raise DomainError("link_ended", _("This link has expired."))
    return session


def build_link_holder_audit_actor(address: str | None) -> Actor:
    """Return the audit actor of a link's holder at this IP address."""
    return Actor(ActorKind.SYSTEM, LINK_ACTOR, LINK_ACTOR, address)


def record_connect_link_opened(session: LinkSession) -> None:
    """Record when a link was first opened."""
    if session.opened_at is None:
        session.opened_at = timezone.now()
        session.save(update_fields=["opened_at"])


@transaction.atomic
def end_connect_link(*, session: LinkSession, actor: Actor) -> LinkSession:
    """Revoke a link; sources connected with it stay connected.

    Raises: link_ended.
    """
    ended = LinkSession.objects.for_tenant(session.tenant).filter(
        pk=session.pk, ended_at=None, expires_at__gt=timezone.now()
    )
    now = timezone.now()
    if not ended.update(ended_at=now):
        raise DomainError("link_ended", _("This link has expired."))
    session.ended_at = now
    _record(session, actor, "end_link_session")
    return session


def mail_connect_link(*, session: LinkSession, actor: Actor, email: str) -> None:
    """E-mail a link in the team's name; the address is not stored.

    Raises: email_invalid, link_ended, mail_limit, mail_refused (nothing was sent).
    Source: Ours: no job, as its inputs would keep the address.
    """
    email = email.strip()
    try:
        validate_email(email)
    except ValidationError:
        raise DomainError(
            "email_invalid", _("Enter a valid email address."), "email"
        ) from None
    if len(email) > _EMAIL_MAX_LENGTH:
        raise DomainError("email_invalid", _("Enter a valid email address."), "email")
    _count_mail(session, actor)
    mail = compose_mail(
        tenant=session.tenant,
        kind="connect_link",
        language=find_mail_language(session.user),
        values=build_link_mail_values(session),
    )
    try:
        mail.address(email).send()
    except (OSError, SMTPException):
        _log.warning("the mail server refused the email of link %s", session.pk)
        raise DomainError(
            "mail_refused", _("The email could not be sent. Try again later.")
        ) from None


def build_link_mail_values(session: LinkSession) -> dict[str, str]:
    """Return what replaces the placeholders of a mail with a link."""
    language = find_mail_language(session.user)
    # The mail says UTC; a member's page is in their zone.
    with translation.override(language):
        date = format_day_and_time(session.expires_at.astimezone(UTC))
    return {"link": build_connect_link_url(session), "date": date}


def delete_ended_connect_links() -> int:
    """Delete links that ended LINK_RETENTION ago, of all tenants; return how many."""
    ended = timezone.now() - LINK_RETENTION
    removed, _by_model = LinkSession.unscoped.filter(expires_at__lt=ended).delete()
    return removed


def build_link_redirect_url(
    session: LinkSession, *, state: str, provider: str = "", error: str = ""
) -> str:
    """Return the session's redirect_url with the outcome in its query.

    `state` is `success`, `error` or `closed`; `provider` a slug, `error` a code of
    ours. Nothing else is told: who it was about, the client knows. Source: Ours
    (contract 3.6 names the address alone).
    """
    parameters = {"state": state, "provider": provider, "error": error}
    added = urlencode({name: text for name, text in parameters.items() if text})
    parts = urlsplit(session.redirect_url)
    query = f"{parts.query}&{added}" if parts.query else added
    return urlunsplit(parts._replace(query=query))


def is_allowed_redirect_url(url: str) -> bool:
    """Return whether a redirect URL is allowed: https, a host, no password.

    Blanks, control characters and backslashes, which browsers read in ways of their
    own, are refused; what is not ASCII has to be encoded.
    """
    if len(url) > REDIRECT_URL_MAX_LENGTH or not _PLAIN_URL.fullmatch(url):
        return False
    try:
        _is_https_url(url)
        parts = urlsplit(url)
    except (ValidationError, ValueError):
        return False
    return "@" not in parts.netloc


@transaction.atomic
def _count_mail(session: LinkSession, actor: Actor) -> None:
    counted = LinkSession.objects.for_tenant(session.tenant).filter(pk=session.pk)
    if not session.is_open():
        raise DomainError("link_ended", _("This link has expired."))
    if not counted.filter(mail_count__lt=MAILS_AT_MOST).update(
        mail_count=F("mail_count") + 1
    ):
        raise DomainError(
            "mail_limit",
            _("Limit reached: a link can be emailed %(limit)d times.")
            % {"limit": MAILS_AT_MOST},
        )
    _record(session, actor, "mail_link")


def _check(request: LinkRequest) -> None:
    if request.provider and request.provider not in PROVIDERS:
        raise Invalid("provider_unknown", _("Unknown source."), "provider")
    only = request.filter_on_providers
    if not PROVIDERS.keys() >= set(only):
        raise Invalid("provider_unknown", _("Unknown source."), "filter_on_providers")
    if request.provider and only and request.provider not in only:
        raise Invalid(
            "provider_filtered",
            _("provider must be in filter_on_providers."),
            "provider",
        )
    if request.redirect_url and not is_allowed_redirect_url(request.redirect_url):
        raise Invalid(
            "redirect_url_invalid",
            _("Enter an address that starts with https://."),
            "redirect_url",
        )
    if not request.redirect_url:
        for name, is_set in _needing_redirect(request):
            if is_set:
                raise Invalid(
                    "redirect_url_missing", _("Set redirect_url as well."), name
                )


def _needing_redirect(request: LinkRequest) -> Iterable[tuple[str, bool]]:
    yield "on_error", request.redirects_on_error
    yield "on_close", request.redirects_on_close


def _record(session: LinkSession, actor: Actor, verb: str) -> None:
    record_change(
        tenant=session.tenant,
        actor=actor,
        verb=verb,
        subject="link_session",
        subject_id=session.uuid,
        user_uuid=session.user.uuid,
    )


def _read_token(token: str) -> tuple[int, UUID] | None:
    try:
        tenant_pk, _dash, hexed = _signer().unsign(token).partition("-")
        return int(tenant_pk), UUID(hexed)
    except (BadSignature, ValueError):
        return None


def _signer() -> Signer:
    return Signer(salt=_SALT, sep=".")


def _unknown() -> NotFound:
    return NotFound("link_unknown", _("This link is not valid."))
