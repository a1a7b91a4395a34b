"""The mail of an invitation, in the words and with the brand of its team."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING

from django.utils import translation
from django.utils.translation import gettext as _

from accounts.operations.mails.composing import compose_mail
from accounts.queries.branding import Brand
from accounts.queries.mail_texts import find_mail_tenant, get_wording
from accounts.states import Role
from portal.ui.dates import format_day_and_time

if TYPE_CHECKING:
    from accounts.models import Invitation
    from accounts.operations.mails.composing import ComposedMail
    from accounts.queries.mail_texts import Wording

KIND = "invitation"


def compose_invitation(
    *, invitation: Invitation, link: str, place: str, language: str
) -> ComposedMail:
    """Compose the mail of an invitation to `place`: its team, or an organization.

    Where no member invites, or to several teams, Assay's text says so.
    """
    tenant = find_mail_tenant(team_id=invitation.team_id)
    inviter = invitation.invited_by
    sender = (inviter.name or inviter.email) if inviter else ""
    is_several = invitation.batch is not None
    wording = get_wording(
        tenant=tenant, kind=KIND, language=language, is_default=is_several
    )
    brand = Brand(company=place) if is_several else None
    with translation.override(language):
        if wording.updated_at is None:
            wording = _word_first_line(wording, bool(sender), is_several)
        date = format_day_and_time(invitation.expires_at.astimezone(UTC))
        roles = ", ".join(str(Role(role).label) for role in invitation.roles)
    return compose_mail(
        tenant=tenant,
        kind=KIND,
        language=language,
        values={
            "link": link,
            "team": place,
            "sender": sender or tenant.team.name,
            "roles": roles,
            "date": date,
        },
        wording=wording,
        brand=brand,
    )


def _word_first_line(wording: Wording, is_sent: bool, is_several: bool) -> Wording:
    """Return Assay's text with the first line for who invites, and to how many."""
    if is_sent and not is_several:
        return wording
    if is_sent:
        line = _("%(sender)s invited you to several teams of %(team)s on Assay.")
    elif is_several:
        line = _("You are invited to several teams of %(team)s on Assay.")
    else:
        line = _("You are invited to the team %(team)s on Assay.")
    names = {"sender": "{sender}", "team": "{team}"}
    _first, _break, rest = wording.body.partition("\n")
    return replace(wording, body=f"{line % names}\n{rest}")
