"""Languages of what patients and members read: the browser's, and what is offered.

The API is in English.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import get_language, get_supported_language_variant
from django.utils.translation.trans_real import parse_accept_lang_header

from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.http import HttpRequest

LANGUAGE_MAX_LENGTH = 10
# By the code of LANGUAGES, as members choose among them.
LANGUAGE_NAMES: dict[str, str] = {
    "en": gettext_lazy("English"),
    "es": gettext_lazy("Spanish"),
    "de": gettext_lazy("German"),
    "fr": gettext_lazy("French"),
    "pt-br": gettext_lazy("Portuguese"),
}


def is_offered_language(code: str) -> bool:
    """Return whether there is a catalogue of a language, by its code as in `pt-br`."""
    return code in dict(settings.LANGUAGES)


def is_member_language(code: str) -> bool:
    """Return whether members' pages and mails can be in a language."""
    return code in settings.MEMBER_LANGUAGES


def write_within_sentence(text: str) -> str:
    """Write a label small, as words within a sentence; German keeps its capitals.

    A German noun has one anywhere, so "Termin abgesagt" stays as it is.
    """
    return str(text) if get_language() == "de" else str(text).lower()


def find_browser_language(
    request: HttpRequest, *, for_members: bool = False
) -> str | None:
    """Return the offered language that the browser prefers; None if it asks for none.

    Variants count: `de-AT` is German, `pt-PT` Portuguese. Source: RFC 9110, 12.5.4.
    """
    header = request.headers.get("Accept-Language", "")
    for code, _weight in parse_accept_lang_header(header):
        try:
            found = get_supported_language_variant(code)
        except LookupError:
            continue
        if not for_members or is_member_language(found):
            return found
    return None
