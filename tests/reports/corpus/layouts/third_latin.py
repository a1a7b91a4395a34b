"""Awkward prints of Spain, Italy, Portugal and Brazil."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import BLUE, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


@layout("third-es-hospital", font="Times-Roman", size=9.5)
def spanish_hospital(sheet: Sheet) -> None:
    """Flag letter before name; range between hooks; section line with specimen."""
    grid = Grid(
        columns=columns(
            "flag@40",
            "name@52=Determinación",
            "value@250c=Resultado",
            "unit@300=Unidades",
            "range@390=Intervalo de referencia",
        ),
        font="Times-Roman",
        size=9.5,
        leading=12,
        cells=lambda row: (
            plain_cells(row)
            | {
                "flag": "*" if row.flag else "",
                "range": f"[ {row.range} ]" if row.range else "",
            }
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet, "Hospital Universitario de Ejemplo", "Servicio de Análisis Clínicos"
        )
        sheet.y = 66
        two_blocks(
            sheet,
            [
                ("Paciente", "NADIE FALSO, REMEDIOS"),
                ("F. nacimiento", "17/02/1957"),
                ("Sexo", "Mujer"),
            ],
            [
                ("Petición", "50211884"),
                ("Extracción", "20/05/2024 08:31"),
                ("Servicio", "Medicina Interna"),
            ],
        )
        sheet.down(8)
        page_footer(sheet, "Validado por: Dr. Ninguno")

    sheet.begin(head)
    for panel, rows in (
        (
            "BIOQUÍMICA (Suero)",
            """
Glucosa | 131 | mg/dL | 74 - 106 | glucose
Urea | 47 | mg/dL | 17 - 49 | urea
Creatinina | 0,92 | mg/dL | 0,51 - 0,95 | creat
Filtrado glomerular (CKD-EPI) | 63 | mL/min/1,73m² | > 60 | egfr
Ácido úrico | 6,9 | mg/dL | 2,6 - 6,0 | urate
Proteínas totales | 7,1 | g/dL | 6,4 - 8,3 | protein
GOT (AST) | 21 | U/L | 5 - 32 | ast
GPT (ALT) | 19 | U/L | 5 - 33 | alt
GGT | 88 | U/L | 6 - 42 | ggt
Hierro | 41 | µg/dL | 37 - 145 | iron
Hemoglobina glicada (HbA1c) | 7,4 | % | 4,0 - 6,0 | a1c
""",
        ),
        (
            "HEMATOLOGÍA (Sangre total)",
            """
Leucocitos | 7,88 | 10^3/µL | 4,00 - 11,00 | wbc
Hematíes | 4,02 | 10^6/µL | 3,80 - 5,20 | rbc
Hemoglobina | 11,7 | g/dL | 12,0 - 16,0 | hgb
V.C.M. | 89,1 | fL | 80,0 - 98,0 | mcv
Plaquetas | 311 | 10^3/µL | 130 - 400 | plt
Neutrófilos % | 66,1 | % | 40,0 - 75,0 | neut_pct
Linfocitos % | 21,9 | % | 20,0 - 45,0 | lymph_pct
V.S.G. 1ª hora | 41 | mm | 0 - 20 | esr
""",
        ),
        (
            "COAGULACIÓN (Plasma citratado)",
            """
Tiempo de protrombina | 12,1 | s | 10,0 - 13,5 | pt
INR | 1,04 | | 0,80 - 1,20 | inr
Fibrinógeno | 512 | mg/dL | 200 - 400 | fibrinogen
""",
        ),
    ):
        sheet.section(panel, size=10)
        sheet.titles(grid)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
        sheet.close()


@layout("third-it-ospedale", size=9)
def italian_hospital(sheet: Sheet) -> None:
    """Prefix of material, ranges in words, asterisk before the value."""
    grid = Grid(
        columns=columns(
            "name@45=Analisi",
            "value@245r=Esito",
            "unit@255=Unità di misura",
            "range@350=Valori di riferimento",
            "method@480=",
        ),
        size=9,
        leading=12.5,
        cells=lambda row: (
            plain_cells(row) | {"value": ("* " if row.flag else "") + row.value}
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet,
            "Azienda Sanitaria di Borgo Inventato",
            "Laboratorio Analisi - Direttore: Dott. Nessuno",
        )
        sheet.y = 68
        two_blocks(
            sheet,
            [
                ("Cognome e Nome", "INVENTATO PIERO"),
                ("Nato il", "30/09/1948"),
                ("Sesso", "M"),
            ],
            [
                ("N. richiesta", "8841120"),
                ("Prelievo", "04/03/2024"),
                ("Refertato", "05/03/2024"),
            ],
        )
        sheet.down(10)
        page_footer(sheet, "Referto firmato digitalmente ai sensi di legge")

    sheet.begin(head)
    for panel, rows in (
        (
            "BIOCHIMICA CLINICA",
            """
S-Glucosio | 118 | mg/dL | 70 - 99 | glucose
S-Creatinina | 1,02 | mg/dL | 0,67 - 1,17 | creat
S-Azotemia | 44 | mg/dL | 17 - 49 | azotemia
S-Colesterolo totale | 244 | mg/dL | fino a 200 | chol | doubtful
S-Colesterolo HDL | 39 | mg/dL | superiore a 40 | hdl | doubtful
S-Trigliceridi | 133 | mg/dL | fino a 150 | trig | doubtful
S-Bilirubina totale | 0,70 | mg/dL | 0,20 - 1,20 | bili
S-ALT (GPT) | 25 | U/L | < 41 | alt
S-Gamma GT | 72 | U/L | 8 - 61 | ggt
S-Potassio | 4,3 | mEq/L | 3,5 - 5,1 | potassium
S-PSA totale | 6,21 | ng/mL | 0,00 - 4,00 | psa
""",
        ),
        (
            "ESAME URINE",
            """
U-Colore | Giallo paglierino | | | u_color
U-pH | 5,5 | | 5,0 - 7,0 | u_ph
U-Peso specifico | 1.021 | | 1.010 - 1.030 | u_sg | doubtful
U-Proteine | Assenti | mg/dL | Assenti | u_protein
U-Glucosio | Assente | mg/dL | Assente | u_glucose
U-Emoglobina | Tracce | mg/dL | Assente | u_blood | flag=A
""",
        ),
    ):
        sheet.section(panel, x=45, size=10)
        sheet.titles(grid)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
        sheet.close()


@layout("third-br-block-exams", font="Helvetica", size=9)
def block_exams(sheet: Sheet) -> None:
    """One block an examination: name, material, method, result, reference lines."""

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet, "Diagnósticos Modelo", "Rua Exemplo, 10 - São Fictício", colour=BLUE
        )
        sheet.y = 66
        two_blocks(
            sheet,
            [
                ("Cliente", "BELTRANA DE TAL"),
                ("Nascimento", "02/06/1984"),
                ("Sexo", "Feminino"),
            ],
            [("Ficha", "5510042218"), ("Médico", "CRM 000000"), ("Data", "10/04/2024")],
        )
        sheet.down(8)
        page_footer(sheet, "Resultado conferido e liberado eletronicamente")

    sheet.begin(head)
    bands = (
        "Deficiência: inferior a 20 ng/mL",
        "Insuficiência: 20 a 29 ng/mL",
        "Suficiência: 30 a 100 ng/mL",
    )
    for row in sheet.read(
        """
GLICOSE, plasma | 93 | mg/dL | 70 a 99 mg/dL | glucose
TSH - HORMÔNIO TIREOESTIMULANTE | 1,87 | µUI/mL | 0,45 a 4,50 µUI/mL | tsh
CREATININA | 0,77 | mg/dL | 0,50 a 0,90 mg/dL | creat
FERRITINA | 6,8 | ng/mL | 13 a 150 ng/mL | ferritin
VITAMINA B12 | 301 | pg/mL | 197 a 771 pg/mL | b12
HORMÔNIO ANTI-MÜLLERIANO | 1,12 | ng/mL | | amh
25 HIDROXIVITAMINA D | 24 | ng/mL | | vitd
PROTEÍNA C REATIVA | Inferior a 0,5 | mg/L | Até 5,0 mg/L | crp | doubtful
""",
        decimal_comma=True,
    ):
        material = "PLASMA" if "plasma" in row.name else "SORO"
        notes = bands if "HIDROXI" in row.name else ()
        sheet.need(70)
        sheet.say(40, row.name, bold=True, gap=12)
        sheet.say(
            40,
            f"Material: {material}    Método: Eletroquimioluminescência    "
            "Coleta: 10/04/2024 07:15",
            size=7,
            gap=13,
        )
        sheet.text(60, sheet.y, "RESULTADO:")
        sheet.text(130, sheet.y, f"{row.value} {row.unit}", bold=True, size=10)
        if row.range:
            sheet.text(300, sheet.y, f"Valor de referência: {row.range}", size=8)
        sheet.down(12)
        for note in notes:
            sheet.say(300, note, size=7, gap=9)
        sheet.rule(40, 555, sheet.y)
        sheet.down(14)
        sheet.rows.append(truth_of(row, None))


@layout("third-pt-clinica", font="Vera", size=8)
def portuguese(sheet: Sheet) -> None:
    """Earlier result in brackets behind the value, arrows in words, unit last."""
    grid = Grid(
        columns=columns(
            "name@45=Análise",
            "value@240r=Resultado",
            "prev@250=(Anterior)",
            "range@320=Valores de Referência",
            "unit@450=Unidades",
        ),
        font="Vera",
        size=8,
        leading=13,
        rules="lines",
        cells=lambda row: (
            plain_cells(row)
            | {
                "prev": f"({row.option('prev')})" if row.option("prev") else "",
                "value": Cell(row.value, bold=bool(row.flag)),
            }
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet,
            "Centro de Análises Exemplo Lda",
            "Lisboa Fictícia   Diretor Técnico: Dr. Ninguém",
        )
        sheet.y = 68
        two_blocks(
            sheet,
            [("Utente", "Zulmira Inventada"), ("Idade", "66 anos")],
            [("N.º", "24/11802"), ("Colheita", "2024-02-26")],
        )
        sheet.down(8)

    sheet.begin(head)
    for panel, rows in (
        (
            "Hemograma",
            """
Eritrócitos | 4,55 | 3,9 - 5,1 | x10^12/L | rbc | prev=4,61
Hemoglobina | 13,9 | 11,8 - 15,8 | g/dL | hgb | prev=14,0
Leucócitos | 6,3 | 4,0 - 10,0 | x10^9/L | wbc | prev=5,9
Plaquetas | 132 | 150 - 400 | x10^9/L | plt | prev=149
Velocidade de sedimentação (1ª h) | 28 | < 25 | mm | esr
""",
        ),
        (
            "Química Clínica",
            """
Glicose em jejum | 109 | 70 - 105 | mg/dL | glucose_fasting | prev=101
Ureia | 38 | 19 - 49 | mg/dL | urea
Creatinina | 0,8 | 0,5 - 1,1 | mg/dL | creat | prev=0,8
Colesterol total | 203 | < 190 | mg/dL | chol | prev=221
Colesterol HDL | 54 | > 45 | mg/dL | hdl
Triglicéridos | 118 | < 150 | mg/dL | trig
Gama-GT | 27 | < 38 | U/L | ggt
Sódio | 143 | 136 - 145 | mmol/L | sodium
""",
        ),
    ):
        sheet.section(panel, x=45, size=9.5)
        sheet.titles(grid)
        for row in sheet.read(rows, decimal_comma=True):
            sheet.print_row(
                grid,
                Row(
                    row.name, row.value, row.range, row.unit, row.key, row.options, True
                ),
            )
            if row.option("prev"):
                sheet.rows.append(
                    truth_of(
                        Row(row.name, row.option("prev"), options={"optional": ""}),
                        panel,
                    )
                )
        sheet.close()
