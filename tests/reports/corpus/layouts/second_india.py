"""Held out, India: a chain's explained pages and a single clinic's typed sheet."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Cell, Grid, columns


def _table(
    sheet: Sheet, *lines: tuple[str, ...], x: float = 50, step: float = 130
) -> None:
    sheet.need(12 * len(lines) + 12)
    top = sheet.y - 9
    for line in lines:
        sheet.need(12)
        for n, text in enumerate(line):
            sheet.text(x + step * n, sheet.y, text, size=8, bold=line is lines[0])
        sheet.down(12)
    sheet.box(x - 6, top, step * len(lines[0]), sheet.y - top - 2)
    sheet.down(6)


@layout("second-india-chain-explained", size=8.5, held_out=True)
def chain_explained(sheet: Sheet) -> None:
    """Methods under the names, bands in the range cell, boxed tables after rows."""
    grid = Grid(
        columns=columns(
            "name@40w190=Test Name",
            "value@250=Results",
            "unit@335=Units",
            "range@425=Bio. Ref. Interval",
        ),
        size=8.5,
        leading=11,
        rules="none",
        cells=lambda row: {
            "name": row.name,
            "value": Cell(row.value, bold=bool(row.flag)),
            "unit": row.unit,
            "range": row.range,
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "DR. KALPIT PATH LABS", "Regd. Office: Block X, Kalpanagar")
        sheet.y = 76
        two_blocks(
            sheet,
            [
                ("Name", "Mrs. NAMUNA DEVI"),
                ("Lab No.", "440771203"),
                ("Ref By", "Dr. UDAHARAN"),
                ("A/c Status", "P"),
            ],
            [
                ("Age / Gender", "58 Years / Female"),
                ("Collected", "11/2/2024 8:52:00AM"),
                ("Reported", "11/2/2024 7:13:41PM"),
                ("Report Status", "Final"),
            ],
        )
        sheet.rule(40, 555, sheet.y)
        sheet.down(6)
        page_footer(
            sheet, "If test results are alarming or unexpected, call 000-000-0000"
        )
        sheet.down(8)

    sheet.begin(head)
    sheet.titles(grid)
    sheet.section("KIDNEY PANEL; KFT, SERUM")
    for row in sheet.read("""
Creatinine | 1.10 | mg/dL | 0.51 - 0.95 | creat | how=(Modified Jaffe,Kinetic)
GFR Estimated | 58 | mL/min/1.73m2 | >59 | egfr | how=(CKD EPI Equation 2021)
GFR Category | G3a | | | | how=(KDIGO Guideline 2012)
Urea | 44.0 | mg/dL | 17.00 - 43.00 | urea | how=(Urease UV)
Urea Nitrogen Blood | 20.56 | mg/dL | 6.00 - 20.00 | bun | how=(Calculated)
BUN/Creatinine Ratio | 19 | | | buncreat | how=(Calculated)
Uric Acid | 6.8 | mg/dL | 2.60 - 6.00 | urate | how=(Uricase)
Total Protein | 7.10 | g/dL | 6.40 - 8.30 | protein | how=(Biuret)
A : G Ratio | 1.33 | | 0.90 - 2.00 | ag_ratio | how=(Calculated)
Phosphorus | 3.90 | mg/dL | 2.40 - 4.40 | phosphate | how=(Molybdate UV)
Sodium | 138.00 | mEq/L | 136.00 - 146.00 | sodium | how=(Indirect ISE)
"""):
        sheet.print_row(grid, row)
        sheet.say(40, row.option("how"), gap=12, size=7)
    sheet.down(4)
    sheet.say(40, "Note", bold=True)
    sheet.say(
        40, "1. Estimated GFR (eGFR) calculated using the 2021 CKD-EPI equation and"
    )
    sheet.say(40, "   GFR Category reported as per KDIGO guideline 2012.")
    sheet.say(
        40, "2. eGFR category G1 OR G2 does not fulfil the criteria for CKD, in the"
    )
    sheet.say(40, "   absence of evidence of kidney damage.")
    sheet.say(
        40, "3. The BUN-to-creatinine ratio is used to differentiate prerenal (>20:1)"
    )
    sheet.say(40, "   from intrarenal (<10:1) azotemia.")
    sheet.section("HbA1c (GLYCOSYLATED HEMOGLOBIN), BLOOD", before=8)
    sheet.say(40, "(HPLC, NGSP certified)", size=7)
    sheet.print_rows(
        grid,
        """
HbA1c | 7.2 | % | 4.00 - 5.60 | a1c
Estimated average glucose (eAG) | 160 | mg/dL | | eag
""",
    )
    sheet.down(4)
    sheet.say(40, "Interpretation", bold=True)
    sheet.say(
        40, "HbA1c result is suggestive of Diabetes/ Higher than glycemic goal in a"
    )
    sheet.say(40, "known Diabetic patient.", gap=16)
    _table(
        sheet,
        ("Reference Group", "HbA1c in %"),
        ("Non diabetic adults >=18 years", "4.0 - 5.6"),
        ("At risk (Prediabetes)", "5.7 - 6.4"),
        ("Diagnosing Diabetes", ">= 6.5"),
        ("Therapeutic goals", "< 7.0"),
        step=170,
    )
    sheet.section("VITAMIN D, 25 - HYDROXY, SERUM", before=8)
    sheet.say(40, "(CLIA)", size=7)
    sheet.print_rows(
        grid, "Vitamin D, 25 Hydroxy | 41.20 | nmol/L | 75.00 - 250.00 | vitd_si"
    )
    sheet.down(6)
    _table(
        sheet,
        ("LEVEL", "REFERENCE RANGE IN nmol/L", "COMMENTS"),
        ("Deficient", "< 50", "High risk for bone disease"),
        ("Insufficient", "50-74", "Risk for bone disease"),
        ("Sufficient", "75-250", "Optimal concentration"),
        ("Potential Intoxication", ">250", "High risk for toxic effects"),
        step=160,
    )
    sheet.section("THYROID PROFILE, TOTAL, SERUM (ECLIA)", before=8)
    sheet.print_rows(
        grid,
        """
T3, Total | 1.02 | ng/mL | 0.80 - 2.00 | t3
T4, Total | 6.10 | µg/dL | 5.10 - 14.10 | t4
TSH | 8.43 | µIU/mL | 0.27 - 4.20 | tsh
""",
    )
    sheet.print_rows(
        grid,
        "Anti Thyroid Peroxidase (Anti TPO) Antibody, Microsomal | 212.0 | IU/mL | "
        "Negative : <34¶Borderline : 34 - 60¶Positive : >60 | tpo | flag=H",
    )
    sheet.say(40, "Note", bold=True)
    sheet.say(
        40, "1. TSH levels are subject to circadian variation, reaching peak levels"
    )
    sheet.say(
        40, "   between 2 - 4.a.m. and at a minimum between 6-10 pm. The variation is"
    )
    sheet.say(40, "   of the order of 50%, hence time of the day has influence.")
    _table(
        sheet,
        ("PREGNANCY", "REFERENCE RANGE FOR TSH IN uIU/mL"),
        ("1st Trimester", "0.100 - 2.500"),
        ("2nd Trimester", "0.200 - 3.000"),
        ("3rd Trimester", "0.300 - 3.000"),
        step=170,
    )
    sheet.close()
    sheet.say(230, "-------------------- End of report --------------------")
    sheet.say(40, "Dr. Kalpit Vyakti, MD Pathology   DMC - 00000   NABL Cert MC-0000")


@layout("second-india-typed-clinic", font="Times-Roman", size=10, held_out=True)
def typed_clinic(sheet: Sheet) -> None:
    """Word processor sheet: colons, tabs, normal values in words, a titre table."""

    def head(sheet: Sheet) -> None:
        middle = sheet.width / 2
        sheet.text(middle, 36, "SHRI KALPANIK CLINICAL LABORATORY", size=15, align="c")
        sheet.text(middle, 48, "Opp. Post Office, Udaharanpur - 000 001", align="c")
        sheet.text(50, 72, "Pt's Name : Mr. Kalpit Kumar")
        sheet.text(380, 72, "Date : 21/07/2022")
        sheet.text(50, 86, "Ref. by Dr. : Self, M.B.B.S.")
        sheet.text(380, 86, "Age : 29 Yrs   Sex : M")
        sheet.rule(50, 545, 94)
        sheet.y = 112

    def typed(row: Row) -> None:
        sheet.need(15)
        sheet.text(60, sheet.y, row.name)
        sheet.text(250, sheet.y, ":")
        shown = row.option("print", row.value)
        sheet.text(265, sheet.y, f"{shown} {row.unit}".strip(), bold=bool(row.flag))
        if row.range:
            sheet.text(390, sheet.y, row.option("shown", f"( {row.range} )"))
        sheet.down(15)
        sheet.rows.append(truth_of(row, sheet.panel))

    sheet.begin(head)
    for panel, rows in (
        (
            "HAEMATOLOGY",
            """
Haemoglobin (Hb) | 11.4 | gms% | 14 - 18 gms% | hgb
Total W.B.C. Count | 3,900 | /cmm | 4000 - 11000 /cmm | wbc | doubtful
Platelet Count | 1.12 | lakh/cmm | 1.5 - 4.5 lakh/cmm | plt
E.S.R. (Westergren) | 32 | mm at 1 hr | 0 - 15 mm | esr | doubtful
Malarial Parasite (M.P.) | Not seen | | |
""",
        ),
        (
            "DIFFERENTIAL COUNT",
            """
Polymorphs | 48 | % | 40 - 75 | neut_pct
Lymphocytes | 45 | % | 20 - 45 | lymph_pct
Eosinophils | 04 | % | 1 - 6 | eos_pct
Monocytes | 03 | % | 2 - 8 | mono_pct
Basophils | 00 | % | 0 - 1 | baso_pct
""",
        ),
        (
            "BIO-CHEMISTRY",
            """
Blood Sugar (R) | 96 | mgs/dl | 80 - 140 mgs/dl | glucose
S. Creatinine | 0.9 | mgs/dl | 0.6 - 1.4 mgs/dl | creat
S. Bilirubin (Total) | 1.6 | mgs/dl | Upto 1.2 mgs/dl | bili
S. Bilirubin (Direct) | 0.7 | mgs/dl | Upto 0.3 mgs/dl | bili_direct
S.G.P.T. | 84 | IU/L | Upto 40 IU/L | alt
C.R.P. (Quantitative) | 24.6 | mg/L | Less than 6.0 mg/L | crp | doubtful
""",
        ),
        (
            "SEROLOGY",
            """
Dengue NS1 Antigen | Negative | | |
Dengue IgM Antibody | Negative | | |
HBsAg (Card) | Non Reactive | | | hbsag
""",
        ),
    ):
        sheet.need(40)
        sheet.down(4)
        sheet.say(sheet.width / 2, panel, align="c", bold=True, gap=16)
        sheet.panel = panel
        for row in sheet.read(rows):
            typed(row)
    sheet.down(6)
    sheet.say(
        sheet.width / 2, "WIDAL TEST (Slide Method)", align="c", bold=True, gap=16
    )
    sheet.panel = "WIDAL TEST (Slide Method)"
    for row in sheet.read("""
S. typhi 'O' | 1:160 | | |
S. typhi 'H' | 1:80 | | |
S. paratyphi 'AH' | 1:20 | | |
S. paratyphi 'BH' | No Agglutination | | |
"""):
        typed(row)
    sheet.say(
        60, "Significant titre : 1:80 and above for 'O', 1:160 and above for 'H'."
    )
    sheet.say(60, "A single test should be repeated after 5 to 7 days to see a rise.")
    sheet.down(24)
    sheet.say(420, "D.M.L.T.  Reg 0000")
    sheet.say(60, "Timing : 8.00 am to 9.00 pm.  Sunday 9.00 am to 1.00 pm.")
