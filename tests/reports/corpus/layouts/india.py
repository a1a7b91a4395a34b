"""Indian laboratories: method lines, biological reference intervals, explanations."""

from __future__ import annotations

from collections.abc import Callable

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import BLUE, RED, Sheet
from tests.reports.corpus.tables import Cell, Column, Grid

Head = Callable[[Sheet], None]


def _page(lab: str, person: str, age: str, number: str, when: str) -> Head:
    def head(sheet: Sheet) -> None:
        letterhead(
            sheet,
            lab,
            "14 Sample Road, Nagarpur 400000   Phone: 022-5550 1234",
            colour=BLUE,
        )
        sheet.y = 76
        two_blocks(
            sheet,
            [
                ("Name", person),
                ("Age / Sex", age),
                ("Ref. By", "Dr. A. Placeholder"),
                ("Sample Type", "EDTA WB / SERUM"),
            ],
            [
                ("Lab No.", number),
                ("Registered", f"{when} 08:12AM"),
                ("Collected", f"{when} 08:20AM"),
                ("Reported", f"{when} 04:45PM"),
            ],
        )
        sheet.rule(40, 555, sheet.y - 4)
        sheet.down(12)
        page_footer(
            sheet, "This is a computer generated report. Not valid for legal use"
        )

    return head


@layout("in-cbc-method-below")
def cbc_method_below(sheet: Sheet) -> None:
    grid = Grid(
        columns=(
            Column("name", 44, "Test Name"),
            Column("value", 260, "Results"),
            Column("unit", 335, "Units"),
            Column("range", 430, "Bio. Ref. Interval"),
        ),
        size=9,
        leading=12,
    )
    sheet.begin(
        _page(
            "Saffron Path Labs",
            "Mr. ANIL TESTWALA",
            "46 Years / Male",
            "4401127",
            "05/03/2024",
        )
    )
    sheet.titles(grid)
    sheet.section("COMPLETE BLOOD COUNT; CBC", x=200)
    sheet.print_rows(
        grid,
        """
Hemoglobin | 12.10 | g/dL | 13.00 - 17.00 | hgb | below=(Photometry)
Packed Cell Volume (PCV) | 38.30 | % | 40.00 - 50.00 | hct | below=(Calculated)
RBC Count | 4.40 | mill/mm3 | 4.50 - 5.50 | rbc | below=(Electrical Impedence)
MCV | 87.00 | fL | 83.00 - 101.00 | mcv | below=(Electrical Impedence)
MCH | 27.50 | pg | 27.00 - 32.00 | mch | below=(Calculated)
MCHC | 31.60 | g/dL | 31.50 - 34.50 | mchc | below=(Calculated)
Red Cell Distribution Width (RDW) | 14.90 | % | 11.60 - 14.00 | rdw | \
below=(Electrical Impedence)
Total Leukocyte Count (TLC) | 7.20 | thou/mm3 | 4.00 - 10.00 | wbc | \
below=(Electrical Impedence)
""",
    )
    sheet.section(
        "Differential Leucocyte Count (DLC)", panel="Differential Leucocyte Count"
    )
    sheet.print_rows(
        grid,
        """
Segmented Neutrophils | 61.20 | % | 40.00 - 80.00 | neut_pct
Lymphocytes | 28.40 | % | 20.00 - 40.00 | lymph_pct
Monocytes | 7.10 | % | 2.00 - 10.00 | mono_pct
Eosinophils | 3.00 | % | 1.00 - 6.00 | eos_pct
Basophils | 0.30 | % | <2.00 | baso_pct
""",
    )
    sheet.section("Absolute Leucocyte Count", panel="Absolute Leucocyte Count")
    sheet.print_rows(
        grid,
        """
Neutrophils | 4.41 | thou/mm3 | 2.00 - 7.00 | neut
Lymphocytes | 2.04 | thou/mm3 | 1.00 - 3.00 | lymph
Monocytes | 0.51 | thou/mm3 | 0.20 - 1.00 | mono
Eosinophils | 0.22 | thou/mm3 | 0.02 - 0.50 | eos
Basophils | 0.02 | thou/mm3 | 0.02 - 0.10 | baso
""",
    )
    sheet.print_rows(
        grid,
        """
Platelet Count | 138 | thou/mm3 | 150.00 - 410.00 | plt | below=(Electrical impedence)
Mean Platelet Volume | 11.8 | fL | 6.5 - 12.0 | mpv | below=(Electrical Impedence)
E.S.R. | 22 | mm/hr | 0.00 - 15.00 | esr | below=(Capillary photometry)
""",
    )
    sheet.close()
    sheet.down(6)
    sheet.say(44, "Note", bold=True)
    sheet.prose(
        52,
        480,
        "1. As per the recommendation of International council for Standardization in "
        "Hematology, the differential leucocyte counts are additionally being reported "
        "as absolute numbers of each cell in per unit volume of blood. 2. Test "
        "conducted on EDTA whole blood. 3. Interpretation Edition 2, 2018.",
    )


@layout("in-lipid-explained", size=9)
def lipid_explained(sheet: Sheet) -> None:
    """Explanation tables after each result, the worst source of false rows."""
    grid = Grid(
        columns=(
            Column("name", 44, "Test Description"),
            Column("value", 250, "Observed Value", align="c"),
            Column("unit", 310, "Unit"),
            Column("range", 400, "Biological Reference Range"),
        ),
        size=9,
        leading=12,
        rules="lines",
        cells=lambda row: {
            "name": row.name,
            "value": Cell(row.value, bold=bool(row.flag)),
            "unit": row.unit,
            "range": row.range,
        },
    )
    sheet.begin(
        _page(
            "Chandan Clinical Laboratory",
            "Mrs. MEERA NAMUNA",
            "52 Yrs / F",
            "SMP-77120",
            "18-Jan-2024",
        )
    )
    sheet.section("BIOCHEMISTRY", x=260, panel=None)
    sheet.section("LIPID PROFILE, SERUM")
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Cholesterol Total | 236 | mg/dl | Desirable : < 200¶Borderline High : 200 - 239¶\
High : >= 240 | chol
Triglycerides | 178 | mg/dl | Normal : < 150¶Borderline High : 150 - 199¶\
High : 200 - 499¶Very High : >= 500 | trig
HDL Cholesterol | 38 | mg/dl | 40 - 60 | hdl
LDL Cholesterol | 162.4 | mg/dl | Optimal : < 100¶Near optimal : 100 - 129¶\
Borderline : 130 - 159¶High : 160 - 189 | ldl
VLDL Cholesterol | 35.6 | mg/dl | 6 - 38 | vldl
Non HDL Cholesterol | 198 | mg/dl | < 130 | nonhdl
CHOL/HDL Ratio | 6.21 | Ratio | 3.5 - 5.0 | chol_hdl
LDL/HDL Ratio | 4.27 | Ratio | 0 - 3.5 | ldl_hdl
""",
    )
    sheet.close()
    sheet.down(8)
    sheet.say(44, "Interpretation:", bold=True)
    notes = Grid(
        columns=(
            Column("a", 60, "NLA - 2014 recommendations"),
            Column("b", 220, "Total cholesterol (mg/dL)"),
            Column("c", 340, "LDL cholesterol (mg/dL)"),
            Column("d", 460, "Non HDL (mg/dL)"),
        ),
        size=7.5,
        leading=11,
        rules="boxes",
    )
    sheet.titles(notes)
    for cells in (
        ("Optimal", "<200", "<100", "<130"),
        ("Above Optimal", "-", "100-129", "130 - 159"),
        ("Borderline High", "200-239", "130-159", "160 - 189"),
        ("High", ">=240", "160-189", "190 - 219"),
        ("Very High", "-", ">=190", ">=220"),
    ):
        for column, text in zip(notes.columns, cells, strict=True):
            sheet.text(column.x, sheet.y, text, size=7.5)
        sheet.down(11)
    sheet.close()
    sheet.down(6)
    sheet.section("GLYCATED HEMOGLOBIN (HbA1c), EDTA BLOOD")
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
HbA1c | 7.1 | % | 4.0 - 5.6 | a1c
Estimated Average Glucose (eAG) | 157.1 | mg/dl | | eag
""",
    )
    sheet.close()
    sheet.down(6)
    for line in (
        "As per American Diabetes Association (ADA):",
        "Reference Group                         HbA1c in %",
        "Non diabetic adults >=18 years          4.0 - 5.6",
        "At risk (Prediabetes)                   5.7 - 6.4",
        "Diagnosing Diabetes                     >= 6.5",
        "Therapeutic goals for glycemic control  Age > 19 years: < 7.0",
        "                                        Age < 19 years: < 7.5",
        "HbA1c(%)     6      7      8      9      10     11     12",
        "MPG (mg/dl)  126    154    183    212    240    269    298",
    ):
        sheet.say(60, line, font="Courier", size=7.5, gap=10)
    sheet.section("GLUCOSE FASTING, FLUORIDE PLASMA")
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        "Glucose Fasting | 141 | mg/dl | Normal: 70 - 100¶Impaired: 101 - 125¶"
        "Diabetic: >= 126 | glucose_fasting",
    )
    sheet.close()
    sheet.down(6)
    sheet.say(44, "Castelli risk index I (Chol/HDL): low < 3.5, high > 5.0", size=7.5)
    sheet.say(44, "Castelli risk index II (LDL/HDL): low < 2.5, high > 3.5", size=7.5)
    sheet.say(220, "*** End Of Report ***", gap=20)
    sheet.text(440, sheet.y, "Dr. S. Udaharan, MD Path", size=8)


@layout("in-technology-value-units", font="Vera", size=8)
def technology_value_units(sheet: Sheet) -> None:
    """Method in its own column between name and value; profile on several pages."""

    def cells(row: Row) -> dict[str, str | Cell]:
        return {
            "name": Cell(row.name, bold=True),
            "method": row.option("method", "PHOTOMETRY"),
            "value": Cell(row.value, colour=RED if row.flag else None),
            "unit": row.unit,
            "range": row.range,
        }

    grid = Grid(
        columns=(
            Column("name", 40, "TEST NAME"),
            Column("method", 235, "TECHNOLOGY"),
            Column("value", 330, "VALUE"),
            Column("unit", 385, "UNITS"),
            Column("range", 455, "REFERENCE RANGE"),
        ),
        font="Vera",
        size=7.5,
        leading=13,
        cells=cells,
    )

    def head(sheet: Sheet) -> None:
        sheet.text(40, 40, "AROGYA TESTING", size=15, bold=True)
        sheet.y = 66
        two_blocks(
            sheet,
            [
                ("NAME", "RAVI NAMOONA (29Y/M)"),
                ("REF. BY", "SELF"),
                ("TEST ASKED", "WELLNESS PROFILE C"),
            ],
            [
                ("SAMPLE COLLECTED AT", "HOME, (411000)"),
                ("BARCODE", "AB557701"),
                ("PATIENTID", "RN11820045"),
            ],
            width=110,
            size=7,
        )
        sheet.down(8)
        page_footer(sheet, "Arogya Testing, D-00 Sample Estate, Pune 411000")

    sheet.begin(head)
    for panel, rows in (
        (
            "LIVER",
            """
ALKALINE PHOSPHATASE | 82.3 | U/L | 45 - 129 | alp
BILIRUBIN - TOTAL | 1.34 | mg/dL | 0.3-1.2 | bili
BILIRUBIN -DIRECT | 0.31 | mg/dL | < 0.3 | bili_direct | doubtful
BILIRUBIN (INDIRECT) | 1.03 | mg/dL | 0-0.9 | bili_indirect | method=CALCULATED
GAMMA GLUTAMYL TRANSFERASE (GGT) | 31 | U/L | < 55 | ggt
ASPARTATE AMINOTRANSFERASE (SGOT ) | 27.6 | U/L | < 35 | ast
ALANINE TRANSAMINASE (SGPT) | 48.9 | U/L | < 45 | alt
PROTEIN - TOTAL | 7.42 | gm/dL | 5.7-8.2 | protein
ALBUMIN - SERUM | 4.51 | gm/dL | 3.2-4.8 | albumin
SERUM GLOBULIN | 2.91 | gm/dL | 2.5-3.4 | globulin | method=CALCULATED
SERUM ALB/GLOBULIN RATIO | 1.55 | Ratio | 0.9 - 2 | ag_ratio | method=CALCULATED
""",
        ),
        (
            "RENAL",
            """
BLOOD UREA NITROGEN (BUN) | 9.8 | mg/dL | 7 - 25 | bun
CREATININE - SERUM | 0.92 | mg/dL | 0.7-1.3 | creat
UREA (CALCULATED) | 20.97 | mg/dL | Adult : 17-43 | urea | method=CALCULATED;doubtful
BUN / SR.CREATININE RATIO | 10.65 | Ratio | 9:1-23:1 | buncreat | method=CALCULATED
URIC ACID | 7.8 | mg/dL | 4.2 - 7.3 | urate
CALCIUM | 9.31 | mg/dL | 8.8-10.6 | calcium
EST. GLOMERULAR FILTRATION RATE (eGFR) | 112 | mL/min/1.73 m2 | >= 90 | egfr | \
method=CALCULATED
""",
        ),
        (
            "THYROID",
            """
TOTAL TRIIODOTHYRONINE (T3) | 118 | ng/dL | 80-200 | t3 | method=E.C.L.I.A
TOTAL THYROXINE (T4) | 7.9 | µg/dL | 4.8-12.7 | t4 | method=E.C.L.I.A
TSH - ULTRASENSITIVE | 6.84 | µIU/mL | 0.54-5.30 | tsh | method=E.C.L.I.A
""",
        ),
    ):
        sheet.section(panel, panel=panel)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()
        sheet.say(40, "Please correlate with clinical conditions.", size=7)
        sheet.say(40, "Method:", size=7, bold=True)
        sheet.say(40, "ALKP - MODIFIED IFCC METHOD, CREA - ENZYMATIC JAFFE", size=6.5)
        sheet.say(40, "TSH - SANDWICH PRINCIPLE. Pregnancy reference ranges:", size=6.5)
        sheet.say(40, "1st Trimester : 0.10 - 2.50", size=6.5, gap=9)
        sheet.say(40, "2nd Trimester : 0.20 - 3.00", size=6.5, gap=9)
        sheet.say(40, "3rd Trimester : 0.30 - 3.00", size=6.5, gap=9)
        sheet.say(40, "Sample Collected on (SCT) :21 Nov 2023 07:05", size=7)
        sheet.say(40, "Sample Received on (SRT) :21 Nov 2023 14:30", size=7)
        sheet.say(40, "Sample Type : SERUM   Labcode :2111061883/RN220", size=7)
        if panel != "THYROID":
            sheet.new_page()
