"""The error of a refused file."""

from __future__ import annotations

from django.utils.translation import gettext as _

from portal.lib.errors import DomainError
from users.states.imports import ImportRefusal


class FileRefused(DomainError):
    """The file is refused as a whole; its `code` is an ImportRefusal.

    `saw` names what the file was recognized as, without anything of its content.
    """

    def __init__(self, reason: ImportRefusal, saw: str = "") -> None:
        super().__init__(reason.value, explain_import_refusal(reason, saw), "file")
        self.reason = reason
        self.saw = saw


def explain_import_refusal(reason: ImportRefusal | None, saw: str) -> str:
    """Return the sentence for people: what was seen, and why it is refused.

    `saw` is stored in English, and translated here where its name is in the catalogue.
    """
    saw = _(saw) if saw else ""
    if reason == ImportRefusal.NOT_READ_YET and saw:
        return _("This is %(saw)s, which cannot be read yet.") % {"saw": saw}
    said = str(reason.label) if reason else _("The file was rejected.")
    if not saw:
        return said
    return _("%(reason)s Recognized as: %(saw)s.") % {"reason": said, "saw": saw}
