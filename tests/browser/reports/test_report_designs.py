"""The designs of reports, printed by a browser, read as they must be."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reports.management.scorecard.marking import add_marks, mark_report
from reports.management.scorecard.scoring import parse_rows
from reports.management.scorecard.truth import read_folder
from tests.reports.designs import design_paths

pytestmark = pytest.mark.browser


SAMPLE = 24


@pytest.mark.parametrize(
    "every", [SAMPLE, pytest.param(1, marks=pytest.mark.long)], ids=["some", "all"]
)
def test_designs_reach_95_strict_and_97_precise_in_100_with_no_code_wrong(
    tmp_path, every
):
    pages = design_paths()[::every]
    # a process of its own: the browser of this one is in use
    subprocess.run(
        [sys.executable, "-m", "tests.reports.designs", tmp_path, *pages], check=True
    )

    reports = [(r, parse_rows(r.paths)[0]) for r in read_folder(tmp_path)]

    total = add_marks([mark_report(report, rows) for report, rows in reports])
    others = {r.layout: len(rows) for r, rows in reports if not r.is_lab_report}
    assert total.rate("strict") >= 0.95
    assert total.rate("precision") >= 0.97
    assert total.wrong_codes == 0
    assert others == dict.fromkeys(others, 0)
