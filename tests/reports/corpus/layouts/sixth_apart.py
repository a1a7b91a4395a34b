"""What stands apart from its titles: tables below notes, blocks of ranges, dates."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import read_rows, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells


def _head(sheet: Sheet, name: str, patient: str) -> None:
    letterhead(sheet, name)
    sheet.y = 62
    two_blocks(
        sheet,
        [("Name", patient), ("Age", "34 Years"), ("Gender", "Female")],
        [("Collected", "11/03/2024 08:42"), ("Reported", "11/03/2024 16:09")],
    )
    sheet.down(14)
    page_footer(sheet, name)


@layout("sixth-in-table-below-notes", size=9)
def table_below_notes(sheet: Sheet) -> None:
    """Under the first table's notes a second one, untitled, in columns of its own."""
    sheet.begin(lambda sheet: _head(sheet, "Invented Path Labs", "Ms. SAMPLE"))
    grid = Grid(
        columns=columns(
            "name@40=Test Name",
            "value@285=Results",
            "unit@350=Units",
            "range@428=Bio. Ref. Interval",
        )
    )
    sheet.titles(grid)
    sheet.section("COMPLETE BLOOD COUNT")
    first = """
Haemoglobin | 10.8 | g/dL | 12.0 - 15.0 | hgb
RBC Count | 4.21 | mill/mm3 | 3.80 - 4.80 | rbc
MCV | 81.0 | fL | 83.0 - 101.0 | mcv
Platelet Count | 312 | thou/mm3 | 150 - 410 | plt
"""
    sheet.print_rows(grid, first)
    sheet.down(8)
    for text in (
        "Note",
        "1. The differential counts are also being reported as absolute numbers",
        "2. Test conducted on EDTA whole blood",
    ):
        sheet.say(40, text, size=6, gap=8)
    sheet.down(12)
    sheet.section("THYROID PROFILE, SERUM")
    second = sheet.read(
        """
T3, Total | 1.12 | ng/mL | 0.80 - 2.00
T4, Total | 7.94 | µg/dL | 5.10 - 14.10
TSH | 6.31 | µIU/mL | 0.27 - 4.20 | tsh
"""
    )
    for row in second:
        for x, text in (
            (40, row.name),
            (180, row.value),
            (240, row.unit),
            (350, row.range),
        ):
            sheet.text(x, sheet.y, text)
        sheet.down(12)
    sheet.rows += [truth_of(row, "THYROID PROFILE, SERUM") for row in second]
    sheet.down(8)
    sheet.say(40, "PREGNANCY          REFERENCE RANGE FOR TSH", size=6, gap=9)
    for n, ends in enumerate(("0.100 - 2.500", "0.200 - 3.000", "0.300 - 3.000")):
        sheet.text(40, sheet.y, f"{('1st', '2nd', '3rd')[n]} Trimester", size=6)
        sheet.text(110, sheet.y, ends, size=6)
        sheet.down(9)


@layout("sixth-au-bare-dates", font="Courier", size=9)
def bare_dates(sheet: Sheet) -> None:
    """Dates over the results of four days; units and ranges have no titles."""
    sheet.begin()
    for text in (
        "INVENTED PATHOLOGY",
        "",
        "Patient: PERSON, SAMPLE            DOB: 02/05/1951   Sex: F",
        "Collected: 11/03/24 08:40          Reported: 11/03/24 16:05",
        "",
        "SERUM CHEMISTRY",
        "",
    ):
        sheet.say(40, text)
    days = ("04/09/22", "13/03/23", "11/09/23", "11/03/24")
    for label, texts in (
        ("Date", days),
        ("Time", ("0820", "0912", "0755", "0840")),
        ("Lab No.", ("42420001", "42420002", "42420003", "42420004")),
    ):
        sheet.text(40, sheet.y, label)
        for n, text in enumerate(texts):
            sheet.text(175 + 64 * n, sheet.y, text, align="r")
        sheet.down(12)
    rows = sheet.read(
        """
Sodium | 141 | mmol/L | (135-145) | sodium
Urea | 8.8 | mmol/L | (3.0-8.5) | urea_si
Creatinine | 92 | umol/L | (45-85) | creat_si
Potassium | 4.6 | mmol/L | (3.5-5.5) | potassium
Albumin | 40 | g/L | (35-50) | albumin
ALT | 25 | U/L | (5-30)
GGT | 44 | U/L | (5-35)
"""
    )
    for row in rows:
        sheet.text(40, sheet.y, row.name)
        for n in range(3):
            sheet.text(175 + 64 * n, sheet.y, f"{7 + n}.{n}", align="r")
        mark = "*" if row.flag else ""
        sheet.text(367, sheet.y, mark + row.value, align="r")
        sheet.text(380, sheet.y, row.unit)
        sheet.text(440, sheet.y, row.range)
        sheet.down(12)
    sheet.rows += [truth_of(row, "SERUM CHEMISTRY") for row in rows]


@layout("sixth-br-range-blocks", size=9)
def range_blocks(sheet: Sheet) -> None:
    """A block of ranges beside each result, a line for each group of people."""
    sheet.begin(lambda sheet: _head(sheet, "Laboratório Fictício", "EXEMPLO"))
    rows = read_rows(
        """
GLICOSE | 92 | mg/dL | Normal: inferior a 100 mg/dL¶Diabetes: superior a 125 mg/dL
CREATININA | 0,88 | mg/dL | Homens: 0,70 a 1,30 mg/dL¶Mulheres: 0,60 a 1,10 mg/dL
TGO (AST) | 24 | U/L | Homens: até 40 U/L¶Mulheres: até 32 U/L
T4 LIVRE | 1,17 | ng/dL | 0,70 a 1,48 ng/dL
FERRITINA | 88,4 | ng/mL | Homens: 22 a 275 ng/mL¶Mulheres: 5 a 204 ng/mL
COLESTEROL TOTAL | 171 | mg/dL | Adultos: até 190 mg/dL¶Crianças: até 170 mg/dL
TRIGLICERÍDEOS | 163 | mg/dL | Com jejum: até 150 mg/dL¶Sem jejum: até 175 mg/dL
""",
        decimal_comma=True,
    )
    for row in rows:
        sheet.say(40, row.name, bold=True, gap=11)
        sheet.text(42, sheet.y, "Material: Soro   Método: Cinético", size=7)
        sheet.text(330, sheet.y, "Valor de Referência:", size=7)
        sheet.down(10)
        leader = "." * 24
        sheet.text(42, sheet.y, f"Resultado {leader}: {row.value} {row.unit}")
        for n, band in enumerate(row.range.split("¶")):
            sheet.text(330, sheet.y + 9 * n, band, size=7)
        sheet.down(34)
        sheet.rows.append(truth_of(row, None))


@layout("sixth-us-titles-again", size=8)
def titles_again(sheet: Sheet) -> None:
    """Titles anew for each test, over them a line that looks like a row."""
    grid = Grid(
        columns=columns(
            "name@43=Component",
            "value@176=Value",
            "range@250=Reference Range",
            "lab@338=Lab",
        ),
        size=8,
        cells=lambda row: {
            **plain_cells(row),
            "value": row.value + (f" ({row.flag})" if row.flag else ""),
            "range": f"{row.range} {row.unit}",
            "lab": "Invented Main Lab",
        },
    )
    sheet.begin()
    sheet.say(40, "Person, Sample (MRN 00004242)  DOB: 05/02/1948", size=8, gap=20)
    for n, row in enumerate(
        sheet.read(
            """
Troponin I, High Sensitivity | 42 | ng/L | <=20
B-Type Natriuretic Peptide | 388 | pg/mL | <100
Magnesium | 1.7 | mg/dL | 1.6-2.6 | magnesium
Lactate, Venous | 1.1 | mmol/L | 0.5-2.0
Lipase | 27 | U/L | 11-82
Phosphorus | 4.9 | mg/dL | 2.5-4.5
Procalcitonin | 0.08 | ng/mL | <0.10
"""
        )
    ):
        state = " (Abnormal)" if row.flag else ""
        sheet.text(40, sheet.y, f"{row.name} [4242000{n}]{state}", size=8)
        sheet.text(225, sheet.y, "Collected: 03/11/24 0612", size=8)
        sheet.text(335, sheet.y, "Status: Final result", size=8)
        sheet.down(13)
        sheet.titles(grid)
        sheet.print_rows(grid, [row])
        sheet.down(6)


@layout("sixth-fr-method-before-second", size=9)
def method_before_second(sheet: Sheet) -> None:
    """Each result again in a second unit, with its method in front in small print."""
    sheet.begin(lambda sheet: _head(sheet, "Laboratoire Fictif", "Mme INVENTEE"))
    sheet.text(270, sheet.y, "Résultats")
    sheet.text(356, sheet.y, "Valeurs de référence")
    sheet.down(14)
    rows = """
Glycémie à jeun | 0,98 | g/L | 0,70 à 1,05
Glycémie à jeun | 5,44 | mmol/L | 3,88 à 5,83
Créatinine | 7,4 | mg/L | 5,0 à 9,0
Créatinine | 65,5 | µmol/L | 44,3 à 79,7
Cholestérol total | 2,31 | g/L | < 2,00
Cholestérol total | 5,96 | mmol/L | < 5,16
Triglycérides | 1,12 | g/L | < 1,50
Triglycérides | 1,28 | mmol/L | < 1,71
"""
    for n, row in enumerate(read_rows(rows, decimal_comma=True)):
        method = "Enzymatique - Analyseur"
        if n % 2:
            sheet.text(43, sheet.y, method, size=5.5)
        else:
            sheet.text(43, sheet.y, row.name)
        sheet.text(305, sheet.y, row.value, align="r")
        sheet.text(309, sheet.y, row.unit)
        sheet.text(356, sheet.y, row.range)
        sheet.down(13 if n % 2 else 10)
        sheet.rows.append(truth_of(row, None))
