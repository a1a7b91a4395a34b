"""The birth dates that any door takes: of patients, users and insured people."""

from __future__ import annotations

from datetime import date

from django.utils import timezone
from django.utils.translation import gettext as _

from portal.lib.errors import Invalid

EARLIEST = date(1900, 1, 1)


def require_plausible_birth_date(day: date, field: str = "dob") -> None:
    """Refuse a birth date after today (UTC) or before 1900.

    Raises: dob_in_future, dob_too_early (422). Source: Ours: nobody alive was born
    before 1900, and a year typed wrongly would match nobody's results.
    """
    if day > timezone.now().date():
        raise Invalid(
            "dob_in_future", _("Enter a birth date that is not in the future."), field
        )
    if day < EARLIEST:
        raise Invalid(
            "dob_too_early", _("Enter a 4-digit year from 1900, such as 1990."), field
        )
