"""Second units below, earlier results beside, ranges said in words, records."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import read_rows, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells


def _head(sheet: Sheet, name: str, patient: str, *, born: str, drawn: str) -> None:
    letterhead(sheet, name)
    sheet.y = 62
    two_blocks(sheet, [(born, "02/05/1961")], [(drawn, "11/03/2024")], x=(40, 320))
    sheet.text(40, sheet.y, patient)
    sheet.down(22)
    page_footer(sheet, name)


@layout("sixth-fr-unit-below", size=9)
def unit_below(sheet: Sheet) -> None:
    """Each result in two units, the second on a line without a name."""
    sheet.begin(
        lambda sheet: _head(
            sheet, "Laboratoire Fictif", "Mme INVENTEE", born="Née le", drawn="Prélevé"
        )
    )
    sheet.text(290, sheet.y, "Valeurs de référence")
    sheet.text(450, sheet.y, "04/09/2023")
    sheet.down(16)
    rows = """
Glycémie à jeun | 1,01 | g/L | 0,74 - 1,06
Glycémie à jeun | 5,61 | mmol/L | 4,10 - 5,90
Créatinine | 8,0 | mg/L | 5,1 - 9,5
Créatinine | 71 | µmol/L | 45 - 84
Cholestérol total | 2,29 | g/L | 1,50 - 2,20
Cholestérol total | 5,92 | mmol/L | 3,88 - 5,70
Triglycérides | 1,06 | g/L | < 1,50
Triglycérides | 1,21 | mmol/L | < 1,71
"""
    notes = ("Hexokinase", "Enzymatique", "CHOD-PAP", "GPO-PAP")
    for n, row in enumerate(read_rows(rows, decimal_comma=True)):
        if n % 2 == 0:
            sheet.text(44, sheet.y, row.name)
            sheet.text(44, sheet.y + 10, f"({notes[n // 2]})", size=7)
            sheet.text(450, sheet.y, ("0,98", "7,7", "2,11", "0,99")[n // 2])
        for x, text in ((180, row.value), (225, row.unit), (290, row.range)):
            sheet.text(x, sheet.y, text)
        sheet.down(22 if n % 2 == 0 else 14)
        sheet.rows.append(truth_of(row, None))


@layout("sixth-fr-earlier-dated", font="Courier", size=8)
def earlier_dated(sheet: Sheet) -> None:
    """Only the ranges and the earlier result have titles; dots lead to the value."""
    sheet.begin(
        lambda sheet: _head(
            sheet, "Hôpital Fictif", "M. INVENTE", born="Né le", drawn="Prélevé"
        )
    )
    for x, text in (
        (40, "HEMATOLOGIE"),
        (290, "Valeurs usuelles"),
        (420, "04/09/2023"),
    ):
        sheet.text(x, sheet.y, text)
    sheet.down(16)
    rows = sheet.read(
        """
Leucocytes | 7,42 | G/L | (4,00 - 10,00)
Hématies | 4,61 | T/L | (4,00 - 5,30)
Hémoglobine | 13,2 | g/dL | (12,0 - 16,0)
Hématocrite | 39,8 | % | (35,0 - 47,0)
Plaquettes | 251 | G/L | (150 - 400)
Protéine C réactive | 3,1 | mg/L | (< 5,0)
Créatinine | 7,4 | mg/L | (5,0 - 9,0)
""",
        decimal_comma=True,
    )
    for n, row in enumerate(rows):
        sheet.text(40, sheet.y, f"{row.name} ".ljust(32, ".") + ":")
        sheet.text(215, sheet.y, f"{row.value} {row.unit}")
        sheet.text(290, sheet.y, row.range)
        sheet.text(420, sheet.y, f"{n + 3},{n}")
        sheet.down(11)
    sheet.rows += [truth_of(row, "HEMATOLOGIE") for row in rows]


@layout("sixth-app-optimal", size=9)
def app_optimal(sheet: Sheet) -> None:
    """Cards three abreast, whose range is called optimal and has no colon."""
    sheet.begin()
    sheet.say(40, "Your biomarkers", size=14, gap=24)
    rows = sheet.read(
        """
Ferritin | 41 | ng/mL | 50-150 | ferritin
Vitamin D | 38 | ng/mL | 40-80
Omega-3 Index | 5.2 | % | 8-12
Homocysteine | 9.1 | µmol/L | 5-8
Apolipoprotein B | 101 | mg/dL | < 80 | apob
Fasting insulin | 6.3 | µIU/mL | 2-6 | insulin
Magnesium | 2.0 | mg/dL | 1.6-2.3 | magnesium
Uric Acid | 5.1 | mg/dL | 2.6-6.2 | urate
Vitamin B12 | 311 | pg/mL | 400-1000 | b12
"""
    )
    states = {"H": "High", "L": "Below optimal"}
    for n, row in enumerate(rows):
        x, y = 48 + 175 * (n % 3), sheet.y
        sheet.box(x - 8, y - 14, 165, 56)
        sheet.text(x, y, row.name)
        sheet.text(x, y + 17, row.value, size=14)
        sheet.text(x + 45, y + 17, row.unit, size=8, colour=GREY)
        sheet.text(x, y + 28, f"Optimal range {row.range}", size=7)
        sheet.text(x, y + 37, states.get(row.flag, "Optimal"), size=7)
        if n % 3 == 2:
            sheet.down(70)
    sheet.rows += [truth_of(row, None) for row in rows]


@layout("sixth-br-result-lines", size=9)
def result_lines(sheet: Sheet) -> None:
    """A heading for a name, of which one is in no catalogue; 'RESULTADO' below it."""
    sheet.begin(
        lambda sheet: _head(
            sheet,
            "Laboratório Fictício",
            "PESSOA EXEMPLO",
            born="Nascimento",
            drawn="Coleta",
        )
    )
    rows = sheet.read(
        """
VITAMINA B12 | 287 | pg/mL | 197 a 771 | b12
MARCADOR INVENTADO | 3,12 | µUI/mL | 0,40 a 4,30
CREATININA | 0,88 | mg/dL | 0,60 a 1,10 | creat
GLICOSE | 92 | mg/dL | 70 a 99
FERRITINA | 41 | ng/mL | 15 a 150
ÁCIDO ÚRICO | 5,1 | mg/dL | 2,6 a 6,0
FERRO SÉRICO | 71 | µg/dL | 50 a 170
""",
        decimal_comma=True,
    )
    for row in rows:
        sheet.say(40, row.name, bold=True, gap=11)
        sheet.text(40, sheet.y, "Material: Soro", size=7)
        sheet.text(110, sheet.y, "Método: Cinético", size=7)
        sheet.down(11)
        sheet.text(40, sheet.y, f"RESULTADO: {row.value} {row.unit}")
        sheet.text(340, sheet.y, f"Valor de referência: {row.range}")
        sheet.down(26)
    sheet.rows += [truth_of(row, None) for row in rows]


@layout("sixth-br-unit-twice", size=9)
def unit_twice(sheet: Sheet) -> None:
    """The unit in a column without a title, and again behind each range."""
    grid = Grid(
        columns=columns(
            "name@40",
            "value@240r=Resultado",
            "unit@250",
            "range@330=Valores de Referência",
        ),
        cells=lambda row: {
            **plain_cells(row),
            "name": f"{row.name}.....:",
            "range": f"{row.range} {row.unit}",
        },
    )
    sheet.begin(
        lambda sheet: _head(
            sheet, "Laboratório Imaginário", "EXEMPLO", born="Nasc.", drawn="Coleta"
        )
    )
    sheet.section("HEMOGRAMA COMPLETO")
    sheet.titles(grid)
    rows = """
Hemoglobina | 14,6 | g/dL | 13,0 a 16,5 | hgb
VCM | 91,5 | fL | 80,0 a 98,0
HCM | 31,0 | pg | 26,8 a 32,9
RDW | 13,2 | % | 11,0 a 16,0
VPM | 9,8 | fL | 6,5 a 15,0
Hematócrito | 43,1 | % | 36,0 a 54,0
Hemácias | 4,71 | milhões/mm³ | 4,50 a 6,10
"""
    sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))


@layout("sixth-de-glued-marks", size=9)
def glued_marks(sheet: Sheet) -> None:
    """Three days abreast, the mark glued to its number, the range left of them."""
    grid = Grid(
        columns=columns(
            "name@44=Parameter",
            "unit@163=Einheit",
            "range@232=Norm",
            "value@325=11.03.24",
            "second@403=10.03.24",
        ),
        cells=lambda row: {
            **plain_cells(row),
            "value": row.value + {"H": "+", "L": "-"}.get(row.flag, ""),
            "second": "121+",
        },
    )
    sheet.begin(
        lambda sheet: _head(
            sheet, "Klinikum Musterstadt", "Beispiel, Max", born="geb.", drawn="Eingang"
        )
    )
    sheet.titles(grid)
    rows = """
Leukozyten | 11,8 | G/l | 4,0 - 10,0 | wbc
Hämoglobin | 8,9 | g/dl | 12,0 - 16,0 | hgb
Thrombozyten | 502 | G/l | 150 - 400
Quick | 61 | % | 70 - 120
INR | 1,21 | | 0,85 - 1,15
Laktat | 1,1 | mmol/l | 0,5 - 2,2
Natrium | 139 | mmol/l | 136 - 145
"""
    sheet.print_rows(grid, sheet.read(rows, decimal_comma=True))


@layout("sixth-uk-state-behind", size=9)
def state_behind(sheet: Sheet) -> None:
    """A sentence for each result, the range in brackets and its state behind."""
    sheet.begin()
    sheet.say(40, "Test results", size=14, gap=24)
    sheet.say(40, "11 Mar 2024   Filed by: Dr Example   No further action", gap=20)
    rows = sheet.read(
        """
Serum sodium | 141 | mmol/L | 133 - 146 | sodium
Serum urea level | 8.9 | mmol/L | 2.5 - 7.8 | urea_si
Serum creatinine | 97 | umol/L | 59 - 104 | creat_si
Serum ALT level | 61 | U/L | < 50
Serum albumin | 41 | g/L | 35 - 50 | albumin
Serum potassium | 4.4 | mmol/L | 3.5 - 5.3 | potassium
Serum bilirubin | 9 | umol/L | < 21
"""
    )
    states = {"H": " Above range", "L": " Below range"}
    for row in rows:
        text = f"{row.name}: {row.value} {row.unit} (normal range: {row.range})"
        sheet.say(40, text + states.get(row.flag, ""), gap=18)
    sheet.rows += [truth_of(row, None) for row in rows]


@layout("sixth-uk-comments-between", font="Courier", size=9)
def comments_between(sheet: Sheet) -> None:
    """Comments below the results, one of them with numbers and units of its own."""
    sheet.begin()
    for line in (
        "SURNAME: INVENTED    FORENAME: PAT    DOB: 02/05/1951",
        "Lab No: 24.0311042   Collected: 11/03/24 09:40",
        "",
        "SERUM",
    ):
        sheet.say(40, line)
    comments = {
        "Potassium": "? haemolysed sample. Suggest repeat.",
        "NT-proBNP": ">2000 ng/L refer urgently (2 weeks); 400-2000 ng/L (6 weeks)",
    }
    rows = sheet.read(
        """
Sodium | 133 | mmol/L | (133 - 146) | sodium
Potassium | 5.9 | mmol/L | (3.5 - 5.3)
Urea | 14.2 | mmol/L | (2.5 - 7.8) | urea_si
Albumin | 38 | g/L | (35 - 50) | albumin
ALT | 25 | U/L | (5 - 30)
Active B12 | 44 | pmol/L | (25.1 - 165.0)
NT-proBNP | 1841 | ng/L | (< 400)
"""
    )
    for row in rows:
        for x, text in (
            (40, row.name),
            (200, row.value),
            (250, row.flag),
            (270, row.unit),
            (350, row.range),
        ):
            sheet.text(x, sheet.y, text)
        sheet.down(12)
        if row.name in comments:
            sheet.say(52, comments[row.name])
    sheet.rows += [truth_of(row, "SERUM") for row in rows]
