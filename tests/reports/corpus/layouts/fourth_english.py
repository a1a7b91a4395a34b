"""Everyday designs of English-speaking countries and the Philippines."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells


def _print(
    sheet, head, grid, panels, *, comma=False, x=40, notes=(), titles_once=False
):
    def on_page(sheet):
        lab, address, left, right = head
        letterhead(sheet, lab, address)
        sheet.y = 68
        two_blocks(sheet, left, right)
        sheet.down(10)
        page_footer(sheet, lab)

    sheet.begin(on_page)
    if titles_once:
        sheet.titles(grid)
    for n, (panel, rows) in enumerate(panels):
        sheet.section(panel, x=x)
        if not titles_once:
            sheet.titles(grid)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=comma))
        if not titles_once:
            sheet.close()
        if n < len(notes):
            for note in notes[n]:
                sheet.say(x + 10, note, size=7)


@layout("fourth-us-lab-flag", page_size=LETTER, font="Courier", size=8.5)
def us_lab_flag(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@40=TESTS",
            "value@215r=RESULT",
            "flag@235=FLAG",
            "unit@290=UNITS",
            "range@370=REFERENCE INTERVAL",
            "lab@520=LAB",
        ),
        font="Courier",
        size=8.5,
        leading=11,
        cells=lambda r: (
            plain_cells(r)
            | {"flag": {"H": "High", "L": "Low"}.get(r.flag, ""), "lab": "01"}
        ),
    )
    _print(
        sheet,
        (
            "SampleCorp Burlington",
            "1447 Nowhere Ct",
            [
                ("Specimen ID", "150-881-4471-0"),
                ("Patient", "TESTER, NORA"),
                ("DOB", "03/12/1979"),
            ],
            [
                ("Date collected", "05/30/2023 0840"),
                ("Date reported", "05/31/2023 0705 ET"),
                ("Physician", "N NOBODY"),
            ],
        ),
        grid,
        [
            (
                "CMP14+eGFR",
                """
Glucose | 93 | mg/dL | 70-99 | glucose
BUN | 9 | mg/dL | 6-24 | bun
Creatinine | 0.72 | mg/dL | 0.57-1.00 | creat
eGFR | 107 | mL/min/1.73 | >59 | egfr
BUN/Creatinine Ratio | 13 | | 9-23 | buncreat
Sodium | 138 | mmol/L | 134-144 | sodium
Potassium | 5.3 | mmol/L | 3.5-5.2 | potassium
Chloride | 102 | mmol/L | 96-106 | chloride
Carbon Dioxide, Total | 19 | mmol/L | 20-29 | co2
Calcium | 9.5 | mg/dL | 8.7-10.2 | calcium
Protein, Total | 6.9 | g/dL | 6.0-8.5 | protein
Albumin | 4.6 | g/dL | 3.9-4.9 | albumin
Bilirubin, Total | 0.4 | mg/dL | 0.0-1.2 | bili
""",
            ),
            (
                "Hemoglobin A1c",
                """
Hemoglobin A1c | 5.8 | % | 4.8-5.6 | a1c
""",
            ),
            (
                "TSH+Free T4",
                """
TSH | 1.240 | uIU/mL | 0.450-4.500 | tsh
T4,Free(Direct) | 1.31 | ng/dL | 0.82-1.77 | ft4
""",
            ),
        ],
        notes=(
            (),
            (
                "        Prediabetes: 5.7 - 6.4",
                "        Diabetes: >6.4",
                "        Glycemic control for adults with diabetes: <7.0",
            ),
        ),
    )


@layout("fourth-us-see-note", page_size=LETTER, font="Helvetica", size=9)
def us_see_note(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@40=Test Name",
            "value@260=Result",
            "flag@330=Flag",
            "range@365=Reference Range",
            "lab@520=Lab",
        ),
        size=9,
        leading=12,
        cells=lambda r: (
            plain_cells(r) | {"range": f"{r.range} {r.unit}".strip(), "lab": "EZ"}
        ),
    )
    _print(
        sheet,
        (
            "Pathfinder Diagnostics",
            "4770 Made Up Blvd",
            [("PATIENT", "SAMPLE, OTIS"), ("DOB", "11/02/1955"), ("Age", "68")],
            [
                ("Collected", "02/14/2024 / 09:12"),
                ("Reported", "02/15/2024 / 06:40"),
                ("FASTING", "NO"),
            ],
        ),
        grid,
        [
            (
                "LIPID PANEL, STANDARD",
                """
CHOLESTEROL, TOTAL | 214 | mg/dL | <200 | chol
HDL CHOLESTEROL | 52 | mg/dL | > OR = 40 | hdl | doubtful
TRIGLYCERIDES | 188 | mg/dL | <150 | trig
CHOL/HDLC RATIO | 4.1 | (calc) | <5.0 | chol_hdl
NON HDL CHOLESTEROL | 162 | mg/dL (calc) | <130 | nonhdl
""",
            ),
            (
                "PSA, TOTAL",
                """
PSA, TOTAL | 2.11 | ng/mL | < OR = 4.00 | psa | doubtful
""",
            ),
            (
                "URINALYSIS, COMPLETE",
                """
COLOR | YELLOW | | YELLOW | u_color
SPECIFIC GRAVITY | 1.019 | | 1.001-1.035 | u_sg
PH | 5.5 | | 5.0-8.0 | u_ph
GLUCOSE | NEGATIVE | | NEGATIVE | u_glucose
PROTEIN | TRACE | | NEGATIVE | u_protein | flag=A
WBC | 0-5 | /HPF | < OR = 5 | u_wbc | doubtful
""",
            ),
        ],
        notes=(
            (
                (
                    "Treating to a non-HDL-C goal of <100 mg/dL (LDL-C of <70 "
                    "mg/dL) is considered a therapeutic option."
                ),
            ),
            (
                (
                    "The total PSA value from this assay system is "
                    "standardized; values from other methods differ by 20 %."
                ),
            ),
        ),
    )


@layout("fourth-uk-bracket", size=9)
def uk_bracket(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@45=Investigation",
            "value@240r=Result",
            "flag@246",
            "unit@270=Units",
            "range@350=Reference range",
        ),
        size=9,
        leading=12,
        cells=lambda r: (
            plain_cells(r)
            | {
                "flag": "*" if r.flag else "",
                "range": f"[{r.range}]" if r.range else "",
            }
        ),
    )
    _print(
        sheet,
        (
            "Royal Imaginary Hospital",
            "Blood Sciences",
            [
                ("Patient", "NOBODY, Arthur"),
                ("NHS No", "000 000 0021"),
                ("DOB", "12-Aug-1948 (M)"),
            ],
            [
                ("Requested by", "Dr Q Nil"),
                ("Collected", "03-Apr-2024 08:15"),
                ("Location", "Fictional Surgery"),
            ],
        ),
        grid,
        [
            (
                "Urea and electrolytes",
                """
Sodium | 138 | mmol/L | 133 - 146 | sodium
Potassium | 5.5 | mmol/L | 3.5 - 5.3 | potassium
Urea | 9.9 | mmol/L | 2.5 - 7.8 | urea_si
Creatinine | 121 | umol/L | 59 - 104 | creat_si
eGFR/1.73m2 | 51 | mL/min | | egfr
""",
            ),
            (
                "Bone profile",
                """
Adjusted calcium | 2.39 | mmol/L | 2.20 - 2.60 |
Phosphate | 1.02 | mmol/L | 0.80 - 1.50 | phosphate_si
Alkaline phosphatase | 88 | U/L | 30 - 130 | alp
Albumin | 39 | g/L | 35 - 50 | albumin
""",
            ),
            (
                "Full blood count",
                """
Haemoglobin | 127 | g/L | 130 - 180 | hgb
White cell count | 7.2 | 10^9/L | 4.0 - 11.0 | wbc
Platelets | 188 | 10^9/L | 150 - 400 | plt
MCV | 96.2 | fL | 80.0 - 100.0 | mcv
""",
            ),
        ],
        x=45,
        notes=(("eGFR 45-59: CKD stage 3a if persistent for more than 3 months.",),),
    )


@layout("fourth-ca-flag-first", size=9, page_size=LETTER)
def ca_flag_first(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@45=Test",
            "flag@230=Flag",
            "value@265=Result",
            "range@340=Reference Range - Units",
        ),
        size=9,
        leading=12,
        cells=lambda r: (
            plain_cells(r)
            | {
                "flag": {"H": "HI", "L": "LO"}.get(r.flag, ""),
                "range": f"{r.range} {r.unit}".strip(),
            }
        ),
    )
    _print(
        sheet,
        (
            "MapleSample Labs",
            "Toronto (fictional)",
            [
                ("Patient", "DOE-TEST, MARC"),
                ("HN", "0000 000 000"),
                ("Sex/Age", "M / 61"),
            ],
            [
                ("Collected", "2024-Feb-08"),
                ("Ordered by", "DR. NOONE"),
                ("Lab #", "2024-M1180021"),
            ],
        ),
        grid,
        [
            (
                "Hematology",
                """
WBC | 5.1 | x E9/L | 4.0 - 11.0 | wbc
RBC | 4.33 | x E12/L | 4.50 - 6.00 | rbc
Hemoglobin | 133 | g/L | 135 - 175 | hgb
Hematocrit | 0.40 | L/L | 0.40 - 0.50 | hct
Platelets | 177 | x E9/L | 150 - 400 | plt
""",
            ),
            (
                "Biochemistry Investigation of Lipids",
                """
Cholesterol | 5.61 | mmol/L | <5.20 | chol_si
Triglyceride | 1.10 | mmol/L | <1.70 | trig_si
HDL Cholesterol | 1.28 | mmol/L | >=1.00 | hdl_si
LDL Cholesterol | 3.83 | mmol/L | <3.50 | ldl_si
""",
            ),
            (
                "General Chemistry",
                """
Hemoglobin A1C/Total Hemoglobin | 6.1 | % | <6.0 | a1c
Creatinine | 84 | umol/L | 60 - 110 | creat_si
Ferritin | 201 | ug/L | 30 - 300 | ferritin
Thyroid Stimulating Hormone [TSH] | 3.01 | mIU/L | 0.32 - 4.00 | tsh
""",
            ),
        ],
        x=45,
    )
