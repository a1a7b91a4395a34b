"""Sentences that are stored in English and read in any language.

What is kept is the text of the catalogue and its values, so that each reader has it in
their own language. `manage.py makemessages` collects the texts of both forms.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from django.utils import translation
from django.utils.translation import gettext, ngettext


@dataclass(frozen=True, slots=True)
class StoredSentence:
    """A text of the catalogue with its values, which are written as they are.

    With a `plural`, `number` decides between the two.
    """

    text: str
    values: dict[str, Any] = field(default_factory=dict)
    plural: str = ""
    number: int = 1

    def write(self) -> str:
        """Write the sentence in the language of the reader."""
        if self.plural:
            return ngettext(self.text, self.plural, self.number) % self.values
        return gettext(self.text) % self.values

    def write_in_english(self) -> str:
        """Write the sentence as it is stored."""
        with translation.override("en"):
            return self.write()

    def to_json(self) -> dict[str, Any]:
        """Return what `read_sentence` reads."""
        return asdict(self)


def StoredPlural(  # noqa: N802 - beside StoredSentence
    text: str, plural: str, number: int, values: dict[str, Any]
) -> StoredSentence:
    """Return a sentence in the form that fits a number."""
    return StoredSentence(text, values, plural, number)


def read_sentence(stored: dict[str, Any]) -> StoredSentence | None:
    """Return a stored sentence; None where none was stored."""
    return StoredSentence(**stored) if stored else None
