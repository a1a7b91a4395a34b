"""Health checks, wards and flowsheets: dates across, times down, two columns."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells


def _us_head(sheet: Sheet, name: str, patient: str) -> None:
    letterhead(sheet, name, "CLIA 00D0000000   100 Placeholder Rd")
    sheet.y = 70
    two_blocks(
        sheet,
        [("Patient", patient), ("DOB", "07/19/1958"), ("Sex", "Male")],
        [("Collected", "02/14/2024 06:10"), ("Reported", "02/14/2024 11:42")],
    )
    sheet.down(10)
    page_footer(sheet, name)


@layout("fifth-jp-health-check", size=8)
def jp_health_check(sheet: Sheet) -> None:
    """Range first, this year beside the two before, letters for low and high before."""
    grid = Grid(
        columns=columns(
            "name@40=Item",
            "unit@170=Unit",
            "range@225=Standard value",
            "flag@318r",
            "value@350r=This time",
            "last@420r=Last time",
            "older@500r=Time before last",
        ),
        size=8,
        leading=12,
        rules="boxes",
        cells=lambda row: {
            **plain_cells(row),
            "last": row.option("last"),
            "older": row.option("older"),
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Misemono Health Screening Center", "1-0 Kakuu, Chuo-ku")
        sheet.y = 70
        two_blocks(
            sheet,
            [("Name", "KAKUU TARO"), ("Date of birth", "1969/03/02"), ("Sex", "Male")],
            [("Date of examination", "2024/05/16"), ("ID", "7712-004")],
        )
        sheet.down(10)
        page_footer(sheet, "Overall judgment: B (slight abnormality)")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "Liver function",
            """
AST(GOT) | 28 | U/L | 10 - 30 | ast | last=25;older=24
ALT(GPT) | 41 | U/L | 5 - 30 | alt | last=33;older=29
Gamma-GTP | 72 | U/L | 0 - 50 | ggt | last=61;older=58
ALP(IFCC) | 68 | U/L | 38 - 113 | alp | last=70;older=66
Total protein | 7.2 | g/dL | 6.5 - 7.9 | protein | last=7.3;older=7.1
""",
        ),
        (
            "Lipids",
            """
HDL cholesterol | 38 | mg/dL | 40 - 119 | hdl | last=41;older=44
LDL cholesterol | 141 | mg/dL | 60 - 119 | ldl | last=133;older=128
Neutral fat | 188 | mg/dL | 30 - 149 | trig | last=160;older=151
""",
        ),
        (
            "Glucose metabolism",
            """
Fasting blood sugar | 104 | mg/dL | 0 - 99 | glucose_fasting | last=101;older=97
HbA1c(NGSP) | 5.8 | % | 0.0 - 5.5 | a1c | last=5.7;older=5.6
""",
        ),
        (
            "Blood",
            """
White blood cell | 6.1 | 10^3/uL | 3.1 - 8.4 | wbc | last=5.8;older=6.4
Hemoglobin | 15.2 | g/dL | 13.1 - 16.3 | hgb | last=15.0;older=15.1
Uric acid | 7.4 | mg/dL | 2.1 - 7.0 | urate | last=6.9;older=6.8
""",
        ),
    ):
        sheet.section(panel)
        for row in sheet.read(rows):
            sheet.print_row(grid, row)
            for key in ("last", "older"):
                before = Row(row.name, row.option(key), options={"optional": ""})
                sheet.rows.append(truth_of(before, sheet.panel))
    sheet.close()


@layout("fifth-us-dates-across", page_size=LETTER, size=8)
def dates_across(sheet: Sheet) -> None:
    """A ward's cumulative table: four draws across, comments between the rows."""
    grid = Grid(
        columns=columns(
            "name@40=Component",
            "range@150=Latest Ref Range & Units",
            "a@310r=02/11/24",
            "b@380r=02/12/24",
            "c@450r=02/13/24",
            "value@530r=02/14/24",
        ),
        size=8,
        leading=12,
        cells=lambda row: {
            "name": row.name,
            "range": f"{row.range} {row.unit}".strip(),
            "a": row.option("a"),
            "b": row.option("b"),
            "c": row.option("c"),
            "value": f"{row.value} ({row.flag})" if row.flag else row.value,
        },
    )
    sheet.begin(lambda sheet: _us_head(sheet, "Nowhere General", "INVENTED, RUFUS"))
    sheet.titles(grid)
    for panel, rows, comment in (
        (
            "Chemistry",
            """
Sodium | 133 | mmol/L | 136 - 145 | sodium | a=139;b=138;c=135
Potassium | 5.4 | mmol/L | 3.5 - 5.1 | potassium | a=4.4;b=4.8;c=5.0
Chloride | 101 | mmol/L | 98 - 107 | chloride | a=103;b=103;c=102
CO2 | 21 | mmol/L | 21 - 32 | co2 | a=24;b=23;c=22
BUN | 48 | mg/dL | 7 - 25 | bun | a=31;b=37;c=41
Creatinine | 2.31 | mg/dL | 0.70 - 1.30 | creat | a=1.62;b=1.80;c=2.04
""",
            (
                "Comment: specimen of 02/13 slightly hemolyzed, potassium "
                "may be increased."
            ),
        ),
        (
            "Hematology",
            """
WBC | 14.2 | K/uL | 4.0 - 11.0 | wbc | a=9.8;b=11.0;c=12.9
Hemoglobin | 9.1 | g/dL | 13.5 - 17.5 | hgb | a=10.4;b=9.9;c=9.4
Platelets | 188 | K/uL | 150 - 400 | plt | a=210;b=204;c=196
""",
            "Comment: called to ward at 06:50 and read back.",
        ),
    ):
        sheet.section(panel)
        for row in sheet.read(rows):
            sheet.print_row(grid, row)
            for key in "abc":
                before = Row(row.name, row.option(key), options={"optional": ""})
                sheet.rows.append(truth_of(before, sheet.panel))
        sheet.say(50, comment, size=7)
    sheet.close()


@layout("fifth-diff-both-columns", size=8.5)
def diff_both(sheet: Sheet) -> None:
    """The white cells as percent with its range, then as count with its own."""

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Gulf Sample Medical Lab", "License 00000")
        sheet.y = 70
        two_blocks(
            sheet,
            [("Patient Name", "Noor Imagined"), ("Age/Sex", "33 Years / Female")],
            [("Sample No", "G-10022"), ("Collected", "02/06/2024 10:05")],
        )
        sheet.down(10)
        page_footer(sheet, "Authorised by: Dr. Nobody")

    sheet.begin(head)
    grid = Grid(
        columns=columns(
            "name@40=Test", "value@210r=Result", "unit@225=Unit", "range@300=Ref. Range"
        ),
        leading=12,
    )
    sheet.section("COMPLETE BLOOD COUNT")
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
WBC | 8.12 | 10^3/uL | 4.00 - 10.00 | wbc
RBC | 4.61 | 10^6/uL | 3.80 - 4.80 | rbc
Hemoglobin | 12.2 | g/dL | 12.0 - 15.0 | hgb
Platelets | 301 | 10^3/uL | 150 - 410 | plt
""",
    )
    sheet.close()
    sheet.section("DIFFERENTIAL COUNT")
    y = sheet.y
    for x, title in (
        (40, "Test"),
        (150, "Result %"),
        (205, "Ref. Range %"),
        (300, "Result 10^3/uL"),
        (385, "Ref. Range 10^3/uL"),
    ):
        sheet.text(x, y, title, bold=True)
    sheet.down(14)
    for line in """
Neutrophils | 57.2 | 40.0 - 80.0 | 4.64 | 2.00 - 7.00 | neut_pct | neut
Lymphocytes | 33.0 | 20.0 - 40.0 | 2.68 | 1.00 - 3.00 | lymph_pct | lymph
Monocytes | 6.1 | 2.0 - 10.0 | 0.50 | 0.20 - 1.00 | mono_pct | mono
Eosinophils | 3.2 | 1.0 - 6.0 | 0.26 | 0.02 - 0.50 | eos_pct | eos
Basophils | 0.5 | 0.0 - 2.0 | 0.04 | 0.02 - 0.10 | baso_pct | baso
""".strip().splitlines():
        name, share, spread, count, span, pct_key, key = (
            part.strip() for part in line.split("|")
        )
        for x, text in zip(
            (40, 150, 205, 300, 385), (name, share, spread, count, span), strict=True
        ):
            sheet.text(x, sheet.y, text)
        sheet.down(12)
        for value, unit, limits, code in (
            (share, "%", spread, pct_key),
            (count, "10^3/uL", span, key),
        ):
            sheet.rows.append(truth_of(Row(name, value, unit, limits, code), None))


@layout("fifth-icu-flowsheet", page_size=(842, 595), size=8)
def icu_flowsheet(sheet: Sheet) -> None:
    """Times down, analytes across, the units below the titles: the last line counts."""
    sheet.begin(lambda sheet: _us_head(sheet, "Placeholder ICU", "DOE, UNREAL"))
    sheet.section("Chemistry")
    sheet.panel = None
    keys = [
        ("Sodium", "mmol/L", "135-145", "sodium"),
        ("Potassium", "mmol/L", "3.5-5.1", "potassium"),
        ("Chloride", "mmol/L", "98-107", "chloride"),
        ("Creatinine", "mg/dL", "0.7-1.3", "creat"),
        ("Glucose", "mg/dL", "70-99", "glucose"),
        ("Calcium", "mg/dL", "8.6-10.2", "calcium"),
        ("Magnesium", "mg/dL", "1.6-2.6", "magnesium"),
    ]
    for row, cells in enumerate(
        (
            ("Date/Time", *(k[0] for k in keys)),
            ("", *(k[1] for k in keys)),
            ("Ref. range", *(k[2] for k in keys)),
            ("02/13/2024 06:00", "138", "4.9", "102", "1.1", "131", "9.0", "1.9"),
            ("02/13/2024 18:00", "136", "5.0", "103", "1.2", "144", "8.8", "1.8"),
            ("02/14/2024 06:00", "131", "5.3", "99", "1.5", "152", "8.5", "1.5"),
        )
    ):
        for n, text in enumerate(cells):
            sheet.text(40 + n * 98, sheet.y, text, bold=row == 0)
            if row >= 3 and n:
                name, unit, span, key = keys[n - 1]
                options = {} if row == 5 else {"optional": ""}
                truth = Row(name, text, unit, span, key, options)
                sheet.rows.append(truth_of(truth, None))
        sheet.down(14)


@layout("fifth-uk-comments-between", size=9)
def comments_between(sheet: Sheet) -> None:
    """Long comments under single rows, values with comparators, no column titles."""

    def head(sheet: Sheet) -> None:
        sheet.text(40, 38, "Made-up NHS Trust Pathology", size=12, bold=True)
        sheet.text(
            40, 52, "Patient: NOBODY, Hugh    DOB: 03-Feb-1949   NHS: 000 000 0021"
        )
        sheet.text(
            40, 63, "Specimen: Blood   Collected 08-May-2024 09:00   Lab no: 24.0099"
        )
        sheet.y = 88

    sheet.begin(head)
    for panel, rows, comment in (
        (
            "Urea & Electrolytes",
            """
Sodium | 137 | mmol/L | 133-146 | sodium
Potassium | 5.6 | mmol/L | 3.5-5.3 | potassium
Urea | 11.2 | mmol/L | 2.5-7.8 | urea_si
Creatinine | 131 | umol/L | 59-104 | creat_si
eGFR (CKD-EPI) | 46 | mL/min/1.73m2 | | egfr
""",
            "eGFR 45-59 on two occasions over 90 days indicates CKD stage 3A. Please "
            "repeat in 3 months. Potassium above 5.5: look for haemolysis and drugs.",
        ),
        (
            "Glucose and HbA1c",
            """
Glucose (random) | 9.8 | mmol/L | | glucose_si
HbA1c | 51 | mmol/mol | 20-41 | a1c_ifcc
""",
            "HbA1c of 48 mmol/mol (6.5%) or more means diabetes if confirmed; "
            "values of 42-47 mmol/mol indicate a high risk.",
        ),
        (
            "Thyroid and vitamins",
            """
TSH | <0.01 | mU/L | 0.27-4.20 | tsh
Free T4 | 31.4 | pmol/L | 11.0-22.0 | ft4_si
Vitamin B12 | >1476 | pmol/L | 145-569 | b12_si
Ferritin | 412 | ug/L | 30-400 | ferritin
""",
            "Suppressed TSH with raised free T4: biochemical thyrotoxicosis.",
        ),
    ):
        sheet.section(panel)
        for row in sheet.read(rows):
            sheet.text(50, sheet.y, row.name)
            flag = {"H": "*", "L": "*"}.get(row.flag, "")
            sheet.text(260, sheet.y, row.value, align="r")
            sheet.text(264, sheet.y, flag)
            sheet.text(280, sheet.y, row.unit)
            sheet.text(390, sheet.y, f"[{row.range}]" if row.range else "")
            sheet.down(12)
            sheet.rows.append(truth_of(row, panel))
        sheet.prose(60, 460, comment, size=8)
        sheet.down(6)
