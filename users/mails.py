"""The mails to users whose texts a team may edit: those with links to connect."""

from __future__ import annotations

from accounts.declarations.mails import MailKind, MailText
from portal.lib.translation import gettext_lazy

_PRIVATE = gettext_lazy(
    "Keep the link private: anyone with it can connect sources for you."
)
_PLACEHOLDERS = ("company", "link", "date")

MAILS = {
    "connect_link": MailKind(
        rank=10,
        title=gettext_lazy("Connect link"),
        says=gettext_lazy("When a member emails a user a link to connect sources."),
        text=MailText(
            gettext_lazy("Connect your devices and apps to %(company)s"),
            (
                gettext_lazy("Hello,"),
                "",
                gettext_lazy(
                    "%(company)s invites you to connect your health devices and apps."
                    " You choose which ones to connect. You do not need an account."
                ),
                "",
                gettext_lazy("Open this link, which expires on %(date)s UTC:"),
                "{link}",
                "",
                _PRIVATE,
                "",
                gettext_lazy(
                    "If you did not expect this email, ignore it. Nothing is connected."
                ),
            ),
        ),
        placeholders=_PLACEHOLDERS,
        required=("link",),
        button=gettext_lazy("Connect devices and apps"),
        sample_path="/connect/?token=example",
    ),
    "reconnect": MailKind(
        rank=20,
        title=gettext_lazy("Sign in again"),
        says=gettext_lazy(
            "When a source of a user needs a new sign-in, at most once a week. A link"
            " that stops these emails is always added."
        ),
        text=MailText(
            gettext_lazy("Sign in again to keep sending data to %(company)s"),
            (
                gettext_lazy("Hello,"),
                "",
                gettext_lazy(
                    "A device or app that you connected to %(company)s no longer sends"
                    " data. It needs you to sign in again. Your earlier data is kept."
                ),
                "",
                gettext_lazy("1. Open this link, which expires on %(date)s UTC:"),
                "{link}",
                gettext_lazy("2. Select “Sign in again”."),
                "",
                _PRIVATE,
                "",
                gettext_lazy(
                    "If you do not want to share this data any more, do nothing."
                ),
            ),
        ),
        placeholders=_PLACEHOLDERS,
        required=("link",),
        button=gettext_lazy("Open the link"),
        sample_path="/connect/?token=example",
        switch="source_reconnect_mails_enabled",
    ),
}
