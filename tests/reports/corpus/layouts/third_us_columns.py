"""Awkward prints of the United States: zones, strips, goals and two tables."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import BLUE, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


@layout("third-us-risk-zones", page_size=LETTER, size=8)
def risk_zones(sheet: Sheet) -> None:
    """Cardiology laboratory: the result sits in the column of its risk zone."""
    grid = Grid(
        columns=columns(
            "name@40w140=Test Name",
            "opt@195c=Optimal",
            "mid@270c=Moderate",
            "high@345c=High",
            "unit@395=Units",
            "range@450=Reference Range",
        ),
        size=8,
        leading=15,
        rules="lines",
        cells=lambda row: {
            "name": row.name,
            row.option("zone", "opt"): Cell(row.value, bold=True),
            "unit": row.unit,
            "range": row.range,
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet, "CardioSample Diagnostics", "6701 Placeholder Ave, Sampleton OH"
        )
        sheet.y = 74
        two_blocks(
            sheet,
            [("PATIENT", "QUENTIN MADEUP"), ("DOB", "12/02/1959"), ("GENDER", "M")],
            [
                ("COLLECTED", "04/22/2024 08:05"),
                ("ACCESSION", "C1244-881"),
                ("FASTING", "12 HRS"),
            ],
        )
        sheet.down(10)
        page_footer(sheet, "CLIA 00D0000000   CAP 0000000")

    sheet.begin(head)
    for panel, rows in (
        (
            "LIPIDS",
            """
Total Cholesterol | 188 | mg/dL | <200 | chol
HDL-C | 44 | mg/dL | >=40 | hdl | zone=mid
Triglycerides | 171 | mg/dL | <150 | trig | zone=mid
LDL-C, Calculated | 110 | mg/dL | <100 | ldl | zone=mid
Chol/HDL-C | 4.3 | calc | <=3.5 | chol_hdl | zone=mid;doubtful
Non-HDL-C | 144 | mg/dL | <130 | nonhdl | zone=mid
Apolipoprotein B | 104 | mg/dL | <90 | apob | zone=high
Lipoprotein (a) | 31 | nmol/L | <75 | lpa
""",
        ),
        (
            "INFLAMMATION",
            """
hs-CRP | 3.4 | mg/L | <1.0 | hscrp | zone=high
Homocysteine | 9.6 | umol/L | <11.4 | hcys
""",
        ),
        (
            "METABOLIC",
            """
HbA1c | 5.5 | % | <5.7 | a1c
Insulin | 11.9 | uIU/mL | <10.0 | insulin | zone=mid
Glucose | 92 | mg/dL | 65-99 | glucose
""",
        ),
    ):
        sheet.section(panel, size=9)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()
    sheet.say(
        40, "Risk zones: Lp(a) Optimal <75, Moderate 75-125, High >125 nmol/L.", size=7
    )
    sheet.say(
        40,
        (
            "hs-CRP: Optimal <1.0, Moderate 1.0-3.0, High >3.0 mg/L "
            "(Circulation 2003;107:499-511)"
        ),
        size=7,
    )


@layout(
    "third-us-blood-gas-strip",
    page_size=(250, 520),
    font="Courier",
    size=8,
)
def blood_gas_strip(sheet: Sheet) -> None:
    """A strip from a blood gas analyser: name, value, unit, limits in brackets."""
    sheet.begin()
    sheet.y = 30
    for text in (
        "SAMPLETON HOSP   ICU ANALYZER 2",
        "PATIENT REPORT   Syringe - S 95uL",
        "07/14/2024       03:22  Sample# 41120",
        "Identifications",
        "Patient ID       00451190",
        "Sample type      Arterial",
        "T                37.0 C",
        "FO2(I)           40 %",
        "",
    ):
        sheet.say(14, text, gap=10)
    for panel, rows in (
        (
            "Blood Gas Values",
            """
pH | 7.312 | | 7.350 - 7.450 | ph_a
pCO2 | 51.2 | mmHg | 35.0 - 45.0 | pco2_a
pO2 | 88.4 | mmHg | 83.0 - 108 | po2_a
sO2 | 96.1 | % | 95.0 - 99.0 | so2_a
""",
        ),
        (
            "Electrolyte Values",
            """
cK+ | 4.4 | mmol/L | 3.5 - 5.0 | potassium | also=K+/K
cNa+ | 137 | mmol/L | 136 - 146 | sodium | also=Na+/Na
cCl- | 108 | mmol/L | 98 - 106 | chloride | also=Cl-/Cl
""",
        ),
        (
            "Metabolite Values",
            """
cGlu | 141 | mg/dL | 70 - 105 | | also=Glu
cLac | 2.6 | mmol/L | 0.5 - 1.6 | lactate | also=Lac
""",
        ),
    ):
        sheet.say(14, panel, gap=11, bold=True)
        sheet.panel = panel
        for row in sheet.read(rows):
            mark = {"H": "^", "L": "v"}.get(row.flag, " ")
            span = f"[{row.range}]"
            sheet.say(
                14,
                f"{mark} {row.name:<6}{row.value:>7} {row.unit:<7}{span:>17}",
                gap=10,
            )
            sheet.rows.append(truth_of(row, panel))
    sheet.say(14, "Notes", gap=11)
    sheet.say(14, "^ Value(s) above reference range", gap=10)
    sheet.say(14, "v Value(s) below reference range", gap=10)
    sheet.say(14, "Printed  03:24:11   07/14/2024", gap=10)


@layout("third-us-panel-optimal", page_size=LETTER, font="Vera", size=8)
def panel_optimal(sheet: Sheet) -> None:
    """Membership health check: two ranges a row, the laboratory's and a goal."""
    grid = Grid(
        columns=columns(
            "name@44=Biomarker",
            "value@200r=Result",
            "unit@206",
            "flag@280=Status",
            "range@350=Lab Range",
            "best@460=Optimal Range",
        ),
        font="Vera",
        size=8,
        leading=16,
        rules="lines",
        cells=lambda row: (
            plain_cells(row)
            | {
                "flag": {"H": "Above range", "L": "Below range"}.get(
                    row.flag, "In range"
                ),
                "best": row.option("best"),
            }
        ),
    )

    def head(sheet: Sheet) -> None:
        sheet.text(44, 40, "everwell function", size=16, bold=True, colour=BLUE)
        sheet.text(568, 40, "Prepared for Jules Unreal", size=8, align="r")
        sheet.y = 66
        page_footer(sheet, "Not medical advice. Collected May 2, 2024")

    sheet.begin(head)
    sheet.say(
        44, "113 biomarkers tested   98 in range   15 out of range", size=10, gap=18
    )
    for panel, rows in (
        (
            "Heart",
            """
ApoB | 96 | mg/dL | <90 | apob | best=<70
Lp(a) | 12 | nmol/L | <75 | lpa | best=<30
LDL Cholesterol | 121 | mg/dL | <100 | ldl | best=<70
HDL Cholesterol | 58 | mg/dL | >=40 | hdl | best=>=60
""",
        ),
        (
            "Hormones",
            """
Testosterone, Total | 512 | ng/dL | 250-1100 | testo | best=550-900
DHEA-Sulfate | 211 | mcg/dL | 93-415 | dheas | best=200-400
Sex Hormone Binding Globulin | 31 | nmol/L | 10-50 | shbg | best=20-40
Estradiol | 42 | pg/mL | <=39 | estradiol | best=20-35
""",
        ),
        (
            "Nutrients",
            """
Ferritin | 71 | ng/mL | 38-380 | ferritin | best=50-150
Zinc | 58 | mcg/dL | 60-130 | zinc | best=80-110
Vitamin D | 44 | ng/mL | 30-100 | vitd | best=50-80
""",
        ),
    ):
        sheet.section(panel, x=44, size=12, gap=16)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()


@layout("third-us-fax-two-tables", page_size=LETTER, font="Courier", size=9)
def fax_two_tables(sheet: Sheet) -> None:
    """Office fax: values typed in a form, units printed before blanks, no title row."""

    def head(sheet: Sheet) -> None:
        sheet.text(
            40,
            30,
            "FROM: SAMPLETON FAMILY CLINIC  555-010-8890   TO: 5550107711   P.01/01",
            size=7,
        )
        sheet.text(
            306, 58, "IN-HOUSE LABORATORY RESULTS", size=13, bold=True, align="c"
        )
        sheet.text(
            40,
            80,
            (
                "Name: Wilhelmina Nonesuch      DOB: 10-30-1947     Date: "
                "8-6-24   Time: 11:10"
            ),
        )
        sheet.y = 104

    sheet.begin(head)
    for title, rows in (
        (
            "URINALYSIS (DIPSTICK)",
            """
Leukocytes | Small | | Neg | u_le | flag=A
Nitrite | Positive | | Neg | u_nitrite | flag=A
Urobilinogen | 0.2 | E.U./dL | 0.2 - 1.0 | u_urobili
Protein | 30 | mg/dL | Neg | u_protein | flag=A
pH | 6.5 | | 5.0 - 8.0 | u_ph
Blood | Trace | | Neg | u_blood | flag=A
Specific Gravity | 1.025 | | 1.005 - 1.030 | u_sg
Ketones | Neg | | Neg | u_ketones
Glucose | Neg | | Neg | u_glucose
""",
        ),
        (
            "FINGERSTICK",
            """
Hemoglobin | 12.9 | g/dL | 12.0 - 16.0 | hgb
Glucose (random) | 187 | mg/dL | 70 - 140 | glucose
INR | 2.4 | | 2.0 - 3.0 | inr
""",
        ),
    ):
        sheet.section(title, size=10, gap=16)
        for row in sheet.read(rows):
            sheet.text(50, sheet.y, row.name)
            sheet.text(190, sheet.y, row.value, bold=True)
            sheet.rule(185, 265, sheet.y + 3)
            sheet.text(272, sheet.y, row.unit)
            sheet.text(350, sheet.y, f"Normal: {row.range}")
            sheet.down(15)
            sheet.rows.append(truth_of(row, title))
    sheet.down(10)
    sheet.say(
        40,
        (
            "Performed by: ______________   Reviewed by: _____________ "
            "  Lot # 221109  Exp 02/25"
        ),
    )
    sheet.say(
        40, "Plan: send for culture, recheck INR in 2 weeks. Copay $20.00 collected."
    )
