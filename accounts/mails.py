"""The mails of accounts whose texts a team may edit."""

from __future__ import annotations

from accounts.declarations.mails import MailKind, MailText
from portal.lib.translation import gettext_lazy

MAILS = {
    "invitation": MailKind(
        rank=90,
        title=gettext_lazy("Invitation"),
        says=gettext_lazy("To the address that a member invites to your team."),
        text=MailText(
            gettext_lazy("Join %(team)s on Assay"),
            (
                gettext_lazy("%(sender)s invited you to the team %(team)s on Assay."),
                gettext_lazy("Your roles: %(roles)s."),
                "",
                gettext_lazy(
                    "Join here. The link works once and expires on %(date)s UTC:"
                ),
                "{link}",
                "",
                gettext_lazy(
                    "If you do not know the sender, ignore this email. Nobody can join"
                    " without the link."
                ),
            ),
        ),
        placeholders=("company", "team", "sender", "roles", "link", "date"),
        required=("link",),
        button=gettext_lazy("Join the team"),
        sample_path="/accounts/invitations/example/",
        is_of_team=True,
    ),
}
