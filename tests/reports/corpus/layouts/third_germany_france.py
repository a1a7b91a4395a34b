"""Awkward prints of Germany, Austria, France and Switzerland."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, pairs_block, two_blocks
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


@layout("third-de-character-graph", font="Courier", size=8.5)
def character_graph(sheet: Sheet) -> None:
    """Typed sheet; a scale of signs between range and end; plus and minus flags."""

    def head(sheet: Sheet) -> None:
        sheet.text(40, 36, "MVZ Labor Musterau GbR")
        sheet.text(
            40, 47, "Patient: Beispiel, Gerlinde   geb. 12.03.1949  (w)   Kasse: AOK"
        )
        sheet.text(
            40,
            58,
            "Tagesnr.: 2213   Eingang: 07.05.2024 11:02   Ausdruck: 07.05.2024 17:40",
        )
        sheet.y = 82

    sheet.begin(head)
    sheet.say(
        40,
        f"{'Analyse':<24}{'Ergebnis':>10}   {'Einheit':<12}{'Referenz':<16}Grafik",
        gap=14,
    )
    for panel, rows in (
        (
            "Hämatologie",
            """
Leukozyten | 4,1 | Tsd./µl | 3,9 - 10,4 | wbc
Erythrozyten | 3,71 | Mio./µl | 3,90 - 5,20 | rbc
Hämoglobin | 11,2 | g/dl | 11,6 - 15,5 | hgb
Hämatokrit | 34,1 | % | 34,0 - 45,5 | hct
MCV | 91,9 | fl | 80,0 - 96,0 | mcv
Thrombozyten | 222 | Tsd./µl | 160 - 370 | plt
""",
        ),
        (
            "Klinische Chemie",
            """
Natrium | 134 | mmol/l | 135 - 145 | sodium
Kalium | 4,7 | mmol/l | 3,5 - 5,1 | potassium
Calcium | 2,31 | mmol/l | 2,20 - 2,55 | calcium_si
Kreatinin (enzym.) | 1,24 | mg/dl | 0,50 - 0,90 | creat
GFR (CKD-EPI 2009) | 43 | ml/min/1,73 | > 60 | egfr
Harnstoff | 58 | mg/dl | 17 - 48 | urea
Alk. Phosphatase | 77 | U/l | 35 - 105 | alp
Bilirubin gesamt | 0,4 | mg/dl | bis 1,2 | bili
Eisen | 49 | µg/dl | 37 - 145 | iron
Transferrin | 3,1 | g/l | 2,0 - 3,6 | transferrin
CRP | 12,4 | mg/l | bis 5,0 | crp
""",
        ),
    ):
        sheet.say(40, panel, bold=True, gap=13, font="Courier")
        sheet.panel = panel
        for row in sheet.read(rows, decimal_comma=True):
            sign = {"H": "+", "L": "-"}.get(row.flag, " ")
            scale = {"H": "[----]*", "L": "*[----]"}.get(row.flag, "[--*-]")
            sheet.say(
                40,
                f"{row.name:<24}{row.value:>10} {sign} {row.unit:<12}"
                f"{row.range:<16}{scale}",
                gap=11,
            )
            sheet.rows.append(truth_of(row, panel))
        sheet.down(4)
    sheet.say(
        40,
        (
            "GFR-Stadien (KDIGO): G1 >=90, G2 60-89, G3a 45-59, G3b "
            "30-44, G4 15-29, G5 <15"
        ),
    )


@layout("third-de-cumulative", size=8)
def cumulative(sheet: Sheet) -> None:
    """Ward report: units and ranges before three dated columns, the newest at left."""
    grid = Grid(
        columns=columns(
            "name@40=Parameter",
            "unit@170=Einheit",
            "range@230=Normbereich",
            "value@350r=14.06.24",
            "a@415r=12.06.24",
            "b@480r=10.06.24",
        ),
        size=8,
        leading=12,
        rules="lines",
        cells=lambda row: {
            "name": row.name,
            "unit": row.unit,
            "range": row.range,
            "value": Cell(
                {"H": "↑ ", "L": "↓ "}.get(row.flag, "") + row.value,
                bold=bool(row.flag),
            ),
            "a": row.option("a"),
            "b": row.option("b"),
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Klinikum Musterstadt - Zentrallabor", "Kumulativbefund")
        sheet.y = 62
        pairs_block(
            sheet,
            40,
            [
                ("Patient", "Fiktiv, Helmut  *24.12.1941  m"),
                ("Fallnummer", "7700412"),
                ("Station", "3B"),
            ],
        )
        sheet.down(6)
        page_footer(sheet, "Seite")

    sheet.begin(head)
    for panel, rows in (
        (
            "Gerinnung",
            """
Quick | 62 | % | 70 - 130 | | a=58;b=71
INR | 1,38 | | 0,85 - 1,15 | inr | a=1,44;b=1,22
aPTT | 33,1 | s | 25,9 - 36,6 | aptt | a=34,0;b=31,8
Fibrinogen | 5,21 | g/l | 1,80 - 3,50 | fibrinogen | a=5,90;b=4,44
""",
        ),
        (
            "Enzyme / Herzmarker",
            """
CK | 141 | U/l | < 190 | ck | a=288;b=512
LDH | 261 | U/l | < 250 | ldh | a=270;b=301
Lipase | 34 | U/l | 13 - 60 | lipase | a=36;b=41
Troponin T hs | 31 | ng/l | < 14 | trop_t | a=44;b=71
NT-proBNP | 2210 | ng/l | < 450 | ntprobnp | a=2544;b=3020
Procalcitonin | 0,31 | ng/ml | < 0,50 | procalc | a=0,88;b=1,92
""",
        ),
    ):
        sheet.section(panel, size=9)
        sheet.titles(grid)
        for row in sheet.read(rows, decimal_comma=True):
            sheet.print_row(grid, row)
            for key in ("a", "b"):
                sheet.rows.append(
                    truth_of(
                        Row(row.name, row.option(key), options={"optional": ""}), panel
                    )
                )
        sheet.close()


@layout("third-at-befund", font="Vera", size=8)
def austrian(sheet: Sheet) -> None:
    """Result with flag arrows left; range first, unit last; urine block in words."""
    grid = Grid(
        columns=columns(
            "name@50=Untersuchung",
            "range@220=Referenzwerte",
            "flag@330",
            "value@345=Wert",
            "unit@410=Einheit",
        ),
        font="Vera",
        size=8,
        leading=12.5,
        cells=lambda row: (
            plain_cells(row)
            | {
                "flag": {"H": ">>", "L": "<<", "A": ">>"}.get(row.flag, ""),
                "value": Cell(row.value, bold=True),
            }
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Labor Dr. Erfunden & Partner", "Beispielgasse 1, 0000 Wien")
        sheet.y = 70
        two_blocks(
            sheet,
            [("Patient/in", "NIEMAND Franziska"), ("SVNR / Geb.", "0000 010190")],
            [("Probe", "440219"), ("Befund vom", "03.07.2024")],
        )
        sheet.down(10)
        page_footer(sheet, "Endbefund")

    sheet.begin(head)
    for panel, rows in (
        (
            "LIPIDSTOFFWECHSEL",
            """
Cholesterin | 201 | mg/dl | bis 200 | chol
HDL-Cholesterin | 71 | mg/dl | über 50 | hdl | doubtful
LDL-Cholesterin (berechnet) | 109 | mg/dl | bis 115 | ldl
Triglyzeride | 104 | mg/dl | bis 150 | trig
""",
        ),
        (
            "SCHILDDRÜSE",
            """
TSH | 5,12 | µU/ml | 0,27 - 4,20 | tsh
fT3 | 3,1 | pg/ml | 2,0 - 4,4 | ft3
fT4 | 1,08 | ng/dl | 0,93 - 1,70 | ft4
TPO-AK | 214 | IU/ml | bis 34 | tpo
""",
        ),
        (
            "HARNSTATUS (Spontanharn)",
            """
Leukozyten | negativ | | negativ | u_leuk
Nitrit | negativ | | negativ | u_nitrite
pH-Wert | 6,0 | | 5,0 - 7,5 | u_ph
Eiweiß | + | | negativ | u_protein | flag=A
Glucose | normal | | normal | u_glucose
Spez. Gewicht | 1,018 | | 1,010 - 1,030 | u_sg
""",
        ),
    ):
        sheet.section(panel, x=50, size=9)
        sheet.titles(grid)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
        sheet.close()


@layout("third-ch-romandie", font="Times-Roman", size=9)
def swiss(sheet: Sheet) -> None:
    """Decimal points with French words, flag signs, results of SI units in boxes."""
    grid = Grid(
        columns=columns(
            "name@50=Paramètre",
            "flag@225",
            "value@270r=Valeur",
            "unit@280=Unité",
            "range@350=Intervalle",
            "note@440=",
        ),
        font="Times-Roman",
        size=9,
        leading=12,
        rules="boxes",
        left=46,
        right=520,
        cells=lambda row: (
            plain_cells(row) | {"flag": {"H": "++", "L": "--"}.get(row.flag, "")}
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet, "Laboratoire du Lac Imaginaire SA", "0000 Ville   Tél. 000 000 00 00"
        )
        sheet.y = 66
        pairs_block(
            sheet,
            50,
            [
                ("Patient", "M. Exemple Aloïs, 19.01.1970, M"),
                ("Réception", "12.09.2024 14:20"),
                ("Médecin", "Dr Rien"),
            ],
        )
        sheet.down(8)

    sheet.begin(head)
    for panel, rows in (
        (
            "Chimie (sérum)",
            """
Sodium | 138 | mmol/l | 136 - 145 | sodium
Potassium | 5.3 | mmol/l | 3.5 - 5.1 | potassium
Créatinine | 88 | µmol/l | 62 - 106 | creat_si
Glucose | 5.9 | mmol/l | 3.9 - 5.6 | glucose_si
Acide urique | 421 | µmol/l | 202 - 417 | urate_si
ASAT | 31 | U/l | < 50 | ast
ALAT | 58 | U/l | < 50 | alt
CRP | 3 | mg/l | < 5 | crp
""",
        ),
        (
            "Lipides",
            """
Cholestérol total | 5.9 | mmol/l | < 5.0 | chol_si
Cholestérol HDL | 1.31 | mmol/l | > 1.00 | hdl_si
Cholestérol LDL | 3.9 | mmol/l | < 3.0 | ldl_si
Triglycérides | 1.52 | mmol/l | < 1.70 | trig_si
""",
        ),
    ):
        sheet.section(panel, x=50, size=10)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()
