"""Compose mails in a team's name, as plain text and as HTML with its brand.

A text is filled once: what a value says in braces stays as it is, and nothing that a
text or a value has becomes HTML.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.utils import translation

from accounts.declarations.mails import LINK
from accounts.queries.branding import Brand, find_team_branding
from accounts.queries.mail_texts import Wording, get_mail_kind, get_wording
from portal.ui.colors import (
    BLACK,
    WHITE,
    move_to_readable,
    pick_text_color,
    read_color,
    write_color,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.models import Tenant

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_ACCENT = "0b6373"  # of static/css/tokens.css, where a team has no color


@dataclass(frozen=True, slots=True)
class ComposedMail:
    """A mail without its recipient; `subject` is one line."""

    subject: str
    text: str = field(repr=False)
    html: str = field(repr=False)
    reply_to: str = ""

    def address(
        self, to: str, *, headers: Mapping[str, str] | None = None
    ) -> EmailMultiAlternatives:
        """Return the message to one address."""
        message = EmailMultiAlternatives(
            self.subject,
            self.text,
            to=[to],
            reply_to=[self.reply_to] if self.reply_to else None,
            headers=dict(headers or {}),
        )
        message.attach_alternative(self.html, "text/html")
        return message


def compose_mail(
    *,
    tenant: Tenant,
    kind: str,
    language: str,
    values: Mapping[str, str],
    stop_link: str = "",
    wording: Wording | None = None,
    brand: Brand | None = None,
) -> ComposedMail:
    """Compose a mail of a kind in a language with the team's brand.

    `values` replace the placeholders; `company` is filled in. `wording` is a text and
    `brand` one that are not the stored ones; `stop_link` ends such mails. The foot is
    ours and can't be edited. Source: Issue "Workdays", 5.
    """
    brand = brand or find_team_branding(tenant)
    wording = wording or get_wording(tenant=tenant, kind=kind, language=language)
    filled = {"company": brand.company, **values}
    with translation.override(language):
        context = {
            "brand": brand,
            # An address that is not https would be asked for in the clear.
            "logo_url": brand.logo_url if _is_https(brand.logo_url) else "",
            "foot": _list_foot(brand),
            "language": language,
            "stop_link": stop_link,
            "link": filled.get(LINK, ""),
            "button": str(get_mail_kind(kind).button),
            "subject": _fill_line(wording.subject, filled),
            "text": _fill(wording.body, filled),
            "paragraphs": _split_paragraphs(wording.body, filled),
            **_choose_colors(brand.color),
        }
        text = render_to_string("accounts/email/branded_message.txt", context)
        html = render_to_string("accounts/email/branded_message.html", context)
    return ComposedMail(
        subject=str(context["subject"]),
        text=text.strip() + "\n",
        html=html,
        reply_to=brand.support_email,
    )


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)


def _fill_line(text: str, values: Mapping[str, str]) -> str:
    """Fill a text and make it one line, so that it adds no header."""
    return " ".join(_fill(text, values).split())


def _split_paragraphs(
    body: str, values: Mapping[str, str]
) -> list[list[tuple[str, ...]]]:
    """Return the lines of each paragraph: ("button",), or texts parted by the link."""
    paragraphs: list[list[tuple[str, ...]]] = [[]]
    for line in body.split("\n"):
        if not line.strip():
            paragraphs.append([])
        elif line.strip() == f"{{{LINK}}}":
            paragraphs[-1].append(("button",))
        else:
            parts = line.split(f"{{{LINK}}}")
            texts = (_fill(part, values) for part in parts)
            paragraphs[-1].append(("text", *texts))
    return [lines for lines in paragraphs if lines]


def _is_https(url: str) -> bool:
    return url.startswith("https://")


def _list_foot(brand: Brand) -> list[str]:
    """Return who writes and how to reach them, one line each."""
    lines = (brand.company, brand.website, brand.support_email, brand.support_contact)
    return [line for line in lines if line]


def _choose_colors(color: str) -> dict[str, str]:
    """Return colors of the button and of links, readable in light and in dark."""
    brand = read_color(color or _ACCENT)
    return {
        "accent": write_color(brand),
        "on_accent": write_color(pick_text_color(brand)),
        "accent_light": write_color(move_to_readable(brand, BLACK, ground=WHITE)),
        "accent_dark": write_color(
            move_to_readable(brand, WHITE, ground=(0.08, 0.1, 0.1))
        ),
    }
