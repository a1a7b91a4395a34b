"""What is read and not believed is shown as unread: nothing vanishes."""

from __future__ import annotations

from reports.parser.parsing import parse_report
from reports.parser.rows import settling
from tests.reports.parser.drawing import draw, read, row

AT = (50, 220, 290, 370)
REPORT = [
    "Example Laboratory",
    row(AT, "Test", "Result", "Unit", "Range"),
    row(AT, "Sodium", "141", "mmol/L", "135 - 145"),
    row(AT, "Potassium", "4.2", "mmol/L", "3.5 - 5.1"),
    row(AT, "Creatinine", "88", "umol/L", "62 - 106"),
]


def test_rows_of_a_page_that_only_contradicts_the_catalogue_become_unread(tmp_path):
    shares = [
        row(AT, "Test", "Result", "Unit", "Range"),
        row(AT, "Cortisol", "39", "%"),
        row(AT, "Sodium", "22", "%"),
        row(AT, "Potassium", "17", "%"),
    ]

    report = parse_report(draw(tmp_path / "both.pdf", REPORT, shares))

    assert [result.test_name for result in report.results] == [
        "Sodium",
        "Potassium",
        "Creatinine",
    ]
    [unread] = report.unread
    heights = [y for _, y in unread.polygon]
    assert unread.page == 2
    assert max(heights) - min(heights) > 2 * 14  # all three lines


def test_a_row_whose_value_breaks_the_grammar_becomes_unread(tmp_path, monkeypatch):
    whole = read(tmp_path, REPORT)
    refuses = settling.breaks_value_grammar
    monkeypatch.setattr(
        settling, "breaks_value_grammar", lambda value: value == "4.2" or refuses(value)
    )

    report = read(tmp_path, REPORT)

    assert (len(whole.results), whole.unread) == (3, ())
    assert [result.test_name for result in report.results] == ["Sodium", "Creatinine"]
    assert [place.page for place in report.unread] == [1]
