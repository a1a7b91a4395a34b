"""Prints of portals, apps and laboratory systems that are no plain table of results."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import FAINT, GREY, RED, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells

_UNSEEN = Grid(columns=columns("nothing@0"), leading=0)


def _head(sheet: Sheet, lab: str, patient: str, number: str) -> None:
    letterhead(sheet, lab, "Results line 555 010 9000")
    sheet.y = 68
    two_blocks(
        sheet,
        [("Patient", patient), ("Birth date", "1974-05-21"), ("Weight", "71 kg")],
        [("Request", number), ("Collected", "2024-07-02 07:50"), ("BSA", "1.73 m2")],
    )
    sheet.down(12)
    page_footer(sheet, f"{lab}, request {number}, printed 2024-07-03 10:11")


@layout("export-result-cards", page_size=LETTER)
def result_cards(sheet: Sheet) -> None:
    """A card for each result: name, value with unit, range, each on its own line."""

    def head(sheet: Sheet) -> None:
        sheet.text(50, 40, "My Health Record", size=15, bold=True)
        sheet.text(562, 40, "Exported 3 July 2024", size=8, align="r", colour=GREY)
        sheet.y = 64
        sheet.say(50, "Riley Nobody, born 21 May 1974", gap=16)

    sheet.begin(head)
    for panel, rows in (
        (
            "Electrolyte Panel",
            """
Sodium | 138 | mmol/L | 135 - 145 | sodium
Potassium | 5.6 | mmol/L | 3.5 - 5.1 | potassium
Chloride | 101 | mmol/L | 98 - 107 | chloride
Bicarbonate | 24 | mmol/L | 22 - 29 | co2
""",
        ),
        (
            "Iron Panel",
            """
Iron | 58 | ug/dL | 60 - 170 | iron
Ferritin | 21 | ng/mL | 13 - 150 | ferritin
Transferrin Saturation | 15 | % | 20 - 50 | tsat
""",
        ),
        (
            "Diabetes Monitoring",
            """
Hemoglobin A1c | 6.1 | % | < 5.7 | a1c
Glucose, Fasting | 107 | mg/dL | 70 - 99 | glucose_fasting
""",
        ),
    ):
        sheet.section(panel, x=50, size=12, gap=20, keep=70)
        for row in sheet.read(rows):
            sheet.need(56)
            sheet.box(50, sheet.y - 12, 512, 48, fill=None)
            sheet.text(60, sheet.y, row.name, size=10, bold=True)
            sheet.text(60, sheet.y + 14, f"{row.value} {row.unit}", size=11)
            note = {"H": "Above range", "L": "Below range"}.get(row.flag, "In range")
            sheet.text(480, sheet.y + 14, note, size=8, colour=GREY)
            sheet.text(60, sheet.y + 28, f"Reference range: {row.range}", size=8)
            sheet.print_row(_UNSEEN, row)
            sheet.down(56)


@layout("export-inline-notes", page_size=LETTER, font="Courier")
def inline_notes(sheet: Sheet) -> None:
    """A line of text for each result, no table: name, colon, value, range in words."""

    def head(sheet: Sheet) -> None:
        sheet.y = 50
        sheet.say(50, "CHART NOTE   HARLAN, SHAY   MRN 118820   DOB 05/21/1974")
        sheet.say(50, "Visit 07/02/2024   Temp 98.4 F   BP 118/76   Pulse 68")
        sheet.down(6)

    sheet.begin(head)
    sheet.add_truth(
        """
Temp | 98.4 | F | | | optional
BP | 118/76 | | | | optional
Pulse | 68 | | | | optional
"""
    )
    sheet.section("LAB RESULTS (collected 07/02/2024)", x=50, panel=None)
    for row in sheet.read(
        """
Hemoglobin | 13.2 | g/dL | 12.0-15.5 | hgb
Hematocrit | 39.8 | % | 35.0-45.0 | hct
WBC | 11.4 | K/uL | 4.0-10.5 | wbc
Platelets | 287 | K/uL | 150-400 | plt
Creatinine | 0.79 | mg/dL | 0.50-1.10 | creat
Sodium | 140 | mmol/L | 136-145 | sodium
Potassium | 3.3 | mmol/L | 3.5-5.1 | potassium
TSH | 2.04 | uIU/mL | 0.40-4.50 | tsh
LDL Cholesterol | 122 | mg/dL | 0-99 | ldl
"""
    ):
        word = {"H": " HIGH", "L": " LOW"}.get(row.flag, "")
        sheet.say(
            60, f"{row.name}: {row.value} {row.unit}{word} (Ref range: {row.range})"
        )
        sheet.print_row(_UNSEEN, row)
    sheet.section("ASSESSMENT", x=50, panel=None, before=10)
    for line in (
        "1. Hypokalemia, start KCl 20 mEq daily, recheck in 1 week.",
        "2. LDL goal < 100, discussed diet. ASCVD 10 year risk 4.1 %.",
        "3. Return in 3 months with fasting labs.",
    ):
        sheet.say(60, line)


@layout("export-low-high-columns")
def low_high_columns(sheet: Sheet) -> None:
    """Lower and upper limit stand in two columns; unit before the result."""
    grid = Grid(
        columns=columns(
            "name@50=Test",
            "unit@210=Unit",
            "value@310r=Result",
            "low@380r=Low",
            "high@440r=High",
            "flag@470=Flag",
        ),
        leading=14,
        rules="lines",
        cells=lambda row: (
            plain_cells(row)
            | {"low": row.range.split(" - ")[0], "high": row.range.split(" - ")[-1]}
        ),
    )
    sheet.begin(lambda s: _head(s, "Eastmarch Laboratory", "Robin Madeup", "E-44012"))
    sheet.titles(grid)
    sheet.section("Chemistry", x=50)
    sheet.print_rows(
        grid,
        """
Glucose | 101 | mg/dL | 70 - 99 | glucose | anyrange
Creatinine | 0.88 | mg/dL | 0.60 - 1.20 | creat | anyrange
Calcium | 9.9 | mg/dL | 8.6 - 10.3 | calcium | anyrange
Albumin | 3.3 | g/dL | 3.5 - 5.0 | albumin | anyrange
Total Protein | 6.7 | g/dL | 6.0 - 8.3 | protein | anyrange
Alkaline Phosphatase | 66 | U/L | 40 - 129 | alp | anyrange
ALT | 18 | U/L | 7 - 56 | alt | anyrange
AST | 44 | U/L | 10 - 40 | ast | anyrange
Magnesium | 1.9 | mg/dL | 1.7 - 2.2 | magnesium | anyrange
""",
    )


@layout("export-abnormal-summary", page_size=LETTER, font="Vera", size=8)
def abnormal_summary(sheet: Sheet) -> None:
    """Page one lists what is out of range; the full tables repeat it."""
    short = Grid(
        columns=columns("name@50=Out of range", "value@280=Result", "range@400=Range"),
        font="Vera",
        size=8,
        leading=14,
        cells=lambda row: {
            "name": row.name,
            "value": Cell(f"{row.value} {row.unit}", colour=RED),
            "range": row.range,
        },
    )
    full = Grid(
        columns=columns(
            "name@50=Biomarker",
            "value@240=Your value",
            "unit@320=Unit",
            "range@420=Reference",
        ),
        font="Vera",
        size=8,
        leading=14,
        rules="lines",
    )
    sheet.begin(lambda s: _head(s, "Brightwater Labs", "Jude Fabricated", "B-2209"))
    rows = sheet.read(
        """
Total Cholesterol | 244 | mg/dL | <200 | chol
LDL Cholesterol | 163 | mg/dL | <100 | ldl
HDL Cholesterol | 57 | mg/dL | >40 | hdl
Triglycerides | 119 | mg/dL | <150 | trig
hs-CRP | 4.2 | mg/L | <3.0 | hscrp
Uric Acid | 5.5 | mg/dL | 3.4-7.0 | urate
Ferritin | 511 | ng/mL | 30-400 | ferritin
Vitamin B12 | 622 | pg/mL | 232-1245 | b12
Free T4 | 1.31 | ng/dL | 0.82-1.77 | ft4
"""
    )
    out = [row for row in rows if row.flag]
    sheet.section("Summary", x=50, panel="Summary")
    sheet.titles(short)
    for row in out:
        sheet.print_row(
            short,
            Row(*_texts(row), options=row.options | {"optional": ""}),
        )
    sheet.close()
    sheet.say(50, f"{len(out)} of {len(rows)} biomarkers need your attention")
    sheet.new_page()
    sheet.section("All results", x=50, panel="All results")
    sheet.titles(full)
    for row in rows:
        sheet.print_row(full, row)


def _texts(row: Row) -> tuple[str, str, str, str, str]:
    return (row.name, row.value, row.unit, row.range, row.key)


@layout("export-unit-in-name", font="Times-Roman", size=10)
def unit_in_name(sheet: Sheet) -> None:
    """The unit stands in brackets behind the name; there is no unit column."""
    grid = Grid(
        columns=columns(
            "name@60=Determination", "value@280r=Result", "range@340=Reference values"
        ),
        font="Times-Roman",
        size=10,
        leading=14,
        cells=lambda row: {
            "name": f"{row.name} ({row.unit})",
            "value": Cell(row.value, bold=bool(row.flag)),
            "range": row.range,
        },
    )
    sheet.begin(lambda s: _head(s, "Clinica Sol", "Marian Ejemplo", "CS-118"))
    sheet.titles(grid)
    sheet.section("Blood chemistry", x=60)
    sheet.print_rows(
        grid,
        """
Glucose | 6.2 | mmol/L | 3.9 - 5.6 | glucose_si | also=Glucose (mmol/L)
Urea | 5.1 | mmol/L | 2.5 - 7.1 | urea_si | also=Urea (mmol/L)
Creatinine | 71 | µmol/L | 53 - 97 | creat_si | also=Creatinine (µmol/L)
Sodium | 139 | mmol/L | 136 - 145 | sodium | also=Sodium (mmol/L)
Potassium | 4.0 | mmol/L | 3.5 - 5.1 | potassium | also=Potassium (mmol/L)
Ferritin | 18 | µg/L | 15 - 150 | ferritin | also=Ferritin (µg/L)
Hemoglobin | 117 | g/L | 120 - 156 | hgb | also=Hemoglobin (g/L)
Albumin | 44 | g/L | 35 - 52 | albumin | also=Albumin (g/L)
""",
    )


@layout("export-newest-first", font="Helvetica", size=8.5)
def newest_first(sheet: Sheet) -> None:
    """Dated columns with the newest first; older ones may be left out."""
    grid = Grid(
        columns=columns(
            "name@40=Analyte",
            "value@180=02-Jul-2024",
            "old@250=11-Jan-2024",
            "older@320=30-Jun-2023",
            "unit@390=Units",
            "range@460=Ref Range",
        ),
        size=8.5,
        leading=13,
        rules="boxes",
        cells=lambda row: (
            plain_cells(row)
            | {
                "value": f"{row.value}{' ' + row.flag if row.flag else ''}",
                "old": row.option("old"),
                "older": row.option("older"),
            }
        ),
    )
    sheet.begin(lambda s: _head(s, "Harrow Hospital", "Sidney Notional", "HH-77120"))
    sheet.titles(grid)
    sheet.panel = "Renal profile"
    rows = sheet.read(
        """
Sodium | 137 | mmol/L | 133 - 146 | sodium | old=139;older=140
Potassium | 5.5 | mmol/L | 3.5 - 5.3 | potassium | old=4.9;older=4.8
Urea | 12.4 | mmol/L | 2.5 - 7.8 | urea_si | old=10.1;older=9.0
Creatinine | 181 | µmol/L | 59 - 104 | creat_si | old=152;older=139
Phosphate | 1.61 | mmol/L | 0.80 - 1.50 | phosphate_si | older=1.33
Albumin | 38 | g/L | 35 - 50 | albumin | old=39
Haemoglobin | 104 | g/L | 130 - 175 | hgb | old=112;older=118
Ferritin | 96 | µg/L | 30 - 400 | ferritin | old=88
"""
    )
    for row in rows:
        sheet.print_row(grid, row)
    for row in rows:
        for value in filter(None, (row.option("old"), row.option("older"))):
            sheet.add_truth(f"{row.name} | {value} | | | | optional")


@layout("export-two-unit-systems", page_size=LETTER, size=8)
def two_unit_systems(sheet: Sheet) -> None:
    """Each result in conventional units, then again in SI: the second is optional."""
    grid = Grid(
        columns=columns(
            "name@40=EXAMINATION",
            "value@170=RESULT",
            "unit@225=UNIT",
            "range@275=NORMAL VALUES",
            "si@375=SI RESULT",
            "si_unit@430=SI UNIT",
            "si_range@490=SI NORMAL VALUES",
        ),
        size=8,
        leading=13,
        cells=lambda row: (
            plain_cells(row)
            | {key: row.option(key) for key in ("si", "si_unit", "si_range")}
        ),
    )
    sheet.begin(lambda s: _head(s, "Isla Verde Clinic", "Toni Imaginario", "IV-3301"))
    sheet.titles(grid)
    sheet.panel = "BLOOD CHEMISTRY"
    rows = sheet.read(
        """
FASTING BLOOD SUGAR | 112 | mg/dL | 70 - 105 | glucose_fasting \
| si=6.2;si_unit=mmol/L;si_range=3.9 - 5.8;fixed
BLOOD UREA NITROGEN | 14 | mg/dL | 7 - 20 | bun \
| si=5.0;si_unit=mmol/L;si_range=2.5 - 7.1;fixed
CREATININE | 1.1 | mg/dL | 0.7 - 1.3 | creat \
| si=97;si_unit=umol/L;si_range=62 - 115;fixed
URIC ACID | 7.4 | mg/dL | 3.5 - 7.2 | urate \
| si=440;si_unit=umol/L;si_range=208 - 428;fixed
CHOLESTEROL | 231 | mg/dL | 150 - 200 | chol \
| si=6.0;si_unit=mmol/L;si_range=3.9 - 5.2;fixed
TRIGLYCERIDES | 122 | mg/dL | 35 - 160 | trig \
| si=1.4;si_unit=mmol/L;si_range=0.4 - 1.8;fixed
HDL | 49 | mg/dL | 30 - 70 | hdl | si=1.3;si_unit=mmol/L;si_range=0.8 - 1.8;fixed
SGPT/ALT | 31 | U/L | 0 - 41 | alt | si=31;si_unit=U/L;si_range=0 - 41;fixed
"""
    )
    for row in rows:
        sheet.print_row(grid, row)
        sheet.add_truth(
            f"{row.name} | {row.option('si')} | {row.option('si_unit')} "
            f"| {row.option('si_range')} | | optional"
        )


@layout("export-comments-between", page_size=LETTER, font="Times-Roman", size=10)
def comments_between(sheet: Sheet) -> None:
    """Remarks with numbers between the rows; a culture with drugs is optional."""
    grid = Grid(
        columns=columns(
            "name@50=Procedure",
            "value@230=Result",
            "flag@300=Abn",
            "unit@340=Units",
            "range@430=Ref Interval",
        ),
        font="Times-Roman",
        size=10,
        leading=13,
    )
    sheet.begin(lambda s: _head(s, "Summit County Lab", "Casey Wouldbe", "SC-5518"))
    sheet.titles(grid)
    sheet.section("Chemistry", x=50)
    for rows, remark in (
        (
            "Vitamin D 25-OH | 18 | ng/mL | 30-100 | vitd",
            "Deficiency is below 20, insufficiency 21-29. Assay range 4-150 ng/mL.",
        ),
        (
            "PSA | 5.1 | ng/mL | 0.0-4.0 | psa",
            "Values from 4.0 to 10.0 carry a 25 % risk. Retest after 6-8 weeks.",
        ),
        (
            "Parathyroid Hormone | 71 | pg/mL | 15-65 |",
            "Interpret with calcium: 8.6-10.3 mg/dL. Drawn at 07:50, 2 mL EDTA.",
        ),
        (
            "Testosterone | 402 | ng/dL | 264-916 | testo",
            "Adult male range based on 456 healthy men, 19 to 39 years, BMI < 30.",
        ),
        (
            "Lipase | 19 | U/L | 13-78 | lipase\nAmylase | 66 | U/L | 31-110 | amylase",
            "Haemolysis index 20. Result verified by repeat analysis x 2.",
        ),
        (
            "Urine Color | Amber | | Yellow | u_color\n"
            "Urine pH | 6.5 | | 5.0-7.5 | u_ph",
            "Specimen received 14 h after collection; limit 2 h at 20 C.",
        ),
    ):
        sheet.print_rows(grid, rows)
        sheet.say(66, remark, size=8.5, gap=12)
    sheet.close()
    sheet.section("URINE CULTURE", x=50, before=10)
    sheet.say(60, "Organism: Escherichia coli   > 100,000 CFU/mL")
    for drug, mic, verdict in (
        ("Ampicillin", ">=32", "R"),
        ("Ceftriaxone", "<=1", "S"),
        ("Ciprofloxacin", "<=0.25", "S"),
        ("Nitrofurantoin", "<=16", "S"),
    ):
        sheet.text(70, sheet.y, drug)
        sheet.text(230, sheet.y, mic)
        sheet.text(300, sheet.y, verdict)
        sheet.down(12)
        sheet.add_truth(f"{drug} | {mic} | | | | optional")
    sheet.add_truth("Organism | Escherichia coli | | | | optional")


@layout("export-trend-graph", page_size=LETTER)
def trend_graph(sheet: Sheet) -> None:
    """A small graph with axis numbers beside each result."""
    sheet.begin(lambda s: _head(s, "Clearview Heart Clinic", "Lane Conjured", "CH-90"))
    sheet.section("Lipid and glucose trends", x=50, size=12, gap=22)
    for row in sheet.read(
        """
Total Cholesterol | 191 | mg/dL | 125 - 200 | chol
LDL Cholesterol | 118 | mg/dL | 0 - 100 | ldl
HDL Cholesterol | 44 | mg/dL | 40 - 90 | hdl
Triglycerides | 145 | mg/dL | 0 - 150 | trig
Glucose | 90 | mg/dL | 70 - 99 | glucose
Hemoglobin A1c | 5.5 | % | 4.0 - 5.6 | a1c
ALT | 47 | U/L | 9 - 46 | alt
"""
    ):
        sheet.need(72)
        sheet.text(50, sheet.y, row.name, bold=True)
        sheet.text(180, sheet.y, row.value, bold=True)
        sheet.text(215, sheet.y, row.unit, colour=GREY)
        sheet.text(270, sheet.y, row.range)
        sheet.box(380, sheet.y - 10, 170, 46, fill=FAINT)
        low, high = row.range.split(" - ")
        sheet.text(374, sheet.y - 4, high, size=5.5, align="r")
        sheet.text(374, sheet.y + 34, low, size=5.5, align="r")
        for n, year in enumerate(("2021", "2022", "2023", "2024")):
            sheet.text(390 + n * 48, sheet.y + 44, year, size=5.5)
        sheet.print_row(_UNSEEN, row)
        sheet.down(66)
