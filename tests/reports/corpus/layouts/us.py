"""United States: commercial laboratories, hospital portals, physician office prints."""

from __future__ import annotations

from dataclasses import replace

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import (
    letterhead,
    page_footer,
    two_blocks,
)
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Cell, Column, Grid

CBC = """
WBC | 6.4 | x10E3/uL | 3.4-10.8 | wbc
RBC | 4.91 | x10E6/uL | 4.14-5.80 | rbc
Hemoglobin | 14.8 | g/dL | 13.0-17.7 | hgb
Hematocrit | 44.1 | % | 37.5-51.0 | hct
MCV | 90 | fL | 79-97 | mcv
MCH | 30.1 | pg | 26.6-33.0 | mch
MCHC | 33.6 | g/dL | 31.5-35.7 | mchc
RDW | 12.6 | % | 11.6-15.4 | rdw
Platelets | 243 | x10E3/uL | 150-450 | plt
Neutrophils | 58 | % | Not Estab. | neut_pct
Lymphs | 30 | % | Not Estab. | lymph_pct
Monocytes | 9 | % | Not Estab. | mono_pct
Eos | 2 | % | Not Estab. | eos_pct
Basos | 1 | % | Not Estab. | baso_pct
Neutrophils (Absolute) | 3.7 | x10E3/uL | 1.4-7.0 | neut
Lymphs (Absolute) | 1.9 | x10E3/uL | 0.7-3.1 | lymph
Monocytes(Absolute) | 0.6 | x10E3/uL | 0.1-0.9 | mono
Eos (Absolute) | 0.1 | x10E3/uL | 0.0-0.4 | eos
Baso (Absolute) | 0.0 | x10E3/uL | 0.0-0.2 | baso
Immature Granulocytes | 0 | % | Not Estab. |
Immature Grans (Abs) | 0.0 | x10E3/uL | 0.0-0.1 |
"""

CMP = """
Glucose | 104 | mg/dL | 70-99 | glucose
BUN | 17 | mg/dL | 6-24 | bun
Creatinine | 1.02 | mg/dL | 0.76-1.27 | creat
eGFR | 91 | mL/min/1.73 | >59 | egfr
BUN/Creatinine Ratio | 17 | | 9-20 | buncreat
Sodium | 141 | mmol/L | 134-144 | sodium
Potassium | 5.4 | mmol/L | 3.5-5.2 | potassium
Chloride | 103 | mmol/L | 96-106 | chloride
Carbon Dioxide, Total | 23 | mmol/L | 20-29 | co2
Calcium | 9.6 | mg/dL | 8.7-10.2 | calcium
Protein, Total | 7.1 | g/dL | 6.0-8.5 | protein
Albumin | 4.6 | g/dL | 4.1-5.1 | albumin
Globulin, Total | 2.5 | g/dL | 1.5-4.5 | globulin
Bilirubin, Total | 0.5 | mg/dL | 0.0-1.2 | bili
Alkaline Phosphatase | 71 | IU/L | 44-121 | alp
AST (SGOT) | 22 | IU/L | 0-40 | ast
ALT (SGPT) | 58 | IU/L | 0-44 | alt
"""

LIPID = """
Cholesterol, Total | 212 | mg/dL | 100-199 | chol
Triglycerides | 96 | mg/dL | 0-149 | trig
HDL Cholesterol | 51 | mg/dL | >39 | hdl
VLDL Cholesterol Cal | 17 | mg/dL | 5-40 | vldl
LDL Chol Calc (NIH) | 144 | mg/dL | 0-99 | ldl
"""


def _interval_cells(row: Row) -> dict[str, str | Cell]:
    word = {"H": "High", "L": "Low", "A": "Abnormal"}.get(row.flag, "")
    return {
        "name": Cell(row.name, bold=bool(word), raised="01"),
        "value": Cell(row.value, bold=bool(word)),
        "flag": Cell(word, bold=True),
        "unit": row.unit,
        "range": row.range,
        "previous": row.option("prev"),
        "date": "03/14/2023" if row.option("prev") else "",
    }


def _interval_page(sheet: Sheet) -> None:
    letterhead(sheet, "Northfield Laboratory", "1200 Alder Way, Fairhaven, OH 44000")
    sheet.text(572, 40, "Patient Report", size=12, bold=True, align="r")
    sheet.y = 70
    two_blocks(
        sheet,
        [
            ("Patient:", "SAMPLE, ROBIN T"),
            ("DOB:", "04/12/1979"),
            ("Patient ID:", "88231"),
            ("Specimen ID:", "118-402-5571-0"),
        ],
        [
            ("Age:", "44"),
            ("Sex:", "Male"),
            ("Date Collected:", "08/02/2023 0815 Local"),
            ("Date Reported:", "08/03/2023 1206 ET"),
        ],
        sep="",
        width=70,
    )
    sheet.rule(40, 572, sheet.y)
    sheet.down(14)
    page_footer(sheet, "Final Report - Date Created 08/03/2023 - 118-402-5571-0")


@layout("us-interval-lab-id", page_size=LETTER)
def interval_with_lab_id(sheet: Sheet) -> None:
    grid = Grid(
        columns=(
            Column("name", 40, "Test"),
            Column("value", 220, "Current Result and Flag"),
            Column("flag", 275),
            Column("previous", 330, "Previous Result and Date"),
            Column("date", 378),
            Column("unit", 450, "Units"),
            Column("range", 510, "Reference Interval"),
        ),
        size=8,
        cells=_interval_cells,
        rules="lines",
    )
    sheet.begin(_interval_page)
    sheet.say(
        40, "Ordered Items: CBC With Differential/Platelet; Comp. Metabolic Panel"
    )
    sheet.say(40, "(14); Lipid Panel; Hemoglobin A1c; TSH; Venipuncture")
    sheet.say(40, "Date Collected: 08/02/2023", size=8)
    sheet.section("CBC With Differential/Platelet")
    sheet.titles(grid)
    sheet.print_rows(grid, CBC)
    sheet.close()
    sheet.section("Comp. Metabolic Panel (14)")
    sheet.titles(grid)
    rows = sheet.read(CMP)
    earlier = {"Glucose": "99", "Creatinine": "0.97", "Calcium": "9.4"}
    for row in rows:
        sheet.print_row(
            grid,
            replace(row, options=row.options | {"prev": earlier.get(row.name, "")}),
        )
    sheet.close()
    sheet.section("Lipid Panel")
    sheet.titles(grid)
    sheet.print_rows(grid, LIPID)
    sheet.close()
    sheet.section("Hemoglobin A1c")
    sheet.titles(grid)
    sheet.print_rows(grid, "Hemoglobin A1c | 5.8 | % | 4.8-5.6 | a1c")
    for line in (
        "Please Note:",
        "         Prediabetes: 5.7 - 6.4",
        "         Diabetes: >6.4",
        "         Glycemic control for adults with diabetes: <7.0",
    ):
        sheet.say(60, line, size=7.5, gap=10)
    sheet.close()
    sheet.section("TSH")
    sheet.titles(grid)
    sheet.print_rows(grid, "TSH | 2.140 | uIU/mL | 0.450-4.500 | tsh")
    sheet.close()
    sheet.down(10)
    sheet.say(40, "Performing Labs", bold=True)
    sheet.say(
        40, "01: NB - Northfield Laboratory, 1200 Alder Way, Fairhaven, OH", size=7
    )
    sheet.say(
        40, "For inquiries, the physician may contact Branch: 555-010-4477", size=7
    )


def _in_out_cells(row: Row) -> dict[str, str | Cell]:
    out = bool(row.flag)
    flagged = f"{row.value} {row.flag}"
    return {
        "name": row.name,
        "in": "" if out else row.value,
        "out": Cell(flagged, bold=True) if out else "",
        "range": f"{row.range} {row.unit}".strip() if row.range else row.unit,
        "lab": row.option("lab", "NL"),
    }


@layout("us-in-range-out-of-range", page_size=LETTER, font="Times-Roman")
def in_range_out_of_range(sheet: Sheet) -> None:
    grid = Grid(
        columns=(
            Column("name", 48, "Test Name"),
            Column("in", 250, "In Range"),
            Column("out", 320, "Out Of Range"),
            Column("range", 410, "Reference Range"),
            Column("lab", 550, "Lab"),
        ),
        font="Times-Roman",
        size=9.5,
        leading=12,
        cells=_in_out_cells,
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Brookmere Diagnostics", "Report Status: FINAL")
        sheet.y = 70
        two_blocks(
            sheet,
            [
                ("PATIENT", "MARLOW, DANA"),
                ("DOB", "11/30/1968  AGE: 54"),
                ("GENDER", "FEMALE  FASTING: YES"),
                ("SPECIMEN", "BM440172C"),
            ],
            [
                ("COLLECTED", "02/06/2023 08:10"),
                ("RECEIVED", "02/06/2023 21:44"),
                ("REPORTED", "02/07/2023 06:31"),
                ("REQUISITION", "0004812"),
            ],
        )
        sheet.down(10)
        page_footer(sheet, "BROOKMERE DIAGNOSTICS   CLIENT SERVICES: 555.010.6688")

    sheet.begin(head)
    sheet.titles(grid)
    sheet.section("LIPID PANEL, STANDARD", x=48)
    sheet.print_rows(
        grid,
        """
CHOLESTEROL, TOTAL | 221 | mg/dL | <200 | chol
HDL CHOLESTEROL | 62 | mg/dL | > OR = 50 | hdl
TRIGLYCERIDES | 88 | mg/dL | <150 | trig
""",
    )
    sheet.print_rows(
        grid, "LDL-CHOLESTEROL | 141 | mg/dL (calc) | | ldl | flag=H;doubtful;anyrange"
    )
    sheet.say(60, "Reference range: <100", size=8.5)
    sheet.prose(
        60,
        440,
        "Desirable range <100 mg/dL for primary prevention; <70 mg/dL for patients "
        "with CHD or diabetic patients with > or = 2 CHD risk factors. LDL-C is now "
        "calculated using a validated novel method providing better accuracy. "
        "Example SS et al. J Example Med. 2013;310(19): 2061-2068",
    )
    sheet.print_rows(
        grid,
        """
CHOL/HDLC RATIO | 3.6 | (calc) | <5.0 | chol_hdl
NON HDL CHOLESTEROL | 159 | mg/dL (calc) | <130 | nonhdl
""",
    )
    sheet.prose(
        60,
        440,
        "For patients with diabetes plus 1 major ASCVD risk factor, treating to a "
        "non-HDL-C goal of <100 mg/dL (LDL-C of <70 mg/dL) is considered an option.",
    )
    sheet.section("COMPREHENSIVE METABOLIC PANEL", x=48)
    sheet.print_rows(
        grid,
        """
GLUCOSE | 92 | mg/dL | 65-99 | glucose
UREA NITROGEN (BUN) | 26 | mg/dL | 7-25 | bun
CREATININE | 0.84 | mg/dL | 0.50-1.03 | creat
EGFR | 82 | mL/min/1.73m2 | > OR = 60 | egfr
""",
    )
    sheet.print_row(
        grid,
        Row(
            "BUN/CREATININE RATIO",
            "NOT APPLICABLE",
            "(calc)",
            "6-22",
            "buncreat",
            {"optional": ""},
        ),
    )
    sheet.print_rows(
        grid,
        """
SODIUM | 139 | mmol/L | 135-146 | sodium
POTASSIUM | 4.3 | mmol/L | 3.5-5.3 | potassium
CHLORIDE | 104 | mmol/L | 98-110 | chloride
CARBON DIOXIDE | 27 | mmol/L | 20-32 | co2
CALCIUM | 10.6 | mg/dL | 8.6-10.4 | calcium
PROTEIN, TOTAL | 6.9 | g/dL | 6.1-8.1 | protein
ALBUMIN | 4.4 | g/dL | 3.6-5.1 | albumin
GLOBULIN | 2.5 | g/dL (calc) | 1.9-3.7 | globulin
ALBUMIN/GLOBULIN RATIO | 1.8 | (calc) | 1.0-2.5 | ag_ratio
BILIRUBIN, TOTAL | 0.6 | mg/dL | 0.2-1.2 | bili
ALKALINE PHOSPHATASE | 66 | U/L | 37-153 | alp
AST | 19 | U/L | 10-35 | ast
ALT | 17 | U/L | 6-29 | alt
""",
    )
    sheet.section("CBC (INCLUDES DIFF/PLT)", x=48)
    sheet.print_rows(
        grid,
        """
WHITE BLOOD CELL COUNT | 5.1 | Thousand/uL | 3.8-10.8 | wbc
RED BLOOD CELL COUNT | 4.55 | Million/uL | 3.80-5.10 | rbc
HEMOGLOBIN | 13.6 | g/dL | 11.7-15.5 | hgb
HEMATOCRIT | 46.2 | % | 35.0-45.0 | hct
MCV | 90.3 | fL | 80.0-100.0 | mcv
MCH | 29.9 | pg | 27.0-33.0 | mch
MCHC | 33.1 | g/dL | 32.0-36.0 | mchc
RDW | 12.9 | % | 11.0-15.0 | rdw
PLATELET COUNT | 266 | Thousand/uL | 140-400 | plt
MPV | 10.2 | fL | 7.5-12.5 | mpv
ABSOLUTE NEUTROPHILS | 2856 | cells/uL | 1500-7800 | neut
ABSOLUTE LYMPHOCYTES | 1652 | cells/uL | 850-3900 | lymph
ABSOLUTE MONOCYTES | 408 | cells/uL | 200-950 | mono
ABSOLUTE EOSINOPHILS | 143 | cells/uL | 15-500 | eos
ABSOLUTE BASOPHILS | 41 | cells/uL | 0-200 | baso
NEUTROPHILS | 56.0 | % | | neut_pct
LYMPHOCYTES | 32.4 | % | | lymph_pct
MONOCYTES | 8.0 | % | | mono_pct
EOSINOPHILS | 2.8 | % | | eos_pct
BASOPHILS | 0.8 | % | | baso_pct
""",
    )
    sheet.close()
    sheet.down(8)
    sheet.say(48, "PERFORMING SITE:", bold=True)
    sheet.say(
        48, "NL  BROOKMERE DIAGNOSTICS, 40 Quarry Rd, Fairhaven, OH 44000", size=7
    )
