"""Everyday designs of Germany, France, Spain and Italy."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


def _print(
    sheet, head, grid, panels, *, comma=False, x=40, notes=(), titles_once=False
):
    def on_page(sheet):
        lab, address, left, right = head
        letterhead(sheet, lab, address)
        sheet.y = 68
        two_blocks(sheet, left, right)
        sheet.down(10)
        page_footer(sheet, lab)

    sheet.begin(on_page)
    if titles_once:
        sheet.titles(grid)
    for n, (panel, rows) in enumerate(panels):
        sheet.section(panel, x=x)
        if not titles_once:
            sheet.titles(grid)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=comma))
        if not titles_once:
            sheet.close()
        if n < len(notes):
            for note in notes[n]:
                sheet.say(x + 10, note, size=7)


@layout("fourth-de-vorwert", size=8.5)
def de_vorwert(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@40=Untersuchung",
            "value@225r=Ergebnis",
            "flag@232",
            "unit@255=Einheit",
            "range@330=Referenzbereich",
            "note@450=",
        ),
        size=8.5,
        leading=12,
        rules="lines",
        cells=lambda r: plain_cells(r) | {"flag": {"H": "↑", "L": "↓"}.get(r.flag, "")},
    )
    _print(
        sheet,
        (
            "Labor Mustermann MVZ",
            "Musterallee 9",
            [
                ("Name", "Testfall, Ingrid"),
                ("Geburtsdatum", "04.04.1960"),
                ("Geschlecht", "W"),
            ],
            [
                ("Auftrag", "20240415-088"),
                ("Abnahme", "15.04.2024 07:50"),
                ("Einsender", "Praxis Dr. Nemo"),
            ],
        ),
        grid,
        [
            (
                "Hämatologie",
                """
Leukozyten | 5,6 | G/l | 3,9 - 10,2 | wbc
Erythrozyten | 4,4 | T/l | 3,9 - 5,2 | rbc
Hämoglobin | 13,1 | g/dl | 12,0 - 15,6 | hgb
Hämatokrit | 0,39 | l/l | 0,35 - 0,46 | hct
MCV | 89 | fl | 80 - 99 | mcv
Thrombozyten | 145 | G/l | 150 - 370 | plt
""",
            ),
            (
                "Klinische Chemie",
                """
Glucose nüchtern | 108 | mg/dl | 70 - 99 | glucose_fasting
Cholesterin | 212 | mg/dl | < 200 | chol
HDL-Cholesterin | 61 | mg/dl | > 45 | hdl
LDL-Cholesterin | 129 | mg/dl | < 116 | ldl
Triglyceride | 98 | mg/dl | < 150 | trig
Harnsäure | 5,0 | mg/dl | 2,4 - 5,7 | urate
Kreatinin | 0,81 | mg/dl | 0,51 - 0,95 | creat
GPT (ALT) | 21 | U/l | < 35 | alt
Ferritin | 66 | ng/ml | 15 - 150 | ferritin
25-OH-Vitamin D | 17,9 | ng/ml | 30,0 - 60,0 | vitd
TSH | 2,44 | mU/l | 0,27 - 4,20 | tsh
""",
            ),
        ],
        comma=True,
    )


@layout("fourth-fr-parentheses", font="Times-Roman", size=9.5)
def fr_parentheses(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@45=", "value@250r=", "unit@256", "range@330=Valeurs usuelles"
        ),
        font="Times-Roman",
        size=9.5,
        leading=13,
        cells=lambda r: (
            plain_cells(r)
            | {
                "value": Cell(r.value, bold=True),
                "range": f"({r.range})" if r.range else "",
            }
        ),
    )
    _print(
        sheet,
        (
            "LABM Exemple Sud",
            "3 place Fictive",
            [("Patient", "Mme PERSONNE Odile"), ("Née le", "21/06/1972")],
            [("Dossier", "118-2204"), ("Prélèvement", "02/05/2024 07:40")],
        ),
        grid,
        [
            (
                "HÉMATOLOGIE",
                """
Leucocytes | 7 120 | /mm3 | 4 000 - 10 000 | wbc | doubtful
Hématies | 4,71 | M/mm3 | 3,80 - 5,20 | rbc
Hémoglobine | 14,1 | g/dL | 11,5 - 15,5 | hgb
Hématocrite | 42,6 | % | 34,0 - 46,0 | hct
Plaquettes | 231 000 | /mm3 | 150 000 - 400 000 | plt | doubtful
V.S. 1ère heure | 9 | mm | < 20 | esr
""",
            ),
            (
                "BIOCHIMIE",
                """
Glycémie à jeun | 5,2 | mmol/L | 4,1 - 5,9 | glucose_si
Créatinine | 69 | µmol/L | 45 - 84 | creat_si
Cholestérol total | 6,02 | mmol/L | < 5,17 | chol_si
Triglycérides | 0,92 | mmol/L | < 1,70 | trig_si
Ferritine | 48 | µg/L | 15 - 150 | ferritin
TSH | 1,62 | mUI/L | 0,27 - 4,20 | tsh
""",
            ),
        ],
        comma=True,
        x=45,
    )


@layout("fourth-es-asterisco", font="Vera", size=8)
def es_asterisco(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@45=Parámetro",
            "value@245r=Resultado",
            "flag@250",
            "unit@275=Unidades",
            "range@360=Rango de referencia",
        ),
        font="Vera",
        size=8,
        leading=12,
        cells=lambda r: plain_cells(r) | {"flag": "*" if r.flag else ""},
    )
    _print(
        sheet,
        (
            "Laboratorio Sol Ficticio",
            "Avda. Ejemplo 22",
            [
                ("Paciente", "NINGUNO PRUEBA, LUIS"),
                ("Edad", "51 años"),
                ("Sexo", "Varón"),
            ],
            [("Nº petición", "77120"), ("Fecha", "11/03/2024")],
        ),
        grid,
        [
            (
                "Hematología",
                """
Leucocitos | 11,2 | x10^3/µL | 4,0 - 11,0 | wbc
Hemoglobina | 15,2 | g/dL | 13,0 - 17,0 | hgb
Plaquetas | 244 | x10^3/µL | 150 - 400 | plt
Neutrófilos | 6,9 | x10^3/µL | 1,8 - 7,5 | neut
Linfocitos | 2,9 | x10^3/µL | 1,0 - 4,0 | lymph
""",
            ),
            (
                "Bioquímica",
                """
Glucosa | 119 | mg/dL | 74 - 106 | glucose
Creatinina | 1,01 | mg/dL | 0,70 - 1,20 | creat
Colesterol total | 245 | mg/dL | < 200 | chol
Colesterol HDL | 38 | mg/dL | > 40 | hdl
Triglicéridos | 231 | mg/dL | < 150 | trig
GOT/AST | 33 | U/L | < 40 | ast
GPT/ALT | 61 | U/L | < 41 | alt
Ácido úrico | 6,8 | mg/dL | 3,4 - 7,0 | urate
PSA total | 1,22 | ng/mL | < 4,00 | psa
""",
            ),
        ],
        comma=True,
        x=45,
    )


@layout("fourth-it-riferimento", size=9)
def it_riferimento(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@45=ESAME",
            "value@260r=RISULTATO",
            "unit@270=U.M.",
            "range@350=VALORI DI RIFERIMENTO",
        ),
        size=9,
        leading=12,
        cells=lambda r: (
            plain_cells(r)
            | {"value": Cell(r.value + (" *" if r.flag else ""), bold=bool(r.flag))}
        ),
    )
    _print(
        sheet,
        (
            "Centro Analisi Esempio",
            "Corso Finto 8",
            [("Paziente", "VERDI ESEMPIO GINA"), ("Nato/a il", "02/02/1980")],
            [("Codice", "240411-22"), ("Data prelievo", "11/04/2024")],
        ),
        grid,
        [
            (
                "EMATOLOGIA",
                """
Globuli bianchi | 5,88 | 10^3/µL | 4,00 - 10,00 | wbc
Globuli rossi | 4,21 | 10^6/µL | 4,00 - 5,20 | rbc
Emoglobina | 10,9 | g/dL | 12,0 - 16,0 | hgb
MCV | 77,1 | fL | 80,0 - 99,0 | mcv
Piastrine | 322 | 10^3/µL | 150 - 400 | plt
""",
            ),
            (
                "CHIMICA CLINICA",
                """
Glicemia | 88 | mg/dL | 70 - 99 | glucose
Creatinina | 0,68 | mg/dL | 0,50 - 0,90 | creat
Colesterolo totale | 181 | mg/dL | < 200 | chol
AST (GOT) | 17 | U/L | < 32 | ast
ALT (GPT) | 14 | U/L | < 33 | alt
Ferritina | 6 | ng/mL | 13 - 150 | ferritin
Sideremia | 22 | µg/dL | 37 - 145 | iron
TSH | 1,91 | mUI/L | 0,27 - 4,20 | tsh
""",
            ),
        ],
        comma=True,
        x=45,
    )
