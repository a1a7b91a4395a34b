"""Pages that something lies on: bars, boxes, codes that are no letters; odd values."""

from __future__ import annotations

from reportlab.lib.colors import HexColor

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import BLACK, Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells

_PALE_GREEN = HexColor("#cdeccd")
_METABOLIC = """
Glucose | 111 | mg/dL | 70 - 99 | glucose
Urea nitrogen | 16 | mg/dL | 7 - 20 | bun
Creatinine | 1.02 | mg/dL | 0.60 - 1.20 | creat
Sodium | 141 | mmol/L | 135 - 145 | sodium
Potassium | 3.3 | mmol/L | 3.5 - 5.0 | potassium
Calcium | 9.4 | mg/dL | 8.5 - 10.5 | calcium
Albumin | 4.4 | g/dL | 3.5 - 5.0 | albumin
ALT | 33 | U/L | 7 - 56 | alt
"""


@layout("trap-redacted-and-boxed", size=9)
def redacted(sheet: Sheet) -> None:
    """Black bars over the header, green boxes behind rows that somebody marked."""
    grid = Grid(
        columns=columns(
            "name@50=Test",
            "value@240r=Result",
            "flag@248",
            "unit@275=Unit",
            "range@360=Reference",
        ),
        leading=15,
    )
    sheet.begin()
    letterhead(
        sheet, "Blankfield Laboratory", "Report of a person who asked for a copy"
    )
    sheet.y = 72
    two_blocks(
        sheet,
        [("Patient", "REMOVED"), ("Date of birth", "REMOVED")],
        [("Collected", "06/11/2023 09:40"), ("Specimen", "SERUM")],
    )
    for y in (66, 77):
        sheet.box(128, y, 120, 10, fill=BLACK, stroke=False)
    sheet.down(10)
    sheet.section("METABOLIC PANEL", x=50)
    sheet.titles(grid)
    for row in sheet.read(_METABOLIC):
        if row.flag:
            sheet.box(46, sheet.y - 10, 420, 14, fill=_PALE_GREEN)
        sheet.print_row(grid, row)
    sheet.close()


@layout("trap-glyph-codes", font="VeraCodes", size=9, has_text=False)
def glyph_codes(sheet: Sheet) -> None:
    """What the page shows is plain; its text layer is codes of a font of its own."""
    grid = Grid(
        columns=columns(
            "name@50=Test", "value@240=Result", "unit@310=Unit", "range@390=Reference"
        ),
        font="VeraCodes",
        leading=15,
    )
    sheet.begin()
    letterhead(sheet, "Subset Laboratory", "Fonts embedded without their letters")
    sheet.y = 72
    two_blocks(
        sheet,
        [("Patient", "Ada Unmapped"), ("Date of birth", "01/02/1980")],
        [("Collected", "06/11/2023 09:40"), ("Specimen", "SERUM")],
    )
    sheet.down(10)
    sheet.section("METABOLIC PANEL", x=50)
    sheet.titles(grid)
    sheet.print_rows(grid, _METABOLIC)
    sheet.close()


@layout("in-odd-values", font="Times-Roman", size=10)
def odd_values(sheet: Sheet) -> None:
    """Leading zeros, Indian grouping, grades, counts as spans, a star on the name."""

    def cells(row: Row) -> dict[str, str]:
        shown = plain_cells(row)
        return {key: str(text) for key, text in shown.items()}

    grid = Grid(
        columns=columns(
            "name@50=INVESTIGATION",
            "value@250=OBSERVED VALUE",
            "unit@350=UNIT",
            "range@430=NORMAL RANGE",
        ),
        font="Times-Roman",
        size=10,
        leading=15,
        cells=cells,
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "NAMUNA PATHOLOGY CENTRE", "Ph. 90000 00001")
        sheet.y = 72
        two_blocks(
            sheet,
            [("Patient Name", "SHRI NAMUNA KUMAR"), ("Age/Sex", "47 Yrs/M")],
            [("Lab No", "000417"), ("Date", "12-03-2024")],
        )
        sheet.down(10)
        page_footer(sheet, "This report is not for medico-legal purpose")

    sheet.begin(head)
    for panel, rows in (
        (
            "HAEMATOLOGY - EDTA BLOOD",
            """
Haemoglobin | 09.8 | gm/dl | 13.0 - 17.0 | hgb
Total Leucocyte Count | 8,400 | /cumm | 4,000 - 11,000 | wbc
Eosinophils | 05 | % | 01 - 06 | eos_pct
Basophils | 00 | % | 00 - 01 | baso_pct
Platelet Count | 1,45,000 | /cumm | 1,50,000 - 4,50,000 | plt
ESR | 05 | mm/hr | 00 - 20 | esr
""",
        ),
        (
            "BIOCHEMISTRY - SERUM",
            """
*eGFR | 58 | mL/min/1.73m2 | >60 | egfr | also=eGFR
CKD Stage | G3a | | | | doubtful
S. Creatinine | 1.40 | mg/dl | 0.70 - 1.30 | creat
S. Uric Acid | 8.10 | mg/dl | 3.50 - 7.20 | urate
""",
        ),
        (
            "URINE - MICROSCOPY",
            """
Pus Cells | 2 - 3 | /hpf | 0 - 5 | u_wbc | doubtful
Red Blood Cells | Nil | /hpf | Nil | u_rbc
Epithelial Cells | 1 - 2 | /hpf | 0 - 5 | u_epi | doubtful
Albumin | 1+ | | Nil | u_protein | doubtful
Sugar | Nil | | Nil | u_glucose
""",
        ),
    ):
        sheet.section(panel, x=50, size=10)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()
