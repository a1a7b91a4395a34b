"""Choices about patients: consents, insured persons, and text formats.

Patterns are those of contract 6.6 and 6.9 and match the whole text.
"""

from __future__ import annotations

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy

PHONE = r"\+?[0-9][0-9 ().-]{4,28}"
ZIP_CODE = r"\d{5}(?:-\d{4})?"
STATE = r"[A-Za-z]{2}"
NPI = r"\d{10}"


class Consent(OpenChoices):
    """What a patient may consent to (contract 6.6); hyphens on the wire."""

    TERMS_OF_USE = "terms-of-use", gettext_lazy("Terms of use")
    TELEHEALTH = "telehealth-informed-consent", gettext_lazy("Telehealth")
    MOBILE_TERMS = "mobile-terms-and-conditions", gettext_lazy("Mobile terms")
    PRIVACY_PRACTICES = "notice-of-privacy-practices", gettext_lazy("Privacy practices")
    PRIVACY_POLICY = "privacy-policy", gettext_lazy("Privacy policy")
    HIPAA = "hipaa-authorization", gettext_lazy("HIPAA authorization")

    @classmethod
    def read(cls, text: str) -> Consent | None:
        """Return the member for a text; hyphens for blanks and underscores."""
        return cls.known(text.strip().lower().replace(" ", "-").replace("_", "-"))


class Relationship(OpenChoices):
    """The patient's relationship to the insured (contract 2.6), capitalized."""

    SELF = "Self", gettext_lazy("Self")
    SPOUSE = "Spouse", gettext_lazy("Spouse")
    OTHER = "Other", gettext_lazy("Other")

    @classmethod
    def read(cls, text: str) -> Relationship | None:
        """Return the member for a text in any case."""
        return cls.known(text.strip().capitalize())


class PayorSource(OpenChoices):
    """Who created an insurer. Source: Ours; contract 6.21 names no values."""

    PLATFORM = "platform", gettext_lazy("Platform")
    TEAM = "team", gettext_lazy("Team")
