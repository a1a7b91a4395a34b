"""Tables whose cells are set to the middle of rows of several lines."""

from __future__ import annotations

from pathlib import Path

from tests.reports.parser.drawing import Ink, printed, read, row

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


def test_words_above_and_below_the_level_of_a_name_are_its_value(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            row(XS, *TITLES),
            SEXES,
            [
                Ink(230, "Slightly", y=93),
                Ink(40, "APPEARANCE", y=98.5),
                Ink(230, "Turbid", y=104),
            ],
            [Ink(40, "REACTION", y=116), Ink(230, "Acidic", y=116)],
        ],
    )

    assert printed(report)[1:] == [
        ("APPEARANCE", "Slightly Turbid", None, None),
        ("REACTION", "Acidic", None, None),
    ]


def test_a_number_over_its_unit_has_the_name_between_or_beside_both(
    tmp_path: Path,
) -> None:
    report = read(
        tmp_path,
        [
            row((40, 200, 300, 420), "Component", "Your value", "Range", "Flag"),
            [
                *(Ink(200, "11.6", y=75), Ink(300, "3.8 - 10.8", y=75)),
                *(Ink(40, "WBC", y=80.5), Ink(420, "High", y=80.5)),
                *(Ink(200, "K/uL", y=86), Ink(300, "K/uL", y=86)),
            ],
            [
                *(Ink(40, "Absolute", y=105), Ink(200, "8236", y=105)),
                *(Ink(300, "1500 - 7800", y=105), Ink(420, "High", y=110.5)),
                *(Ink(40, "Neutrophils", y=116), Ink(200, "cells/uL", y=116)),
                Ink(300, "cells/uL", y=116),
            ],
        ],
    )

    assert printed(report) == [
        ("WBC", "11.6", "K/uL", "3.8 - 10.8 K/uL"),
        ("Absolute Neutrophils", "8236", "cells/uL", "1500 - 7800 cells/uL"),
    ]
    assert [result.flag for result in report.results] == ["High", "High"]
