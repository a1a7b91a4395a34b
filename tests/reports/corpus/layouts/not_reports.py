"""Pages met among uploaded files that are no lab report: no row may come of them."""

from __future__ import annotations

from tests.reports.corpus.heads import two_blocks
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Column, Grid, Sheet


def _table(
    sheet: Sheet, columns: tuple[Column, ...], lines: list[tuple[str, ...]]
) -> None:
    sheet.titles(Grid(columns=columns, size=sheet.size))
    for line in lines:
        sheet.need(13)
        for column, text in zip(columns, line, strict=True):
            sheet.text(column.x, sheet.y, text, align=column.align)
        sheet.down(13)
    sheet.close()


@layout("not-receipt", font="Courier", is_lab_report=False)
def receipt(sheet: Sheet) -> None:
    sheet.begin()
    for line in (
        "CORNER GROCERY",
        "12 Sample St   Tel 555-0110",
        "Receipt No 004417   14/03/2024 17:22",
    ):
        sheet.say(60, line)
    _table(
        sheet,
        (
            Column("item", 60, "ITEM"),
            Column("qty", 260, "QTY", align="r"),
            Column("price", 340, "PRICE", align="r"),
            Column("total", 420, "TOTAL", align="r"),
        ),
        [
            ("Potassium-free salt", "1", "2.49", "2.49"),
            ("Milk 1 L", "2", "1.19", "2.38"),
            ("Iron skillet", "1", "18.00", "18.00"),
            ("Magnesium tablets 250 mg", "1", "6.75", "6.75"),
            ("Eggs 12", "1", "3.10", "3.10"),
            ("Glucose syrup 500 g", "1", "2.20", "2.20"),
        ],
    )
    for line in (
        "SUBTOTAL                           34.92",
        "TAX 8.0 %                           2.79",
        "TOTAL                              37.71",
        "CARD ****4410            AUTH 003312",
        "Thank you",
    ):
        sheet.say(60, line)


@layout("not-exam-timetable", font="Times-Roman", size=10, is_lab_report=False)
def exam_timetable(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(60, "Examination Timetable - Spring 2024", size=16, bold=True, gap=24)
    two_blocks(
        sheet,
        [("Candidate", "Robin Sample"), ("Roll No", "40118")],
        [("Programme", "BSc Biology"), ("Year", "2")],
    )
    sheet.down(10)
    _table(
        sheet,
        (
            Column("code", 60, "Code"),
            Column("paper", 130, "Paper"),
            Column("date", 330, "Date"),
            Column("time", 410, "Time"),
            Column("hall", 500, "Hall"),
        ),
        [
            ("BIO201", "Blood and Circulation", "06/05/2024", "09:00 - 11:00", "A 12"),
            ("BIO204", "Lipid Chemistry", "08/05/2024", "14:00 - 16:00", "B 3"),
            (
                "BIO210",
                "Urine Analysis Practical",
                "13/05/2024",
                "09:00 - 12:00",
                "L 2",
            ),
            ("MAT110", "Statistics", "15/05/2024", "09:00 - 11:30", "A 14"),
            ("CHE220", "Protein Structure", "17/05/2024", "14:00 - 16:00", "B 3"),
        ],
    )
    sheet.say(60, "Report 30 minutes before the start. Pass mark 40 - 100 %.")
