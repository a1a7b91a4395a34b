"""Patterns in attempts: what failures have in common, and when they began.

A pattern needs PATTERN_LEAST failures, so that chance is not taken for a cause. Pure.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from accounts.webhooks.diagnosis.situation import Diagnosis, Situation, Try
from accounts.webhooks.states import DeliveryFault
from portal.ui.numbers import format_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


# So many failures are needed before they are said to have something in common.
PATTERN_LEAST = 3
_KILOBYTE = 1024


def find_common_trait(tries: Sequence[Try]) -> Diagnosis | None:
    """Diagnose failures that differ from successes by their size or their one type.

    Only where some succeeded after the first had failed: else the receiver may have
    gone for all of them.
    """
    failed = [each for each in tries if not each.succeeded]
    well = [each for each in tries if each.succeeded]
    if len(failed) < PATTERN_LEAST or not well:
        return None
    if max(each.at for each in well) < min(each.at for each in failed):
        return None
    since = min(each.at for each in failed)
    least = min(each.size for each in failed)
    largest = max(each.size for each in well)
    if least > 2 * largest and least > 8 * _KILOBYTE:
        return Diagnosis(
            "large_only",
            "bad",
            _("Only large events fail"),
            _(
                "All %(number)d failed events are larger than %(least)s. None that"
                " succeeded is larger than %(largest)s."
            )
            % {
                "number": len(failed),
                "least": _size(least),
                "largest": _size(largest),
            },
            _("Raise the size limit of the receiver or its proxy."),
            since,
        )
    types = {each.event_type for each in failed}
    if len(types) == 1:
        (only,) = types
        others = {each.event_type for each in well} - types
        if others and all(each.event_type != only for each in well):
            return Diagnosis(
                "one_type",
                "bad",
                _("Only one event type fails"),
                _("All %(number)d failures are %(type)s: %(cause)s. Others succeed.")
                % {
                    "number": len(failed),
                    "type": only,
                    "cause": describe_most_common_cause(failed),
                },
                _("Check how the receiver handles this type, or unsubscribe from it."),
                since,
            )
    return None


def list_leading_failures(tries: Sequence[Try]) -> list[Try]:
    """Return the failures since the last success, the newest first."""
    failures = []
    for each in tries:
        if each.succeeded:
            break
        failures.append(each)
    return failures


def is_one_block(tries: Sequence[Try]) -> bool:
    """Return whether all failures follow one another without a success between."""
    marks = [each.succeeded for each in tries]
    changes = sum(a != b for a, b in pairwise(marks))
    return changes <= 2


def began_with_secret(situation: Situation, since: datetime) -> bool:
    """Return whether the secret was rotated between success and the first failure."""
    made = situation.secret_made_at
    successes = [each.at for each in situation.tries if each.succeeded]
    return made is not None and bool(successes) and max(successes) <= made <= since


def describe_most_common_cause(failed: Sequence[Try]) -> str:
    """Describe what most of the failures have in common."""
    [((code, fault), number)] = Counter(each.cause for each in failed).most_common(1)
    known = DeliveryFault.known(fault)
    if code is not None:
        words = _("response %(code)d") % {"code": code}
    else:
        words = str(known.label) if known else _("no response")
    return words if number == len(failed) else _("mostly %(cause)s") % {"cause": words}


def _size(size: int) -> str:
    if size < _KILOBYTE:
        return _("%(number)d bytes") % {"number": size}
    return _("%(number)s KB") % {"number": format_number(round(size / _KILOBYTE))}
