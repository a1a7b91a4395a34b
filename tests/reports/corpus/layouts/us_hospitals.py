"""United States: hospital portals, ward systems and wellness prints."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import (
    page_footer,
    pairs_block,
)
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import BLUE, FAINT, RED, Sheet
from tests.reports.corpus.tables import Cell, Column, Grid


def _portal_cells(row: Row) -> dict[str, str | Cell]:
    mark = {"H": " (H)", "L": " (L)"}.get(row.flag, "")
    unit = f" {row.unit}" if row.unit else ""
    return {
        "name": row.name,
        "value": Cell(
            f"{row.value}{mark}" if row.range else f"{row.value}{unit}",
            bold=bool(mark),
            colour=RED if mark else None,
        ),
        "range": f"{row.range}{unit}" if row.range else "",
    }


@layout("us-hospital-portal", page_size=LETTER, font="Vera", size=8)
def hospital_portal(sheet: Sheet) -> None:
    grid = Grid(
        columns=(
            Column("name", 50, "Component"),
            Column("value", 250, "Your Value"),
            Column("range", 380, "Standard Range"),
        ),
        font="Vera",
        size=8,
        leading=15,
        rules="lines",
        cells=_portal_cells,
    )

    def head(sheet: Sheet) -> None:
        sheet.text(50, 35, "Lakeside Health  -  Test Details", size=7)
        sheet.text(562, 35, f"{sheet.page}/{sheet.pages_total or 1}", size=7, align="r")
        sheet.y = 60

    sheet.begin(head)
    sheet.say(50, "BASIC METABOLIC PANEL - Details", size=14, gap=20)
    pairs_block(
        sheet,
        50,
        [
            ("Name", "Avery Testperson"),
            ("Date of birth", "July 8, 1990"),
            ("Collected on", "January 17, 2024 9:42 AM"),
            ("Result status", "Final"),
        ],
    )
    sheet.panel = "BASIC METABOLIC PANEL"
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
SODIUM | 134 | mmol/L | 136 - 145 | sodium
POTASSIUM | 4.1 | mmol/L | 3.5 - 5.1 | potassium
CHLORIDE | 101 | mmol/L | 98 - 107 | chloride
CO2 | 25 | mmol/L | 22 - 29 | co2
ANION GAP | 8 | mmol/L | 5 - 15 |
BUN | 12 | mg/dL | 6 - 20 | bun
CREATININE | 0.71 | mg/dL | 0.51 - 0.95 | creat
GLUCOSE | 131 | mg/dL | 70 - 99 | glucose
CALCIUM | 9.2 | mg/dL | 8.6 - 10.0 | calcium
EGFR | >60 | mL/min/1.73m*2 | >=60 | egfr
""",
    )
    sheet.close()
    sheet.down(8)
    sheet.prose(
        50,
        500,
        "Estimated GFR is calculated with the 2021 equation. Values of 15 to 29 "
        "suggest stage 4; values below 15 suggest stage 5. General Information: "
        "Ordered by Jordan Placeholder, MD. Result date: January 17, 2024 11:05 AM.",
    )
    sheet.new_page()
    sheet.say(50, "CBC AND DIFFERENTIAL - Details", size=14, gap=20)
    sheet.panel = "CBC AND DIFFERENTIAL"
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
WBC | 11.9 | K/mcL | 4.0 - 11.0 | wbc
RBC | 4.33 | M/mcL | 3.90 - 5.20 | rbc
HGB | 12.4 | g/dL | 11.7 - 15.7 | hgb
HCT | 37.9 | % | 35.0 - 47.0 | hct
MCV | 87.5 | fL | 80.0 - 100.0 | mcv
PLATELETS | 318 | K/mcL | 150 - 400 | plt
NEUTROPHILS RELATIVE PERCENT | 71.2 | % | | neut_pct
LYMPHOCYTES RELATIVE PERCENT | 19.5 | % | | lymph_pct
NEUTROPHILS ABSOLUTE COUNT | 8.5 | K/mcL | 1.8 - 7.7 | neut
LYMPHOCYTES ABSOLUTE COUNT | 2.3 | K/mcL | 1.0 - 4.8 | lymph
NUCLEATED RBCS | 0.0 | /100 WBC | <=0.0 | | doubtful
""",
    )


def _bracket_cells(row: Row) -> dict[str, str | Cell]:
    value = f"{row.value} [{row.flag}]" if row.flag else row.value
    return {
        "name": row.name,
        "value": value,
        "range": f"[{row.range}]" if row.range else "",
        "unit": row.unit,
        "status": "F",
    }


@layout("us-emr-courier", page_size=LETTER, font="Courier", size=9)
def emr_courier(sheet: Sheet) -> None:
    grid = Grid(
        columns=(
            Column("name", 40, "TEST"),
            Column("value", 220, "RESULT"),
            Column("unit", 310, "UNITS"),
            Column("range", 400, "REF RANGE"),
            Column("status", 530, "ST"),
        ),
        font="Courier",
        size=9,
        leading=11,
        titles_bold=False,
        cells=_bracket_cells,
    )
    sheet.begin(
        lambda s: page_footer(s, "PRINTED BY: OFFICE   02/19/24 14:02   CHART COPY")
    )
    for line in (
        "PINE HOLLOW FAMILY MEDICINE",
        "LABORATORY RESULTS INQUIRY",
        "",
        "PATIENT: QUILLON, SAM        MRN: 00412233     AGE: 61Y   SEX: M",
        "ACCESSION NO: 24-050-01187   DRAWN: 02/19/24 07:55",
        "PROVIDER: FICTA, L MD        ROOM: 214-2       PHONE: 555-0142",
        "",
    ):
        sheet.say(40, line, gap=11)
    sheet.titles(grid)
    sheet.section("** COAGULATION **", gap=11)
    sheet.print_rows(
        grid,
        """
PROTIME | 14.9 | SEC | 9.4-12.5 | pt
INR | 1.4 | | 0.9-1.1 | inr
PTT | 29 | SEC | 25-37 | aptt
FIBRINOGEN | 402 | MG/DL | 200-393 | fibrinogen
""",
    )
    sheet.section("** CHEMISTRY **", gap=11)
    sheet.print_rows(
        grid,
        """
NA | 137 | MEQ/L | 135-145 | sodium
K | 3.2 | MEQ/L | 3.5-5.0 | potassium
CL | 99 | MEQ/L | 98-107 | chloride
CO2 | 28 | MEQ/L | 21-32 | co2
GLUC | 188 | MG/DL | 65-105 | glucose
BUN | 22 | MG/DL | 7-18 | bun
CREAT | 1.31 | MG/DL | 0.60-1.30 | creat
MAGNESIUM | 1.7 | MG/DL | 1.8-2.4 | magnesium
PHOS | 3.3 | MG/DL | 2.5-4.9 | phosphate
TROPONIN I | <0.015 | NG/ML | 0.000-0.045 | troponin_i
BNP | 812 | PG/ML | 0-100 | bnp
""",
    )
    sheet.say(40, "  COMMENT: BNP INTERPRETATION", gap=11)
    sheet.say(40, "    <100      HEART FAILURE UNLIKELY", gap=11)
    sheet.say(40, "    100-400   INDETERMINATE", gap=11)
    sheet.say(40, "    >400      HEART FAILURE LIKELY", gap=11)
    sheet.section("** HEMATOLOGY **", gap=11)
    sheet.print_rows(
        grid,
        """
WBC | 7.2 | K/UL | 4.8-10.8 | wbc
HGB | 9.10 | G/DL | 14.0-18.0 | hgb
HCT | 28.4 | % | 42.0-52.0 | hct
PLT | 171 | K/UL | 130-400 | plt
""",
    )
    sheet.close()
    sheet.say(40, "", gap=11)
    sheet.say(40, "*** END OF REPORT ***", gap=11)


@layout("us-boxes-and-arrows", page_size=LETTER, font="Helvetica", size=8.5)
def boxes_and_arrows(sheet: Sheet) -> None:
    """Boxed table, arrow glyph after the range, alternate shading, red values."""

    def cells(row: Row) -> dict[str, str | Cell]:
        mark = {"H": " ▲", "L": " ▼"}.get(row.flag, "")
        return {
            "name": row.name,
            "value": Cell(row.value, colour=RED if mark else None),
            "unit": row.unit,
            "range": row.range + mark,
        }

    grid = Grid(
        columns=(
            Column("name", 44, "Biomarker"),
            Column("range", 230, "Optimal range"),
            Column("value", 380, "Result"),
            Column("unit", 450, "Unit"),
        ),
        size=8.5,
        leading=14,
        rules="boxes",
        cells=cells,
    )

    def head(sheet: Sheet) -> None:
        sheet.box(0, 0, sheet.width, 46, fill=BLUE, stroke=False)
        sheet.text(40, 28, "VERDANT WELLNESS", size=14, bold=True, colour=FAINT)
        sheet.text(572, 28, "Kai Exampleson | 1985-02-14 | F", size=8, align="r")
        sheet.y = 70

    sheet.begin(head)
    sheet.section("Nutrients & Hormones")
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Vitamin D, 25-Hydroxy | 24.6 | ng/mL | 30.0 – 100.0 | vitd
Vitamin B12 | 412 | pg/mL | 232 – 1245 | b12
Folate (Folic Acid), Serum | 15.2 | ng/mL | >3.0 | folate
Ferritin | 9 | ng/mL | 15 – 150 | ferritin
Iron | 41 | µg/dL | 27 – 159 | iron
Iron Bind.Cap.(TIBC) | 438 | µg/dL | 250 – 450 | tibc
UIBC | 397 | µg/dL | 131 – 425 | uibc
Iron Saturation | 9 | % | 15 – 55 | tsat
Cortisol | 11.4 | µg/dL | 6.2 – 19.4 | cortisol
Testosterone, Total | 28 | ng/dL | 8 – 60 | testo
Prolactin | 12.9 | ng/mL | 4.8 – 33.4 | prolactin
Free T4 | 1.21 | ng/dL | 0.82 – 1.77 | ft4
Free T3 | 3.0 | pg/mL | 2.0 – 4.4 | ft3
TSH | 5.61 | µIU/mL | 0.450 – 4.500 | tsh
hs-CRP | 0.42 | mg/L | 0.00 – 3.00 | hscrp
Homocyst(e)ine | 8.1 | µmol/L | 0.0 – 14.5 |
""",
    )
    sheet.close()
    sheet.down(10)
    sheet.prose(
        44,
        520,
        "Your ferritin of 9 is below the optimal range of 15 - 150. Retest within 90 "
        "days. Lab data reviewed 2024; reference Example A, Clin Examples 2020.",
    )
