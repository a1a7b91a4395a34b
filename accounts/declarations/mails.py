"""The mails whose texts a team may edit: what users get, and invitations of members.

Each app declares its own as `MAILS` in its module `mails`, imported when one is
first needed. Copy a neighbor to add one: `labs/mails.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from portal.lib.app_modules import import_declarations
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from accounts.models import Tenant

LINK = "link"
# What stands in braces in an edited text, and what it is replaced by.
PLACEHOLDERS: Mapping[str, str] = MappingProxyType(
    {
        "company": gettext_lazy("Your company name"),
        LINK: gettext_lazy("The link; a button where it is alone on its line"),
        "date": gettext_lazy("When the link expires, in UTC"),
        "sender": gettext_lazy("The member who invites"),
        "team": gettext_lazy("Your team's name"),
        "roles": gettext_lazy("The roles, separated by commas"),
    }
)
# A placeholder of the catalogs' texts.
_NAMED = re.compile(r"%\((\w+)\)s")


@dataclass(frozen=True, slots=True)
class MailText:
    """Lines of a mail as catalogs have them: `%(company)s` is a placeholder.

    An empty line parts paragraphs. A line of `{link}` alone is a button in HTML.
    """

    subject: str
    lines: tuple[str, ...]

    def write_subject(self) -> str:
        """Return the subject in the current language, with placeholders in braces."""
        return _NAMED.sub(r"{\1}", str(self.subject))

    def write_body(self) -> str:
        """Return the lines in the current language, with placeholders in braces."""
        return "\n".join(_NAMED.sub(r"{\1}", str(line)) for line in self.lines)


@dataclass(frozen=True, slots=True)
class MailKind:
    """A kind of mail.

    `says` is when it is sent and to whom. `placeholders` are those of its body; the
    subject has all but the link, as subjects are stored where bodies are not.
    `required` must stay in the body. `button` names the link's button, and
    `sample_path` is where it leads in previews. `is_of_team`: it has one text for both
    environments, that of production. `is_on` says whether a tenant sends it at all.
    """

    rank: int
    title: str
    says: str
    text: MailText
    placeholders: tuple[str, ...]
    required: tuple[str, ...] = ()
    button: str = ""
    sample_path: str = "/"
    is_of_team: bool = False
    switch: str = field(default="")

    @property
    def subject_placeholders(self) -> tuple[str, ...]:
        """Return the placeholders that a subject may have."""
        return tuple(name for name in self.placeholders if name != LINK)

    def is_on(self, tenant: Tenant) -> bool:
        """Return whether the tenant's settings let it be sent."""
        return not self.switch or bool(getattr(tenant, self.switch))


@cache
def load_mail_kinds() -> Mapping[str, MailKind]:
    """Return the kinds of all apps by name, in the order of ranks.

    Raises: ValueError if two of them have one name.
    """
    declared = [
        entry
        for kinds in import_declarations("mails", "MAILS").values()
        for entry in kinds.items()
    ]
    by_name = dict(sorted(declared, key=lambda entry: entry[1].rank))
    if len(by_name) < len(declared):
        raise ValueError("two kinds of mail have one name")
    return MappingProxyType(by_name)
