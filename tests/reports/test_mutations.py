"""Pages with one unseen trait each: none loses a document whole.

A sample of pages; `python -m tests.reports.mutations` counts all of them.
"""

from __future__ import annotations

import pytest

from tests.reports.mutations import MUTATIONS
from tests.reports.mutations.__main__ import score_mutation

EVERY = 16
LEAST = 0.95
# What a trait costs today; raise a floor when it costs less.
FLOORS = {
    "value before name": 0.85,
    "name wraps": 0.9,
    "three tables side by side": 0.9,
}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_trait_costs_no_more_rows_than_its_floor_and_no_page_whole(mutation):
    total, lost = score_mutation(mutation, every=EVERY)

    floor = FLOORS.get(mutation.name, LEAST)
    assert total.parts["strict"].asked > 80
    assert total.rate("strict") >= floor, total.faults
    assert lost == [] or floor == 0
    assert total.misread <= (floor < LEAST)
