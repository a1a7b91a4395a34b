"""Cards, findings in words, ranges of several lines and footnotes."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


def _us_head(sheet: Sheet, name: str, patient: str) -> None:
    letterhead(sheet, name, "CLIA 00D0000000   100 Placeholder Rd")
    sheet.y = 70
    two_blocks(
        sheet,
        [("Patient", patient), ("DOB", "07/19/1958"), ("Sex", "Male")],
        [("Collected", "02/14/2024 06:10"), ("Reported", "02/14/2024 11:42")],
    )
    sheet.down(10)
    page_footer(sheet, name)


@layout("fifth-portal-two-cards", page_size=LETTER, size=9)
def two_cards(sheet: Sheet) -> None:
    """Cards side by side: name, a large number with its unit, the range in words."""
    sheet.begin(lambda sheet: _us_head(sheet, "MySample Portal", "Ida Madeup"))
    sheet.panel = None
    rows = sheet.read(
        """
Vitamin B12 | 311 | pg/mL | 232 - 1245 | b12
Ferritin | 12 | ng/mL | 15 - 150 | ferritin
Folate | 9.4 | ng/mL | > 3.0 | folate
Iron | 44 | ug/dL | 27 - 159 | iron
TSH | 3.10 | uIU/mL | 0.45 - 4.50 | tsh
Hemoglobin A1c | 5.9 | % | 4.8 - 5.6 | a1c
Magnesium | 2.0 | mg/dL | 1.6 - 2.3 | magnesium
Uric Acid | 5.1 | mg/dL | 2.6 - 6.2 | urate
"""
    )
    for n, row in enumerate(rows):
        x = 40 if n % 2 == 0 else 310
        y = sheet.y
        sheet.box(x, y, 250, 62)
        sheet.text(x + 8, y + 14, row.name, bold=True)
        state = {"H": "Above range", "L": "Below range"}.get(row.flag, "In range")
        sheet.text(x + 242, y + 14, state, size=7, align="r")
        sheet.text(x + 8, y + 38, row.value, size=18)
        sheet.text(x + 80, y + 38, row.unit, size=8, colour=GREY)
        sheet.text(x + 8, y + 54, f"Reference range: {row.range}", size=7)
        if n % 2:
            sheet.down(72)
    sheet.rows += [truth_of(row, None) for row in rows]


@layout("fifth-flag-right-before", page_size=LETTER, font="Times-Roman", size=9)
def flag_before(sheet: Sheet) -> None:
    """Results to the right, their marks before them, ranges in brackets, unit last."""
    grid = Grid(
        columns=columns(
            "name@40", "flag@255r", "value@300r", "range@320", "unit@420", "site@520"
        ),
        font="Times-Roman",
        leading=12,
        cells=lambda row: {
            **plain_cells(row),
            "flag": {"H": "H", "L": "L"}.get(row.flag, ""),
            "range": f"({row.range})" if row.range else "",
            "site": "@AB",
        },
    )
    sheet.begin(lambda sheet: _us_head(sheet, "Fictional Reference Lab", "X, MILO"))
    for panel, rows in (
        (
            "HEPATIC FUNCTION PANEL",
            """
Total Protein | 6.1 | g/dL | 6.0-8.3 | protein
Albumin | 2.9 | g/dL | 3.5-5.0 | albumin
Bilirubin, Total | 3.4 | mg/dL | 0.2-1.2 | bili
Bilirubin, Direct | 1.8 | mg/dL | 0.0-0.3 | bili_direct
Alkaline Phosphatase | 212 | U/L | 40-129 | alp
AST | 118 | U/L | 10-40 | ast
ALT | 97 | U/L | 7-56 | alt
""",
        ),
        (
            "COAGULATION",
            """
Prothrombin Time | 16.9 | sec | 11.0-13.5 | pt
INR | 1.5 | | 0.9-1.1 | inr
Fibrinogen | 188 | mg/dL | 200-400 | fibrinogen
""",
        ),
        (
            "HEPATITIS MARKERS",
            """
Hepatitis B Surface Antigen | NON-REACTIVE | | NON-REACTIVE | hbsag
Hepatitis C Antibody | REACTIVE | | NON-REACTIVE | hcv
""",
        ),
    ):
        sheet.section(panel)
        sheet.print_rows(grid, rows)
    sheet.say(
        40, "@AB Performed at Fictional Reference Lab, 100 Placeholder Rd", size=7
    )


@layout("fifth-micro-and-titres", size=9)
def micro_titres(sheet: Sheet) -> None:
    """Findings in words, titres, and what is still to follow."""
    grid = Grid(
        columns=columns(
            "name@40=Investigation", "value@260=Result", "range@420=Normal"
        ),
        leading=13,
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Lake Sample Hospital", "Dept of Microbiology")
        sheet.y = 70
        two_blocks(
            sheet,
            [("Patient", "Esha Untrue"), ("Age / Sex", "29 Y / F")],
            [("Lab No", "M-2201"), ("Received", "18-Jun-2024")],
        )
        sheet.down(10)
        page_footer(sheet, "Interim report")

    sheet.begin(head)
    for panel, rows in (
        (
            "SEROLOGY",
            """
Rheumatoid Factor | Negative | | Negative | ra
HBsAg | Non-Reactive | | Non-Reactive | hbsag
HIV I & II Antibodies | Non-Reactive | | Non-Reactive | hiv
Salmonella typhi O | 1:80 | | < 1:80 |
Salmonella typhi H | 1:160 | | < 1:80 |
Dengue NS1 Antigen | Detected | | Not Detected |
Brucella abortus | To follow | | |  | unanswered
""",
        ),
        (
            "URINE EXAMINATION",
            """
Colour | Straw | | Pale yellow | u_color
Appearance | Hazy | | Clear | u_appearance
Specific gravity | 1.025 | | 1.005 - 1.030 | u_sg
Reaction (pH) | 5.5 | | 4.6 - 8.0 | u_ph
Albumin | Trace | | Nil | u_protein
Sugar | Nil | | Nil | u_glucose
Pus cells | 6-8 | | 0 - 5 | u_wbc
Red blood cells | 2-3 | | 0 - 2 | u_rbc
Epithelial cells | Few | | Occasional | u_epi
Casts | Not seen | | Not seen | u_casts
Bacteria | Present (+) | | Absent | u_bact
""",
        ),
    ):
        sheet.section(panel)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()


@layout("fifth-in-sex-age-lines", size=8.5)
def sex_age_lines(sheet: Sheet) -> None:
    """Ranges of several lines, for men and women, by age and by phase."""
    grid = Grid(
        columns=columns(
            "name@40w170=Test Description",
            "value@225=Value(s)",
            "unit@290=Unit(s)",
            "range@360=Reference Range",
        ),
        size=8.5,
        leading=11,
        rules="lines",
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Kalpit Pathlabs", "NABL MC-0000")
        sheet.y = 70
        two_blocks(
            sheet,
            [("Name", "Mr. Kalpit Sample"), ("Age/Gender", "47 Yrs / Male")],
            [("Sample ID", "K0077122"), ("Reported On", "21-Jul-2024 18:02")],
        )
        sheet.down(10)
        page_footer(sheet, "Dr. Nobody, MD Pathology")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "HAEMATOLOGY",
            """
Haemoglobin | 12.1 | gm/dl | Male : 13.0 - 17.0¶Female : 12.0 - 15.0 | hgb | anyrange
PCV | 38.2 | % | Male : 40 - 50¶Female : 36 - 46 | hct | anyrange
E.S.R. (1st hour) | 18 | mm | Male : 0 - 15¶Female : 0 - 20 | esr | anyrange
""",
        ),
        (
            "BIOCHEMISTRY",
            """
Serum Creatinine | 1.05 | mg/dl | Male : 0.7 - 1.3¶Female : 0.6 - 1.1 | creat | anyrange
Serum Uric Acid | 7.6 | mg/dl | Male : 3.5 - 7.2¶Female : 2.6 - 6.0 | urate | anyrange
HDL Cholesterol | 37 | mg/dl | Male : > 40¶Female : > 50 | hdl | anyrange
Alkaline Phosphatase | 91 | U/L | Adult : 40 - 129¶Child (1-12 years) : 142 - 335 | \
alp | \
anyrange
Total Cholesterol | 182 | mg/dl | Desirable : < 200¶Borderline : 200 - 239¶\
High : > 240 | \
chol | anyrange
""",
        ),
        (
            "HORMONES",
            """
Testosterone, Total | 412 | ng/dl | Male : 249 - 836¶Female : 8 - 48 | testo | anyrange
TSH (Ultrasensitive) | 6.31 | uIU/ml | 0.27 - 4.20 | tsh
""",
        ),
    ):
        sheet.section(panel)
        sheet.print_rows(grid, rows)
    sheet.close()


@layout("fifth-us-footnotes", page_size=LETTER, size=8.5)
def footnotes(sheet: Sheet) -> None:
    """Raised footnote letters behind values, calculated values, pending lines."""
    grid = Grid(
        columns=columns(
            "name@40=Test",
            "value@230=Result",
            "flag@300=Flag",
            "range@340=Reference",
            "unit@450=Units",
        ),
        size=8.5,
        leading=13,
        cells=lambda row: {
            **plain_cells(row),
            "value": Cell(row.value, raised=row.option("note")),
        },
    )
    sheet.begin(lambda sheet: _us_head(sheet, "Northmade Clinical Labs", "Otto Unreal"))
    sheet.titles(grid)
    for panel, rows in (
        (
            "LIPID PANEL",
            """
Cholesterol, Total | 214 | mg/dL | <200 | chol
HDL Cholesterol | 52 | mg/dL | >39 | hdl
Triglycerides | 412 | mg/dL | <150 | trig | note=a
LDL Cholesterol (calc) | 80 | mg/dL | <100 | ldl | note=b
Non-HDL Cholesterol (calc) | 162 | mg/dL | <130 | nonhdl
Chol/HDL Ratio | 4.1 | | <5.0 | chol_hdl
""",
        ),
        (
            "CARDIAC",
            """
Troponin T, hs | <6 | ng/L | <19 |
BNP | 88 | pg/mL | <100 | bnp
CRP, High Sensitivity | 0.7 | mg/L | <3.0 | hscrp | note=c
""",
        ),
        (
            "SENDOUTS",
            """
Vitamin D, 25-Hydroxy | PENDING | ng/mL | 30-100 | vitd | unanswered
PSA, Total | <0.01 | ng/mL | <4.00 | psa
Cortisol, AM | 14.2 | ug/dL | 6.2-19.4 | cortisol_am
""",
        ),
    ):
        sheet.section(panel)
        sheet.print_rows(grid, rows)
    sheet.close()
    sheet.down(8)
    for line in (
        "a  Non-fasting specimen. Triglycerides 150-199 borderline, 200-499 high.",
        "b  Calculated by Friedewald; not valid where triglycerides exceed 400 mg/dL.",
        "c  Relative cardiovascular risk: <1.0 low, 1.0-3.0 average, >3.0 high.",
    ):
        sheet.say(44, line, size=7, gap=9)
