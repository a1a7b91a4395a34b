"""The two sample reports that are committed as files and shown in the demo."""

from __future__ import annotations

from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns

_GREEN = HexColor("#0b5d4e")
_TINT = HexColor("#eef4f2")
_AMBER = HexColor("#9a3b00")


def _cells(row: Row) -> dict[str, str | Cell]:
    word = {"H": "High", "L": "Low", "A": "Abnormal"}.get(row.flag, "")
    return {
        "name": row.name,
        "value": Cell(row.value, bold=True, colour=_AMBER if word else None),
        "flag": Cell(word, colour=_AMBER),
        "unit": row.unit,
        "range": row.range,
    }


_GRID = Grid(
    columns=columns(
        "name@48=Test",
        "value@250=Result",
        "flag@310=Flag",
        "unit@370=Units",
        "range@470=Reference Range",
    ),
    size=9,
    leading=15,
    rules="lines",
    left=48,
    right=564,
    cells=_cells,
)


def _page(
    sheet: Sheet, specimen: str, collected: str, reported: str, fasting: str
) -> None:
    sheet.box(0, 0, sheet.width, 8, fill=_GREEN, stroke=False)
    sheet.text(48, 46, "Northfield Laboratory", size=17, bold=True, colour=_GREEN)
    sheet.text(
        48,
        59,
        "1200 Alder Way, Fairhaven, OH 44000  |  555-010-4477  |  CLIA 00D0000000",
        size=7.5,
        colour=GREY,
    )
    sheet.text(564, 46, "Laboratory Report", size=12, align="r")
    sheet.text(564, 59, "Status: Final", size=8, align="r", colour=GREY)
    sheet.box(48, 72, 516, 58, fill=_TINT, stroke=False)
    facts = (
        (58, "Patient", "Robin Sample"),
        (58, "Date of birth", "04/12/1979"),
        (58, "Sex", "Female"),
        (310, "Specimen", specimen),
        (310, "Collected", collected),
        (310, "Reported", reported),
    )
    for n, (x, label, value) in enumerate(facts):
        y = 88 + 15 * (n % 3)
        sheet.text(x, y, label, size=8, colour=GREY)
        sheet.text(x + 72, y, value, size=9, bold=True)
    sheet.text(554, 88, fasting, size=8, align="r", colour=GREY)
    foot = sheet.height - 34
    sheet.rule(48, 564, foot - 12)
    sheet.text(48, foot, "Fictional patient, fictional laboratory.", size=7)
    page = f"Page {sheet.page} of {sheet.pages_total or 1}"
    sheet.text(564, foot, page, size=7, align="r")
    sheet.y = 156


def _panel(sheet: Sheet, title: str, rows: str, note: str = "") -> None:
    sheet.section(title, x=48, size=11, gap=14, keep=75, colour=_GREEN)
    sheet.titles(_GRID)
    sheet.print_rows(_GRID, rows)
    sheet.close()
    if note:
        sheet.prose(48, 510, note, size=7.5, gap=9.5)
    sheet.down(12)


@layout("sample-metabolic", page_size=LETTER)
def sample_metabolic(sheet: Sheet) -> None:
    sheet.begin(
        lambda s: _page(
            s, "NF-240318-0471", "03/18/2024 08:05", "03/19/2024 06:40", "Fasting: yes"
        )
    )
    _panel(
        sheet,
        "Comprehensive Metabolic Panel, Serum",
        """
Glucose | 112 | mg/dL | 70-99 | glucose
Urea Nitrogen (BUN) | 15 | mg/dL | 7-25 | bun
Creatinine | 0.84 | mg/dL | 0.50-1.03 | creat
eGFR | 88 | mL/min/1.73 m² | >=60 | egfr
Sodium | 139 | mmol/L | 135-146 | sodium
Potassium | 4.4 | mmol/L | 3.5-5.3 | potassium
Chloride | 103 | mmol/L | 98-110 | chloride
Carbon Dioxide | 25 | mmol/L | 20-32 | co2
Calcium | 9.5 | mg/dL | 8.6-10.4 | calcium
Protein, Total | 7.0 | g/dL | 6.1-8.1 | protein
Albumin | 4.4 | g/dL | 3.6-5.1 | albumin
Globulin | 2.6 | g/dL | 1.9-3.7 | globulin
Bilirubin, Total | 0.6 | mg/dL | 0.2-1.2 | bili
Alkaline Phosphatase | 74 | U/L | 37-153 | alp
AST | 31 | U/L | 10-35 | ast
ALT | 42 | U/L | 6-29 | alt
""",
    )
    _panel(
        sheet,
        "Lipid Panel, Serum",
        """
Cholesterol, Total | 218 | mg/dL | <200 | chol
Triglycerides | 164 | mg/dL | <150 | trig
HDL Cholesterol | 46 | mg/dL | >=50 | hdl
LDL Cholesterol (calculated) | 141 | mg/dL | <100 | ldl
Non-HDL Cholesterol | 172 | mg/dL | <130 | nonhdl
""",
        "For adults at high cardiovascular risk an LDL goal of <70 mg/dL may apply.",
    )
    _panel(
        sheet,
        "Hemoglobin A1c, Whole Blood",
        "Hemoglobin A1c | 5.9 | % | <5.7 | a1c",
        "Increased risk of diabetes: 5.7-6.4. Diabetes: 6.5 or above.",
    )
    _panel(
        sheet,
        "Thyroid and Vitamins, Serum",
        """
TSH | 2.36 | mIU/L | 0.40-4.50 | tsh
Vitamin D, 25-Hydroxy | 22 | ng/mL | 30-100 | vitd
Vitamin B12 | 418 | pg/mL | 200-1100 | b12
Ferritin | 34 | ng/mL | 16-232 | ferritin
""",
    )


@layout("sample-cbc", page_size=LETTER)
def sample_cbc(sheet: Sheet) -> None:
    sheet.begin(
        lambda s: _page(s, "NF-240916-1180", "09/16/2024 09:30", "09/16/2024 17:15", "")
    )
    _panel(
        sheet,
        "Complete Blood Count, Whole Blood",
        """
White Blood Cells | 5.8 | 10^3/uL | 3.8-10.8 | wbc
Red Blood Cells | 4.21 | 10^6/uL | 3.80-5.10 | rbc
Hemoglobin | 11.4 | g/dL | 11.7-15.5 | hgb
Hematocrit | 34.6 | % | 35.0-45.0 | hct
MCV | 82.2 | fL | 80.0-100.0 | mcv
MCH | 27.1 | pg | 27.0-33.0 | mch
MCHC | 32.9 | g/dL | 32.0-36.0 | mchc
RDW | 15.4 | % | 11.0-15.0 | rdw
Platelets | 312 | 10^3/uL | 140-400 | plt
MPV | 9.8 | fL | 7.5-12.5 | mpv
""",
    )
    _panel(
        sheet,
        "Differential",
        """
Neutrophils | 58.4 | % | 40.0-75.0 | neut_pct
Lymphocytes | 30.1 | % | 20.0-45.0 | lymph_pct
Monocytes | 7.6 | % | 2.0-10.0 | mono_pct
Eosinophils | 3.2 | % | 0.0-6.0 | eos_pct
Basophils | 0.7 | % | 0.0-2.0 | baso_pct
""",
    )
    _panel(
        sheet,
        "Absolute Counts",
        """
Neutrophils | 3.39 | 10^3/uL | 1.50-7.80 | neut
Lymphocytes | 1.75 | 10^3/uL | 0.85-3.90 | lymph
Monocytes | 0.44 | 10^3/uL | 0.20-0.95 | mono
Eosinophils | 0.19 | 10^3/uL | 0.02-0.50 | eos
Basophils | 0.04 | 10^3/uL | 0.00-0.20 | baso
""",
    )
    _panel(
        sheet,
        "Iron Studies, Serum",
        """
Iron | 38 | ug/dL | 45-160 | iron
Iron Binding Capacity | 428 | ug/dL | 250-450 | tibc
Iron Saturation | 9 | % | 16-45 | tsat
Ferritin | 9 | ng/mL | 16-232 | ferritin
C-Reactive Protein | <3.0 | mg/L | <8.0 | crp
""",
    )
    _panel(
        sheet,
        "Urinalysis, Urine",
        """
Color | Yellow | | Yellow | u_color
Specific Gravity | 1.014 | | 1.001-1.035 | u_sg
pH | 6.0 | | 5.0-8.0 | u_ph
Glucose | Negative | | Negative | u_glucose
Protein | Trace | | Negative | u_protein | flag=A
Leukocyte Esterase | Negative | | Negative | u_le
""",
    )
