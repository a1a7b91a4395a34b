"""More reports of Germany, France, Spain, Italy and Brazil, in their own wording."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, pairs_block, two_blocks
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells, shifted


@layout("de-zwei-spalten", size=7.5)
def german_columns(sheet: Sheet) -> None:
    """The enclosure of a doctor's letter: two tables abreast, an exclamation mark."""
    grid = Grid(
        columns=columns(
            "name@40=Parameter",
            "value@150r=Wert",
            "flag@153",
            "unit@162=Einheit",
            "range@215=Ref.-Bereich",
        ),
        size=7.5,
        leading=11,
        cells=lambda row: plain_cells(row) | {"flag": "!" if row.flag else ""},
    )
    sheet.begin()
    sheet.text(40, 40, "Anlage zum Arztbrief vom 14.02.2024", size=11, bold=True)
    sheet.y = 58
    pairs_block(
        sheet,
        40,
        [("Patientin", "Erdacht, Waltraud, *02.09.1951"), ("Aufnahme", "11.02.2024")],
    )
    sheet.down(8)
    sheet.say(40, "Laborwerte (Serum / EDTA-Blut) vom 12.02.2024, 06:30 Uhr", bold=True)
    sheet.side_by_side(
        [grid, shifted(grid, 265)],
        [
            sheet.read(
                """
Leukozyten | 11,9 | Tsd/µl | 4,0-10,0 | wbc
Hämoglobin | 12,8 | g/dl | 12,0-16,0 | hgb
Hämatokrit | 39 | % | 37-47 | hct
MCV | 88 | fl | 82-98 | mcv
Thrombozyten | 402 | Tsd/µl | 150-400 | plt
CRP | 48,1 | mg/l | bis 5,0 | crp
Quick-Wert | 94 | % | 70-120
INR | 1,04 | | 0,85-1,15 | inr
""",
                decimal_comma=True,
            ),
            sheet.read(
                """
Natrium | 139 | mmol/l | 136-145 | sodium
Kalium | 3,4 | mmol/l | 3,5-5,1 | potassium
Kreatinin | 0,83 | mg/dl | 0,50-0,90 | creat
Harnstoff | 31 | mg/dl | 17-48 | urea
GOT | 27 | U/l | bis 35 | ast
GPT | 29 | U/l | bis 35 | alt
Bilirubin ges. | 0,6 | mg/dl | bis 1,2 | bili
TSH | 0,19 | mU/l | 0,27-4,20 | tsh
""",
                decimal_comma=True,
            ),
        ],
    )
    sheet.down(14)
    sheet.prose(
        40,
        500,
        "Beurteilung: Leukozytose und CRP-Anstieg bei Pneumonie. Wir empfehlen eine"
        " Kontrolle in 7 Tagen, Kalium 2 x 1 Tbl. und Fortsetzung der Antibiose bis"
        " 21.02.2024. Blutdruck 135/80 mmHg, Gewicht 71 kg.",
    )


@layout("fr-hopital", font="Times-Roman", size=9)
def french_hospital(sheet: Sheet) -> None:
    """Letter flags between value and unit, bounds in words, remarks below rows."""
    grid = Grid(
        columns=columns(
            "name@45=Examen",
            "value@230r=Résultat",
            "flag@238",
            "unit@255=Unité",
            "range@335=Intervalle de référence",
        ),
        font="Times-Roman",
        size=9,
        leading=13,
        cells=lambda row: (
            plain_cells(row)
            | {
                "flag": {"H": "+", "L": "-"}.get(row.flag, ""),
                "value": Cell(row.value, bold=bool(row.flag)),
            }
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Centre hospitalier de Nulleville", "Service de biochimie")
        sheet.y = 66
        two_blocks(
            sheet,
            [("Patient", "M. FICTIF Armand"), ("Né le", "30/03/1947"), ("Sexe", "M")],
            [("Prélèvement", "18/01/2024 06:40"), ("UF", "2201 Cardiologie")],
        )
        sheet.down(8)
        page_footer(sheet, "Validation biologique : Dr Personne, 18/01/2024 11:02")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "IONOGRAMME SANGUIN (plasma hépariné)",
            """
Sodium | 133 | mmol/L | 136 - 145 | sodium
Potassium | 4,9 | mmol/L | 3,4 - 4,5 | potassium
Chlorures | 101 | mmol/L | 98 - 107 | chloride
Urée | 11,2 | mmol/L | 2,8 - 8,1 | urea_si | below=Contrôlé sur 2 dosages
Créatinine | 139 | µmol/L | 59 - 104 | creat_si
Calcium | 2,28 | mmol/L | 2,15 - 2,50 | calcium_si
Protéines totales | 68 | g/L | 64 - 83 | protein
""",
        ),
        (
            "BILAN HÉPATIQUE ET LIPIDIQUE",
            """
ASAT (TGO) | 41 | UI/L | inférieur à 40 | ast | doubtful
ALAT (TGP) | 38 | UI/L | inférieur à 41 | alt | doubtful
Gamma GT | 77 | UI/L | inférieur à 60 | ggt | doubtful
Bilirubine totale | 14 | µmol/L | inf. à 21 | bili_si | doubtful
Cholestérol total | 4,02 | mmol/L | inf. à 5,00 | chol_si | doubtful
HDL cholestérol | 0,98 | mmol/L | sup. à 1,00 | hdl_si | doubtful
Triglycérides | 1,31 | mmol/L | inf. à 1,70 | trig_si | doubtful
""",
        ),
        (
            "MARQUEURS CARDIAQUES",
            """
NT-proBNP | 1 840 | ng/L | inf. à 450 | ntprobnp | doubtful
Protéine C réactive | 6,2 | mg/L | inf. à 5,0 | crp | doubtful
""",
        ),
    ):
        sheet.section(panel, x=45, size=10)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
    sheet.close()
    sheet.say(
        45, "NT-proBNP : exclusion < 300 ; 50-75 ans > 900 ; > 75 ans > 1800", size=7
    )


@layout("es-clinica-privada", font="Vera", size=8)
def spanish_clinic(sheet: Sheet) -> None:
    """Words for flags behind the range, bounds in words, the method in small below."""
    grid = Grid(
        columns=columns(
            "name@45=PRUEBA",
            "value@220=RESULTADO",
            "unit@285=UNIDADES",
            "range@365=VALORES NORMALES",
            "flag@490",
        ),
        font="Vera",
        size=8,
        leading=12,
        rules="lines",
        cells=lambda row: (
            plain_cells(row) | {"flag": {"H": "Alto", "L": "Bajo"}.get(row.flag, "")}
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Clínica Imaginaria", "Calle Inventada 3, Ciudad Ejemplo")
        sheet.y = 66
        two_blocks(
            sheet,
            [("Paciente", "Don Fulano Ficticio"), ("Edad", "44 años")],
            [("Nº de informe", "24-55102"), ("Fecha", "09/05/2024")],
        )
        sheet.down(8)
        page_footer(sheet, "Este informe no debe reproducirse parcialmente")

    sheet.begin(head)
    for panel, rows in (
        (
            "HEMOGRAMA",
            """
Hematíes | 4,88 | mill/mm³ | 4,30 - 5,70 | rbc
Hemoglobina | 14,9 | g/dL | 13,0 - 17,0 | hgb
Hematocrito | 44,1 | % | 39,0 - 50,0 | hct
Leucocitos | 3,7 | miles/mm³ | 4,0 - 11,0 | wbc
Plaquetas | 201 | miles/mm³ | 150 - 400 | plt
""",
        ),
        (
            "BIOQUÍMICA",
            """
Glucosa basal | 96 | mg/dL | 70 - 105 | glucose_fasting | below=Hexoquinasa
Ácido úrico | 7,9 | mg/dL | 3,5 - 7,2 | urate | below=Uricasa
Colesterol total | 226 | mg/dL | Hasta 200 | chol | doubtful;flag=H
Colesterol HDL | 41 | mg/dL | Mayor de 40 | hdl | doubtful
Triglicéridos | 174 | mg/dL | Hasta 150 | trig | doubtful;flag=H
Creatinina | 0,97 | mg/dL | 0,70 - 1,20 | creat
Transaminasa GPT | 55 | U/L | Hasta 41 | alt | doubtful;flag=H
""",
        ),
        (
            "ORINA",
            """
pH | 6,0 | | 5,0 - 7,5 | u_ph
Densidad | 1020 | | 1005 - 1030 | u_sg
Proteínas | Negativo | | Negativo | u_protein
Glucosa | Negativo | | Negativo | u_glucose
Nitritos | Negativo | | Negativo | u_nitrite
""",
        ),
    ):
        sheet.section(panel, x=45)
        sheet.titles(grid)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
        sheet.close()


@layout("it-ambulatorio", font="Courier", size=8.5)
def italian_surgery(sheet: Sheet) -> None:
    """Typewriter print: dots to the value, the flag behind the unit, hooks around."""
    grid = Grid(
        columns=columns(
            "name@45=Esame",
            "value@250r=Risultato",
            "unit@258=Unita'",
            "flag@330",
            "range@350=Valori normali",
        ),
        font="Courier",
        size=8.5,
        leading=12,
        cells=lambda row: (
            plain_cells(row)
            | {
                "name": row.name + " " + "." * (28 - len(row.name)),
                "flag": "*" if row.flag else "",
                "range": f"[ {row.range} ]",
            }
        ),
    )

    def head(sheet: Sheet) -> None:
        sheet.text(45, 36, "POLIAMBULATORIO FITTIZIO - LABORATORIO ANALISI", size=10)
        sheet.y = 56
        pairs_block(
            sheet,
            45,
            [("Sig.ra", "NESSUNA IRMA"), ("Nata il", "11/11/1966"), ("Rich.", "8821")],
        )
        sheet.down(8)

    sheet.begin(head)
    for panel, rows in (
        (
            "SANGUE - EMOCROMO",
            """
Globuli bianchi | 6,41 | 10^3/uL | 4,00 - 10,00 | wbc
Globuli rossi | 4,02 | 10^6/uL | 4,10 - 5,10 | rbc
Emoglobina | 11,3 | g/dL | 12,0 - 16,0 | hgb
Piastrine | 266 | 10^3/uL | 150 - 400 | plt
""",
        ),
        (
            "SIERO - CHIMICA CLINICA",
            """
Glicemia | 101 | mg/dL | 70 - 100 | glucose
Creatinina | 0,71 | mg/dL | 0,50 - 0,90 | creat
Sideremia | 31 | ug/dL | 37 - 145 | iron
Ferritina | 8 | ng/mL | 13 - 150 | ferritin
Colesterolo totale | 190 | mg/dL | < 200 | chol
TSH | 2,88 | uUI/mL | 0,27 - 4,20 | tsh
Vitamina D 25-OH | 17,2 | ng/mL | > 30,0 | vitd
""",
        ),
    ):
        sheet.section(panel, x=45)
        sheet.titles(grid)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
        sheet.close()


@layout("br-evolutivo", font="Helvetica", size=8)
def brazilian_history(sheet: Sheet) -> None:
    """Bounds by sex on two lines, earlier results at the right under their dates."""
    grid = Grid(
        columns=columns(
            "name@40=Exame",
            "value@210r=Resultado",
            "unit@218=Unidade",
            "range@290=Referência",
            "a@440r=03/2023",
            "b@500r=11/2021",
        ),
        size=8,
        leading=11,
        rules="lines",
        cells=lambda row: (
            plain_cells(row) | {"a": row.option("a"), "b": row.option("b")}
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Laboratório Morro Inventado", "CNES 0000000")
        sheet.y = 62
        two_blocks(
            sheet,
            [("Paciente", "Sicrano Exemplo"), ("Nascimento", "05/12/1976")],
            [("Pedido", "330-11822"), ("Coleta", "07/03/2024 08:02")],
        )
        sheet.down(8)
        page_footer(sheet, "Assinado digitalmente")

    sheet.begin(head)
    for panel, rows in (
        (
            "PERFIL LIPÍDICO - SORO",
            """
Colesterol total | 241 | mg/dL | Inferior a 190 | chol | doubtful
HDL-colesterol | 47 | mg/dL | Superior a 40 | hdl | doubtful
LDL-colesterol | 163 | mg/dL | Inferior a 130 | ldl | doubtful
Triglicérides | 155 | mg/dL | Inferior a 150 | trig | doubtful
""",
        ),
        (
            "FUNÇÃO RENAL - SORO",
            """
Ureia | 36 | mg/dL | 15 a 40 | urea
Creatinina | 1,34 | mg/dL | Homens: 0,70 a 1,30¶Mulheres: 0,60 a 1,10 | creat | doubtful
Ácido úrico | 6,1 | mg/dL | Homens: 3,4 a 7,0¶Mulheres: 2,4 a 5,7 | urate | doubtful
Potássio | 4,2 | mEq/L | 3,5 a 5,1 | potassium
Sódio | 140 | mEq/L | 136 a 145 | sodium
""",
        ),
    ):
        sheet.section(panel)
        sheet.titles(grid)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
        sheet.close()
    sheet.say(
        40, "Histórico: resultados anteriores não constam deste pedido", colour=GREY
    )
