"""Everyday designs of India, the Philippines, South Africa and Brazil."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Grid, columns


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


@layout("fourth-in-method-last", font="Helvetica", size=8.5)
def in_method_last(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@40w140=Test Name",
            "value@190=Result",
            "unit@250=Unit",
            "range@320=Bio. Ref. Range",
            "method@440=Method",
        ),
        size=8.5,
        leading=12,
        rules="lines",
    )
    _print(
        sheet,
        (
            "Namuna Health & Lifestyle",
            "Udaharanpur",
            [
                ("Patient Name", "Mr.NAMUNA SINGH"),
                ("Age/Gender", "45 Y 3 M 2 D/M"),
                ("UHID/MR No", "ANAM.0000001"),
            ],
            [
                ("Collected", "09/Jan/2024 08:02AM"),
                ("Reported", "09/Jan/2024 02:31PM"),
                ("Status", "Final Report"),
            ],
        ),
        grid,
        [
            (
                "HEMOGRAM , WHOLE BLOOD EDTA",
                """
HAEMOGLOBIN | 14.1 | g/dL | 13-17 | hgb | method=Spectrophotometer
PCV | 43.20 | % | 40-50 | hct | method=Electronic pulse
RBC COUNT | 4.77 | Million/cu.mm | 4.5-5.5 | rbc | method=Electrical Impedence
MCV | 90.6 | fL | 83-101 | mcv | method=Calculated
R.D.W | 14.8 | % | 11.6-14 | rdw | method=Calculated
TOTAL LEUCOCYTE COUNT (TLC) | 6,900 | cells/cu.mm | 4000-10000 | wbc | \
method=Electrical Impedance
NEUTROPHILS | 55 | % | 40-80 | neut_pct | method=Electrical Impedance
LYMPHOCYTES | 35 | % | 20-40 | lymph_pct | method=Electrical Impedance
PLATELET COUNT | 212000 | cells/cu.mm | 150000-410000 | plt | \
method=Electrical impedence
ERYTHROCYTE SEDIMENTATION RATE (ESR) | 22 | mm at the end of 1 hour | 0-15 | esr | \
method=Modified Westergren
""",
            ),
            (
                "LIVER FUNCTION TEST (LFT) , SERUM",
                """
BILIRUBIN, TOTAL | 1.41 | mg/dL | 0.3–1.2 | bili | method=DPD
BILIRUBIN CONJUGATED (DIRECT) | 0.22 | mg/dL | <0.2 | bili_direct | method=DPD
ALANINE AMINOTRANSFERASE (ALT/SGPT) | 39.2 | U/L | <50 | alt | method=IFCC
ALKALINE PHOSPHATASE | 71.00 | U/L | 30-120 | alp | method=IFCC
PROTEIN, TOTAL | 7.10 | g/dL | 6.6-8.3 | protein | method=Biuret
ALBUMIN | 4.40 | g/dL | 3.5-5.2 | albumin | method=BROMO CRESOL GREEN
""",
            ),
        ],
    )


@layout("fourth-ph-sexes", font="Times-Roman", size=10)
def ph_sexes(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@50=EXAMINATION",
            "value@240c=RESULT",
            "unit@300=UNIT",
            "range@380=NORMAL VALUES",
        ),
        font="Times-Roman",
        size=10,
        leading=14,
    )
    _print(
        sheet,
        (
            "HALIMBAWA GENERAL HOSPITAL",
            "Clinical Laboratory Section",
            [("Name", "WALANG PANGALAN, ANA"), ("Age/Sex", "29/F")],
            [("Date", "05/22/2024"), ("Ward", "OPD")],
        ),
        grid,
        [
            (
                "COMPLETE BLOOD COUNT",
                """
Hemoglobin | 112 | g/L | M: 140-170 F: 120-150 | hgb | doubtful
Hematocrit | 0.35 | | M: 0.40-0.50 F: 0.37-0.45 | hct | doubtful
RBC Count | 4.10 | x10^12/L | 4.0-6.0 | rbc
WBC Count | 12.6 | x10^9/L | 5.0-10.0 | wbc
Segmenters | 0.78 | | 0.50-0.70 |
Lymphocytes | 0.18 | | 0.20-0.40 |
Platelet Count | 310 | x10^9/L | 150-450 | plt
""",
            ),
            (
                "BLOOD CHEMISTRY",
                """
FBS | 4.9 | mmol/L | 3.9-6.1 | glucose_si
Creatinine | 58 | umol/L | 53-97 | creat_si
SGPT | 19 | U/L | 0-41 | alt
Potassium | 3.9 | mmol/L | 3.5-5.3 | potassium
""",
            ),
        ],
        x=50,
    )


@layout("fourth-za-h-l", font="Courier", size=9)
def za_h_l(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@40=TEST",
            "value@230r=RESULT",
            "flag@240",
            "unit@260=UNITS",
            "range@340=REF. RANGE",
        ),
        font="Courier",
        size=9,
        leading=12,
    )
    _print(
        sheet,
        (
            "PATHSAMPLE LABORATORIES",
            "Cape Nowhere",
            [("PATIENT", "ME N. NIEMAND"), ("DOB", "1991-05-05")],
            [("REQ", "A0011822"), ("TAKEN", "2024-07-01 09:10")],
        ),
        grid,
        [
            (
                "FULL BLOOD COUNT",
                """
Haemoglobin | 11.1 | g/dL | 11.6 - 16.4 | hgb
Red cell count | 4.02 | x10^12/L | 3.9 - 5.6 | rbc
MCV | 78.8 | fL | 78.9 - 98.5 | mcv
White cell count | 4.40 | x10^9/L | 4.0 - 12.0 | wbc
Platelet count | 455 | x10^9/L | 178 - 400 | plt
""",
            ),
            (
                "IRON STUDIES",
                """
Iron | 5.1 | umol/L | 9.0 - 30.4 | iron_si
Transferrin | 3.6 | g/L | 2.0 - 3.6 | transferrin
Transferrin saturation | 6 | % | 15 - 50 | tsat
Ferritin | 7 | ug/L | 13 - 150 | ferritin
""",
            ),
            (
                "SEROLOGY",
                """
HIV 1/2 Ag/Ab | Non-reactive | | | hiv
Hepatitis B surface antigen | Negative | | | hbsag
""",
            ),
        ],
    )


@layout("fourth-br-tabela", font="Vera", size=8)
def br_tabela(sheet: Sheet) -> None:
    grid = Grid(
        columns=columns(
            "name@45=Exame",
            "value@230r=Resultado",
            "unit@238=Unidade",
            "range@320=Valor de referência",
        ),
        font="Vera",
        size=8,
        leading=12,
        rules="lines",
    )
    _print(
        sheet,
        (
            "Laboratório Rio Inventado",
            "Rua Falsa 123",
            [("Paciente", "JOÃO MODELO"), ("Idade", "58 anos")],
            [("Pedido", "00991"), ("Data", "14/06/2024")],
        ),
        grid,
        [
            (
                "HEMOGRAMA",
                """
Eritrócitos | 4,92 | milhões/µL | 4,30 a 5,70 | rbc
Hemoglobina | 14,8 | g/dL | 13,0 a 17,5 | hgb
Leucócitos | 6.740 | /µL | 3.500 a 10.500 | wbc
Plaquetas | 198.000 | /µL | 150.000 a 450.000 | plt
""",
            ),
            (
                "BIOQUÍMICA",
                """
Glicose | 112 | mg/dL | 70 a 99 | glucose
Creatinina | 1,10 | mg/dL | 0,70 a 1,30 | creat
Ureia | 41 | mg/dL | 15 a 45 | urea
Colesterol total | 199 | mg/dL | < 190 | chol
HDL | 41 | mg/dL | > 40 | hdl
Triglicérides | 166 | mg/dL | < 150 | trig
Hemoglobina glicada (HbA1c) | 6,0 | % | < 5,7 | a1c
PSA total | 0,98 | ng/mL | < 4,00 | psa
Vitamina B12 | 188 | pg/mL | 197 a 771 | b12
""",
            ),
        ],
        comma=True,
        x=45,
    )
