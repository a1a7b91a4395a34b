"""Awkward prints of the United Kingdom, Ireland and Australia."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells


@layout("third-uk-app-list", font="Helvetica", size=10)
def app_list(sheet: Sheet) -> None:
    """Printed page of a patient app: heading, then value and normal range beneath."""

    def head(sheet: Sheet) -> None:
        sheet.text(40, 40, "Test results", size=18, bold=True)
        sheet.text(
            555,
            40,
            "Mr Ivor NOTHING   Born 2 May 1955   Number: 000 000 0012",
            size=8,
            align="r",
        )
        sheet.y = 70

    sheet.begin(head)
    for title, rows in (
        (
            "Full blood count - FBC",
            """
Haemoglobin concentration | 118 | g/L | 130.0 to 180.0 | hgb
Total white cell count | 7.4 | 10*9/L | 4.0 to 11.0 | wbc
Platelet count | 298 | 10*9/L | 150.0 to 400.0 | plt
Mean corpuscular volume (MCV) | 81.2 | fL | 80.0 to 100.0 | mcv
Neutrophil count | 4.6 | 10*9/L | 2.0 to 7.5 | neut
""",
        ),
        (
            "Renal profile",
            """
Serum sodium level | 141 | mmol/L | 133.0 to 146.0 | sodium
Serum potassium level | 4.9 | mmol/L | 3.5 to 5.3 | potassium
Serum creatinine level | 132 | umol/L | 59.0 to 104.0 | creat_si
GFR calculated abbreviated MDRD | 48 | mL/min/1.73m*2 | | egfr
""",
        ),
        (
            "Haemoglobin A1c level - IFCC standardised",
            """
Haemoglobin A1c level - IFCC standardised | 53 | mmol/mol | 20.0 to 41.0 | a1c_ifcc
""",
        ),
    ):
        sheet.need(80)
        sheet.say(40, title, size=13, bold=True, gap=15)
        sheet.say(
            40, "14 Feb 2024 - Abnormal - contact practice", size=8, colour=GREY, gap=14
        )
        sheet.panel = title
        for row in sheet.read(rows):
            sheet.need(44)
            sheet.say(52, row.name, bold=True, gap=13)
            sheet.say(52, f"Value: {row.value} {row.unit}", gap=13)
            if row.range:
                sheet.say(
                    52,
                    f"Normal range: {row.range} {row.unit}",
                    size=9,
                    gap=18,
                    colour=GREY,
                )
            else:
                sheet.down(6)
            sheet.rows.append(truth_of(row, title))


@layout("third-uk-private-narrative", font="Vera", size=8.5)
def private_narrative(sheet: Sheet) -> None:
    """Private screening: tables with a traffic light letter, doctor's prose between."""
    grid = Grid(
        columns=columns(
            "name@50=",
            "value@250r=Your result",
            "unit@256",
            "range@340=Typical range",
            "flag@470=Rating",
        ),
        font="Vera",
        size=8.5,
        leading=14,
        cells=lambda row: (
            plain_cells(row)
            | {"flag": {"H": "RED - high", "L": "AMBER - low"}.get(row.flag, "GREEN")}
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Harley Sample Screening", "1 Imaginary Row, London", x=50)
        sheet.y = 70
        sheet.say(
            50,
            (
                "Ms Dora DRAWN-UP   DOB 09/09/1983   Ref HS-20071   Sample "
                "taken 30/01/2024 09:05"
            ),
        )
        page_footer(sheet, "In confidence")

    sheet.begin(head)
    for title, rows, prose in (
        (
            "Liver health",
            """
ALT | 22 | IU/L | 0 - 35 | alt
Gamma GT | 61 | IU/L | 6 - 42 | ggt
Total bilirubin | 9 | umol/L | 0 - 21 | bili_si
Albumin | 45 | g/L | 35 - 50 | albumin
""",
            (
                "Your GGT is raised at 61. Up to 1 in 5 people see this "
                "after 14 or more units of alcohol a week. Repeat in 6 - 8 "
                "weeks."
            ),
        ),
        (
            "Thyroid",
            """
TSH | 1.92 | mIU/L | 0.27 - 4.20 | tsh
Free thyroxine | 15.8 | pmol/L | 12.0 - 22.0 | ft4_si
Thyroid peroxidase antibodies | <9 | kIU/L | 0 - 34 | tpo
""",
            (
                "A TSH below 0.27 or above 4.20 suggests an over or under "
                "active gland. Yours is fine."
            ),
        ),
        (
            "Vitamins and iron",
            """
Active B12 | 37 | pmol/L | 37.5 - 188 |
Folate - serum | 8.1 | ug/L | 3.9 - 20.0 | folate
Vitamin D | 41 | nmol/L | 50 - 175 | vitd_si
Ferritin | 22 | ug/L | 13 - 150 | ferritin
""",
            (
                "Vitamin D: deficient < 25, insufficient 25 - 49, adequate "
                "50 - 175 nmol/L. Consider 1000 IU daily."
            ),
        ),
    ):
        sheet.section(title, x=50, size=12, gap=15, before=10)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()
        sheet.say(50, "Dr N. Notional comments:", bold=True)
        sheet.prose(50, 480, prose, size=8.5, gap=11)


@layout("third-au-collection-columns", font="Courier", size=8)
def collection_columns(sheet: Sheet) -> None:
    """Latest collection first of three; range in brackets between, flag before."""

    def head(sheet: Sheet) -> None:
        sheet.text(40, 36, "Coastal Sample Pathology     ABN 00 000 000 000")
        sheet.text(
            40,
            50,
            (
                "PATIENT  WOMBAT, Wendy      DOB 03/03/1972  Sex F    "
                "MEDICARE 0000 00000 0"
            ),
        )
        sheet.text(40, 61, "REF BY   Dr N. Nil          Lab Ref 24-8812091")
        sheet.y = 84

    sheet.begin(head)
    sheet.say(40, "SPECIMEN: SERUM                    GENERAL CHEMISTRY", bold=True)
    sheet.down(4)
    sheet.say(40, f"{'Date':<14}{'22/05/24':>10}{'11/01/24':>10}{'04/07/23':>10}")
    sheet.say(40, f"{'Time':<14}{'0815':>10}{'0902':>10}{'0830':>10}")
    sheet.say(
        40,
        f"{'Lab No':<14}{'881209':>10}{'771002':>10}{'660119':>10}{'':>4}"
        f"{'Units':<10}Reference",
        gap=14,
    )
    sheet.panel = "GENERAL CHEMISTRY"
    for row in sheet.read("""
Sodium | 139 | mmol/L | (135-145) | sodium | a=141;b=140
Potassium | 4.1 | mmol/L | (3.5-5.2) | potassium | a=4.4;b=4.0
Chloride | 103 | mmol/L | (95-110) | chloride | a=104;b=101
Bicarbonate | 27 | mmol/L | (22-32) | co2 | a=26;b=28
Urea | 8.9 | mmol/L | (3.0-8.0) | urea_si | a=7.1;b=6.6
Creatinine | 101 | umol/L | (45-90) | creat_si | a=92;b=81
eGFR | 53 | mL/min | (>59) | egfr | a=60;b=71
Urate | 0.29 | mmol/L | (0.15-0.40) | urate_si | a=0.31;b=0.30
Total Protein | 71 | g/L | (60-80) | protein | a=70;b=73
Albumin | 41 | g/L | (35-50) | albumin | a=42;b=44
ALP | 66 | U/L | (30-110) | alp | a=71;b=69
Bilirubin | 8 | umol/L | (<20) | bili_si | a=7;b=9
GGT | 44 | U/L | (<35) | ggt | a=31;b=29
AST | 23 | U/L | (<30) | ast | a=24;b=19
ALT | 27 | U/L | (<30) | alt | a=22;b=21
"""):
        star = "*" if row.flag else " "
        sheet.say(
            40,
            f"{row.name:<14}{star + row.value:>10}{row.option('a'):>10}"
            f"{row.option('b'):>10}{'':>4}{row.unit:<10}{row.range}",
            gap=11,
        )
        sheet.rows.append(truth_of(row, sheet.panel))
        for key in ("a", "b"):
            before = Row(row.name, row.option(key), options={"optional": ""})
            sheet.rows.append(truth_of(before, sheet.panel))
    sheet.down(8)
    sheet.say(
        40, "Comment on lab no 881209:  Stage 3a chronic kidney disease (eGFR 45-59)."
    )
    sheet.say(40, "All tests completed.   Validated: 22/05/24 16:40")


@layout("third-ie-gp-message", font="Courier", size=9)
def gp_message(sheet: Sheet) -> None:
    """An electronic message printed as text: value then unit then range in brackets."""

    def head(sheet: Sheet) -> None:
        sheet.text(40, 40, "Healthlink  Message  ORU R01     Printed 06/02/2024")
        sheet.text(
            40, 52, "Surname: MADEUP   Forename: SIOBHAN   DOB: 01/12/1990  Sex: F"
        )
        sheet.text(
            40, 63, "Specimen: Blood     Taken: 05/02/2024 10:00   Ward/GP: Dr. Zero"
        )
        sheet.y = 88

    sheet.begin(head)
    for title, rows in (
        (
            "Full Blood Count",
            """
WBC | 12.1 | x10^9/l | 4.0-10.0 | wbc
RBC | 4.52 | x10^12/l | 3.8-4.8 | rbc
HGB | 13.4 | g/dl | 12.0-15.0 | hgb
HCT | 0.402 | l/l | 0.36-0.46 | hct
MCV | 88.9 | fl | 83-101 | mcv
PLT | 263 | x10^9/l | 150-410 | plt
Neut | 9.1 | x10^9/l | 2.0-7.0 | neut
Lymph | 2.0 | x10^9/l | 1.0-3.0 | lymph
""",
        ),
        (
            "Coagulation Screen",
            """
PT | 11.2 | secs | 9.9-12.3 | pt
INR | 1.0 | ratio | 0.8-1.2 | inr
APTT | 26.1 | secs | 25.0-36.5 | aptt
Fibrinogen | 4.6 | g/l | 1.9-3.5 | fibrinogen
""",
        ),
    ):
        sheet.say(40, f"*** {title} ***   Status: Final", bold=True, gap=14)
        sheet.panel = title
        for row in sheet.read(rows):
            mark = {"H": "+", "L": "-"}.get(row.flag, "")
            sheet.say(
                40,
                f"  {row.name:<14}{row.value:>8} {mark:<3}{row.unit:<11}[{row.range}]",
                gap=12,
            )
            sheet.rows.append(truth_of(row, title))
        sheet.down(6)
    sheet.say(
        40,
        (
            "Report comment: Neutrophilia. Suggest repeat in 2 weeks "
            "if clinically indicated."
        ),
    )
