"""Awkward prints of France: shares beside counts, earlier results, bounds in words."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells


@layout("third-fr-formule-leucocytaire", size=9)
def leucocyte_formula(sheet: Sheet) -> None:
    """Percent and count on one line; range under the column; earlier at right."""

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet,
            "Laboratoire BioExemple",
            "12 rue Fictive, 00000 Ville   Biologistes: A. Personne, B. Nul",
        )
        sheet.y = 70
        two_blocks(
            sheet,
            [("Patient", "Mme ESSAI Colette"), ("Née le", "08-11-1961")],
            [("Dossier", "240611-0418"), ("Prélevé le", "11-06-2024 à 08h12")],
        )
        sheet.down(8)
        page_footer(
            sheet, "Compte rendu d'analyses - résultats à interpréter par votre médecin"
        )

    sheet.begin(head)
    sheet.text(290, sheet.y, "Valeurs de référence", size=8)
    sheet.text(455, sheet.y, "Antériorités", size=8)
    sheet.down(8)
    sheet.text(455, sheet.y, "02-12-2023", size=8)
    sheet.down(14)
    sheet.section("HEMATOLOGIE", size=11)
    sheet.say(40, "NUMERATION GLOBULAIRE (Sang total EDTA - Cytométrie)", size=8)
    for row in sheet.read(
        """
Leucocytes | 6,92 | Giga/L | 4,00 à 10,00 | wbc | prev=7,10
Hématies | 4,38 | Tera/L | 3,80 à 5,90 | rbc | prev=4,41
Hémoglobine | 11,4 | g/dL | 11,5 à 16,0 | hgb | prev=12,2
Hématocrite | 36,1 | % | 34,0 à 46,0 | hct | prev=37,0
V.G.M. | 82,4 | fL | 80,0 à 100,0 | mcv | prev=83,9
Plaquettes | 288 | Giga/L | 150 à 400 | plt | prev=301
""",
        decimal_comma=True,
    ):
        leader = "." * max(3, 46 - len(row.name))
        sheet.text(46, sheet.y, f"{row.name} {leader}", size=9)
        sheet.text(
            235, sheet.y, ("* " if row.flag else "") + row.value, bold=True, align="r"
        )
        sheet.text(242, sheet.y, row.unit)
        sheet.text(300, sheet.y, row.range, size=8)
        sheet.text(460, sheet.y, row.option("prev"), size=8, colour=GREY)
        sheet.down(13)
        sheet.rows.append(truth_of(row, "HEMATOLOGIE"))
        sheet.rows.append(
            truth_of(
                Row(row.name, row.option("prev"), options={"optional": ""}),
                "HEMATOLOGIE",
            )
        )
    sheet.say(40, "FORMULE LEUCOCYTAIRE", size=8)
    for row in sheet.read(
        """
Polynucléaires neutrophiles | 4,01 | Giga/L | 1,80 à 7,50 | neut | pct=58,0
Polynucléaires éosinophiles | 0,62 | Giga/L | 0,02 à 0,50 | eos | pct=9,0
Polynucléaires basophiles | 0,05 | Giga/L | < 0,20 | baso | pct=0,7
Lymphocytes | 1,80 | Giga/L | 1,00 à 4,00 | lymph | pct=26,0
Monocytes | 0,44 | Giga/L | 0,20 à 1,00 | mono | pct=6,3
""",
        decimal_comma=True,
    ):
        sheet.text(46, sheet.y, row.name)
        sheet.text(185, sheet.y, f"{row.option('pct')} %", align="r")
        sheet.text(205, sheet.y, "soit", size=8)
        sheet.text(235, sheet.y, row.value, bold=True, align="r")
        sheet.text(242, sheet.y, row.unit)
        sheet.text(300, sheet.y, row.range, size=8)
        sheet.down(13)
        sheet.rows.append(truth_of(row, "FORMULE LEUCOCYTAIRE"))
        sheet.rows.append(
            truth_of(
                Row(row.name, row.option("pct"), "%", options={"optional": ""}),
                "FORMULE LEUCOCYTAIRE",
            )
        )
    sheet.section("BIOCHIMIE SANGUINE", size=11, before=10)
    for row in sheet.read(
        """
Glycémie à jeun | 1,08 | g/L | 0,74 à 1,06 | |
Créatinine | 71 | µmol/L | 45 à 84 | creat_si
Cholestérol total | 2,31 | g/L | Inf. à 2,00 | |
Ferritine | 9 | µg/L | 15 à 150 | ferritin
Protéine C réactive | < 1,0 | mg/L | Inf. à 5,0 | crp
""",
        decimal_comma=True,
    ):
        sheet.text(46, sheet.y, f"{row.name} " + "." * max(3, 46 - len(row.name)))
        sheet.text(235, sheet.y, row.value, bold=True, align="r")
        sheet.text(242, sheet.y, row.unit)
        sheet.text(300, sheet.y, row.range, size=8)
        sheet.down(13)
        sheet.rows.append(truth_of(row, "BIOCHIMIE SANGUINE"))


@layout("third-fr-ville-inf-sup", font="Helvetica", size=9)
def french_town(sheet: Sheet) -> None:
    """Name in capitals, two unit systems stacked, range by words, N for normal."""
    grid = Grid(
        columns=columns(
            "name@40=",
            "value@230r=Résultats",
            "unit@236",
            "range@330=Normales",
            "prev@470=Antérieurs",
        ),
        size=9,
        leading=13,
        cells=lambda row: plain_cells(row) | {"prev": row.option("prev")},
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet,
            "SELAS LABO DU CENTRE FICTIF",
            "Dr X. Néant - Pharmacien biologiste",
            x=200,
        )
        sheet.y = 72
        sheet.say(
            40,
            (
                "Monsieur FACTICE Léon    né(e) le 14/07/1939    Demande "
                "n° 40618 du 03/05/2024"
            ),
        )
        sheet.down(6)
        page_footer(sheet, "Accréditation n° 0-0000, portée disponible")

    sheet.begin(head)
    for panel, rows in (
        (
            "BIOCHIMIE",
            """
SODIUM | 141 | mmol/L | 136 à 145 | sodium | prev=140
POTASSIUM | 4,6 | mmol/L | 3,4 à 4,5 | potassium | prev=4,2
UREE | 0,52 | g/L | 0,17 à 0,43 | | prev=0,44
CREATININE | 14,1 | mg/L | 7,0 à 12,0 | | prev=12,8
ACIDE URIQUE | 58 | mg/L | 35 à 72 |
TRANSAMINASES SGPT (ALAT) | 18 | UI/L | Inférieur à 41 | alt | doubtful
GAMMA GT | 33 | UI/L | Inférieur à 60 | ggt | doubtful
PSA TOTAL | 3,88 | ng/mL | Inférieur à 4,00 | psa | doubtful
TSH 3ème génération | 3,2 | mUI/L | 0,35 à 4,94 | tsh
""",
        ),
        (
            "HEMOSTASE",
            """
TAUX DE PROTHROMBINE | 98 | % | 70 à 120 |
INR | 1,01 | | |inr
""",
        ),
    ):
        sheet.section(panel, size=11)
        sheet.titles(grid)
        for row in sheet.read(rows, decimal_comma=True):
            sheet.print_row(grid, row)
            if row.option("prev"):
                sheet.rows.append(
                    truth_of(
                        Row(row.name, row.option("prev"), options={"optional": ""}),
                        panel,
                    )
                )
        sheet.close()
    sheet.say(
        40,
        "Zone thérapeutique INR sous AVK : 2,0 à 3,0 (prothèse mécanique 2,5 à 3,5)",
        size=8,
    )
