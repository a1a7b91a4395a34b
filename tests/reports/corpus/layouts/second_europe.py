"""Held out, Europe: decimal commas, marks before values, a second unit below."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


@layout("second-nl-huisarts", font="Courier", size=8.5, held_out=True)
def dutch(sheet: Sheet) -> None:
    """A sign before the value, a letter for the material after the name."""
    grid = Grid(
        columns=columns(
            "name@44=Bepaling",
            "material@205=Mat.",
            "flag@245",
            "value@300r=Uitslag",
            "unit@310=Eenheid",
            "range@400=Referentiewaarden",
        ),
        font="Courier",
        size=8.5,
        leading=11.5,
        cells=lambda row: {
            **plain_cells(row),
            "flag": {"H": "+", "L": "-"}.get(row.flag, ""),
            "material": row.option("mat", "B"),
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet, "Laboratorium Verzonnen Stad", "Voorbeeldlaan 1, 0000 AA Stad"
        )
        sheet.y = 70
        two_blocks(
            sheet,
            [
                ("Patiënt", "Voorbeeld-de Test, S."),
                ("Geb.datum", "12-08-1959 (V)"),
                ("BSN", "000000000"),
            ],
            [
                ("Aanvrager", "Huisarts N. Niemand"),
                ("Afname", "18-03-2024 08:20"),
                ("Ordernr", "24W118802"),
            ],
        )
        sheet.down(8)
        page_footer(sheet, "Geautoriseerd door klinisch chemicus  RvA M000  tst. 4410")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows, note in (
        (
            "Hematologie",
            """
BSE | 28 | mm/uur | < 30 | esr
Hemoglobine | 7,2 | mmol/L | 7,5 - 10,0 | | flag=L
Hematocriet | 0,36 | L/L | 0,35 - 0,45 |
Erytrocyten | 4,1 | 10^12/L | 3,7 - 5,0 | rbc
MCV | 79 | fL | 80 - 100 | mcv
Leukocyten | 6,9 | 10^9/L | 4,0 - 10,0 | wbc
Trombocyten | 402 | 10^9/L | 150 - 400 | plt
""",
            "",
        ),
        (
            "Klinische chemie",
            """
Natrium | 139 | mmol/L | 135 - 145 | sodium | mat=S
Kalium | 4,4 | mmol/L | 3,5 - 5,0 | potassium | mat=S
Kreatinine | 94 | µmol/L | 50 - 90 | creat_si | mat=S
eGFR (CKD-EPI) | 57 | ml/min/1,73m² | > 60 | egfr | mat=S
ALAT | 21 | U/L | < 34 | alt | mat=S
gamma-GT | 35 | U/L | < 38 | ggt | mat=S
CRP | 3 | mg/L | < 10 | crp | mat=S
Ferritine | 11 | µg/L | 20 - 200 | ferritin | mat=S
Vitamine B12 | 182 | pmol/L | 150 - 700 | b12_si | mat=S
""",
            "Nierschade volgens NHG: matig verhoogd risico bij eGFR 45-59.",
        ),
        (
            "Diabetes en lipiden",
            """
Glucose nuchter (veneus) | 6,4 | mmol/L | 4,0 - 6,0 | | mat=P
HbA1c (IFCC) | 44 | mmol/mol | 20 - 42 | a1c_ifcc
Cholesterol | 6,1 | mmol/L | < 5,0 | chol_si | mat=S
HDL-cholesterol | 1,52 | mmol/L | > 1,20 | hdl_si | mat=S
Chol/HDL-ratio | 4,0 | | < 5,0 | chol_hdl | mat=S
Triglyceriden | 1,38 | mmol/L | < 2,00 | trig_si | mat=S
LDL-cholesterol | 3,96 | mmol/L | < 2,50 | ldl_si | mat=S
""",
            "Streefwaarde LDL < 70 jaar met HVZ: < 1,8 mmol/L; overig < 2,6 mmol/L.",
        ),
        (
            "Schildklier",
            """
TSH | 5,8 | mU/L | 0,4 - 4,0 | tsh | mat=S
Vrij T4 | 13,1 | pmol/L | 10,0 - 22,0 | ft4_si | mat=S
""",
            "",
        ),
    ):
        sheet.section(panel, x=44)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
        if note:
            sheet.say(60, note, size=7.5)
    sheet.close()
    sheet.down(8)
    sheet.say(44, "Mat.: B = bloed, S = serum, P = plasma   + / - = buiten referentie")


@layout("second-fr-two-units", font="Times-Roman", size=9.5, held_out=True)
def french_two_units(sheet: Sheet) -> None:
    """Each result again in another unit on the line below; earlier ones at right."""
    grid = Grid(
        columns=columns(
            "name@40",
            "value@285r",
            "unit@290",
            "range@370",
            "prev@545r",
        ),
        font="Times-Roman",
        size=9.5,
        leading=12,
        cells=lambda row: {
            "name": row.name + " " + "." * max(3, 62 - int(1.75 * len(row.name))),
            "value": Cell(("* " if row.flag else "") + row.value, bold=True),
            "unit": row.unit,
            "range": f"({row.range})" if row.range else "",
            "prev": row.option("prev"),
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet, "BIO-FICTIF Laboratoires", "Cofrac n° 8-0000 - portée sur demande"
        )
        sheet.y = 70
        two_blocks(
            sheet,
            [
                ("Patient", "M. INVENTÉ Claude"),
                ("Né(e) le", "02-07-1955 (68 ans)"),
                ("Dossier", "240402-1187"),
            ],
            [
                ("Prescripteur", "Dr PERSONNE"),
                ("Prélevé le", "02-04-2024 à 07h52"),
                ("Édité le", "02-04-2024 à 17h30"),
            ],
        )
        sheet.text(370, sheet.y + 8, "Intervalles de référence", size=7)
        sheet.text(545, sheet.y + 8, "Antériorités", size=7, align="r")
        sheet.text(545, sheet.y + 17, "11-10-2023", size=7, align="r")
        sheet.down(28)
        page_footer(sheet, "Validation biologique : Dr NÉANT   (*) hors intervalle")

    sheet.begin(head)
    for panel, below, rows in (
        (
            "BIOCHIMIE SANGUINE",
            "(Sérum - Roche Cobas)",
            """
Glycémie à jeun | 1,18 | g/L | 0,74 - 1,06 | glucose_fasting \
| prev=1,12;v2=6,55;u2=mmol/L;r2=4,11 - 5,88
Urée | 0,41 | g/L | 0,17 - 0,49 | urea | prev=0,38;v2=6,8;u2=mmol/L;r2=2,8 - 8,1
Créatinine | 10,4 | mg/L | 7,0 - 12,0 | creat | prev=10,1;v2=92;u2=µmol/L;r2=62 - 106
DFG estimé (CKD-EPI) | 76 | mL/min/1,73m² | > 60 | egfr
Acide urique | 74 | mg/L | 34 - 70 | urate | v2=440;u2=µmol/L;r2=202 - 416
Cholestérol total | 2,31 | g/L | < 2,00 | chol | prev=2,40;v2=5,96;u2=mmol/L;r2=< 5,16
Cholestérol HDL | 0,44 | g/L | > 0,40 | hdl | prev=0,42;v2=1,14;u2=mmol/L;r2=> 1,03
Triglycérides | 1,62 | g/L | < 1,50 | trig | prev=1,71;v2=1,85;u2=mmol/L;r2=< 1,71
""",
        ),
        (
            "ENZYMOLOGIE",
            "(Sérum - IFCC 37°C)",
            """
Transaminases SGOT (ASAT) | 29 | UI/L | < 40 | ast | prev=31
Transaminases SGPT (ALAT) | 45 | UI/L | < 41 | alt | prev=48
Gamma GT | 88 | UI/L | 10 - 71 | ggt | prev=90
""",
        ),
        (
            "MARQUEURS",
            "(Sérum - Électrochimiluminescence)",
            """
P.S.A. total | 2,87 | ng/mL | < 4,50 | psa | prev=2,41
25-OH Vitamine D (D2+D3) | 18,4 | ng/mL | 30,0 - 60,0 | vitd \
| v2=46,0;u2=nmol/L;r2=75,0 - 150,0
Hémoglobine glyquée (HbA1c) | 6,1 | % | 4,0 - 6,0 | a1c | prev=5,9
""",
        ),
    ):
        sheet.down(6)
        sheet.section(panel, x=sheet.width / 2, align="c", size=11)
        sheet.say(40, below, size=7)
        for row in sheet.read(rows, decimal_comma=True):
            sheet.need(30)
            sheet.print_row(grid, row)
            if row.option("v2"):
                sheet.text(285, sheet.y, row.option("v2"), align="r")
                sheet.text(290, sheet.y, row.option("u2"))
                sheet.text(370, sheet.y, f"({row.option('r2')})")
                sheet.down(12)
                [again] = sheet.read(
                    f"{row.name} | {row.option('v2')} | {row.option('u2')} | "
                    f"{row.option('r2')} | | fixed;optional",
                    decimal_comma=True,
                )
                sheet.rows.append(truth_of(again, sheet.panel))
    sheet.down(8)
    for line in (
        "Interprétation de la vitamine D (GRIO 2019) :",
        "Carence : < 10 ng/mL   Insuffisance : 10 - 30 ng/mL   Optimal : 30 - 60 ng/mL",
        "Objectif LDL selon risque (ESC 2019) : faible < 1,16 g/L, modéré < 1,00 g/L,",
        "élevé < 0,70 g/L, très élevé < 0,55 g/L",
    ):
        sheet.say(40, line, size=8)
