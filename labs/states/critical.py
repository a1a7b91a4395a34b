"""Critical results: how the clinician was notified, and escalation times."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from datetime import datetime

LONGEST_WAIT = timedelta(days=1)


class NotificationMethod(OpenChoices):
    """How the treating clinician was notified of a critical result."""

    TREATING = "treating", gettext_lazy("I am the treating clinician")
    PHONE = "phone", gettext_lazy("By phone")
    IN_PERSON = "in_person", gettext_lazy("In person")
    SECURE_MESSAGE = "secure_message", gettext_lazy("By secure message")


def compute_next_escalation_time(
    *, at: datetime, limit: timedelta, number: int
) -> datetime:
    """Return when the next reminder is due after the `number`th, sent `at`; from 1.

    Each wait is twice the one before, from the team's limit up to a day: an alarm that
    rings every minute is switched off. Source: Ours (spec silent).
    """
    return at + min(limit * (1 << min(number - 1, 16)), max(LONGEST_WAIT, limit))
