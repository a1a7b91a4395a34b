"""Lists of telephones and records, shares beside counts, dates over titles."""

from __future__ import annotations

from tests.reports.corpus.printed import read_rows, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells


@layout("sixth-phone-range-under-name", page_size=(320, 640), size=9)
def range_under_name(sheet: Sheet) -> None:
    """The range and its unit under the name, the value alone on the right."""
    sheet.begin()
    sheet.say(16, "Lab report", size=13, gap=14)
    sheet.say(16, "11 Mar 2024 - Invented Labs", size=7, gap=24)
    rows = sheet.read(
        """
Hemoglobin | 13.9 | g/dL | 12.0-15.5 | hgb
White Blood Cells | 11.6 | 10^3/µL | 4.0-11.0 | wbc
Platelets | 318 | 10^3/µL | 150-400 | plt
Fasting Glucose | 92 | mg/dL | 70-99
ALT (SGPT) | 18 | U/L | 7-40
TSH | 0.21 | µIU/mL | 0.4-4.0 | tsh
Vitamin D, 25-OH | 33 | ng/mL | 30-100
"""
    )
    states = {"H": "High", "L": "Low"}
    for row in rows:
        sheet.text(16, sheet.y, row.name)
        sheet.text(300, sheet.y, row.value, bold=True, align="r")
        sheet.text(16, sheet.y + 10, f"{row.range} {row.unit}", size=7, colour=GREY)
        state = states.get(row.flag, "Normal")
        sheet.text(300, sheet.y + 10, state, size=7, align="r")
        sheet.down(32)
    sheet.rows += [truth_of(row, None) for row in rows]


@layout("sixth-br-share-and-count-titled", size=9)
def share_and_count(sheet: Sheet) -> None:
    """Units for titles: shares and counts, behind both the ranges of both."""
    sheet.begin()
    sheet.say(40, "Laboratório Fictício Diagnósticos", size=13, gap=24)
    sheet.say(40, "Cliente: EXEMPLO    Data de nascimento: 02/05/1980", gap=24)
    xs = (40, 200, 260, 330, 430)
    for x, title in zip(
        xs,
        ("Fórmula leucocitária", "%", "/mm3", "Ref. %", "Ref. /mm3"),
        strict=True,
    ):
        sheet.text(x, sheet.y, title, bold=True)
    sheet.down(14)
    rows = read_rows(
        """
Segmentados | 58,0 | % | 40,0 a 70,0
Segmentados | 4.553 | /mm3 | 1.800 a 7.000
Eosinófilos | 6,0 | % | 1,0 a 5,0
Eosinófilos | 471 | /mm3 | 50 a 500
Linfócitos | 28,0 | % | 20,0 a 45,0
Linfócitos | 2.198 | /mm3 | 1.000 a 4.000
Monócitos | 7,0 | % | 2,0 a 10,0
Monócitos | 550 | /mm3 | 80 a 1.000
""",
        decimal_comma=True,
    )
    for share, count in zip(rows[::2], rows[1::2], strict=True):
        texts = (share.name, share.value, count.value, share.range, count.range)
        for x, text in zip(xs, texts, strict=True):
            sheet.text(x, sheet.y, text)
        sheet.down(12)
    sheet.rows += [truth_of(row, None) for row in rows]


@layout("sixth-fr-dates-over-titles", size=9)
def dates_over_titles(sheet: Sheet) -> None:
    """Two dates of the header on one line, over a table with earlier results."""
    grid = Grid(
        columns=columns(
            "name@43=Analyses",
            "value@203=Résultats",
            "unit@339=Unités",
            "range@390=Valeurs de réf.",
            "earlier@500=Antérieur",
        ),
        cells=lambda row: {
            **plain_cells(row),
            "value": row.value + ("  *" if row.flag else ""),
            "earlier": "1,0",
        },
    )
    sheet.begin()
    sheet.text(40, 40, "CH FICTIF - Laboratoire", bold=True)
    sheet.text(203, 40, "Nom : EXEMPLE Jean")
    sheet.text(203, 51, "Né le : 02/05/1951 (72 A) M")
    sheet.text(378, 51, "Prélevé le 11/03/2024 06:30")
    sheet.y = 84
    sheet.titles(grid)
    rows = """
Taux de prothrombine | 92 | % | 70 - 120
INR | 1,04 | | 0,85 - 1,15
TCA ratio | 1,05 | | 0,80 - 1,20
Fibrinogène | 4,31 | g/L | 2,00 - 4,00
D-Dimères | 612 | ng/mL | < 500
Vitesse de sédimentation 1ère heure | 18 | mm | < 20
Protéine C Réactive | 11,2 | mg/L | < 5,0
"""
    sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
