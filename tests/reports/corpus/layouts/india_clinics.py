"""Small Indian laboratories: free spelling, wrapped names, lakhs, kits, sediments."""

from __future__ import annotations

from reportlab.lib.colors import HexColor

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, RED, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


def _clinic(sheet: Sheet, name: str, patient: str, age: str) -> None:
    middle = sheet.width / 2
    letterhead(
        sheet,
        name,
        "Near Bus Stand, Udaharanpur   Mob: 90000 00000",
        x=middle,
        align="c",
    )
    sheet.y = 72
    two_blocks(
        sheet,
        [("Patient Name", patient), ("Age/Gender", age), ("Referred By", "Self")],
        [("Sample Id", "0031442"), ("Date", "12/08/2023"), ("UHID", "U-551020")],
        sep=": -",
    )
    sheet.rule(40, 555, sheet.y - 5)
    sheet.down(12)
    page_footer(sheet, "Timings : 7.00 am to 9.00 pm   Sunday : 7.00 am to 1.00 pm")


@layout("in-clinic-haemogram", font="Times-Roman", size=10.5)
def clinic_haemogram(sheet: Sheet) -> None:
    """Indian digit groups, lakhs, misspelt and wrapped names, plausibility traps."""
    grid = Grid(
        columns=columns(
            "name@60=INVESTIGATION",
            "value@270=RESULT",
            "unit@350=UNIT",
            "range@450=NORMAL VALUE",
        ),
        font="Times-Roman",
        size=10.5,
        leading=14,
    )
    sheet.begin(
        lambda s: _clinic(s, "SHREE NAMUNA LABORATORY", "Smt. UDAHARAN BAI", "34Y / F")
    )
    sheet.section("HAEMOGRAM", x=260, size=12, gap=16)
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Haemoglobin | 9.8 | gm% | 11.5 - 16.5 | hgb
Total R.B.C. Count | 4.02 | mill/cumm | 3.8 - 5.8 | rbc
P.C.V. | 31.2 | % | 37 - 47 | hct
M.C.V. | 77.6 | fl | 76 - 96 | mcv
M.C.H. | 24.4 | Pg | 27 - 32 | mch
M.C.H.C. | 31.4 | % | 30 - 35 | mchc
Red cell Distribution Width (R.D.W.-¶CV) | 16.2 | % | 11.5 - 14.5 | rdw
Total W.B.C. Count | 11,400 | /cumm | 4,000 - 11,000 | wbc
""",
    )
    sheet.section("DIFFERENTIAL COUNT", x=60)
    sheet.print_rows(
        grid,
        """
Neutrophils | 71 | % | 40 - 75 | neut_pct
Lymphocytes | 22 | % | 20 - 45 | lymph_pct
Eosinophils | 05 | % | 00 - 06 | eos_pct
Monocytes | 02 | % | 02 - 10 | mono_pct
Basophils | 00 | % | 00 - 01 | baso_pct
""",
    )
    sheet.down(4)
    sheet.print_rows(
        grid,
        """
Platelet Count | 2,85,000 | /cumm | 1,50,000 - 4,50,000 | plt | fixed
Erythrocyte Sedimentation Rate¶(Westergren) | 34 | mm/1st hr | 00 - 20 | esr | \
also=Erythrocyte Sedimentation Rate
""",
    )
    sheet.section("PERIPHERAL SMEAR", x=60)
    for label, text in (
        ("R.B.C.", "Microcytic hypochromic"),
        ("W.B.C.", "Mild leucocytosis"),
        ("Platelets", "Adequate on smear"),
        ("Parasites", "Not seen"),
    ):
        sheet.text(60, sheet.y, label)
        sheet.say(270, text, gap=14)
    sheet.add_truth(
        """
R.B.C. | Microcytic hypochromic | | | | optional
W.B.C. | Mild leucocytosis | | | | optional
Platelets | Adequate on smear | | | | optional
Parasites | Not seen | | | | optional
"""
    )
    sheet.close()
    sheet.say(400, "Lab Technician", gap=30)


@layout("in-lakh-and-cumm", font="Helvetica", size=10)
def lakh_and_cumm(sheet: Sheet) -> None:
    """Each count in another unit; range before unit; unit that runs on below."""
    grid = Grid(
        columns=columns(
            "name@50=Test",
            "value@240=Observed Value",
            "range@340=Reference Range",
            "unit@460=Unit",
        ),
        size=9.5,
        leading=13,
        rules="boxes",
    )
    sheet.begin(
        lambda s: _clinic(s, "Jeevan Diagnostic Centre", "Baby NAMUNA", "7 Y / Male")
    )
    sheet.section("Complete Haemogram", x=230)
    sheet.titles(grid)
    sheet.print_rows(grid, _LAKH)
    sheet.close()
    sheet.section("Repeat count (second counter)", x=50)
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Platelet Count | 3.5 | x10^3/uL | 1.5-4.5 | plt
Platelets | 370 | /uL | 150 - 450 | plt
W.B.C. | 8.1 | thou/µL | 5.0-13.0 | wbc
""",
    )


_LAKH = """
Hemoglobin | 12.2 | gm/dL | 11.5-15.5 | hgb
TLC | 7,800 | cells/cum¶m | 5,000-13,000 | wbc
RBC COUNT | 4.71 | million/cu.mm | 4.0-5.2 | rbc
HCT | 36.8 | % | 35-45 | hct
MCV | 78.1 | fL | 77-95 | mcv
MCH | 25.9 | pg | 25-33 | mch
MCHC | 33.2 | g/dL | 31-37 | mchc
PLATELET COUNT | 3.10 | lakhs/cumm | 1.5-4.5 | plt
MPV | 9.1 | fL | 7-5 - 12.0 | mpv | fixed
PDW | 15.8 | % | (9.0-17.0
PCT | 0.28 | % | 0.108-0.282
RDW-SD | 39.4 | fl | 35-56 | rdwsd
Absolute Neutrophil Count | 4290 | /cu mm | 2000-8000 | neut
Absolute Lymphocyte Count | 2808 | /cu mm | 1000-5000 | lymph
Absolute Eosinophil Count | 0.31 | X 10³ / µL | 0.1-1.0 | eos
Absolute Monocyte Count | 0.47 | 10^3/µL | 0.2-1.0 | mono
"""


@layout("in-serology-kits", size=10)
def serology_kits(sheet: Sheet) -> None:
    """Text answers, titres, wrapped names, kerning gaps; sentences for ranges."""
    grid = Grid(
        columns=columns(
            "name@50=Test Name",
            "value@270=Result",
            "range@400=Normal Range",
        ),
        size=9.5,
        leading=13,
        cells=lambda row: {
            "name": row.name,
            "value": f"{row.value} {row.unit}".strip(),
            "range": row.range,
        },
    )
    sheet.begin(lambda s: _clinic(s, "Aadhar Pathology", "Mr. KALPIT", "58 Y / M"))
    sheet.titles(grid)
    sheet.section("SEROLOGY", x=50)
    sheet.print_rows(
        grid,
        """
Hepatitis B Surface Antigen (HBsAg)¶Rapid Card | Non reactive | | Non reactive | hbsag
H.I.V. I & II Antibodies | Non Reactive | | Non Reactive | hiv
Anti H‸CV | Non Reactive | | Non Reactive | hcv
V.D.R.L. | Reactive 1:64 | | Non reactive | | flag=A
Dengue NS1 Antigen | Negative | | Negative |
Malaria Parasite Antigen¶(P. vivax) | Negative | | Negative |
C.R.P. (Quantitative) | 12.4 | mg/L | 0.0 - 6.0 | crp
R.A. Fac‸tor | < 8 | IU/ml | Upto 14 | ra
A.S.O. Titre | 120 | IU/ml | < 200 |
""",
    )
    sheet.section("WIDAL TEST", x=50)
    sheet.print_rows(
        grid,
        """
Salmonella Typhi 'O' | 1:160 | | < 1:80 |
Salmonella Typhi 'H' | 1:80 | | < 1:80 |
Salmonella Paratyphi 'AH' | 1:20 | | < 1:80 |
""",
    )
    sheet.section("BIOCHEMISTRY", x=50)
    sheet.print_rows(
        grid,
        """
Creat‸inine | 1.31 | mg/dl | 0.7 - 1.4 | creat
Blood Sug‸ar Random | 164 | mg/dl | 70 - 140 | glucose
Total Billirubin | 1.8 | % mg/dl | 0.2 - 1.0 | bili
Total CHOLESTROL | 251 | mg% | 130 - 220 | chol
S.G.P.T. | 88 | IU/L | Adult:0-40 | alt | doubtful
Alkaline Phosphatase | 131 | U/L | <6 years:up to 350¶>6 years:up to 140 | alp | \
doubtful
""",
    )
    sheet.section("COAGULATION", x=50)
    sheet.print_rows(
        grid,
        """
POTHROMBIN TIME (Patient) | 15.4 | Sec | 11 - 14 | pt
I.N.R. | 1.28 | | 0.8 - 1.2 | inr
""",
    )
    sheet.close()
    sheet.down(8)
    sheet.prose(
        50,
        480,
        "A titre of 1:80 or above is suggestive of infection. Rise in titre after 7 "
        "days is significant. A non reactive result does not exclude recent exposure "
        "within the last 12 weeks. Kit lot no 44210 expiry 05/2025.",
    )


@layout("in-urine-routine", font="Times-Roman", size=11)
def urine_routine(sheet: Sheet) -> None:
    """Plain names that mean urine only through the section header."""
    grid = Grid(
        columns=columns("name@70=Test", "value@270=Result", "range@420=Normal Range"),
        font="Times-Roman",
        size=10.5,
        leading=14,
        cells=lambda row: {
            "name": row.name,
            "value": f": {row.value} {row.unit}".rstrip(),
            "range": row.range,
        },
    )
    sheet.begin(lambda s: _clinic(s, "City Lab & X-Ray", "Ku. MISAL RANI", "22 Y/F"))
    sheet.section("URINE EXAMINATION REPORT", x=190, size=13, gap=18)
    sheet.titles(grid)
    sheet.section("PHYSICAL EXAMINATION", x=70, panel="URINE EXAMINATION")
    sheet.print_rows(
        grid,
        """
Quantity | 20 | ml | |
Colour | Pale yellow | | | u_color
Appearance | Slightly turbid | | Clear | u_appearance
Reaction (pH) | 6.5 | | 6 .0 - 8.0 pH | u_ph | doubtful
Specific Gravity | 1.020 | | 1.005 - 1.030 | u_sg
""",
    )
    sheet.section("CHEMICAL EXAMINATION", x=70, panel="URINE EXAMINATION")
    sheet.print_rows(
        grid,
        """
Protein | 1+ | | Nil | u_protein
Glucose | Nil | | Nil | u_glucose
Ketone Bodies | Absent | | Absent | u_ketones
Bile Salts | Absent | | Absent |
Bile Pigments | Absent | | Absent |
Urobilinogen | Normal | | Normal | u_urobili
""",
    )
    sheet.section("MICROSCOPIC EXAMINATION", x=70, panel="URINE EXAMINATION")
    sheet.print_rows(
        grid,
        """
Pus Cells | 8-10 | /hpf | 0 - 5 | u_wbc | doubtful
RBC | 1-2 | /hpf | Nil | u_rbc
Epithelial Cells | 0 - 5 | /hpf | 0 - 5 | u_epi
Casts | Absent | | Absent | u_casts
Crystals | Ca. oxalate + | | Absent |
Bacteria | Present (+) | | Absent | u_bact
""",
    )
    sheet.close()
    sheet.down(10)
    sheet.say(200, "----- End of Report -----")


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
    sheet.begin(lambda s: _clinic(s, "Metro Scan & Labs", "Mrs. SAMPLE DEVI", "61Y/F"))
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
        _clinic(sheet, "Prayog Health Labs", "Mr. DRISHTANT", "41 Yrs / Male")
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
        lambda s: _clinic(s, "Lotus Hormone Lab", "Mrs. PRATIK KUMARI", "31Y/F")
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
    sheet.begin(lambda s: _clinic(s, "Vikas Checkup Point", "Mr. NIDARSHAN", "50Y/M"))
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
