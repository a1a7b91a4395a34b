"""Everyday prints of Sweden, Poland, Denmark, Brazil, Mexico and Switzerland."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells


@layout("fifth-se-provsvar", size=9)
def se_provsvar(sheet: Sheet) -> None:
    """Specimen letters before the names, a star behind what is out of range."""
    grid = Grid(
        columns=columns(
            "name@40=Analys",
            "value@210r=Resultat",
            "flag@214",
            "unit@240=Enhet",
            "range@330=Referensintervall",
        ),
        leading=13,
        cells=lambda row: {**plain_cells(row), "flag": "*" if row.flag else ""},
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Exempelstads sjukhus", "Klinisk kemi, Låtsasgatan 1")
        sheet.y = 70
        two_blocks(
            sheet,
            [("Namn", "Påhittad, Astrid"), ("Personnr", "19610402-0000")],
            [("Provtagningsdatum", "2024-03-05 08:10"), ("Svarsdatum", "2024-03-06")],
        )
        sheet.down(10)
        page_footer(sheet, "Utskrivet 2024-03-07 10:12")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "Hematologi",
            """
B-Hemoglobin | 112 | g/L | 117 - 153 | hgb
B-Leukocyter | 6,3 | x10^9/L | 3,5 - 8,8 | wbc
B-Trombocyter | 402 | x10^9/L | 165 - 387 | plt
Erc(B)-MCV | 79 | fL | 82 - 98 | mcv
B-SR | 22 | mm | < 20 | esr
""",
        ),
        (
            "Klinisk kemi",
            """
P-Natrium | 141 | mmol/L | 137 - 145 | sodium
P-Kalium | 4,1 | mmol/L | 3,5 - 4,6 | potassium
P-Kreatinin (enz) | 78 | µmol/L | < 90 | creat_si
Pt-eGFR (Krea) | 71 | mL/min/1,73 m² | > 60 | egfr
P-CRP | <1 | mg/L | < 5 | crp
P-ALAT | 0,42 | µkat/L | < 0,76 |
P-Glukos, faste | 6,4 | mmol/L | 4,0 - 6,0 | glucose_si
B-HbA1c (IFCC) | 44 | mmol/mol | 31 - 46 | a1c_ifcc
P-TSH | 5,2 | mIE/L | 0,4 - 4,0 | tsh
P-T4, fritt | 13 | pmol/L | 12 - 22 | ft4_si
P-Ferritin | 9 | µg/L | 13 - 150 | ferritin
""",
        ),
    ):
        sheet.section(panel)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
    sheet.close()
    sheet.say(40, "* = utanför referensintervallet. Svaret är elektroniskt vidimerat.")


@layout("fifth-pl-wyniki", font="Vera", size=8)
def pl_wyniki(sheet: Sheet) -> None:
    """Value with its arrow, unit, then low and high with a dash of their own."""
    grid = Grid(
        columns=columns(
            "name@40=Badanie",
            "value@230r=Wynik",
            "flag@236=Flaga",
            "unit@275=Jedn.",
            "range@350=Zakres referencyjny",
        ),
        font="Vera",
        size=8,
        leading=12,
        rules="lines",
        cells=lambda row: {
            **plain_cells(row),
            "flag": {"H": "H", "L": "L"}.get(row.flag, ""),
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Laboratorium Probka", "ul. Zmyslona 1, Przykladowo")
        sheet.y = 70
        two_blocks(
            sheet,
            [("Pacjent", "FIKCYJNA ANNA"), ("Plec", "K"), ("Data ur.", "04.05.1983")],
            [("Nr zlecenia", "0099122"), ("Data pobrania", "12.02.2024 07:41")],
        )
        sheet.down(10)
        page_footer(sheet, "Wyniki autoryzowane elektronicznie")

    sheet.begin(head)
    for panel, rows in (
        (
            "Morfologia krwi (ICD-9: C55)",
            """
Leukocyty | 5,62 | tys/µl | 4,00 - 10,00 | wbc
Erytrocyty | 4,01 | mln/µl | 3,80 - 5,20 | rbc
Hemoglobina | 11,4 | g/dl | 11,7 - 15,5 | hgb
Hematokryt | 35,1 | % | 35,0 - 45,0 | hct
MCV | 87,5 | fl | 81,0 - 100,0 | mcv
MCHC | 32,5 | g/dl | 30,0 - 35,0 | mchc
Płytki krwi | 398 | tys/µl | 150 - 400 | plt
Neutrofile % | 71,2 | % | 45,0 - 70,0 | neut_pct
Limfocyty % | 20,1 | % | 20,0 - 45,0 | lymph_pct
""",
        ),
        (
            "Biochemia",
            """
Glukoza | 101 | mg/dl | 70 - 99 | glucose
Kreatynina | 0,81 | mg/dl | 0,50 - 0,90 | creat
Kwas moczowy | 5,1 | mg/dl | 2,4 - 5,7 | urate
Cholesterol całkowity | 212 | mg/dl | 115 - 190 | chol
Trójglicerydy | 88 | mg/dl | < 150 | trig
Bilirubina całkowita | 0,55 | mg/dl | < 1,20 | bili
Zelazo | 41 | µg/dl | 33 - 193 | iron
TSH | 2,114 | µIU/ml | 0,270 - 4,200 | tsh
""",
        ),
    ):
        sheet.section(panel)
        sheet.titles(grid)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
        sheet.close()


@layout("fifth-dk-laboratoriesvar", size=9)
def dk_laboratoriesvar(sheet: Sheet) -> None:
    """System;component names of the Nordic code, the range before the value."""
    grid = Grid(
        columns=columns(
            "name@40w190=Undersøgelse",
            "range@240=Ref.interval",
            "unit@330=Enhed",
            "value@470r=Resultat",
            "flag@476",
        ),
        leading=13,
        rules="lines",
        cells=lambda row: {
            **plain_cells(row),
            "flag": {"H": "↑", "L": "↓"}.get(row.flag, ""),
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Eksempelby Hospital", "Klinisk Biokemisk Afdeling")
        sheet.y = 70
        two_blocks(
            sheet,
            [("Patient", "Opdigtet, Mads"), ("CPR-nr.", "040571-0000")],
            [("Prøvetagning", "14.05.2024 09:30"), ("Svar afsendt", "14.05.2024")],
        )
        sheet.down(10)
        page_footer(sheet, "MEDCOM laboratoriesvar")

    sheet.begin(head)
    sheet.titles(grid)
    sheet.panel = None
    sheet.print_rows(
        grid,
        sheet.read(
            """
Hæmoglobin;B | 7,9 | mmol/L | 8,3 - 10,5 |
Leukocytter;B | 11,3 | x10^9/L | 3,5 - 8,8 | wbc
Thrombocytter;B | 251 | x10^9/L | 145 - 350 | plt
Natrium;P | 139 | mmol/L | 137 - 144 | sodium
Kalium;P | 3,4 | mmol/L | 3,5 - 4,6 | potassium
Kreatinin;P | 88 | µmol/L | 60 - 105 | creat_si
Alanintransaminase [ALAT];P | 31 | U/L | 10 - 70 | alt
Bilirubiner;P | 9 | µmol/L | 5 - 25 | bili_si
C-reaktivt protein [CRP];P | 14 | mg/L | < 8 | crp
Kolesterol LDL;P | 3,6 | mmol/L | < 3,0 | ldl_si
Thyrotropin [TSH];P | 1,82 | x10^-3 IU/L | 0,30 - 4,00 | tsh
25-Hydroxy-Vitamin D(D3+D2);P | 38 | nmol/L | 50 - 160 | vitd_si
""",
            decimal_comma=True,
        ),
    )
    sheet.close()


@layout("fifth-br-hemograma", font="Courier", size=8.5)
def br_hemograma(sheet: Sheet) -> None:
    """Typed lines with leaders; white cells as percent and count on one line."""

    def head(sheet: Sheet) -> None:
        sheet.text(40, 36, "LABORATORIO AMOSTRA LTDA")
        sheet.text(
            40, 48, "Paciente: INVENTADO DA SILVA        Sexo: M   Idade: 44 anos"
        )
        sheet.text(40, 60, "Coleta: 11/04/2024  Liberado: 12/04/2024  Pedido: 0088213")
        sheet.y = 84

    sheet.begin(head)
    sheet.say(40, "HEMOGRAMA COMPLETO", bold=True, gap=14)
    sheet.say(40, "Material: Sangue total com EDTA      Metodo: Automatizado", gap=14)
    sheet.panel = "ERITROGRAMA"
    sheet.say(40, f"{'ERITROGRAMA':<26}{'':<24}VALORES DE REFERENCIA", gap=12)
    for row in sheet.read(
        """
Hemácias | 4,71 | milhões/mm³ | 4,50 a 6,10 | rbc
Hemoglobina | 13,9 | g/dL | 13,0 a 16,5 | hgb
Hematócrito | 41,2 | % | 36,0 a 54,0 | hct
V.C.M | 87,5 | fL | 80,0 a 98,0 | mcv
H.C.M | 29,5 | pg | 26,8 a 32,9 | mch
R.D.W | 15,4 | % | 11,0 a 16,0 | rdw
""",
        decimal_comma=True,
    ):
        name = f"{row.name}".ljust(22, ".")
        sheet.say(40, f"{name}: {row.value:>7} {row.unit:<14}    {row.range}", gap=11)
        sheet.rows.append(truth_of(row, sheet.panel))
    sheet.down(6)
    sheet.panel = "LEUCOGRAMA"
    sheet.say(40, f"{'LEUCOGRAMA':<26}{'%':>6}{'/mm³':>14}     VALORES DE REFERENCIA")
    for line in """
Leucócitos | | 7.420 | 3.600 a 11.000 | | wbc
Segmentados | 61,0 | 4.526 | 1.500 a 7.000 | neut_pct | neut
Eosinófilos | 4,2 | 312 | 50 a 500 | eos_pct | eos
Basófilos | 0,5 | 37 | 0 a 300 | baso_pct | baso
Linfócitos | 27,3 | 2.026 | 1.000 a 4.500 | lymph_pct | lymph
Monócitos | 7,0 | 519 | 100 a 1.000 | mono_pct | mono
""".strip().splitlines():
        name, share, count, span, pct_key, key = (p.strip() for p in line.split("|"))
        dots = name.ljust(22, ".")
        percent = f"{share} %" if share else ""
        sheet.say(40, f"{dots}: {percent:>8} {count:>9} /mm³      {span}", gap=11)
        if share:
            sheet.rows.append(
                truth_of(
                    Row(name, share, "%", "", pct_key, {"anyrange": ""}, True), None
                )
            )
        counted = Row(name, count, "/mm³", span, key, {}, True)
        sheet.rows.append(truth_of(counted, sheet.panel))
    sheet.down(6)
    sheet.panel = "PLAQUETAS"
    row = Row("Plaquetas", "243.000", "/mm³", "150.000 a 450.000", "plt", {}, True)
    sheet.say(40, f"{'Plaquetas'.ljust(22, '.')}: {row.value} /mm³      {row.range}")
    sheet.rows.append(truth_of(row, sheet.panel))
    sheet.say(40, "Obs.: Hemograma realizado em analisador automatizado.")


@layout("fifth-mx-quimica", size=9)
def mx_quimica(sheet: Sheet) -> None:
    """Star before the value of what is out of range, ranges for men and women."""
    grid = Grid(
        columns=columns(
            "name@40=ESTUDIO",
            "flag@232r",
            "value@270r=RESULTADO",
            "unit@290=UNIDADES",
            "range@370=VALORES DE REFERENCIA",
        ),
        leading=13,
        cells=lambda row: {**plain_cells(row), "flag": "*" if row.flag else ""},
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet, "Laboratorio Clínico Ejemplo", "Av. Ficticia 100, Col. Centro"
        )
        sheet.y = 70
        two_blocks(
            sheet,
            [("Nombre", "INVENTADA LOPEZ ROSA"), ("Sexo", "F"), ("Edad", "51 AÑOS")],
            [("Folio", "220419"), ("Fecha de toma", "03/05/2024 07:20")],
        )
        sheet.down(10)
        page_footer(sheet, "Responsable sanitario: QFB Nadie  Ced. Prof. 0000000")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "QUÍMICA SANGUÍNEA DE 6 ELEMENTOS",
            """
GLUCOSA | 118.0 | mg/dL | 70.0 - 105.0 | glucose
UREA | 34.2 | mg/dL | 15.0 - 38.5 | urea
CREATININA | 0.81 | mg/dL | 0.50 - 0.90 | creat
ÁCIDO ÚRICO | 6.1 | mg/dL | 2.4 - 5.7 | urate
COLESTEROL TOTAL | 231.0 | mg/dL | 0.0 - 200.0 | chol
TRIGLICÉRIDOS | 142.0 | mg/dL | 0.0 - 150.0 | trig
""",
        ),
        (
            "PERFIL DE HIERRO",
            """
HIERRO SÉRICO | 38.0 | µg/dL | 50.0 - 170.0 | iron
CAPACIDAD TOTAL DE FIJACIÓN | 421 | µg/dL | 250 - 450 | tibc
FERRITINA | 8.2 | ng/mL | 10.0 - 120.0 | ferritin
""",
        ),
        (
            "EXAMEN GENERAL DE ORINA",
            """
COLOR | AMARILLO | | | u_color
ASPECTO | LIGERAMENTE TURBIO | | | u_appearance
DENSIDAD | 1.020 | | 1.005 - 1.030 | u_sg
PH | 6.0 | | 5.0 - 8.0 | u_ph
PROTEÍNAS | NEGATIVO | | NEGATIVO | u_protein
NITRITOS | NEGATIVO | | NEGATIVO | u_nitrite
LEUCOCITOS | 8 - 10 | /campo | 0 - 5 | u_wbc
BACTERIAS | ESCASAS | | | u_bact
""",
        ),
    ):
        sheet.section(panel)
        sheet.print_rows(grid, rows)
    sheet.close()
    sheet.say(
        40, "Método: Espectrofotometría automatizada. * Fuera del valor de referencia"
    )


@layout("fifth-ch-turned", page_size=(842, 595), size=8.5, turned=True)
def ch_turned(sheet: Sheet) -> None:
    """A page lying on its side: German with French below each name."""
    grid = Grid(
        columns=columns(
            "name@40=Analyse",
            "value@300r=Resultat",
            "flag@306",
            "unit@345=Einheit",
            "range@430=Referenzbereich",
            "method@560=Methode",
        ),
        size=8.5,
        leading=12,
        cells=lambda row: {
            **plain_cells(row),
            "flag": {"H": "+", "L": "-"}.get(row.flag, ""),
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Labor Beispielthal AG", "Musterweg 3, 3000 Erfunden")
        sheet.y = 70
        two_blocks(
            sheet,
            [("Patient", "Erfunden, Reto"), ("Geb.-Datum", "09.11.1970"), ("Sex", "M")],
            [("Entnahme", "22.04.2024 07:50"), ("Auftrag Nr.", "24-0413-22")],
        )
        sheet.down(8)
        page_footer(sheet, "Befund vom 22.04.2024")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "Hämatologie / Hématologie",
            """
Hämoglobin | 151 | g/l | 135 - 172 | hgb | method=Photometrie
Leukozyten | 11.8 | G/l | 3.9 - 10.2 | wbc | method=Impedanz
Thrombozyten | 243 | G/l | 150 - 370 | plt | method=Impedanz
Erythrozyten | 4.91 | T/l | 4.30 - 5.80 | rbc | method=Impedanz
""",
        ),
        (
            "Chemie / Chimie",
            """
Natrium | 138 | mmol/l | 136 - 145 | sodium | method=ISE
Harnsäure | 471 | µmol/l | 202 - 416 | urate_si | method=Uricase
Kreatinin | 91 | µmol/l | 62 - 106 | creat_si | method=enzymatisch
Gamma-GT | 88 | U/l | < 60 | ggt | method=IFCC
ASAT (GOT) | 41 | U/l | < 40 | ast | method=IFCC
Cholesterin | 5.9 | mmol/l | < 5.0 | chol_si
PSA total | 1.21 | µg/l | < 3.10 | psa | method=ECLIA
""",
        ),
    ):
        sheet.section(panel)
        sheet.print_rows(grid, rows)
    sheet.close()
