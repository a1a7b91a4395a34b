"""United States: urinalysis, partial reports, and the odd tables of small offices."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER, landscape

from tests.reports.corpus.heads import office_page
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import BLUE, FAINT, GREY, RED, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns


@layout("us-urinalysis", page_size=LETTER, size=9)
def urinalysis(sheet: Sheet) -> None:
    """Flag before the value; the specimen stands only in the header."""
    grid = Grid(
        columns=columns(
            "name@40=Analyte",
            "flag@215=Flag",
            "value@255=Result",
            "unit@340=Units",
            "range@420=Expected Value",
            "method@510=Method",
        ),
        leading=12.5,
    )
    sheet.begin(lambda s: office_page(s, "Tidewater Reference Lab", "PRESUME, JO A"))
    sheet.say(40, "SPECIMEN: URINE, CLEAN CATCH", bold=True)
    sheet.titles(grid)
    sheet.section("URINALYSIS, COMPLETE")
    sheet.print_rows(
        grid,
        """
Color | Yellow | | Yellow | u_color
Appearance | Cloudy | | Clear | u_appearance | flag=A
Specific Gravity | 1.031 | | 1.005-1.030 | u_sg
pH | 6.0 | | 5.0-8.0 | u_ph
Glucose | Negative | | Negative | u_glucose
Bilirubin | Negative | | Negative | u_bili
Ketones | Trace | | Negative | u_ketones | flag=A
Occult Blood | 1+ | | Negative | u_blood | flag=A
Protein | 30 | mg/dL | Negative | u_protein | flag=A
Nitrite | Positive | | Negative | u_nitrite | flag=A
Leukocyte Esterase | 2+ | | Negative | u_le | flag=A
Urobilinogen,Semi-Qn | 0.2 | mg/dL | 0.2-1.0 | u_urobili
""",
    )
    sheet.section("MICROSCOPIC EXAMINATION")
    sheet.print_rows(
        grid,
        """
WBC | 11-30 | /hpf | 0 - 5 | u_wbc | flag=A
RBC | 3-10 | /hpf | 0 - 2 | u_rbc | flag=A
Epithelial Cells (non renal) | 0-10 | /hpf | 0 - 10 | u_epi
Casts | None seen | /lpf | None seen | u_casts
Bacteria | Moderate | | None seen/Few | u_bact | flag=A
""",
    )
    sheet.section("ALBUMIN/CREATININE RATIO, RANDOM URINE")
    sheet.print_rows(
        grid,
        """
Creatinine, Urine | 118.4 | mg/dL | Not Estab. | u_creat
Albumin, Urine | 5.2 | mg/dL | Not Estab. | u_malb
Alb/Creat Ratio | 44 | mg/g creat | 0-29 | u_acr
""",
    )
    sheet.close()
    for line in (
        "                      Normal:                0 -  29",
        "                      Moderately increased: 30 - 300",
        "                      Severely increased:       >300",
    ):
        sheet.say(60, line, size=8, gap=10)
    sheet.section("CHEMISTRY, SERUM", before=8)
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Glucose | 96 | mg/dL | 70-99 | glucose
Protein, Total | 6.8 | g/dL | 6.0-8.5 | protein
Albumin | 4.3 | g/dL | 3.9-4.9 | albumin
Creatinine | 0.81 | mg/dL | 0.57-1.00 | creat
""",
    )


@layout("us-partial-report", page_size=LETTER, font="Times-Roman", size=9.5)
def partial_report(sheet: Sheet) -> None:
    """Pending tests have no value; what is printed in its place is not expected."""
    grid = Grid(
        columns=columns(
            "name@45=TEST",
            "value@235=RESULT",
            "flag@300=FLAG",
            "range@350=REFERENCE",
            "unit@450=UNITS",
        ),
        font="Times-Roman",
        size=9.5,
        rules="lines",
    )
    sheet.begin(lambda s: office_page(s, "Redwood Valley Labs", "NOONE, ALEX"))
    sheet.say(250, "*** PRELIMINARY REPORT ***", bold=True)
    sheet.titles(grid)
    sheet.section("THYROID", x=45)
    sheet.print_rows(
        grid,
        """
TSH, 3rd Generation | 0.31 | mIU/L | 0.45-4.50 | tsh
T4, Free | 1.9 | ng/dL | 0.8-1.7 | ft4
Triiodothyronine,Free,Serum | 4.8 | pg/mL | 2.0-4.4 | ft3
Thyroid Peroxidase (TPO) Ab | PENDING | | | | unanswered
Thyroglobulin Antibody | | IU/mL | 0.0-0.9 | | unanswered
""",
    )
    sheet.section("IMMUNOLOGY", x=45)
    sheet.print_rows(
        grid,
        """
Rheumatoid Arthritis Factor | <10.0 | IU/mL | <14.0 | ra
C-Reactive Protein, Quant | < 1 | mg/L | 0-10 | crp
ANA Direct | Negative | | Negative |
Sedimentation Rate-Westergren | 8 | mm/hr | 0-15 | esr
Complement C3 | | mg/dL | 82-167 | | unanswered
""",
    )
    sheet.add_truth("Thyroid Peroxidase (TPO) Ab | PENDING | | | tpo | optional")
    sheet.section("VITAMINS", x=45)
    sheet.print_rows(
        grid,
        """
Vitamin B12 | >2000 | pg/mL | 232-1245 | b12 | flag=H
Folate, Serum | >20.0 | ng/mL | >3.0 | folate
""",
    )
    sheet.close()
    sheet.down(10)
    sheet.say(45, "Result/s to follow: Thyroid Peroxidase Ab, Complement C3")
    sheet.say(45, "Tests ordered: 6   Tests pending: 2   Status: INTERIM")


@layout("us-normal-abnormal-columns", page_size=LETTER)
def normal_abnormal_columns(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@40=TEST",
            "normal@230c=NORMAL",
            "abnormal@310c=ABNORMAL",
            "unit@370=UNITS",
            "range@460=REFERENCE RANGE",
        ),
        leading=13,
        cells=lambda row: {
            "name": row.name,
            "normal": "" if row.flag else row.value,
            "abnormal": Cell(f"{row.value} {row.flag}", colour=RED) if row.flag else "",
            "unit": row.unit,
            "range": row.range,
        },
    )
    sheet.begin(lambda s: office_page(s, "Copperfield Clinical Lab", "ANYBODY, PAT"))
    sheet.titles(grid)
    sheet.section("CHEMISTRY PROFILE")
    sheet.print_rows(
        grid,
        """
GLUCOSE, FASTING | 128 | mg/dL | 65 - 99 | glucose_fasting
BLOOD UREA NITROGEN | 14 | mg/dL | 8 - 23 | bun
CREATININE, SERUM | 0.9 | mg/dL | 0.7 - 1.2 | creat
URIC ACID, SERUM | 8.4 | mg/dL | 3.4 - 7.0 | urate
GGT | 71 | U/L | 8 - 61 | ggt
LDH | 177 | U/L | 135 - 225 | ldh
CK, TOTAL | 240 | U/L | 39 - 308 | ck
AMYLASE | 55 | U/L | 28 - 100 | amylase
LIPASE | 22 | U/L | 13 - 60 | lipase
MAGNESIUM | 2.1 | mg/dL | 1.6 - 2.6 | magnesium
PHOSPHORUS | 3.4 | mg/dL | 2.5 - 4.5 | phosphate
IRON, TOTAL | 48 | mcg/dL | 50 - 180 | iron
""",
    )
    sheet.section("HORMONES")
    sheet.print_rows(
        grid,
        """
TESTOSTERONE, TOTAL | 241 | ng/dL | 250 - 1100 | testo
PSA, TOTAL | 0.8 | ng/mL | < 4.0 | psa
CORTISOL, A.M. | 13.2 | mcg/dL | 4.0 - 22.0 | cortisol_am
""",
    )


@layout("us-landscape-columns", page_size=landscape(LETTER), size=8.5)
def landscape_columns(sheet: Sheet) -> None:
    """Wide page printed column by column: the stream has no lines at all."""
    grid = Grid(
        columns=columns(
            "name@40=Test Name",
            "value@230r=Current¶Result",
            "flag@240=Flag",
            "previous@330r=Previous¶Result",
            "date@350=Previous¶Date",
            "unit@430=Units",
            "range@540=Reference¶Range",
            "lab@680=Perf.¶Lab",
        ),
        size=8.5,
        leading=11.5,
        order="column",
        cells=lambda row: {
            "name": row.name,
            "value": row.value,
            "flag": row.flag,
            "previous": row.option("prev"),
            "date": "11/02/2022" if row.option("prev") else "",
            "unit": row.unit,
            "range": row.range,
            "lab": "RV1",
        },
    )
    sheet.begin(lambda s: office_page(s, "Redwood Valley Labs", "SOMEBODY, LEE"))
    sheet.titles(grid)
    sheet.panel = "METABOLIC"
    sheet.print_rows(
        grid,
        """
Glucose | 88 | mg/dL | 70-99 | glucose | prev=91
Urea Nitrogen (BUN) | 27 | mg/dL | 7-25 | bun | prev=18
Creatinine | 1.48 | mg/dL | 0.70-1.30 | creat | prev=1.21
Sodium | 140 | mmol/L | 135-146 | sodium | prev=141
Potassium | 4.9 | mmol/L | 3.5-5.3 | potassium | prev=4.4
Chloride | 105 | mmol/L | 98-110 | chloride
Carbon Dioxide | 19 | mmol/L | 20-32 | co2
Calcium | 9.0 | mg/dL | 8.6-10.3 | calcium | prev=9.2
Total Protein | 6.6 | g/dL | 6.1-8.1 | protein | prev=6.9
Albumin | 4.0 | g/dL | 3.6-5.1 | albumin | prev=4.2
Total Bilirubin | 0.9 | mg/dL | 0.2-1.2 | bili
Alkaline Phosphatase | 88 | U/L | 35-144 | alp
AST | 41 | U/L | 10-35 | ast | prev=22
ALT | 52 | U/L | 9-46 | alt | prev=25
Hemoglobin A1c | 6.2 | % of total Hgb | <5.7 | a1c | prev=5.8
Total Cholesterol | 188 | mg/dL | <200 | chol | prev=201
HDL Cholesterol | 39 | mg/dL | >=40 | hdl | prev=42
Triglycerides | 212 | mg/dL | <150 | trig | prev=166
Direct LDL | 111 | mg/dL | <100 | ldl | prev=124
""",
    )
    sheet.close()


@layout("us-gauge-bars", page_size=LETTER)
def gauge_bars(sheet: Sheet) -> None:
    """The range is two numbers at the ends of a bar below the row."""
    sheet.begin(lambda s: office_page(s, "Meridian Wellness Labs", "WHOEVER, SKY"))
    for panel, rows in (
        (
            "Heart Health",
            """
Cholesterol | 187 | mg/dL | 100 - 199 | chol | anyrange
HDL Cholesterol | 71 | mg/dL | 39 - 100 | hdl | anyrange
Triglycerides | 62 | mg/dL | 0 - 149 | trig | anyrange
LDL Cholesterol | 104 | mg/dL | 0 - 99 | ldl | anyrange
hs-CRP | 0.6 | mg/L | 0.0 - 3.0 | hscrp | anyrange
""",
        ),
        (
            "Metabolism",
            """
Hemoglobin A1c | 5.2 | % | 4.8 - 5.6 | a1c | anyrange
Glucose | 84 | mg/dL | 65 - 99 | glucose | anyrange
TSH | 1.82 | µIU/mL | 0.45 - 4.50 | tsh | anyrange
Ferritin | 44 | ng/mL | 30 - 400 | ferritin | anyrange
""",
        ),
    ):
        sheet.section(panel, size=13, gap=20)
        for row in sheet.read(rows):
            sheet.need(44)
            sheet.text(44, sheet.y, row.name, size=10, bold=True)
            sheet.text(300, sheet.y, row.value, size=12, bold=True)
            sheet.text(350, sheet.y, row.unit, size=8, colour=GREY)
            label = {"H": "HIGH", "L": "LOW"}.get(row.flag, "IN RANGE")
            sheet.text(520, sheet.y, label, size=7)
            sheet.box(300, sheet.y + 6, 200, 5, fill=FAINT)
            sheet.box(340, sheet.y + 6, 110, 5, fill=BLUE)
            low, high = row.range.split(" - ")
            sheet.text(340, sheet.y + 20, low, size=6.5, align="c")
            sheet.text(450, sheet.y + 20, high, size=6.5, align="c")
            sheet.down(40)
            sheet.print_row(_UNSEEN, row)


_UNSEEN = Grid(columns=columns("nothing@0"), leading=0)


@layout("us-same-analyte-twice", page_size=LETTER, font="Vera", size=8)
def same_analyte_twice(sheet: Sheet) -> None:
    """One file, several tables that share names: none may be dropped as a double."""
    grid = Grid(
        columns=columns(
            "name@40=Component",
            "value@230=Result",
            "flag@290",
            "unit@330=Unit",
            "range@420=Reference",
        ),
        font="Vera",
        size=8,
        cells=lambda row: {
            "name": row.name,
            "value": row.value + {"H": " H", "L": " L"}.get(row.flag, ""),
            "unit": row.unit,
            "range": row.range,
        },
    )
    sheet.begin(lambda s: office_page(s, "Union Street Health", "PERHAPS, QUINN"))
    for panel, rows in (
        (
            "LIPID SCREEN, SERUM",
            """
Cholesterol, Total | 203 | mg/dL | <200 | chol
Triglyceride | 131 | mg/dL | <150 | trig
HDL | 47 | mg/dL | >40 | hdl
""",
        ),
        (
            "ADVANCED LIPID, SERUM",
            """
Cholesterol, Total | 203 | mg/dL | 125-200 | chol
LDL, direct | 129 | mg/dL | <100 | ldl
Non-HDL | 156 | mg/dL | <130 | nonhdl
""",
        ),
        (
            "HEMOGRAM, WHOLE BLOOD",
            """
Hemoglobin | 13.3 | g/dL | 12.0-15.5 | hgb
Platelets | 98 | K/uL | 150-400 | plt
Platelets (manual) | 141 | K/uL | 150-400 | plt_manual
WBC | 5.5 | K/uL | 4.0-10.5 | wbc
""",
        ),
        (
            "Differential",
            """
Neutrophils | 62 | % | 40-75 | neut_pct
Lymphocytes | 27 | % | 20-45 | lymph_pct
Monocytes | 8 | % | 2-10 | mono_pct
""",
        ),
        (
            "Absolute",
            """
Neutrophils | 3.4 | K/uL | 1.8-7.7 | neut
Lymphocytes | 1.5 | K/uL | 1.0-4.8 | lymph
Monocytes | 0.4 | K/uL | 0.1-1.0 | mono
""",
        ),
        (
            "PROTEINS, SERUM",
            """
Albumin | 4.1 | g/dL | 3.5-5.0 | albumin
Total Protein | 7.0 | g/dL | 6.4-8.3 | protein
""",
        ),
        (
            "PROTEINS, RANDOM URINE",
            """
Albumin | 1.4 | mg/dL | 0.0-1.9 | u_malb
Creatinine | 96 | mg/dL | | u_creat
""",
        ),
    ):
        sheet.section(panel)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()
    sheet.section("DIABETES")
    sheet.text(40, sheet.y, "HbA1c")
    sheet.text(230, sheet.y, "5.9 %")
    sheet.text(290, sheet.y, "(41 mmol/mol)")
    sheet.text(420, sheet.y, "4.0-5.6 %")
    sheet.add_truth(
        """
HbA1c | 5.9 | % | 4.0-5.6 | a1c
HbA1c | 41 | mmol/mol | | a1c_ifcc | optional
"""
    )
    sheet.down(12)


@layout("us-turned-page", page_size=landscape(LETTER), turned=True, size=9)
def turned_page(sheet: Sheet) -> None:
    """A page that only stands upright through its rotation entry."""
    grid = Grid(
        columns=columns(
            "name@60=Procedure",
            "value@300=Result",
            "range@400=Normal Range",
            "unit@520=Units",
        ),
        leading=14,
    )
    sheet.begin(lambda s: office_page(s, "Sagebrush Laboratories", "MAYBE, FRANKIE"))
    sheet.titles(grid)
    sheet.section("IRON STUDIES", x=60)
    sheet.print_rows(
        grid,
        """
Iron | 61 | ug/dL | 50-170 | iron
TIBC | 388 | ug/dL | 250-450 | tibc
% Saturation | 16 | % | 20-50 | tsat
Ferritin | 12 | ng/mL | 11-307 | ferritin
Transferrin | 290 | mg/dL | 200-360 | transferrin
""",
    )
    sheet.section("THYROID", x=60)
    sheet.print_rows(
        grid,
        """
TSH | 3.11 | uIU/mL | 0.35-4.94 | tsh
Free T4 | 0.92 | ng/dL | 0.70-1.48 | ft4
T3, Total | 101 | ng/dL | 58-159 | t3
""",
    )
