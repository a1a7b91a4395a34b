"""Sheets of numbers with ranges that are no lab report."""

from __future__ import annotations

from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Column, Grid, columns


def _table(
    sheet: Sheet, cols: tuple[Column, ...], lines: list[tuple[str, ...]]
) -> None:
    sheet.titles(Grid(columns=cols, size=sheet.size))
    for line in lines:
        sheet.need(13)
        for column, text in zip(cols, line, strict=True):
            sheet.text(column.x, sheet.y, text, align=column.align)
        sheet.down(13)
    sheet.close()


@layout("third-not-school-marks", is_lab_report=False)
def school_marks(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(
        60,
        "STATEMENT OF MARKS - Class XII   Roll No 2210044",
        size=13,
        bold=True,
        gap=20,
    )
    _table(
        sheet,
        columns(
            "a@60=Subject",
            "b@240=Max Marks",
            "c@320=Pass Range",
            "d@420=Obtained",
            "e@490=Result",
        ),
        [
            ("Biology (Blood & Genetics)", "100", "33 - 100", "81", "Pass"),
            ("Chemistry", "100", "33 - 100", "74", "Pass"),
            ("Physics", "100", "33 - 100", "29", "Fail"),
            ("English", "100", "33 - 100", "88", "Pass"),
            ("Practical: Urine test", "30", "10 - 30", "27", "Pass"),
        ],
    )


@layout("third-not-car-check", is_lab_report=False)
def car_check(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(
        60, "Vehicle inspection sheet   VIN WVX0000000000", size=13, bold=True, gap=20
    )
    _table(
        sheet,
        columns(
            "a@60=Test",
            "b@250=Result",
            "c@320=Unit",
            "d@380=Reference range",
            "e@490=Status",
        ),
        [
            ("Brake pad front left", "6.2", "mm", "3.0 - 12.0", "OK"),
            ("Tyre pressure FL", "2.4", "bar", "2.2 - 2.6", "OK"),
            ("Battery voltage", "11.9", "V", "12.2 - 12.8", "LOW"),
            ("CO emission idle", "0.21", "%", "0.00 - 0.30", "OK"),
            ("Coolant freeze point", "-31", "C", "< -25", "OK"),
        ],
    )
    sheet.say(
        60,
        "Odometer 88,120 km   Next service at 100,000 km   Labour 1.5 h   Total 214.30",
    )


@layout("third-not-spirometry", is_lab_report=False)
def spirometry(sheet: Sheet) -> None:
    """A lung function sheet: numbers, units and limits of a patient, no laboratory."""
    sheet.begin()
    sheet.say(
        60,
        "PULMONARY FUNCTION TEST   Patient: A. Breather   Age 51   Height 170 cm",
        size=11,
        bold=True,
        gap=20,
    )
    _table(
        sheet,
        columns(
            "a@60=Parameter",
            "b@180=Pred",
            "c@240=LLN",
            "d@300=Pre",
            "e@350=%Pred",
            "f@410=Post",
            "g@470=%Chg",
        ),
        [
            ("FVC (L)", "4.21", "3.33", "3.92", "93", "4.01", "2"),
            ("FEV1 (L)", "3.35", "2.62", "2.41", "72", "2.77", "15"),
            ("FEV1/FVC (%)", "80", "70", "61", "76", "69", "12"),
            ("PEF (L/s)", "8.11", "6.02", "6.40", "79", "7.02", "10"),
        ],
    )
    sheet.say(
        60,
        (
            "Interpretation: moderate obstruction with significant "
            "response (>12 % and 200 mL)."
        ),
    )


@layout("third-not-pressure-diary", is_lab_report=False)
def pressure_diary(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(60, "My blood pressure diary   March 2024", size=13, bold=True, gap=20)
    _table(
        sheet,
        columns(
            "a@60=Date",
            "b@150=Time",
            "c@220=Systolic",
            "d@290=Diastolic",
            "e@370=Pulse",
            "f@430=Notes",
        ),
        [
            ("01/03/2024", "07:10", "142", "88", "71", "after coffee"),
            ("02/03/2024", "07:05", "138", "86", "69", ""),
            ("03/03/2024", "07:20", "151", "94", "80", "bad sleep"),
            ("04/03/2024", "07:00", "133", "84", "66", "took tablet 5 mg"),
        ],
    )
    sheet.say(60, "Target: below 135 / 85 mmHg at home")
