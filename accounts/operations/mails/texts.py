"""Edit the texts of a team's mails, reset them, and send a test to oneself."""

from __future__ import annotations

import logging
import re
import unicodedata
from datetime import UTC, timedelta
from smtplib import SMTPException
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.models import AuditEntry, MailText, Tenant
from accounts.models.mail_text import BODY_MAX_LENGTH, SUBJECT_MAX_LENGTH
from accounts.operations.audit.entries import record_change
from accounts.operations.mails.composing import ComposedMail, compose_mail
from accounts.queries.mail_texts import (
    Wording,
    check_mail_language,
    get_default_wording,
    get_mail_kind,
)
from accounts.states import Role
from portal.lib.errors import DomainError
from portal.lib.web.links import build_absolute_url
from portal.ui.dates import format_day_and_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accounts.models import Member
    from portal.lib.actor import Actor

# Ours: of one member in one environment.
TESTS_AN_HOUR = 10
_TEST_VERB = "send_test_mail"
_SUBJECT = "mail_text"
_SAMPLE_TTL = timedelta(days=7)
# Braces around anything, and a brace alone.
_BRACES = re.compile(r"\{([^{}]*)\}|[{}]")
# Controls, and marks that change the direction of what follows: both hide what a text
# says. Joiners of emoji and of scripts are none of them.
_HIDING = re.compile(r"[\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]")
_log = logging.getLogger(__name__)


@transaction.atomic
def change_mail_text(
    *, tenant: Tenant, actor: Actor, kind: str, language: str, subject: str, body: str
) -> Wording:
    """Set a team's own text of a kind of mail in a language.

    A text that is the same as Assay's is not stored. Raises: mail_unknown (404); as
    check_wording. Source: Issue "Workdays", 5.
    """
    wanted = check_wording(kind=kind, subject=subject, body=body)
    check_mail_language(language)
    default = get_default_wording(kind=kind, language=language)
    # Two members who save at once: the later one wins, and there is one row.
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    rows = MailText.objects.for_tenant(tenant).filter(kind=kind, language=language)
    kept = rows.first()
    before = Wording(kept.subject, kept.body) if kept else default
    if wanted == before:
        return wanted
    if wanted == default:
        rows.delete()
    elif kept is None:
        MailText(
            tenant=tenant,
            kind=kind,
            language=language,
            subject=wanted.subject,
            body=wanted.body,
        ).save(force_insert=True)
    else:
        rows.update(subject=wanted.subject, body=wanted.body, updated_at=timezone.now())
    _record(tenant, actor, "change_mail_text", kind, language, (before, wanted))
    return wanted


@transaction.atomic
def reset_mail_text(
    *, tenant: Tenant, actor: Actor, kind: str, language: str
) -> Wording:
    """Return to Assay's text of a kind in a language; a second call changes nothing.

    Raises: mail_unknown (404).
    """
    get_mail_kind(kind)
    check_mail_language(language)
    default = get_default_wording(kind=kind, language=language)
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    rows = MailText.objects.for_tenant(tenant).filter(kind=kind, language=language)
    kept = rows.first()
    if kept is not None:
        before = Wording(kept.subject, kept.body)
        kept.delete()
        _record(tenant, actor, "reset_mail_text", kind, language, (before, default))
    return default


def check_wording(*, kind: str, subject: str, body: str) -> Wording:
    """Return a text that may be sent, with plain line ends.

    Raises: mail_unknown (404); subject_missing, subject_too_long, subject_invalid (a
    line break or another control character), body_missing, body_too_long, body_invalid
    (a control character), placeholder_unknown, placeholder_missing. Source: Ours;
    RFC 5322, 2.2 (a line break in a subject would begin another header).
    """
    declared = get_mail_kind(kind)
    subject, body = subject.strip(), _clean_lines(body)
    limits = (
        ("subject", subject, SUBJECT_MAX_LENGTH),
        ("body", body, BODY_MAX_LENGTH),
    )
    for name, text, most in limits:
        if not text:
            raise DomainError(f"{name}_missing", _("Enter a text."), name)
        if len(text) > most:
            raise DomainError(
                f"{name}_too_long",
                _("Use at most %(most)d characters.") % {"most": most},
                name,
            )
        if _has_hidden_characters(text.replace("\n", "") if name == "body" else text):
            raise DomainError(
                f"{name}_invalid",
                _("Remove line breaks and control characters.")
                if name == "subject"
                else _("Remove control characters."),
                name,
            )
    _check_placeholders("subject", subject, declared.subject_placeholders)
    _check_placeholders("body", body, declared.placeholders)
    for name in declared.required:
        if f"{{{name}}}" not in body:
            raise DomainError(
                "placeholder_missing",
                _("%(placeholder)s must stay in the text.")
                % {"placeholder": f"{{{name}}}"},
                "body",
            )
    return Wording(subject, body)


def compose_sample_mail(
    *,
    tenant: Tenant,
    member: Member,
    kind: str,
    language: str,
    wording: Wording | None = None,
) -> ComposedMail:
    """Compose a mail with made-up values, for previews and tests; links open nothing.

    Raises: mail_unknown (404).
    """
    declared = get_mail_kind(kind)
    check_mail_language(language)
    with translation.override(language):
        values = {
            "link": build_absolute_url(declared.sample_path),
            "date": format_day_and_time((timezone.now() + _SAMPLE_TTL).astimezone(UTC)),
            "sender": member.name or member.email,
            "team": tenant.team.name,
            "roles": str(Role.VIEWER.label),
        }
    return compose_mail(
        tenant=tenant, kind=kind, language=language, values=values, wording=wording
    )


def send_test_mail(
    *, tenant: Tenant, actor: Actor, member: Member, kind: str, language: str
) -> None:
    """Send the stored text, with made-up values, to the member's own address.

    Raises: mail_unknown (404); test_mail_limit; mail_refused (nothing was sent).
    Source: Ours: to nobody else, and not without end.
    """
    composed = compose_sample_mail(
        tenant=tenant, member=member, kind=kind, language=language
    )
    message = composed.address(member.email)
    with translation.override(language):
        message.subject = _("[Test] %(subject)s") % {"subject": composed.subject}
    _count_test(tenant, actor, kind, language)
    try:
        message.send()
    except (OSError, SMTPException):
        _log.warning("the mail server refused a test mail of tenant %s", tenant.pk)
        raise DomainError(
            "mail_refused", _("The email could not be sent. Try again later.")
        ) from None


@transaction.atomic
def _count_test(tenant: Tenant, actor: Actor, kind: str, language: str) -> None:
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    sent = AuditEntry.objects.for_tenant(tenant).filter(
        actor_key=actor.key,
        verb=_TEST_VERB,
        at__gt=timezone.now() - timedelta(hours=1),
    )
    if sent.count() >= TESTS_AN_HOUR:
        raise DomainError(
            "test_mail_limit",
            _("Limit reached: %(limit)d test emails in an hour.")
            % {"limit": TESTS_AN_HOUR},
        )
    record_change(
        tenant=tenant,
        actor=actor,
        verb=_TEST_VERB,
        subject=_SUBJECT,
        subject_id=f"{kind}/{language}",
    )


def _clean_lines(body: str) -> str:
    """Return a body with plain line ends, without blanks at the ends of lines."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _has_hidden_characters(text: str) -> bool:
    return bool(_HIDING.search(text)) or any(
        unicodedata.category(each) == "Cc" for each in text
    )


def _check_placeholders(name: str, text: str, known: Iterable[str]) -> None:
    for found in _BRACES.finditer(text):
        if found[1] not in set(known):
            raise DomainError(
                "placeholder_unknown",
                _("%(placeholder)s can't be used here.") % {"placeholder": found[0]},
                name,
            )


def _record(
    tenant: Tenant,
    actor: Actor,
    verb: str,
    kind: str,
    language: str,
    texts: tuple[Wording, Wording],
) -> None:
    before, after = texts
    pairs = {
        "subject": [before.subject, after.subject],
        "body": [before.body, after.body],
    }
    record_change(
        tenant=tenant,
        actor=actor,
        verb=verb,
        subject=_SUBJECT,
        subject_id=f"{kind}/{language}",
        changes={name: pair for name, pair in pairs.items() if pair[0] != pair[1]},
    )
