"""Scales, grids and letters; a discharge summary; three designs held out."""

from __future__ import annotations

from tests.reports.corpus.printed import read_rows, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells

_XS = (40, 190, 260, 330, 450)


@layout("seventh-app-value-over-scale", size=9)
def value_over_scale(sheet: Sheet) -> None:
    """A value over its scale, the ends of the range as numbers under it."""
    sheet.begin()
    sheet.say(40, "Invented Nutrition Report", size=14, gap=18)
    sheet.say(40, "Sample Person - sample taken 11 Mar 2024", size=8, gap=40)
    rows = read_rows(
        """
Ferritin | 41 | ng/mL | 30 - 400 | ferritin
Vitamin B12 | 612 | pg/mL | 200 - 900 | b12
Zinc | 58 | µg/dL | 60 - 120
Homocysteine | 12.4 | µmol/L | 5 - 12
"""
    )
    for n, row in enumerate(rows):
        low, high = row.range.split(" - ")
        sheet.text(40, sheet.y, row.name, bold=True)
        place = 250 + 40 * n
        sheet.text(place, sheet.y - 9, f"{row.value} {row.unit}", bold=True)
        sheet.rule(220, 460, sheet.y - 3, weight=2)
        sheet.text(268, sheet.y + 9, low, size=7, align="c")
        sheet.text(412, sheet.y + 9, high, size=7, align="c")
        sheet.text(480, sheet.y, {"L": "Low", "H": "High"}.get(row.flag, "Optimal"))
        sheet.down(40)
    sheet.rows += [truth_of(row, None) for row in rows]


@layout("seventh-us-discharge-medicines", size=9)
def discharge(sheet: Sheet) -> None:
    """Results between vital signs and a table of medicines with their doses."""
    sheet.begin()
    sheet.say(40, "Invented Medical Center - Discharge Summary", bold=True, gap=14)
    sheet.say(40, "Patient: Person, Sample   MRN: 424242   DOB: 05/02/1950", gap=20)
    sheet.say(40, "Vital Signs", bold=True)
    for vital in (("BP", "Pulse", "Temp"), ("132/78", "84", "98.4 F")):
        for x, text in zip(_XS, vital, strict=False):
            sheet.text(x, sheet.y, text)
        sheet.down(12)
    sheet.down(8)
    sheet.say(40, "Laboratory Results (03/11/2024)", bold=True)
    grid = Grid(
        columns=columns(
            "name@40=Test",
            "value@190=Result",
            "unit@260=Units",
            "range@330=Reference Range",
            "flag@450=Flag",
        )
    )
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
WBC | 9.4 | K/uL | 4.5 - 11.0 | wbc
Hemoglobin | 12.2 | g/dL | 13.5 - 17.5 | hgb
Creatinine | 1.41 | mg/dL | 0.70 - 1.30 | creat
Potassium | 3.4 | mmol/L | 3.5 - 5.1 | potassium
""",
    )
    sheet.close()
    sheet.down(8)
    sheet.say(40, "Discharge Medications", bold=True)
    for texts in (
        ("Medication", "Dose", "Route", "Frequency"),
        ("Furosemide", "40 mg", "oral", "Once daily"),
        ("Potassium chloride", "20 mEq", "oral", "Twice daily"),
        ("Vitamin D3", "1000 IU", "oral", "Once daily"),
    ):
        for x, text in zip(_XS, texts, strict=False):
            sheet.text(x, sheet.y, text)
        sheet.down(12)


@layout("seventh-ie-grid-of-results", size=9)
def grid_of_results(sheet: Sheet) -> None:
    """Three whole results to a line, each in a cell of a ruled grid."""
    sheet.begin()
    sheet.say(40, "Invented Clinic, Cork", bold=True, gap=14)
    sheet.say(40, "Patient: Sample Person, DOB 02/05/1966, Serum 11 March 2024", gap=24)
    rows = read_rows(
        """
Sodium | 139 | mmol/L | 135-145 | sodium
Potassium | 4.4 | mmol/L | 3.5-5.1 | potassium
Chloride | 103 | mmol/L | 98-107 | chloride
Urea | 6.1 | mmol/L | 2.5-7.8 | urea_si
Creatinine | 88 | umol/L | 62-106 | creat_si
Albumin | 41 | g/L | 35-50 | albumin
"""
    )
    for n, row in enumerate(rows):
        x = 40 + 175 * (n % 3)
        sheet.text(x, sheet.y, f"{row.name} {row.value} {row.unit} ({row.range})")
        sheet.box(x - 4, sheet.y - 10, 175, 15)
        sheet.down(15 * (n % 3 == 2))
    sheet.rows += [truth_of(row, None) for row in rows]


@layout("seventh-ar-metodo-y-vr", size=9, held_out=True)
def method_and_range_lines(sheet: Sheet) -> None:
    """A capital name, then its method, its result and its range on lines each."""
    sheet.begin()
    sheet.say(40, "Laboratorio Inventado - Buenos Aires", size=12, gap=14)
    sheet.say(40, "Paciente: EJEMPLO ANA   Protocolo 4242   Fecha: 11/03/2024", gap=24)
    rows = sheet.read(
        """
GLUCEMIA | 92 | mg/dl | 70 a 110 | glucose
UREMIA | 0,31 | g/l | 0,10 a 0,50
CREATININEMIA | 0,84 | mg/dl | 0,50 a 1,10 | creat
COLESTEROL TOTAL | 231 | mg/dl | hasta 200 | chol
TSH | 5,12 | µUI/ml | 0,27 a 4,20 | tsh
""",
        decimal_comma=True,
    )
    for row in rows:
        sheet.say(40, row.name, bold=True, gap=11)
        sheet.say(52, "Método: automatizado", size=7, colour=GREY, gap=11)
        sheet.text(52, sheet.y, f"Resultado: {row.value} {row.unit}")
        sheet.text(300, sheet.y, f"V.R.: {row.range} {row.unit}", size=8)
        sheet.down(22)
    sheet.rows += [truth_of(row, None) for row in rows]


@layout("seventh-be-abnormal-indented", font="Times-Roman", size=10, held_out=True)
def abnormal_indented(sheet: Sheet) -> None:
    """Results out of range stand to the right of the others in one wide column."""
    grid = Grid(
        columns=columns(
            "name@40=Analyse",
            "value@200=Resultaat",
            "high@245",
            "unit@300=Eenheid",
            "range@370=Referentiewaarden",
            "earlier@490=Vorige",
        ),
        font="Times-Roman",
        size=10,
        cells=lambda row: {
            **plain_cells(row),
            "value": "" if row.flag else row.value,
            "high": row.value if row.flag else "",
            "earlier": "9,9",
        },
    )
    sheet.begin()
    sheet.say(40, "Verzonnen Medisch Labo", bold=True, gap=14)
    sheet.say(40, "Patiënt: Voorbeeld Anna   02/05/1970 V   Afname: 11/03/2024", gap=20)
    sheet.titles(grid)
    rows = """
Hemoglobine | 11,2 | g/dL | 12,0 - 16,0 | hgb
Leukocyten | 6,8 | 10³/µL | 4,0 - 10,0 | wbc
Bloedplaatjes | 251 | 10³/µL | 150 - 400 | plt
Glucose | 108 | mg/dL | 70 - 100 | glucose
Natrium | 140 | mmol/L | 136 - 145 | sodium
Ureum | 31 | mg/dL | 17 - 49
Ferritine | 9 | µg/L | 15 - 150 | ferritin
"""
    sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))


@layout("seventh-sg-unit-under-value", size=9, held_out=True)
def unit_under_value(sheet: Sheet) -> None:
    """Two panels side by side; each unit stands in small print under its value."""
    sheet.begin()
    sheet.say(40, "Invented Screening Centre", bold=True, size=12, gap=14)
    sheet.say(40, "Name: Sample Person   Age: 44   Collected: 11 Mar 2024", gap=26)
    panels = (
        """
Total Cholesterol | 5.9 | mmol/L | < 5.2 | chol_si
HDL Cholesterol | 1.3 | mmol/L | > 1.0 | hdl_si
LDL Cholesterol | 3.9 | mmol/L | < 3.4 | ldl_si
Triglycerides | 1.5 | mmol/L | < 1.7 | trig_si
""",
        """
ALT | 61 | U/L | 10 - 55 | alt
AST | 33 | U/L | 10 - 45 | ast
GGT | 48 | U/L | 10 - 70 | ggt
Albumin | 44 | g/L | 35 - 50 | albumin
""",
    )
    top = sheet.y
    for left, title, text in zip(
        (40, 310), ("LIPID PANEL", "LIVER PANEL"), panels, strict=True
    ):
        sheet.y = top
        sheet.say(left, title, bold=True, gap=16)
        rows = read_rows(text)
        for row in rows:
            sheet.text(left, sheet.y, row.name)
            sheet.text(left + 110, sheet.y, row.value, bold=True)
            sheet.text(left + 110, sheet.y + 8, row.unit, size=6, colour=GREY)
            sheet.text(left + 165, sheet.y, row.range)
            sheet.down(24)
        sheet.rows += [truth_of(row, title) for row in rows]
