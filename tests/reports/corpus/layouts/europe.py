"""Local headers and decimal commas: German, Spanish, French, Portuguese prints."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, pairs_block, two_blocks
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Cell, Column, Grid, columns, plain_cells


@layout("de-laborbefund")
def german(sheet: Sheet) -> None:
    """Name, value with sign, unit, range; decimal commas; + and - as flags."""

    def cells(row: Row) -> dict[str, str | Cell]:
        return {
            "name": row.name,
            "value": Cell(row.value, bold=bool(row.flag)),
            "flag": {"H": "+", "L": "-"}.get(row.flag, ""),
            "unit": row.unit,
            "range": row.range,
        }

    grid = Grid(
        columns=(
            Column("name", 50, "Untersuchung"),
            Column("value", 255, "Ergebnis", align="r"),
            Column("flag", 262),
            Column("unit", 290, "Einheit"),
            Column("range", 390, "Referenzbereich"),
        ),
        leading=13,
        cells=cells,
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Labor Nordfeld", "Beispielweg 3, 00000 Musterstadt")
        sheet.y = 76
        two_blocks(
            sheet,
            [
                ("Patient", "Muster, Kim"),
                ("Geb.-Datum", "17.10.1964"),
                ("Geschlecht", "w"),
            ],
            [
                ("Auftragsnr.", "2400471133"),
                ("Eingang", "06.05.2024"),
                ("Ausgang", "07.05.2024"),
            ],
        )
        sheet.down(10)
        page_footer(sheet, "Endbefund - Medizinisch validiert")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "Kleines Blutbild",
            """
Leukozyten | 6,73 | /nl | 3,90 - 10,20 | wbc
Erythrozyten | 4,51 | /pl | 3,90 - 5,20 | rbc
Hämoglobin | 11,8 | g/dl | 12,0 - 15,6 | hgb
Hämatokrit | 36,1 | % | 35,5 - 45,5 | hct
MCV | 80,0 | fl | 80,0 - 99,0 | mcv
MCH (HbE) | 26,2 | pg | 27,0 - 33,5 | mch
MCHC | 32,7 | g/dl | 31,5 - 36,0 | mchc
Thrombozyten | 284 | /nl | 150 - 370 | plt
""",
        ),
        (
            "Klinische Chemie",
            """
Natrium | 141 | mmol/l | 136 - 145 | sodium
Kalium | 4,6 | mmol/l | 3,5 - 5,1 | potassium
Kreatinin i.S. | 0,98 | mg/dl | 0,50 - 0,90 | creat
Harnsäure | 5,2 | mg/dl | 2,4 - 5,7 | urate
GOT (ASAT) | 24 | U/l | < 35 | ast
GPT (ALAT) | 31 | U/l | < 35 | alt
Gamma-GT | 52 | U/l | < 40 | ggt
Cholesterin gesamt | 243 | mg/dl | < 200 | chol
HDL-Cholesterin | 58 | mg/dl | > 45 | hdl
LDL-Cholesterin | 161 | mg/dl | < 116 | ldl
Triglyceride | 121 | mg/dl | < 150 | trig
CRP | 0,31 | mg/dl | < 0,50 | crp
Ferritin | 11,4 | µg/l | 13,0 - 150,0 | ferritin
TSH basal | 2,37 | mU/l | 0,27 - 4,20 | tsh
HbA1c (NGSP) | 5,7 | % | 4,0 - 6,0 | a1c
HbA1c (IFCC) | 39 | mmol/mol | 20 - 42 | a1c_ifcc
""",
        ),
    ):
        sheet.section(panel, x=50)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
    sheet.close()
    sheet.down(8)
    sheet.say(50, "Zielwerte LDL-C (ESC 2019): niedriges Risiko < 116 mg/dl,", size=8)
    sheet.say(50, "hohes Risiko < 70 mg/dl, sehr hohes Risiko < 55 mg/dl", size=8)


@layout("es-analitica", font="Times-Roman", size=10)
def spanish(sheet: Sheet) -> None:
    """Star before the value, range in brackets, bilingual names in places."""
    grid = Grid(
        columns=columns(
            "name@50=Prueba",
            "flag@240",
            "value@255=Resultado",
            "unit@330=Unidades",
            "range@430=Valores de referencia",
        ),
        font="Times-Roman",
        size=10,
        leading=13,
        cells=lambda row: {
            "name": row.name,
            "flag": "*" if row.flag else "",
            "value": row.value,
            "unit": row.unit,
            "range": f"[{row.range}]" if row.range else "",
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Laboratorio Campo Norte", "C/ Ejemplo 1, 00000 Ciudad")
        sheet.y = 72
        two_blocks(
            sheet,
            [
                ("Paciente", "PRUEBA FICTICIA, LUZ"),
                ("F. nacimiento", "25/12/1983"),
                ("Sexo", "Mujer"),
            ],
            [
                ("N.º petición", "24019911"),
                ("F. extracción", "15/04/2024"),
                ("F. informe", "16/04/2024"),
            ],
        )
        sheet.down(10)
        page_footer(sheet, "Informe definitivo")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "HEMOGRAMA / BLOOD COUNT",
            """
Leucocitos / WBC | 7,10 | x10^3/µL | 4,00 - 11,00 | wbc
Hematíes / RBC | 4,02 | x10^6/µL | 3,90 - 5,40 | rbc
Hemoglobina / Hemoglobin | 11,4 | g/dL | 12,0 - 16,0 | hgb
Hematocrito / Hematocrit | 34,9 | % | 36,0 - 47,0 | hct
V.C.M. | 86,8 | fL | 80,0 - 99,0 | mcv
Plaquetas / Platelets | 305 | x10^3/µL | 140 - 400 | plt
""",
        ),
        (
            "BIOQUÍMICA",
            """
Glucosa | 101 | mg/dL | 74 - 106 | glucose
Urea | 29 | mg/dL | 17 - 43 | urea
Creatinina | 0,66 | mg/dL | 0,50 - 0,95 | creat
Colesterol total | 231 | mg/dL | < 200 | chol
Colesterol HDL | 61 | mg/dL | > 45 | hdl
Triglicéridos | 99 | mg/dL | < 150 | trig
Hierro | 38 | µg/dL | 50 - 170 | iron
Ferritina | 8,9 | ng/mL | 15,0 - 150,0 | ferritin
Proteína C reactiva | 2,1 | mg/L | < 5,0 | crp
TSH | 1,94 | µUI/mL | 0,38 - 5,33 | tsh
""",
        ),
        (
            "ORINA",
            """
Densidad | 1,018 | | 1,005 - 1,030 | u_sg
pH | 5,5 | | 5,0 - 8,0 | u_ph
Proteínas | Negativo | | Negativo | u_protein
Glucosa | Negativo | | Negativo | u_glucose
Nitritos | Negativo | | Negativo | u_nitrite
""",
        ),
    ):
        sheet.section(panel, x=50)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))


@layout("fr-analyses", font="Helvetica", size=9)
def french(sheet: Sheet) -> None:
    """Earlier results in the last column; counts in Giga/L, masses in g/L."""
    grid = Grid(
        columns=columns(
            "name@45=Analyses",
            "value@215r=Résultats",
            "unit@222=Unités",
            "range@300=Valeurs de référence",
            "prev@440=Antériorités",
        ),
        leading=13,
        cells=lambda row: (
            plain_cells(row)
            | {
                "value": Cell(row.value, bold=bool(row.flag)),
                "prev": row.option("prev"),
            }
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Laboratoire du Pré Fictif", "1 rue Exemple, 00000 Ville")
        sheet.y = 72
        two_blocks(
            sheet,
            [("Patient", "Mme EXEMPLE Camille"), ("Née le", "11/03/1977")],
            [("Dossier", "240611-0042"), ("Prélevé le", "11/06/2024 à 08:05")],
        )
        sheet.down(10)
        page_footer(sheet, "Compte rendu validé par un biologiste")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "HÉMATOLOGIE",
            """
Hémoglobine | 13,1 | g/dL | 12,0 à 16,0 | hgb | prev=12,8
Hématocrite | 39,4 | % | 35,0 à 47,0 | hct | prev=38,9
V.G.M. | 91,2 | fL | 80,0 à 100,0 | mcv
Leucocytes | 3,41 | Giga/L | 4,00 à 10,00 | wbc | prev=4,10
Plaquettes | 212 | Giga/L | 150 à 400 | plt
Vitesse de sédimentation | 24 | mm | inf. à 20 | esr | doubtful
""",
        ),
        (
            "BIOCHIMIE SANGUINE",
            """
Glycémie à jeun | 0,94 | g/L | 0,74 à 1,06 | glucose_fasting
Créatinine | 7,2 | mg/L | 5,0 à 9,0 | creat | prev=6,9
Sodium | 139 | mmol/L | 136 à 145 | sodium
Potassium | 4,3 | mmol/L | 3,5 à 5,1 | potassium
Cholestérol total | 2,31 | g/L | < 2,00 | chol
Triglycérides | 0,88 | g/L | < 1,50 | trig
ASAT | 21 | UI/L | < 35 | ast
ALAT | 18 | UI/L | < 35 | alt
TSH | 0,21 | mUI/L | 0,27 à 4,20 | tsh
""",
        ),
    ):
        sheet.section(panel, x=45)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))


@layout("pt-hemograma", font="Vera", size=8)
def portuguese(sheet: Sheet) -> None:
    """Ranges joined by a word, points as thousands marks, a material line below."""
    grid = Grid(
        columns=columns(
            "name@45=Exame",
            "value@210r=Resultado",
            "unit@220=Unidade",
            "range@330=Valores de Referência",
        ),
        font="Vera",
        size=8,
        leading=12,
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Laboratório Vale Claro", "Av. Exemplo 100, Cidade")
        sheet.y = 72
        two_blocks(
            sheet,
            [("Paciente", "FULANA MODELO"), ("Nascimento", "19/08/1992")],
            [("Protocolo", "0044182"), ("Coleta", "20/02/2024 07:40")],
        )
        sheet.down(10)
        page_footer(sheet, "Responsável técnico: CRF 00000")

    sheet.begin(head)
    for panel, rows in (
        (
            "HEMOGRAMA COMPLETO",
            """
Hemácias | 4,61 | milhões/mm³ | 3,90 a 5,00 | rbc
Hemoglobina | 13,6 | g/dL | 12,0 a 15,5 | hgb
Hematócrito | 40,8 | % | 35,0 a 45,0 | hct
VCM | 88,5 | fL | 82,0 a 98,0 | mcv
HCM | 29,5 | pg | 26,0 a 34,0 | mch
CHCM | 33,3 | g/dL | 31,0 a 36,0 | mchc
RDW | 12,9 | % | 11,9 a 15,5 | rdw
Leucócitos | 10.850 | /mm³ | 3.500 a 10.500 | wbc
Plaquetas | 231.000 | /mm³ | 150.000 a 450.000 | plt
""",
        ),
        (
            "BIOQUÍMICA",
            """
Glicose em jejum | 87 | mg/dL | 70 a 99 | glucose_fasting
Ureia | 31 | mg/dL | 17 a 49 | urea
Creatinina | 0,81 | mg/dL | 0,50 a 1,10 | creat
Colesterol total | 176 | mg/dL | < 190 | chol
Colesterol HDL | 38 | mg/dL | > 40 | hdl
TGO (AST) | 19 | U/L | < 32 | ast
TGP (ALT) | 36 | U/L | < 33 | alt
Vitamina D (25-OH) | 21,3 | ng/mL | > 20,0 | vitd
TSH ultrassensível | 2,05 | µUI/mL | 0,40 a 4,30 | tsh
""",
        ),
    ):
        sheet.section(panel, x=45)
        sheet.titles(grid)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
        sheet.close()
        sheet.say(45, "Material: sangue   Método: automatizado", size=7)


@layout("zh-en-bilingual", font="STSong-Light", size=9)
def bilingual_chinese(sheet: Sheet) -> None:
    """Chinese beside English in names and titles; arrows as flags."""
    grid = Grid(
        columns=columns(
            "name@45=项目 Item",
            "value@235=结果 Result",
            "flag@285",
            "unit@310=单位 Unit",
            "range@400=参考范围 Reference",
        ),
        font="STSong-Light",
        size=9,
        leading=13,
        cells=lambda row: (
            plain_cells(row) | {"flag": {"H": "↑", "L": "↓"}.get(row.flag, "")}
        ),
    )

    def head(sheet: Sheet) -> None:
        sheet.text(45, 40, "示例医院检验报告单 Example Hospital", size=14)
        sheet.y = 66
        sheet.say(
            45, "姓名 Name: 张样本    性别 Sex: 男    年龄 Age: 39    No: 20240518"
        )
        sheet.down(6)
        page_footer(sheet, "检验者 Tester: 李某    审核 Reviewed: 王某")

    sheet.begin(head)
    sheet.titles(grid)
    sheet.panel = "血常规 CBC"
    sheet.print_rows(
        grid,
        """
白细胞计数 WBC | 11.32 | 10^9/L | 3.50-9.50 | wbc | also=WBC
红细胞计数 RBC | 5.01 | 10^12/L | 4.30-5.80 | rbc | also=RBC
血红蛋白 HGB | 151 | g/L | 130-175 | hgb | also=HGB
红细胞压积 HCT | 45.2 | % | 40.0-50.0 | hct | also=HCT
血小板 PLT | 118 | 10^9/L | 125-350 | plt | also=PLT
中性粒细胞百分比 NEUT% | 78.1 | % | 40.0-75.0 | neut_pct | also=NEUT%
淋巴细胞百分比 LYMPH% | 15.2 | % | 20.0-50.0 | lymph_pct | also=LYMPH%
C反应蛋白 CRP | 22.6 | mg/L | 0.0-10.0 | crp | also=CRP
丙氨酸氨基转移酶 ALT | 41 | U/L | 9-50 | alt | also=ALT
葡萄糖 GLU | 5.4 | mmol/L | 3.9-6.1 | glucose_si | also=GLU
""",
    )


@layout("it-esami", size=9.5)
def italian(sheet: Sheet) -> None:
    """Star behind the value, unit behind it, range in square brackets."""
    grid = Grid(
        columns=columns(
            "name@50=Esame",
            "value@260r=Risultato",
            "flag@264",
            "unit@290=U.M.",
            "range@370=Intervallo di riferimento",
        ),
        size=9.5,
        leading=13,
        cells=lambda row: (
            plain_cells(row)
            | {"flag": "*" if row.flag else "", "range": f"[{row.range}]"}
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Laboratorio Borgo Finto", "Via Esempio 5, 00000 Citta")
        sheet.y = 70
        pairs_block(
            sheet,
            50,
            [
                ("Paziente", "ROSSI ESEMPIO, ALE"),
                ("Data di nascita", "21/05/1974"),
                ("Accettazione", "2407020118"),
            ],
        )
        sheet.down(8)
        page_footer(sheet, "Referto firmato digitalmente")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows in (
        (
            "ESAME EMOCROMOCITOMETRICO",
            """
Leucociti | 8,91 | x10^3/µL | 4,00 - 10,00 | wbc
Eritrociti | 5,72 | x10^6/µL | 4,50 - 5,60 | rbc
Emoglobina | 16,1 | g/dL | 13,0 - 17,0 | hgb
Ematocrito | 48,2 | % | 40,0 - 50,0 | hct
Piastrine | 149 | x10^3/µL | 150 - 400 | plt
""",
        ),
        (
            "CHIMICA CLINICA",
            """
Glucosio | 94 | mg/dL | 70 - 100 | glucose
Creatinina | 1,31 | mg/dL | 0,70 - 1,20 | creat
Colesterolo totale | 207 | mg/dL | < 200 | chol
Trigliceridi | 140 | mg/dL | < 150 | trig
ALT (GPT) | 52 | U/L | < 41 | alt
Ferritina | 310 | ng/mL | 30 - 400 | ferritin
""",
        ),
    ):
        sheet.section(panel, x=50)
        sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))
