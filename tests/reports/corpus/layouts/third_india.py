"""Awkward prints of India and Turkey."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, pairs_block, two_blocks
from tests.reports.corpus.printed import truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import BLUE, FAINT, GREY, RED, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


def _india_head(sheet: Sheet, lab: str, patient: str) -> None:
    letterhead(sheet, lab, "NABL MC-0000   Plot 0, Sector 0, Udaharanpur", colour=BLUE)
    sheet.y = 70
    two_blocks(
        sheet,
        [
            ("Name", patient),
            ("Lab No.", "440219832"),
            ("Ref By", "SELF"),
            ("Collected", "12/6/2024 7:10:00AM"),
        ],
        [
            ("Gender / Age", "Female / 52 Years"),
            ("Report Status", "Final"),
            ("A/c Status", "P"),
            ("Reported", "12/6/2024 4:21:00PM"),
        ],
    )
    sheet.rule(40, 555, sheet.y - 4)
    sheet.down(10)
    page_footer(
        sheet,
        (
            "Tel 1800-000-0000   If test results are alarming or "
            "unexpected, contact the lab"
        ),
    )


@layout("third-in-chain-low-high-left", size=9)
def low_high_left(sheet: Sheet) -> None:
    """Low and High as words left of the value, units last, method under in brackets."""
    grid = Grid(
        columns=columns(
            "name@40=Test Report Status  Final",
            "flag@235",
            "value@300=Results",
            "range@350=Biological Reference Interval",
            "unit@495=Units",
        ),
        size=9,
        leading=11.5,
        cells=lambda row: (
            plain_cells(row)
            | {
                "flag": {"H": "High", "L": "Low"}.get(row.flag, ""),
                "value": Cell(row.value, bold=bool(row.flag)),
            }
        ),
    )
    sheet.begin(
        lambda s: _india_head(s, "NAMUNA LIFE DIAGNOSTICS LTD", "MRS. UDAHARANI DEVI")
    )
    for title, rows in (
        (
            "LIVER FUNCTION PROFILE, SERUM",
            """
BILIRUBIN, TOTAL | 0.62 | mg/dL | UPTO 1.2 | bili | \
below=METHOD : DIAZONIUM ION, BLANKED
BILIRUBIN, DIRECT | 0.18 | mg/dL | 0.00 - 0.30 | bili_direct | \
below=METHOD : DIAZOTIZATION
BILIRUBIN, INDIRECT | 0.44 | mg/dL | 0.00 - 0.60 | bili_indirect | \
below=METHOD : CALCULATED PARAMETER
TOTAL PROTEIN | 7.4 | g/dL | 6.4 - 8.3 | protein | below=METHOD : BIURET
ALBUMIN | 3.3 | g/dL | 3.5 - 5.2 | albumin | below=METHOD : BROMOCRESOL GREEN
GLOBULIN | 4.1 | g/dL | 2.0 - 4.1 | globulin
ALBUMIN/GLOBULIN RATIO | 0.8 | RATIO | 1.0 - 2.0 | ag_ratio
ASPARTATE AMINOTRANSFERASE (AST/SGOT) | 51 | U/L | UPTO 32 | ast | \
below=METHOD : UV WITHOUT P5P
ALANINE AMINOTRANSFERASE (ALT/SGPT) | 60 | U/L | UPTO 34 | alt | \
below=METHOD : UV WITHOUT P5P
ALKALINE PHOSPHATASE | 99 | U/L | 35 - 104 | alp
""",
        ),
        (
            "GLYCOSYLATED HEMOGLOBIN (HBA1C), EDTA WHOLE BLOOD",
            """
HBA1C | 8.9 | % | Non-diabetic: < 5.7¶Pre-diabetics: 5.7 - 6.4¶\
Diabetics: > or = 6.5 | a1c | doubtful;flag=H
ESTIMATED AVERAGE GLUCOSE(EAG) | 208.7 | mg/dL | < 116.0 | eag
""",
        ),
    ):
        sheet.section(title, x=40, size=9.5)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()
        sheet.say(40, "Interpretation(s)", bold=True, size=8)
        sheet.prose(
            40,
            500,
            (
                "BILIRUBIN: levels above 2.5 mg/dL appear as jaundice. AST "
                "is found in 5 organs; ratio >2:1 suggests alcohol. 1. "
                "Tietz, 6th ed. 2018, pages 400-412."
            ),
        )
        sheet.down(6)


@layout("third-in-doctor-explained", font="Helvetica", size=9.5)
def doctor_explained(sheet: Sheet) -> None:
    """Tables, each followed by a grid of ranges, then a profile; notes with numbers."""
    grid = Grid(
        columns=columns(
            "name@44=Test Name",
            "value@290=Results",
            "unit@360=Units",
            "range@440w110=Bio. Ref. Interval",
        ),
        size=9.5,
        leading=12,
    )
    guide = Grid(
        columns=columns(
            "a@70=Remarks", "b@250=Fasting (mg/dL)", "c@380=2 Hour PP (mg/dL)"
        ),
        size=8,
        leading=11,
        rules="boxes",
        left=64,
        right=500,
    )
    sheet.begin(lambda s: _india_head(s, "DR NAMUNA PATHLABS", "KUMARI NAMUNA RANI"))
    sheet.section("GLUCOSE, FASTING (F) AND POST PRANDIAL (PP), PLASMA", x=44)
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Glucose Fasting | 126.40 | mg/dL | 70.00 - 100.00 | glucose_fasting | below=(Hexokinase)
Glucose (PP) | 203.10 | mg/dL | 70.00 - 140.00 | | below=(Hexokinase)
""",
    )
    sheet.close()
    sheet.say(
        44, "Interpretation (In accordance with ADA guidelines):", size=8, bold=True
    )
    sheet.titles(guide)
    for line in (
        ("Normal", "70 - 99", "< 140"),
        ("Impaired", "100 - 125", "140 - 199"),
        ("Diabetes", ">= 126", ">= 200"),
    ):
        for column, text in zip(guide.columns, line, strict=True):
            sheet.text(column.x, sheet.y, text, size=8)
        sheet.rule(64, 500, sheet.y + 3)
        sheet.down(11)
    sheet.close()
    sheet.down(8)
    sheet.section("LIPID SCREEN, SERUM", x=44)
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Cholesterol, Total | 189.00 | mg/dL | <200.00 | chol | below=(CHO-POD)
Triglycerides | 212.00 | mg/dL | <150.00 | trig | below=(GPO-POD)
HDL Cholesterol | 36.20 | mg/dL | >50.00 | hdl | below=(Enz Immunoinhibition)
LDL Cholesterol, Calculated | 110.40 | mg/dL | <100.00 | ldl
VLDL Cholesterol,Calculated | 42.40 | mg/dL | <30.00 | vldl
Non-HDL Cholesterol | 152.80 | mg/dL | <130.00 | nonhdl
""",
    )
    sheet.close()
    sheet.say(44, "Note", bold=True, size=8)
    sheet.say(
        44,
        "1. Measurements in the same patient can show variation of 5 - 10 %.",
        size=8,
    )
    sheet.say(
        44,
        (
            "2. Lipid Association recommends screening above 20 years, "
            "LDL goal <70 if ASCVD."
        ),
        size=8,
    )
    guide2 = (
        "TREATMENT GOAL",
        "LDL CHOLESTEROL (mg/dL)",
        "NON HDL CHOLESTEROL (mg/dL)",
    )
    for line in (
        guide2,
        ("Extreme risk A", "<50", "<80"),
        ("Very high", "<50", "<80"),
        ("High", "<70", "<100"),
        ("Moderate", "<100", "<130"),
    ):
        for x, text in zip((70, 220, 380), line, strict=True):
            sheet.text(x, sheet.y, text, size=8)
        sheet.down(11)


@layout("third-in-progress-bars", font="Vera", size=8)
def progress_bars(sheet: Sheet) -> None:
    """App style: a card with a bar each, value in a bubble, range in words."""

    def head(sheet: Sheet) -> None:
        sheet.text(40, 38, "HealthNamuna Smart Report", size=15, bold=True, colour=BLUE)
        sheet.text(555, 38, "Shri Udaharan, 41 M   Booking 88210", size=8, align="r")
        sheet.y = 62
        page_footer(sheet, "Smart reports are for information; refer to the lab report")

    sheet.begin(head)
    for panel, rows in (
        (
            "Thyroid Profile",
            """
T3, Total | 121 | ng/dL | 80 - 200 | t3
T4, Total | 5.1 | µg/dL | 5.1 - 14.1 | t4 | doubtful
TSH, Ultrasensitive | 8.02 | µIU/mL | 0.27 - 4.20 | tsh
""",
        ),
        (
            "Kidney Profile",
            """
Serum Creatinine | 0.91 | mg/dL | 0.70 - 1.30 | creat
Blood Urea | 22.4 | mg/dL | 12.8 - 42.8 | urea
Uric Acid | 8.3 | mg/dL | 3.5 - 7.2 | urate
Calcium, Total | 9.0 | mg/dL | 8.6 - 10.0 | calcium
""",
        ),
    ):
        sheet.section(panel, size=12, gap=18)
        for row in sheet.read(rows):
            sheet.need(50)
            sheet.text(44, sheet.y, row.name, size=9, bold=True)
            sheet.text(
                300,
                sheet.y,
                row.value,
                size=11,
                bold=True,
                colour=RED if row.flag else BLUE,
                align="r",
            )
            sheet.text(306, sheet.y, row.unit, size=8)
            sheet.text(
                400,
                sheet.y,
                {"H": "HIGH", "L": "LOW"}.get(row.flag, "NORMAL"),
                size=8,
                bold=True,
            )
            sheet.box(44, sheet.y + 8, 80, 5, fill=FAINT, stroke=False)
            sheet.box(124, sheet.y + 8, 100, 5, fill=GREY, stroke=False)
            sheet.text(
                44,
                sheet.y + 24,
                f"Reference Range : {row.range} {row.unit}",
                size=7,
                colour=GREY,
            )
            sheet.down(42)
            sheet.rows.append(truth_of(row, panel))


@layout("third-in-village-typed", font="Courier", size=10)
def village_typed(sheet: Sheet) -> None:
    """Typed with tabs: names with dots, values with colons, ranges in brackets."""

    def head(sheet: Sheet) -> None:
        sheet.text(298, 40, "NAMUNA CLINICAL LABORATORY", size=14, bold=True, align="c")
        sheet.text(40, 62, "Pt.Name : MR. NAMUNE RAO     Age : 60 Yrs     Sex : M")
        sheet.text(40, 75, "Ref.By  : DR. KOI NAHI       Date: 02-07-2024")
        sheet.y = 100

    sheet.begin(head)
    sheet.say(220, "HAEMATOLOGY REPORT", bold=True, gap=16)
    sheet.panel = "HAEMATOLOGY REPORT"
    for row in sheet.read("""
Haemoglobin | 10.4 | gms% | 13 - 17 | hgb
Total W.B.C. Count | 11,800 | /cu.mm | 4,000 - 11,000 | wbc
Neutrophils | 74 | % | 40 - 70 | neut_pct
Lymphocytes | 20 | % | 20 - 40 | lymph_pct | doubtful
Eosinophils | 04 | % | 1 - 6 | eos_pct
Monocytes | 02 | % | 2 - 8 | mono_pct | doubtful
Basophils | 00 | % | 0 - 1 | baso_pct | doubtful
E.S.R. (1 hr) | 38 | mm | 0 - 15 | esr
Platelet Count | 2.1 | lakhs/cu.mm | 1.5 - 4.5 | plt
"""):
        sheet.say(
            40, f"{row.name:<22}: {row.value:<8} {row.unit:<12} ({row.range})", gap=14
        )
        sheet.rows.append(truth_of(row, sheet.panel))
    sheet.down(8)
    sheet.say(220, "BIOCHEMISTRY REPORT", bold=True, gap=16)
    sheet.panel = "BIOCHEMISTRY REPORT"
    for row in sheet.read("""
Blood Sugar (R) | 232 | mgs% | 70 - 140 | glucose
Blood Urea | 51 | mgs% | 15 - 40 | urea
Sr. Creatinine | 1.6 | mgs% | 0.6 - 1.4 | creat
Sr. Cholesterol | 201 | mgs% | 130 - 220 | chol
"""):
        sheet.say(
            40, f"{row.name:<22}: {row.value:<8} {row.unit:<12} ({row.range})", gap=14
        )
        sheet.rows.append(truth_of(row, sheet.panel))
    sheet.down(8)
    sheet.say(220, "SEROLOGY", bold=True, gap=16)
    sheet.panel = "SEROLOGY"
    for row in sheet.read("""
HBsAg | Non Reactive | | | hbsag
Dengue NS1 Antigen | NEGATIVE | | |
V.D.R.L. | Non Reactive | | |
Blood Group | "B" Rh POSITIVE | | |
"""):
        sheet.say(40, f"{row.name:<22}: {row.value}", gap=14)
        sheet.rows.append(truth_of(row, sheet.panel))
    sheet.down(20)
    sheet.say(380, "Lab. Technician")


@layout("third-tr-tahlil", font="Vera", size=8)
def turkish(sheet: Sheet) -> None:
    """Counts in thousands by word, range in a sentence with the unit, plain result."""
    grid = Grid(
        columns=columns(
            "name@44=Tetkik",
            "value@230=Sonuç",
            "flag@280=Durum",
            "unit@330=Birim",
            "range@410=Referans Aralığı",
        ),
        font="Vera",
        size=8,
        leading=12,
        rules="lines",
        cells=lambda row: (
            plain_cells(row) | {"flag": {"H": "Yüksek", "L": "Düşük"}.get(row.flag, "")}
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Örnek Devlet Hastanesi", "Laboratuvar Sonuç Raporu")
        sheet.y = 66
        pairs_block(
            sheet,
            44,
            [
                ("Hasta", "HAYALİ ÖRNEK"),
                ("Tarih", "05.03.2024 09:12"),
                ("Protokol", "118822"),
            ],
        )
        sheet.down(8)

    sheet.begin(head)
    sheet.section("Hemogram (Tam Kan)", x=44)
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
WBC | 8.91 | Bin/µL | 4.1 - 11.2 | wbc
RBC | 5.02 | Milyon/µL | 4.1 - 5.9 | rbc
HGB | 12.2 | g/dL | 12.5 - 16.0 | hgb
HCT | 37.9 | % | 37 - 47 | hct
MCV | 75.5 | fL | 80 - 100 | mcv
PLT | 341 | Bin/µL | 159 - 388 | plt
""",
    )
    sheet.section("Biyokimya (Serum)", x=44)
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Glukoz (Açlık) | 92 | mg/dL | 74 - 106 | glucose_fasting
Kreatinin | 0.71 | mg/dL | 0.5 - 0.9 | creat
ALT | 44 | U/L | 0 - 35 | alt
Ferritin | 5.6 | µg/L | 11 - 307 | ferritin
TSH | 1.31 | mIU/L | 0.4 - 4.2 | tsh
""",
    )
    sheet.close()


@layout("third-in-three-narrow-values", font="Times-Roman", size=10)
def semen_and_stool(sheet: Sheet) -> None:
    """Examinations in words under headings: physical, chemical, microscopic."""
    grid = Grid(
        columns=columns(
            "name@60=PARAMETERS", "value@250=OBSERVATIONS", "range@420=NORMAL"
        ),
        font="Times-Roman",
        size=10,
        leading=14,
    )
    sheet.begin(lambda s: _india_head(s, "SHRI NAMUNA HOSPITAL LAB", "BABY OF NAMUNA"))
    sheet.say(
        298, "ROUTINE EXAMINATION OF URINE", bold=True, align="c", size=12, gap=18
    )
    sheet.titles(grid)
    for title, rows in (
        (
            "PHYSICAL EXAMINATION",
            """
Quantity | 30 | ml | | | print=30 ml
Colour | Pale Yellow | | Pale Yellow | u_color
Appearance | Slightly Turbid | | Clear | u_appearance | flag=A
Reaction (pH) | Acidic (6.0) | | 4.6 - 8.0 | u_ph | doubtful
Specific Gravity | 1.015 | | 1.005 - 1.030 | u_sg
""",
        ),
        (
            "CHEMICAL EXAMINATION",
            """
Albumin | Present (+) | | Absent | u_protein | flag=A
Sugar | Absent | | Absent | u_glucose
Bile Pigments | Absent | | Absent | u_bili
""",
        ),
        (
            "MICROSCOPIC EXAMINATION",
            """
Pus Cells | 8 - 10 | /hpf | 0 - 5 /hpf | u_wbc | doubtful;print=8 - 10 /hpf
R.B.C. | 1 - 2 | /hpf | Nil | u_rbc | doubtful;print=1 - 2 /hpf
Epithelial Cells | 4 - 6 | /hpf | 0 - 5 /hpf | u_epi | doubtful;print=4 - 6 /hpf
Casts | Not Seen | | Nil | u_casts
Crystals | Calcium oxalate few | | Nil | | flag=A
""",
        ),
    ):
        sheet.section(title, x=50, size=10)
        sheet.print_rows(grid, rows)
    sheet.close()
