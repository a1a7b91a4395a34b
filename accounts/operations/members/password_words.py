"""Refuse passwords that are little more than words that anybody would try here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from accounts.models import Membership

if TYPE_CHECKING:
    from accounts.models import Member

_WORD = re.compile(r"[^\W_]+")
# Shorter ones are in many good passwords.
_LEAST_WORD = 4
# So much must be left without these words.
_LEAST_REST = 8
_OF_ASSAY = ("assay", "portal", "health", "laboratory")


class PlaceWordsValidator:
    """A validator of Django's: what is left without words of this place is long enough.

    Words are those of Assay, of the installation's host and of the names of the
    member's teams. Source: OWASP ASVS 5.0, 6.2.11.
    """

    def validate(self, password: str, user: Member | None = None) -> None:
        """Raise ValidationError with the code `password_of_place`."""
        rest = "".join(_WORD.findall(password.casefold()))
        given = len(rest)
        for word in sorted(_list_words(user), key=len, reverse=True):
            rest = rest.replace(word, "")
        if len(rest) < min(given, _LEAST_REST):
            raise ValidationError(
                _("The password is mostly words of this site or of your team."),
                code="password_of_place",
            )

    def get_help_text(self) -> str:
        """Return the rule in words."""
        return _("Your password can't be mostly words of this site or of your team.")


def _list_words(user: Any) -> set[str]:
    texts = [*_OF_ASSAY, urlsplit(settings.PUBLIC_URL).hostname or ""]
    if user is not None and user.pk:
        rows = Membership.objects.filter(member_id=user.pk)
        texts += rows.values_list("team__name", flat=True)
    found = {word for text in texts for word in _WORD.findall(text.casefold())}
    return {word for word in found if len(word) >= _LEAST_WORD}
