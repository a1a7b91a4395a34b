"""Results that a report gives more than once: join, replace or hold them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from labs.gateways.hl7.messages import UNKNOWN_VALUE
from labs.gateways.hl7.observations import hold_observation, share_doubt
from labs.gateways.hl7.reports import GIVEN_STANDINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from labs.gateways.hl7.reports import Observation, Report, Test

# Types whose value is lines of a text, each an OBX of its own with some labs.
LINE_TYPES = {"TX", "FT"}
_NAMELESS = ("", "")


def settle_repeats(report: Report) -> None:
    """Join, replace or hold the results that a report gives more than once.

    Within a test the lines of a text are joined, and what is corrected replaces what
    was final, that what was preliminary. All else that differs is held: which value
    stands is not stated. So is what shares its test with a value in doubt.
    """
    _hold_companions([one for test in report.tests for one in test.observations])
    for test in report.tests:
        for group in _group_repeats(test.observations):
            _settle_repeats_of_test(test, group)
    for group in _group_repeats(
        one for test in report.tests for one in test.observations
    ):
        _hold_contradictions(group)


def _hold_companions(observations: list[Observation]) -> None:
    doubts = {one.identity: one.doubt for one in observations if one.doubt}
    doubts.pop(_NAMELESS, None)
    for one in observations:
        if doubt := doubts.get(one.identity):
            share_doubt(one, doubt)


def _group_repeats(observations: Iterable[Observation]) -> list[list[Observation]]:
    """Return the values that are given more than once, by what they are of."""
    given = [
        one
        for one in observations
        if not one.doubt and one.standing in GIVEN_STANDINGS and one.text
    ]
    given.sort(key=lambda one: one.identity)
    groups = (list(found) for _, found in groupby(given, lambda one: one.identity))
    return [group for group in groups if len(group) > 1]


def _settle_repeats_of_test(test: Test, group: list[Observation]) -> None:
    latest = min(GIVEN_STANDINGS.index(one.standing) for one in group)
    first, *others = (one for one in group if one.standing is GIVEN_STANDINGS[latest])
    gone = [one for one in group if one is not first and one not in others]
    if all(one.value_type in LINE_TYPES for one in (first, *others)):
        first.text = "\n".join(one.text for one in (first, *others))
        for one in others:
            first.notes += one.notes
            first.lines += one.lines
        gone += others
    test.observations = [
        one for one in test.observations if all(one is not other for other in gone)
    ]


def _hold_contradictions(group: list[Observation]) -> None:
    if len({one.content for one in group}) == 1:
        return
    for one in group:
        hold_observation(
            one,
            UNKNOWN_VALUE,
            "OBX-5",
            "The report gives different values for one result.",
        )
