"""Pages of many traits mixed by chance: what is read, and what never is.

Seeds from 1000 on were not looked at while the readers were written.
"""

from __future__ import annotations

import pytest

from reports.management.scorecard.marking import Marks, add_marks, mark_report
from reports.parser.parsing import parse_report_pages
from reports.parser.report import ParsedResult, UnreadableReport
from reports.parser.rows.grammar import breaks_value_grammar
from tests.reports.mutations.mixtures import draw_mixture

SEEDS = range(1000, 1060)
LEAST, MOST_INVENTED, MOST_MISREAD, MOST_LOST = 0.955, 0.01, 0.01, 1


@pytest.fixture(scope="module")
def readings() -> list[tuple[Marks, tuple[ParsedResult, ...], bool]]:
    """Return marks and rows of each page, and whether it prints ranges."""
    found = []
    for seed in SEEDS:
        report, page, look = draw_mixture(seed)
        try:
            rows = parse_report_pages([page]).results
        except UnreadableReport:
            rows = ()
        ranged = "range" not in look.bare
        found.append((mark_report(report, rows), rows, ranged))
    return found


def test_most_rows_are_read_and_hardly_a_page_is_lost_whole(readings):
    total = add_marks([marks for marks, _, _ in readings])
    asked = total.parts["strict"].asked
    lost = sum(marks.parts["strict"].right == 0 for marks, _, _ in readings)

    assert asked > 500
    assert total.rate("strict") >= LEAST, total.faults
    assert total.invented <= MOST_INVENTED * asked
    assert total.misread <= MOST_MISREAD * asked
    assert lost <= MOST_LOST


def test_no_value_has_a_unit_or_a_second_script_in_it(readings):
    broken = [
        row.value
        for _, rows, _ in readings
        for row in rows
        if breaks_value_grammar(row.value)
    ]

    assert broken == []


def test_no_number_is_the_value_of_two_rows(readings):
    for _, rows, _ in readings:
        places = [row.provenance.value for row in rows if row.provenance.value]

        assert len(set(places)) == len(places)


def test_no_range_is_given_where_none_is_printed(readings):
    bare = [rows for _, rows, ranged in readings if not ranged]

    assert sum(map(len, bare)) > 10
    assert [row.reference_range for rows in bare for row in rows] == [
        None for rows in bare for _ in rows
    ]
