"""Awkward prints of national laboratories and a hospital's terminal."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import page_footer
from tests.reports.corpus.printed import truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import BLUE, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns


@layout("third-us-current-previous", page_size=LETTER, size=8)
def current_previous(sheet: Sheet) -> None:
    """Current result with flag, previous result with its date, raised site numbers."""
    grid = Grid(
        columns=columns(
            "name@36=Test",
            "value@200=Current Result and Flag",
            "previous@320=Previous Result and Date",
            "unit@430=Units",
            "range@500=Reference Interval",
        ),
        size=8,
        leading=14,
        cells=lambda row: {
            "name": Cell(row.name, raised=row.option("site", "01")),
            "value": Cell(
                row.value + {"H": "   High", "L": "   Low"}.get(row.flag, ""),
                bold=bool(row.flag),
            ),
            "previous": f"{row.option('prev')}   09/14/2023"
            if row.option("prev")
            else "",
            "unit": row.unit,
            "range": row.range,
        },
    )

    def head(sheet: Sheet) -> None:
        sheet.text(36, 36, "Pattern, Rosemary", size=12, bold=True)
        sheet.text(36, 48, "Patient ID: 00482211   Specimen ID: 077-443-9921-0", size=8)
        sheet.text(36, 58, "DOB: 03/11/1968   Age: 56   Sex: Female", size=8)
        sheet.text(576, 36, "Patient Report", size=12, align="r")
        sheet.text(576, 48, "Account Number: 05551290", size=8, align="r")
        sheet.text(576, 58, "Ordering Physician: N NEMO", size=8, align="r")
        sheet.rule(36, 576, 64)
        sheet.y = 78
        page_footer(sheet, "Date Created and Stored 03/20/24 0813 ET  Final Report")

    sheet.begin(head)
    sheet.say(
        36,
        (
            "Ordered Items: CBC With Differential/Platelet; Comp. "
            "Metabolic Panel (14); Lipid Panel"
        ),
        size=8,
    )
    sheet.say(
        36,
        "Date Collected: 03/18/2024   Date Received: 03/18/2024   Fasting: Yes",
        size=8,
        gap=16,
    )
    for panel, rows in (
        (
            "CBC With Differential/Platelet",
            """
WBC | 5.9 | x10E3/uL | 3.4-10.8 | wbc | prev=6.2
RBC | 4.31 | x10E6/uL | 3.77-5.28 | rbc | prev=4.40
Hemoglobin | 10.6 | g/dL | 11.1-15.9 | hgb | prev=11.9
Hematocrit | 33.8 | % | 34.0-46.6 | hct | prev=36.0
MCV | 78 | fL | 79-97 | mcv | prev=82
RDW | 15.9 | % | 11.7-15.4 | rdw | prev=14.0
Platelets | 410 | x10E3/uL | 150-450 | plt | prev=388
Neutrophils | 61 | % | Not Estab. | neut_pct | prev=58
Lymphs | 29 | % | Not Estab. | lymph_pct | prev=31
Neutrophils (Absolute) | 3.6 | x10E3/uL | 1.4-7.0 | neut | prev=3.6
Lymphs (Absolute) | 1.7 | x10E3/uL | 0.7-3.1 | lymph | prev=1.9
Immature Granulocytes | 0 | % | Not Estab. | g_imm
""",
        ),
        (
            "Comp. Metabolic Panel (14)",
            """
Glucose | 104 | mg/dL | 70-99 | glucose | prev=96
BUN | 17 | mg/dL | 6-24 | bun
Creatinine | 0.88 | mg/dL | 0.57-1.00 | creat | prev=0.84
eGFR | 77 | mL/min/1.73 | >59 | egfr
BUN/Creatinine Ratio | 19 | | 9-23 | buncreat
Sodium | 140 | mmol/L | 134-144 | sodium
Carbon Dioxide, Total | 22 | mmol/L | 20-29 | co2
Alkaline Phosphatase | 128 | IU/L | 44-121 | alp | prev=101
AST (SGOT) | 22 | IU/L | 0-40 | ast
ALT (SGPT) | 19 | IU/L | 0-32 | alt
""",
        ),
        (
            "Lipid Panel",
            """
Cholesterol, Total | 232 | mg/dL | 100-199 | chol | prev=218
Triglycerides | 97 | mg/dL | 0-149 | trig
HDL Cholesterol | 61 | mg/dL | >39 | hdl
VLDL Cholesterol Cal | 17 | mg/dL | 5-40 | vldl
LDL Chol Calc (NIH) | 154 | mg/dL | 0-99 | ldl | prev=140
""",
        ),
    ):
        sheet.section(panel, x=36, size=10, keep=60)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()
    sheet.say(36, "Disclaimer", bold=True)
    sheet.prose(
        36,
        530,
        (
            "The Previous Result is listed for the most recent test "
            "performed by the laboratory in the past 5 years where "
            "there is sufficient patient demographic data to match the "
            "result to the patient."
        ),
    )
    sheet.say(36, "Icon Legend:  Out of Reference Range   Critical or Alert", size=7)
    sheet.say(
        36,
        (
            "Performing Labs   01: RN - Sampleton, 1447 Fictional "
            "Court, Dir: P. Nobody MD, Phone: 555-010-5344"
        ),
        size=7,
    )


@layout("third-us-terminal-dots", page_size=LETTER, font="Courier", size=8.5)
def terminal_dots(sheet: Sheet) -> None:
    """Hospital terminal print: date and time of two draws as columns, flags glued."""

    def head(sheet: Sheet) -> None:
        sheet.text(
            40,
            36,
            "RUN DATE: 11/05/23        SAMPLETON MEMORIAL LAB **LIVE**      PAGE 1",
        )
        sheet.text(40, 47, "RUN TIME: 0915            SPECIMEN INQUIRY REPORT")
        sheet.text(
            40,
            62,
            (
                "PATIENT: PRETENDER,OSWALD      ACCT #: V000412291  LOC: "
                "4W     U #: M00881"
            ),
        )
        sheet.text(
            40, 73, "AGE/SX: 71/M                   ROOM: 412           REG: 11/03/23"
        )
        sheet.y = 96

    sheet.begin(head)
    sheet.say(
        40,
        "SPEC #: 1105:C00213R    COLL: 11/05/23-0540   STATUS: COMP   REQ #: 04410021",
    )
    sheet.down(6)
    for panel, rows in (
        (
            "BASIC METABOLIC",
            """
SODIUM | 131 | mmol/L | 136-145 | sodium
POTASSIUM | 5.2 | mmol/L | 3.5-5.1 | potassium
CHLORIDE | 97 | mmol/L | 98-107 | chloride
CO2 | 25 | mmol/L | 21-32 | co2
ANION GAP | 9 | | 5-15 | anion_gap
GLUCOSE | 162 | mg/dL | 74-106 | glucose
BUN | 34 | mg/dL | 7-18 | bun
CREATININE | 1.71 | mg/dL | 0.70-1.30 | creat
CALCIUM | 8.8 | mg/dL | 8.5-10.1 | calcium
""",
        ),
        (
            "CARDIAC",
            """
TROPONIN I | <0.015 | ng/mL | 0.000-0.045 | troponin_i
NT-PROBNP | 1840 | pg/mL | 0-449 | ntprobnp
MAGNESIUM | 1.9 | mg/dL | 1.8-2.4 | magnesium
LACTIC ACID | 1.1 | mmol/L | 0.4-2.0 | lactate
""",
        ),
        (
            "COAGULATION",
            """
PROTIME | 13.9 | sec | 9.4-12.5 | pt
INR | 1.3 | | 0.9-1.1 | inr
PTT | 29.8 | sec | 25.1-36.5 | aptt
D-DIMER | 0.61 | ug/mL FEU | 0.00-0.50 | ddimer
""",
        ),
    ):
        sheet.say(
            40,
            f"{panel:<22}{'Result':>10}  {'Flag':<5}{'Reference':<16}{'Units':<10}Site",
            bold=True,
            gap=13,
        )
        sheet.panel = panel
        for row in sheet.read(rows):
            flag = row.flag
            span = f"({row.range})"
            sheet.say(
                40,
                f"> {row.name + ' ':.<20}{row.value:>10}  {flag:<5}{span:<16}"
                f"{row.unit:<10}ML",
                gap=11,
            )
            sheet.rows.append(truth_of(row, panel))
        sheet.down(5)
    sheet.say(
        40, "  NT-PROBNP cut points:  <50 yrs  450   50-75 yrs  900   >75 yrs  1800"
    )
    sheet.say(40, "ML = MAIN LAB   1 Nowhere Plaza, Sampleton   CLIA 00D0000001")
    sheet.say(40, "** END OF REPORT **")


@layout(
    "third-us-date-column-portal",
    page_size=LETTER,
    font="Times-Roman",
    size=10,
)
def date_column_portal(sheet: Sheet) -> None:
    """Portal table: result with unit, flag word in brackets, reference in words."""
    grid = Grid(
        columns=columns(
            "name@48w150=Name",
            "value@210w120=Result",
            "range@345w130=Reference Range",
            "on@490=Date",
        ),
        font="Times-Roman",
        size=10,
        leading=13,
        rules="lines",
        left=44,
        right=570,
        cells=lambda row: {
            "name": row.name,
            "value": f"{row.value} {row.unit} "
            + {"H": "(High)", "L": "(Low)"}.get(row.flag, ""),
            "range": f"{row.range} {row.unit}".strip() if row.range else "",
            "on": "Feb 9, 2024",
        },
    )

    def head(sheet: Sheet) -> None:
        sheet.text(48, 40, "Health Record Summary", size=16, bold=True, colour=BLUE)
        sheet.text(48, 55, "Maribel Fictiva   DOB Apr 4, 1979   MRN 220-11-83", size=9)
        sheet.y = 76
        page_footer(sheet, "https portal example   Generated Feb 12, 2024 4:13 PM")

    sheet.begin(head)
    sheet.section("Vital Signs", x=48, size=12)
    sheet.say(
        48,
        "Blood Pressure 128/82 mmHg   Feb 9, 2024      Heart Rate 71 bpm   Feb 9, 2024",
    )
    sheet.say(48, "Weight 78.4 kg   Height 165 cm   BMI 28.8")
    sheet.section("Lab Results", x=48, size=12)
    sheet.panel = "Lab Results"
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Thyroid Stimulating Hormone | 6.81 | mIU/L | 0.45 - 4.50 | tsh
Free T4 | 0.98 | ng/dL | 0.82 - 1.77 | ft4
Hemoglobin A1c | 6.1 | % | 4.0 - 5.6 | a1c
Estimated Average Glucose | 128 | mg/dL | | eag
Iron Saturation | 14 | % | 15 - 50 | tsat
Ferritin | 9 | ng/mL | 15 - 150 | ferritin
Vitamin B12 | 412 | pg/mL | 232 - 1245 | b12
25-Hydroxy Vitamin D | 24.3 | ng/mL | 30.0 - 100.0 | vitd
C-Reactive Protein | 2 | mg/L | 0 - 10 | crp
""",
    )
    sheet.close()
    sheet.section("Medications", x=48, size=12)
    sheet.say(48, "levothyroxine 50 mcg tablet   1 tab daily   30 tabs, 5 refills")
    sheet.say(48, "ferrous sulfate 325 mg   1 tab twice daily   60 tabs, 2 refills")
