"""Held out, United States: print shapes the parser was not made on."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells


def _notes(sheet: Sheet, x: float, *lines: str, gap: float = 10) -> None:
    for line in lines:
        sheet.say(x, line, gap=gap)


@layout(
    "second-us-fax-comments",
    page_size=LETTER,
    font="Courier",
    size=8,
    held_out=True,
)
def fax_comments(sheet: Sheet) -> None:
    """Older national print: indented analytes, comments under the value column."""
    grid = Grid(
        columns=columns(
            "name@40=TESTS",
            "value@215=RESULT",
            "flag@275=FLAG",
            "unit@330=UNITS",
            "range@425=REFERENCE INTERVAL",
            "lab@545=LAB",
        ),
        font="Courier",
        size=8,
        leading=10.5,
        titles_bold=False,
        rules="none",
        cells=lambda row: {
            **plain_cells(row),
            "name": "  " + row.name,
            "flag": {"H": "High", "L": "Low"}.get(row.flag, row.option("flag")),
            "lab": row.option("lab", "01"),
        },
    )

    def head(sheet: Sheet) -> None:
        sheet.text(40, 34, "Phone: 555-010-4400   TESTPORT LAB SERVICES", size=10)
        sheet.box(40, 44, 532, 74)
        lines = (
            "SPECIMEN NO.      TYPE  PRIMARY LAB  REPORT STATUS    PAGE",
            f"114-660-0291-0    S     TP           COMPLETE         {sheet.page}",
            "PATIENT NAME  EXAMPLE, DANA Q      SEX F   AGE(YR/MO) 51 / 7",
            "PT. ADD.: 4 NOWHERE RD, ANYTOWN, OH 00000   PATIENT SS# 000-00-0000",
            "DATE OF SPECIMEN 3/04/2011  TIME 09:45  RECEIVED 3/04/2011  REPORTED"
            " 3/05/2011",
            "CLINICAL INFORMATION: FASTING: Y   CONTROL 99001   ACCOUNT 34010020",
        )
        for n, line in enumerate(lines):
            sheet.text(46, 56 + 11 * n, line)
        sheet.y = 136

    sheet.begin(head)
    sheet.titles(grid)
    sheet.section("CMP12+LP+TP+TSH+6AC+CBC/D/Plt", bold=False)
    sheet.section("Chemistries", panel="Chemistries", bold=False, gap=11)
    sheet.print_rows(
        grid,
        """
Glucose, Serum | 112 | mg/dL | 65 - 99 | glucose
Uric Acid, Serum | 5.9 | mg/dL | 2.5 - 7.1 | urate
BUN | 14 | mg/dL | 6 - 24 | bun
Creatinine, Serum | 0.78 | mg/dL | 0.57 - 1.00 | creat
eGFR If NonAfricn Am | >59 | mL/min/1.73 | >59 | egfr | doubtful
eGFR If Africn Am | >59 | mL/min/1.73 | >59 | | doubtful
""",
    )
    _notes(
        sheet,
        60,
        "Note: Persistent reduction for 3 months or more in an eGFR",
        "<60 mL/min/1.73 m2 defines CKD. Patients with eGFR values",
        ">/=60 mL/min/1.73 m2 may also have CKD if evidence of",
        "persistent proteinuria is present.",
    )
    sheet.print_rows(
        grid,
        """
BUN/Creatinine Ratio | 18 | | 9 - 23 | buncreat
Sodium, Serum | 141 | mmol/L | 135 - 145 | sodium
Potassium, Serum | 4.1 | mmol/L | 3.5 - 5.2 | potassium
Calcium, Serum | 10.4 | mg/dL | 8.7 - 10.2 | calcium
A/G Ratio | 1.7 | | 1.1 - 2.5 | ag_ratio
LDH | 166 | IU/L | 100 - 250 | ldh
AST (SGOT) | 19 | IU/L | 0 - 40 | ast
GGT | 22 | IU/L | 0 - 60 | ggt
Iron, Serum | 71 | ug/dL | 35 - 155 | iron
""",
    )
    sheet.section("Lipids", panel="Lipids", bold=False, gap=11)
    sheet.print_rows(
        grid,
        """
Cholesterol, Total | 243 | mg/dL | 100 - 199 | chol
Triglycerides | 131 | mg/dL | 0 - 149 | trig
HDL Cholesterol | 62 | mg/dL | >39 | hdl
""",
    )
    _notes(
        sheet,
        60,
        "According to ATP-III Guidelines, HDL-C >59 mg/dL is considered",
        "a negative risk factor for CHD.",
    )
    sheet.print_rows(
        grid,
        """
LDL Cholesterol Calc | 155 | mg/dL | 0 - 99 | ldl
T. Chol/HDL Ratio | 3.9 | ratio units | 0.0 - 4.4 | chol_hdl
Estimated CHD Risk | 0.8 | times avg. | 0.0 - 1.0 |
""",
    )
    _notes(
        sheet,
        60,
        "                               T. Chol/HDL Ratio",
        "                                     Men  Women",
        "                       1/2 Avg.Risk  3.4    3.3",
        "                           Avg.Risk  5.0    4.4",
        "                        2X Avg.Risk  9.6    7.1",
        "                        3X Avg.Risk 23.4   11.0",
        "The CHD Risk is based on the T. Chol/HDL ratio. Other",
        "factors affect CHD Risk such as hypertension, smoking,",
        "diabetes, severe obesity, and family history.",
    )
    sheet.section("Thyroid", panel="Thyroid", bold=False, gap=11)
    sheet.print_rows(
        grid,
        """
TSH | 4.620 | uIU/mL | 0.450 - 4.500 | tsh | lab=02
Thyroxine (T4) | 7.3 | ug/dL | 4.5 - 12.0 | t4 | lab=02
""",
    )
    sheet.section("Hemoglobin A1c", panel="Hemoglobin A1c", bold=False, gap=11)
    sheet.print_rows(grid, "Hemoglobin A1c | 6.0 | % | 4.8 - 5.6 | a1c")
    _notes(
        sheet,
        130,
        "Increased risk for diabetes: 5.7 - 6.4",
        "Diabetes: >6.4",
        "Glycemic control for adults with diabetes: <7.0",
    )
    sheet.section("Hepatitis C", panel="Hepatitis C", bold=False, gap=11)
    sheet.print_rows(
        grid, "Hep C Virus Ab | <0.1 | s/co ratio | 0.0 - 0.9 | | doubtful"
    )
    _notes(
        sheet,
        130,
        "Negative:     < 0.8",
        "Indeterminate: 0.8 - 0.9",
        "Positive:     > 0.9",
    )
    sheet.close()
    sheet.down(8)
    _notes(
        sheet,
        40,
        "01 TP TESTPORT LAB SERVICES      DIR: NOBODY MD",
        "   1 WHARF RD, TESTPORT, OH 00000-3361",
        "02 BN TESTPORT BRANCH            DIR: NO-ONE MD",
        "For inquiries, the physician may contact: BRANCH 555-010-4400",
        "LAST PAGE OF REPORT",
    )


@layout("second-us-range-under-value", page_size=LETTER, held_out=True)
def range_under_value(sheet: Sheet) -> None:
    """Current national print: value at the right, range with unit in small below it."""

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Harborline Diagnostics", "Results for: PLACEHOLDER, JAMIE")
        sheet.y = 76
        two_blocks(
            sheet,
            [
                ("Patient", "PLACEHOLDER, JAMIE"),
                ("DOB", "07/19/1968   Age: 55"),
                ("Gender", "Male    Fasting: Y"),
                ("Phone", "555.010.7788"),
            ],
            [
                ("Specimen", "HB440192K"),
                ("Requisition", "0027714"),
                ("Collected", "01/22/2024 / 07:58 PST"),
                ("Reported", "01/23/2024 / 05:14 PST"),
            ],
            width=70,
        )
        sheet.rule(40, 572, sheet.y)
        sheet.down(16)
        page_footer(sheet, "CLIENT SERVICES: 555.010.3000   SPECIMEN: HB440192K   PAGE")

    sheet.begin(head)
    for panel, lab, rows, note in (
        (
            "LIPID PANEL, STANDARD",
            "HB",
            """
CHOLESTEROL, TOTAL | 228 | mg/dL | <200 | chol
HDL CHOLESTEROL | 38 | mg/dL | > OR = 40 | hdl | flag=L;doubtful
TRIGLYCERIDES | 186 | mg/dL | <150 | trig
LDL-CHOLESTEROL | 155 | mg/dL (calc) | | ldl | flag=H;note;anyrange
CHOL/HDLC RATIO | 6.0 | (calc) | <5.0 | chol_hdl
NON HDL CHOLESTEROL | 190 | mg/dL (calc) | <130 | nonhdl
""",
            "Reference range: <100. Desirable range <100 mg/dL for primary prevention; "
            "<70 mg/dL for patients with CHD or diabetic patients with > or = 2 CHD "
            "risk factors. LDL-C is now calculated using a validated novel method. "
            "Fictus SS et al. JAMA. 2013;310(19): 2061-2068.",
        ),
        (
            "COMPREHENSIVE METABOLIC PANEL",
            "HB",
            """
GLUCOSE | 104 | mg/dL | 65-99 | glucose | note
UREA NITROGEN (BUN) | 17 | mg/dL | 7-25 | bun
CREATININE | 1.09 | mg/dL | 0.70-1.30 | creat
EGFR | 80 | mL/min/1.73m2 | > OR = 60 | egfr | doubtful
SODIUM | 139 | mmol/L | 135-146 | sodium
POTASSIUM | 4.4 | mmol/L | 3.5-5.3 | potassium
CARBON DIOXIDE | 26 | mmol/L | 20-32 | co2
CALCIUM | 9.5 | mg/dL | 8.6-10.3 | calcium
GLOBULIN | 2.6 | g/dL (calc) | 1.9-3.7 | globulin
ALKALINE PHOSPHATASE | 61 | U/L | 35-144 | alp
ALT | 52 | U/L | 9-46 | alt
""",
            "Fasting reference interval. For someone without known diabetes, a glucose "
            "value between 100 and 125 mg/dL is consistent with prediabetes and should "
            "be confirmed with a follow-up test.",
        ),
        (
            "PSA, TOTAL",
            "HB2",
            "PSA, TOTAL | 1.32 | ng/mL | < OR = 4.00 | psa | doubtful;note",
            "The total PSA value of this assay is standardized against the WHO "
            "standard. The result will be approximately 20% lower when compared to "
            "the equimolar-standardized total PSA. This test was performed using the "
            "chemiluminescent method.",
        ),
        (
            "HEPATITIS C AB W/REFL",
            "HB2",
            "HEPATITIS C ANTIBODY | NON-REACTIVE | | NON-REACTIVE | hcv | note",
            "HCV antibody was non-reactive. There is no laboratory evidence of HCV "
            "infection. In most cases, no further action is required.",
        ),
    ):
        sheet.section(panel, x=44, size=11, gap=6, before=8, keep=60)
        sheet.rule(40, 572, sheet.y)
        sheet.down(14)
        for row in sheet.read(rows):
            sheet.need(26)
            sheet.text(50, sheet.y, row.name)
            sheet.text(400, sheet.y, row.value + " " + row.flag, bold=bool(row.flag))
            sheet.text(545, sheet.y, lab, size=7)
            span = f"{row.range} {row.unit}".strip()
            if row.range and row.unit:
                below = f"Reference Range: {span}"
            elif row.range:
                below = f"Reference Range: {row.range}"
            else:
                below = span
            sheet.text(400, sheet.y + 10, below, size=7, colour=GREY)
            sheet.down(25)
            sheet.rows.append(truth_of(row, sheet.panel))
            if "note" in row.options:
                sheet.prose(50, 440, note, size=7.5, gap=9)
                sheet.down(7)
    sheet.down(10)
    sheet.say(44, "PERFORMING SITE:", bold=True)
    sheet.say(44, "HB  HARBORLINE, 10 PIER AVE, BAYTOWN, CA 00000  CLIA: 05D0000000")
    sheet.say(44, "HB2 HARBORLINE SOUTH, 77 HILL RD, BAYTOWN, CA  CLIA: 05D0000001")


@layout(
    "second-us-veterans-text",
    page_size=LETTER,
    font="Courier",
    size=8.5,
    held_out=True,
)
def veterans_text(sheet: Sheet) -> None:
    """Terminal print of a federal hospital: specimen blocks, key of flags below."""

    def line(text: str) -> None:
        sheet.say(40, text, gap=10.5)

    def rows(text: str) -> None:
        for row in sheet.read(text):
            flag = row.flag + ("*" if "critical" in row.options else "")
            line(
                f"{row.name:<29}{row.value:>8} {flag:<3} {row.unit:<14}"
                f"{row.option('shown', row.range):<18}{'[512]':>7}"
            )
            for part in filter(None, row.option("eval").split("/")):
                line(f"      {part}")
            sheet.rows.append(truth_of(row, sheet.panel))

    def head(sheet: Sheet) -> None:
        sheet.text(40, 40, "EXAMPLE,PAT A    000-00-0000    DOB: JAN 02, 1950 (74)")
        sheet.text(40, 52, "=" * 78)
        sheet.y = 68
        page_footer(sheet, "*** CONFIDENTIAL Lab Cumulative SUMMARY pg.")

    def block(accession: str, specimen: str, when: str) -> None:
        line("")
        line(f"Report Released Date/Time: {when}@11:20")
        line("Provider: NOBODY,PROVIDER")
        line(f"  Specimen: {specimen:<24} {accession}")
        line(f"    Specimen Collection Date: {when}@08:12")
        line(
            "      Test name              Result    units      Ref.   range   Site Code"
        )
        sheet.panel = specimen

    sheet.begin(head)
    block("CH 0304 112", "SERUM.", "Mar 04, 2024")
    rows("""
GLUCOSE | 243 | mg/dL | 70 - 110 | glucose
UREA NITROGEN | 31 | mg/dL | 8 - 26 | bun
CREATININE | 1.6 | mg/dL | .7 - 1.3 | creat
SODIUM | 128 | mmol/L | 136 - 145 | sodium
POTASSIUM | 6.3 | mmol/L | 3.5 - 5.1 | potassium | critical
CHLORIDE | 96 | mmol/L | 98 - 107 | chloride
CO2 | 24 | mmol/L | 22 - 32 | co2
CALCIUM | 8.9 | mg/dL | 8.4 - 10.2 | calcium
AST | 41 | U/L | 5 - 34 | ast
TOT. BILIRUBIN | .7 | mg/dL | .2 - 1.2 | bili
""")
    rows(
        "eGFR CKD-EPI 2021 | 44 | mL/min/1.73 | >=60 | egfr | "
        "shown=Ref: >=60;flag=;eval=Eval: CKD-EPI 2021 race-free equation./"
        "Eval: Stage G3b 30-44, Stage G4 15-29, Stage G5 <15"
    )
    line("  Comment: CALLED K 6.3 TO DR NOBODY 3/4/24 09:40, READ BACK.")
    line("===========================================================================")
    line("Performing Lab: SAMPLEVILLE FED MED CTR [CLIA# 00D0000003]  TEST ST [512]")
    block("HE 0304 88", "BLOOD.", "Mar 04, 2024")
    rows("""
WBC | 11.9 | K/cmm | 4.0 - 11.0 | wbc
RBC | 4.11 | M/cmm | 4.40 - 5.90 | rbc
HGB | 12.2 | g/dL | 13.0 - 17.0 | hgb
HCT | 36.6 | % | 40.0 - 52.0 | hct
MCV | 89.1 | fL | 80.0 - 98.0 | mcv
PLT | 301 | K/cmm | 150 - 400 | plt
HEMOGLOBIN A1C | 9.4 | % | 4.0 - 6.0 | a1c
""")
    block("UR 0304 17", "URINE.", "Mar 04, 2024")
    rows("""
URINE COLOR | Yellow | | | u_color
SPECIFIC GRAVITY | 1.021 | | 1.005 - 1.030 | u_sg
URINE PROTEIN | 2+ | | NEG | u_protein | flag=H
URINE GLUCOSE | >1000 | mg/dL | NEG | u_glucose | flag=H
MICROALBUMIN/CREAT RATIO | 188 | mcg/mg | 0 - 30 | u_acr
""")
    line('KEY: "L"=Abnormal low, "H"=Abnormal high, "*"=Critical value')
    line("     Reference ranges are for adult patients, age 18 - 120 years.")
