"""Local headers and decimal commas: German, Spanish, French, Portuguese prints."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Cell, Column, Grid, Sheet


@layout("de-laborbefund")
def german(sheet: Sheet) -> None:
    """Name, value with sign, unit, range; decimal commas; + and - as flags."""

    def cells(row: Row) -> dict[str, str | Cell]:
        return {
            "name": row.name,
            "value": Cell(row.value, bold=bool(row.flag)),
            "flag": {"H": "+", "L": "-"}.get(row.flag, ""),
            "unit": row.unit,
            "range": row.range,
        }

    grid = Grid(
        columns=(
            Column("name", 50, "Untersuchung"),
            Column("value", 255, "Ergebnis", align="r"),
            Column("flag", 262),
            Column("unit", 290, "Einheit"),
            Column("range", 390, "Referenzbereich"),
        ),
        leading=13,
        cells=cells,
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Labor Nordfeld", "Beispielweg 3, 00000 Musterstadt")
        sheet.y = 76
        two_blocks(
            sheet,
            [
                ("Patient", "Muster, Kim"),
                ("Geb.-Datum", "17.10.1964"),
                ("Geschlecht", "w"),
            ],
            [
                ("Auftragsnr.", "2400471133"),
                ("Eingang", "06.05.2024"),
                ("Ausgang", "07.05.2024"),
            ],
        )
        sheet.down(10)
        page_footer(sheet, "Endbefund - Medizinisch validiert")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "Kleines Blutbild",
            """
Leukozyten | 6,73 | /nl | 3,90 - 10,20 | wbc
Erythrozyten | 4,51 | /pl | 3,90 - 5,20 | rbc
Hämoglobin | 11,8 | g/dl | 12,0 - 15,6 | hgb
Hämatokrit | 36,1 | % | 35,5 - 45,5 | hct
MCV | 80,0 | fl | 80,0 - 99,0 | mcv
MCH (HbE) | 26,2 | pg | 27,0 - 33,5 | mch
MCHC | 32,7 | g/dl | 31,5 - 36,0 | mchc
Thrombozyten | 284 | /nl | 150 - 370 | plt
""",
        ),
        (
            "Klinische Chemie",
            """
Natrium | 141 | mmol/l | 136 - 145 | sodium
Kalium | 4,6 | mmol/l | 3,5 - 5,1 | potassium
Kreatinin i.S. | 0,98 | mg/dl | 0,50 - 0,90 | creat
Harnsäure | 5,2 | mg/dl | 2,4 - 5,7 | urate
GOT (ASAT) | 24 | U/l | < 35 | ast
GPT (ALAT) | 31 | U/l | < 35 | alt
Gamma-GT | 52 | U/l | < 40 | ggt
Cholesterin gesamt | 243 | mg/dl | < 200 | chol
HDL-Cholesterin | 58 | mg/dl | > 45 | hdl
LDL-Cholesterin | 161 | mg/dl | < 116 | ldl
Triglyceride | 121 | mg/dl | < 150 | trig
CRP | 0,31 | mg/dl | < 0,50 | crp
Ferritin | 11,4 | µg/l | 13,0 - 150,0 | ferritin
TSH basal | 2,37 | mU/l | 0,27 - 4,20 | tsh
HbA1c (NGSP) | 5,7 | % | 4,0 - 6,0 | a1c
HbA1c (IFCC) | 39 | mmol/mol | 20 - 42 | a1c_ifcc
""",
        ),
    ):
        sheet.section(panel, x=50)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
    sheet.close()
    sheet.down(8)
    sheet.say(50, "Zielwerte LDL-C (ESC 2019): niedriges Risiko < 116 mg/dl,", size=8)
    sheet.say(50, "hohes Risiko < 70 mg/dl, sehr hohes Risiko < 55 mg/dl", size=8)
