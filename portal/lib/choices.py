"""Enumerations that may gain values (specification 3 and 9).

The base class of open enumerations.
"""

from __future__ import annotations

from typing import Self

from django.db.models import TextChoices


class OpenChoices(TextChoices):
    """Values we write; values we do not know are stored and shown as they came.

    Model columns take `choices=X.offered`, a callable, so that a new value makes no
    migration.
    """

    @classmethod
    def offered(cls) -> list[tuple[str, str]]:
        """Pairs of value and label, translated when shown, for a column or a form."""
        return [(str(value), label) for value, label in cls.choices]

    @classmethod
    def known(cls, value: str) -> Self | None:
        """Return the member with this value, or None where we know none."""
        try:
            return cls(value)
        except ValueError:
            return None

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return the member a client means: any case, blank or hyphen for underscore.

        Source: Contract D2.
        """
        return cls.known(text.strip().lower().replace(" ", "_").replace("-", "_"))
