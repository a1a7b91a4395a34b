"""Documents built around what makes a parser invent, lose or mix up rows."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import ward_page
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Grid, columns


def _notes(sheet: Sheet, title: str, lines: list[tuple[str, ...]]) -> None:
    """An explanation table whose second column lies near the result column."""
    sheet.say(60, title, bold=True, size=8, gap=11)
    for line in lines:
        for x, text in zip((70, 245, 330, 425), line, strict=False):
            sheet.text(x, sheet.y, text, size=8)
        sheet.down(10.5)
    sheet.down(4)


@layout("trap-cutoff-tables")
def cutoff_tables(sheet: Sheet) -> None:
    """Each result is followed by the cut-offs that explain it."""
    grid = Grid(
        columns=columns(
            "name@50=Test",
            "value@240=Result",
            "unit@310=Unit",
            "range@400=Reference interval",
        ),
        leading=13,
    )
    sheet.begin(lambda s: ward_page(s, "Meadowbank Special Lab", "UNREAL, Bobbie"))
    sheet.titles(grid)
    sheet.section("CARDIAC MARKERS, SERUM", x=50)
    sheet.print_rows(grid, "NT-proBNP | 486 | pg/mL | < 125 | ntprobnp")
    _notes(
        sheet,
        "Age dependent rule-in cut-offs",
        [
            ("Age group", "NT-proBNP", "Unit", "Heart failure"),
            ("< 50 years", "> 450", "pg/mL", "likely"),
            ("50 - 75 years", "> 900", "pg/mL", "likely"),
            ("> 75 years", "> 1800", "pg/mL", "likely"),
            ("All ages", "< 300", "pg/mL", "unlikely"),
        ],
    )
    sheet.section("TOXICOLOGY, PLASMA", x=50)
    sheet.print_rows(grid, "Ethanol | 12 | mg/dL | < 10 | ")
    _notes(
        sheet,
        "Stages of influence",
        [
            ("Sobriety", "10 - 50", "mg/dL", "no apparent influence"),
            ("Euphoria", "30 - 120", "mg/dL", "mild"),
            ("Excitement", "90 - 250", "mg/dL", "impaired"),
            ("Stupor", "270 - 400", "mg/dL", "severe"),
            ("Coma", "350 - 500", "mg/dL", "life threatening"),
        ],
    )
    sheet.section("RENAL FUNCTION, SERUM", x=50)
    sheet.print_rows(
        grid,
        """
Creatinine | 1.21 | mg/dL | 0.50 - 0.90 | creat
eGFR (CKD-EPI 2021) | 49 | mL/min/1.73m² | > 60 | egfr
""",
    )
    _notes(
        sheet,
        "Chronic kidney disease",
        [
            ("Stage G1", "> 90", "normal or high"),
            ("Stage G2", "60 - 89", "mildly decreased"),
            ("Stage G3a", "45 - 59", "mildly to moderately decreased"),
            ("Stage G3b", "30 - 44", "moderately to severely decreased"),
            ("Stage G4", "15 - 29", "severely decreased"),
            ("Stage G5", "< 15", "kidney failure"),
        ],
    )
    sheet.print_rows(grid, "CKD stage | G3a | | |  | optional")
    sheet.section("THYROID, SERUM", x=50)
    sheet.print_rows(grid, "TSH | 2.91 | µIU/mL | 0.35 - 5.50 | tsh")
    _notes(
        sheet,
        "Pregnancy",
        [
            ("First trimester", "0.10 - 2.50", "µIU/mL"),
            ("Second trimester", "0.20 - 3.00", "µIU/mL"),
            ("Third trimester", "0.30 - 3.50", "µIU/mL"),
        ],
    )
    sheet.section("LIPIDS, SERUM", x=50)
    sheet.print_rows(
        grid,
        """
LDL Cholesterol | 139 | mg/dL | < 130 | ldl
HDL Cholesterol | 55 | mg/dL | > 50 | hdl
""",
    )
    _notes(
        sheet,
        "Goals by risk",
        [
            ("Very high risk", "LDL < 55", "non-HDL < 85"),
            ("High risk", "LDL < 70", "non-HDL < 100"),
            ("Low risk", "LDL < 116", "non-HDL < 145"),
            ("Castelli I", "< 3.5", "low", "> 5.0 high"),
        ],
    )
    sheet.close()
    sheet.say(50, "References", bold=True, size=8)
    for line in (
        "1. Example A, Sample B. Clin Biochem. 2020;53(4):112-119.",
        "2. Specimen C et al. Eur J Examples 2019; 40: 111 - 188.",
        "3. Working group on kidney examples. Kidney Int 2012;2:1-138.",
    ):
        sheet.say(60, line, size=7.5, gap=10)


@layout("trap-mixed-document", page_size=LETTER)
def mixed_document(sheet: Sheet) -> None:
    """Radiology, a heart trace page, an empty page; one page quotes the results."""
    grid = Grid(
        columns=columns(
            "name@50=Test Name",
            "value@240=Result",
            "unit@310=Units",
            "range@420=Normal Range",
        ),
    )
    sheet.begin(lambda s: ward_page(s, "Riverbend Health Check", "IMAGINARY, Sasha"))
    sheet.titles(grid)
    sheet.section("BIOCHEMISTRY", x=50)
    sheet.print_rows(
        grid,
        """
Glucose (Fasting) | 109 | mg/dL | 70 - 100 | glucose_fasting
Creatinine | 0.8 | mg/dL | 0.6 - 1.1 | creat
Cholesterol | 198 | mg/dL | < 200 | chol
Triglycerides | 143 | mg/dL | < 150 | trig
HDL | 48 | mg/dL | > 50 | hdl
SGPT | 29 | U/L | < 40 | alt
Uric Acid | 4.4 | mg/dL | 2.5 - 6.2 | urate
TSH | 3.9 | µIU/mL | 0.4 - 4.5 | tsh
""",
    )
    sheet.close()
    sheet.new_page()
    sheet.section("X-RAY CHEST PA VIEW", x=220, panel=None)
    for line in (
        "Both lung fields are clear. Cardiothoracic ratio 0.48 (normal < 0.50).",
        "Costophrenic angles are free. Trachea is central.",
        "IMPRESSION: No significant abnormality in 2 views.",
    ):
        sheet.say(50, line)
    sheet.section("ULTRASOUND ABDOMEN", x=220, panel=None, before=20)
    for line in (
        "Liver is normal in size (13.2 cm) with normal echotexture.",
        "Right kidney measures 9.8 x 4.1 cm. Left kidney measures 10.1 x 4.4 cm.",
        "Spleen 9.6 cm. Gall bladder wall thickness 2 mm. CBD 4 mm.",
        "Prevoid urine volume 220 ml; postvoid residue 10 ml.",
    ):
        sheet.say(50, line)
    sheet.new_page()
    sheet.section("12 LEAD ELECTROCARDIOGRAM", x=200, panel=None)
    for line in (
        "Vent. rate        72 bpm        25 mm/s  10 mm/mV",
        "PR interval      148 ms",
        "QRS duration      86 ms",
        "QT/QTc       382/401 ms",
        "P-R-T axes   45  30  52",
        "Normal sinus rhythm",
    ):
        sheet.say(50, line, font="Courier")
    sheet.new_page()
    sheet.new_page()
    sheet.section("PHYSICIAN SUMMARY", x=220, panel=None)
    sheet.prose(
        50,
        500,
        "Your fasting glucose of 109 mg/dL lies above the normal range of 70 - 100 "
        "mg/dL. HDL 48 mg/dL is a little low. All other tests, such as creatinine 0.8 "
        "mg/dL and TSH 3.9, are normal. Walk 30 minutes a day, 5 days a week. Repeat "
        "glucose and HbA1c (goal < 5.7 %) in 3 months.",
        size=9,
        gap=12,
    )
