"""The texts of mails, as a team has them in each language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import translation

from accounts.declarations.mails import load_mail_kinds
from accounts.models import MailText, Tenant
from accounts.states import Environment
from portal.lib.errors import NotFound
from portal.lib.languages import LANGUAGE_NAMES
from portal.lib.tenancy import acting_for

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from accounts.declarations.mails import MailKind


@dataclass(frozen=True, slots=True)
class Wording:
    """The text of a mail, with placeholders in braces.

    `updated_at` is when the team changed it; None: it is Assay's.
    """

    subject: str
    body: str
    updated_at: datetime | None = None


def get_mail_kind(name: str) -> MailKind:
    """Return a kind of mail. Raises: mail_unknown (404)."""
    kind = load_mail_kinds().get(name)
    if kind is None:
        raise NotFound("mail_unknown", "There is no such email.")
    return kind


def check_mail_language(code: str) -> str:
    """Return the code of an offered language. Raises: mail_unknown (404)."""
    if code not in LANGUAGE_NAMES:
        raise NotFound("mail_unknown", "There is no such language.")
    return code


def get_default_wording(*, kind: str, language: str) -> Wording:
    """Return Assay's own text of a kind in a language."""
    text = get_mail_kind(kind).text
    with translation.override(language):
        return Wording(text.write_subject(), text.write_body())


def find_edited_wording(*, tenant: Tenant, kind: str, language: str) -> Wording | None:
    """Return the team's own text of a kind in a language; None if it is Assay's."""
    with acting_for(tenant):
        found = MailText.objects.for_tenant(tenant).filter(kind=kind, language=language)
        row = found.first()
    return row and Wording(row.subject, row.body, row.updated_at)


def get_wording(
    *, tenant: Tenant, kind: str, language: str, is_default: bool = False
) -> Wording:
    """Return the text of a kind in a language: the team's own, else Assay's.

    `is_default`: Assay's, whatever the team has.
    """
    edited = None
    if not is_default:
        edited = find_edited_wording(tenant=tenant, kind=kind, language=language)
    return edited or get_default_wording(kind=kind, language=language)


def list_edited_languages(tenant: Tenant) -> dict[str, list[str]]:
    """Return the languages that a team edited, by kind; one query."""
    found: dict[str, list[str]] = {}
    rows = MailText.objects.for_tenant(tenant).order_by("kind", "language")
    for kind, language in rows.values_list("kind", "language"):
        found.setdefault(kind, []).append(language)
    return found


def find_mail_tenant(*, team_id: UUID) -> Tenant:
    """Return the tenant whose texts mails of the whole team have: production."""
    tenants = Tenant.objects.select_related("team")
    found: Tenant = tenants.get(team_id=team_id, environment=Environment.PRODUCTION)
    return found
