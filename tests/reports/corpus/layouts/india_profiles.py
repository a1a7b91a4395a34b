"""Indian profiles: flags in odd places, watermarks, phases, tables side by side."""

from __future__ import annotations

from reportlab.lib.colors import HexColor

from tests.reports.corpus.heads import clinic_page
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, RED, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


@layout("in-flag-after-range", font="Vera", size=8)
def flag_after_range(sheet: Sheet) -> None:
    """Flag behind the range, hash and stars before the name, method as last column."""

    def cells(row: Row) -> dict[str, str | Cell]:
        prefix = row.option("prefix") or ("** " if row.flag == "H" else "")
        return {
            "name": f"{prefix}{row.name}",
            "value": row.value,
            "unit": row.unit,
            "range": f"{row.range} ({row.flag})" if row.flag else row.range,
            "method": row.option("method", "Colorimetric"),
        }

    grid = Grid(
        columns=columns(
            "name@40=Investigation",
            "value@230r=Result",
            "unit@250=Units",
            "range@330=Ref. Range",
            "method@450=Method",
        ),
        font="Vera",
        size=8,
        leading=12,
        cells=cells,
    )
    sheet.begin(
        lambda s: clinic_page(s, "Metro Scan & Labs", "Mrs. SAMPLE DEVI", "61Y/F")
    )
    sheet.titles(grid)
    sheet.section("DIABETIC PANEL")
    sheet.print_rows(
        grid,
        """
Fasting Plasma Glucose | 118 | mg/dL | 70 - 99 | glucose_fasting | method=GOD-POD
HbA1c | 6.9 | % | 4.0 - 5.6 | a1c | method=HPLC
Microalbumin | 14.1 | mg/L | 0 - 20 | u_malb | prefix={ # } ;method=Turbidimetry
""",
    )
    sheet.section("KIDNEY PANEL")
    sheet.print_rows(
        grid,
        """
Urea | 46 | mg/dL | 17 - 43 | urea | method=Urease-GLDH
Creatinine | 0.62 | mg/dL | 0.51 - 0.95 | creat | method=Jaffe, kinetic
eGFR | 101 | mL/min/1.73m² | >90 | egfr | prefix=*;method=CKD-EPI 2021
Uric Acid | 5.1 | mg/dL | 2.6 - 6.0 | urate | method=Uricase
Sodium | 133 | mEq/L | 136 - 145 | sodium | prefix=# ;method=ISE Indirect
Potassium | 4.6 | mEq/L | 3.5 - 5.1 | potassium | prefix=# ;method=ISE Indirect
Chloride | 99 | mEq/L | 98 - 107 | chloride | prefix=# ;method=ISE Indirect
""",
    )
    sheet.section("HAEMATOLOGY")
    sheet.print_rows(
        grid,
        """
MPV | 10.1 | fL | 7.4 - 10.4 | mpv | prefix={ # } ;method=Calculated
PDW | 13.2 | % | 10.0 - 17.9 | | prefix={ # } ;method=Calculated
TSH | 7.9 | mIU/mL | 0.35 - 4.94 | tsh | method=CMIA
""",
    )
    sheet.close()
    sheet.say(40, "# not in scope of accreditation   ** repeat advised", size=7)


@layout("in-watermarked", size=9.5)
def watermarked(sheet: Sheet) -> None:
    """A turned watermark through the rows and pale words between value and range."""
    grid = Grid(
        columns=columns(
            "name@50=TEST",
            "value@240=VALUE",
            "unit@310=UNIT",
            "mark@350",
            "range@420=REFERENCE",
        ),
        leading=14,
        cells=lambda row: (
            plain_cells(row)
            | {
                "mark": Cell("SPECIMEN", colour=_PALE, size=15)
                if "m" in row.name
                else ""
            }
        ),
    )

    def head(sheet: Sheet) -> None:
        clinic_page(sheet, "Prayog Health Labs", "Mr. DRISHTANT", "41 Yrs / Male")
        word = "PRAYOG SAMPLE COPY"
        for n, sign in enumerate(word):
            x, y = 120 + n * 22, 640 - n * 22
            sheet.text(x, y, sign, size=38, colour=_PALE, angle=45, rank=0.5)
        sheet.text(285, 305, "DUPLICATE", size=30, colour=_PALE, rank=-0.2)
        sheet.text(285, 453, "DUPLICATE", size=30, colour=_PALE, rank=-0.2)
        sheet.text(22, 600, "Report ID 5510 / 2024", size=7, colour=GREY, angle=90)

    sheet.begin(head)
    sheet.titles(grid)
    sheet.section("LIVER FUNCTION TEST", x=50)
    sheet.print_rows(
        grid,
        """
Bilirubin Total | 1.9 | mg/dL | 0.3 - 1.2 | bili
Bilirubin Direct | 0.4 | mg/dL | 0.0 - 0.3 | bili_direct
Bilirubin Indirect | 1.5 | mg/dL | 0.2 - 0.9 | bili_indirect
SGOT (AST) | 44 | U/L | 5 - 40 | ast
SGPT (ALT) | 61 | U/L | 5 - 45 | alt
Alkaline Phosphatase | 97 | U/L | 53 - 128 | alp
Total Protein | 7.0 | g/dL | 6.4 - 8.3 | protein
Albumin | 4.2 | g/dL | 3.5 - 5.2 | albumin
Globulin | 2.8 | g/dL | 2.0 - 3.5 | globulin
A/G Ratio | 1.50 | | 1.1 - 2.2 | ag_ratio
""",
    )
    sheet.section("KIDNEY FUNCTION TEST", x=50)
    sheet.print_rows(
        grid,
        """
Blood Urea | 31 | mg/dL | 15 - 45 | urea
Creatinine | 1.0 | mg/dL | 0.6 - 1.3 | creat
Uric Acid | 7.9 | mg/dL | 3.5 - 7.2 | urate
Calcium | 9.0 | mg/dL | 8.5 - 10.5 | calcium
Phosphorus | 3.6 | mg/dL | 2.5 - 4.5 | phosphate
Sodium | 139 | mmol/L | 135 - 148 | sodium
Potassium | 4.2 | mmol/L | 3.5 - 5.3 | potassium
Chloride | 103 | mmol/L | 98 - 110 | chloride
""",
    )


_PALE = HexColor("#d9dee6")


@layout("in-hormones-by-phase", font="Helvetica", size=9)
def hormones_by_phase(sheet: Sheet) -> None:
    """Ranges by sex, age, phase and band: the text is stored, nothing is guessed."""
    grid = Grid(
        columns=columns(
            "name@44=Test",
            "value@220=Result",
            "unit@290=Unit",
            "range@370=Biological Ref. Interval",
        ),
        leading=11.5,
        rules="lines",
        cells=lambda row: {
            "name": Cell(row.name, bold=True),
            "value": Cell(row.value, colour=RED if row.flag else None),
            "unit": row.unit,
            "range": row.range,
        },
    )
    sheet.begin(
        lambda s: clinic_page(s, "Lotus Hormone Lab", "Mrs. PRATIK KUMARI", "31Y/F")
    )
    sheet.titles(grid)
    sheet.section("FERTILITY PROFILE, SERUM")
    sheet.print_rows(
        grid,
        """
FSH | 6.12 | mIU/mL | Follicular : 3.5 - 12.5¶Ovulatory : 4.7 - 21.5¶\
Luteal : 1.7 - 7.7¶Menopausal : 25.8 - 134.8 | fsh
LH | 4.90 | mIU/mL | Follicular : 2.4 - 12.6¶Ovulatory : 14.0 - 95.6¶\
Luteal : 1.0 - 11.4 | lh
Prolactin | 31.8 | ng/mL | 4.79 - 23.3 | prolactin
Estradiol (E2) | 88 | pg/mL | Men: 25.8-60.7¶Women cyclic: 12.4-398¶\
Menopausal: <5-138 | estradiol
Progesterone | 0.41 | ng/mL | Male 0.05-0.149¶Female follicular 0.05-0.193 | \
progesterone
Testosterone Total | 41.2 | ng/dL | 8.4 - 48.1 | testo
""",
    )
    sheet.section("VITAMINS, SERUM")
    sheet.print_rows(
        grid,
        """
25-OH Vitamin D (Total) | 17.4 | ng/mL | Deficient : < 20¶Insufficient : 20 - 29¶\
Sufficient : 30 - 100¶Toxic : > 100 | vitd
Vitamin B12 | 188 | pg/mL | 197 - 771 | b12
""",
    )
    sheet.section("HAEMATOLOGY, EDTA BLOOD")
    sheet.print_rows(
        grid,
        """
Hemoglobin | 11.0 | g/dL | Men: 13.0 - 17.0¶Women: 12.0 - 15.0 | hgb
R.B.C. Count | 4.41 | mill/cmm | Male 4.8-5.5 Female 4.3-4.8 | rbc
Serum Creatinine | 0.7 | mg/dL | Adult:0-1.5 | creat | doubtful
""",
    )
    sheet.close()
    sheet.down(6)
    sheet.say(44, "Pregnancy (TSH mIU/L)   1st trimester 0.1-2.5", size=7.5, gap=9)
    sheet.say(44, "Beta hCG   3 weeks 5.8 - 71.2    4 weeks 9.5 - 750", size=7.5, gap=9)
    sheet.say(44, "           5 weeks 217 - 7138    6 weeks 158 - 31795", size=7.5)


@layout("in-three-tables", size=7.5)
def three_tables(sheet: Sheet) -> None:
    """Three boxed tables side by side; a line across the page mixes them."""
    left = Grid(
        columns=columns("name@34=CBC", "value@112=Result", "range@150=Range"),
        size=7,
        leading=11,
        rules="boxes",
        left=30,
        right=198,
        cells=lambda row: {
            "name": row.name,
            "value": f"{row.value}{' ' + row.flag if row.flag else ''}",
            "range": f"{row.range} {row.unit}".strip(),
        },
    )
    middle = Grid(
        columns=columns("name@212=CHEMISTRY", "value@290=Result", "range@328=Range"),
        size=7,
        leading=11,
        rules="boxes",
        left=208,
        right=376,
        cells=left.cells,
    )
    right = Grid(
        columns=columns("name@390=URINE", "value@468=Result", "range@512=Range"),
        size=7,
        leading=11,
        rules="boxes",
        left=386,
        right=560,
        cells=left.cells,
    )
    sheet.begin(
        lambda s: clinic_page(s, "Vikas Checkup Point", "Mr. NIDARSHAN", "50Y/M")
    )
    sheet.say(40, "ANNUAL HEALTH CHECK - SUMMARY SHEET", bold=True, size=10, gap=18)
    sheet.panel = None
    sheet.side_by_side(
        [left, middle, right],
        [
            sheet.read(
                """
Hb | 14.1 | g/dL | 13-17 | hgb
WBC | 6.8 | K/µL | 4-10 | wbc
RBC | 4.9 | M/µL | 4.5-5.5 | rbc
PCV | 42.0 | % | 40-50 | hct
MCV | 85.7 | fL | 83-101 | mcv
Platelets | 211 | K/µL | 150-410 | plt
ESR | 18 | mm/hr | 0-15 | esr
"""
            ),
            sheet.read(
                """
Glucose F | 97 | mg/dL | 70-100 | glucose_fasting
Urea | 28 | mg/dL | 15-40 | urea
Creatinine | 1.1 | mg/dL | 0.7-1.3 | creat
Chol | 214 | mg/dL | <200 | chol
HDL | 44 | mg/dL | >40 | hdl
TG | 190 | mg/dL | <150 | trig
SGPT | 39 | U/L | <45 | alt
TSH | 2.6 | µIU/mL | 0.4-4.2 | tsh
"""
            ),
            sheet.read(
                """
Colour | Yellow | | | u_color
pH | 6.0 | | 5-8 | u_ph
Sp. Gr. | 1.015 | | 1.005-1.030 | u_sg
Protein | Nil | | Nil | u_protein
Sugar | Nil | | Nil | u_glucose
Pus cells | 2-3 | /hpf | 0-5 | u_wbc | doubtful
RBC | Nil | /hpf | Nil | u_rbc
"""
            ),
        ],
    )
    sheet.down(14)
    sheet.say(40, "BMI 26.1 kg/m2   Under 18.5   Normal 18.5-24.9   Over 25-29.9")
    sheet.say(40, "BP 130/84 mmHg   Pulse 76 /min   Height 172 cm   Weight 77 kg")
    sheet.add_truth(
        """
BMI | 26.1 | kg/m2 | | | optional
BP | 130/84 | mmHg | | | optional
Pulse | 76 | /min | | | optional
Height | 172 | cm | | | optional
Weight | 77 | kg | | | optional
"""
    )
