"""Tables whose cells are set to the middle of rows of several lines."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import Ink, read, row

XS = (40, 230, 300, 370)
TITLES = ("Investigation", "Result", "Unit", "Normal range")
# A range of two lines about its row, which says that cells are set so.
SEXES = [
    Ink(370, "Male : 13.5 - 18.0", y=70),
    Ink(40, "HAEMOGLOBIN", y=75.5),
    Ink(230, "9.8", y=75.5),
    Ink(300, "gm/dl", y=75.5),
    Ink(370, "Female : 11.5 - 16.0", y=81),
]


def test_a_heading_is_no_part_of_the_name_below_it(tmp_path: Path) -> None:
    report = read(
        tmp_path,
        [
            row(XS, *TITLES),
            SEXES,
            [Ink(40, "DIFFERENTIAL COUNT", y=93)],
            [
                Ink(40, "POLYMORPHS", y=105),
                Ink(230, "72", y=105),
                Ink(300, "%", y=105),
                Ink(370, "40 - 75", y=105),
            ],
        ],
    )

    assert [result.test_name for result in report.results] == [
        "HAEMOGLOBIN",
        "POLYMORPHS",
    ]
