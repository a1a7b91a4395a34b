"""Held out: Commonwealth formats, with codes, dated columns and shared cells."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


def _earlier(sheet: Sheet, row: Row, keys: tuple[str, ...]) -> None:
    """An earlier value may be reported or left out."""
    for value in filter(None, (row.option(key) for key in keys)):
        before = Row(row.name, value, options={"optional": ""})
        sheet.rows.append(truth_of(before, sheet.panel))


@layout("second-uk-coded-journal", size=8, held_out=True)
def coded_journal(sheet: Sheet) -> None:
    """A practice record print: date, code, result and range on a line of a journal."""
    grid = Grid(
        columns=columns(
            "date@40=Date",
            "code@100=Code",
            "name@145w170=Test",
            "value@325=Value",
            "range@420=Range",
            "note@490w70=Filed as",
        ),
        size=8,
        leading=10,
        rules="lines",
        cells=lambda row: {
            "date": row.option("on", "12 Mar 2024"),
            "code": row.option("code"),
            "name": row.name,
            "value": f"{row.value} {row.unit}".strip(),
            "range": row.range,
            "note": "Abnormal - see GP" if row.flag else "Normal",
        },
    )

    def head(sheet: Sheet) -> None:
        sheet.text(40, 34, "Brookhill Medical Centre", size=12, bold=True)
        sheet.text(40, 46, "Patient: INVENTED, Lesley (Mrs)   21 Jun 1952 (71y)   F")
        sheet.text(40, 57, "NHS Number: 000 000 0002    Usual GP: NOTREAL, A (Dr)")
        sheet.y = 74
        page_footer(sheet, "Printed 14 Mar 2024 10:22   Record shared: Yes")

    sheet.begin(head)
    sheet.say(40, "Pathology (last 12 months)", size=11, bold=True, gap=14)
    sheet.titles(grid)
    for panel, rows in (
        (
            "Renal profile (Sample: SERUM)",
            """
Serum sodium level | 134 | mmol/L | 133 - 146 | sodium | code=XE2q0
Serum potassium level | 5.4 | mmol/L | 3.5 - 5.3 | potassium | code=XE2pz
Serum urea level | 9.1 | mmol/L | 2.5 - 7.8 | urea_si | code=XM0lt
Serum creatinine level | 103 | umol/L | 45 - 84 | creat_si | code=XE2q5
GFR calculated abbreviated MDRD | 46 | mL/min/1.73m^2 | | egfr | code=XaK8y
""",
        ),
        (
            "Haemoglobin A1c (Sample: BLOOD)",
            """
Haemoglobin A1c level - IFCC standardised | 57 | mmol/mol | 20 - 41 | a1c_ifcc | \
code=XaPbt
""",
        ),
        (
            "Lipid profile (Sample: SERUM)",
            """
Serum cholesterol level | 4.1 | mmol/L | | chol_si | code=XE2eD
Serum HDL cholesterol level | 1.3 | mmol/L | > 1.2 | hdl_si | code=44P5.
Serum cholesterol/HDL ratio | 3.2 | | | chol_hdl | code=XaEUq
""",
        ),
        (
            "Urine albumin:creatinine ratio (Sample: URINE)",
            """
Urine albumin level | 31.5 | mg/L | | | code=46N4.
Urine creatinine level | 6.2 | mmol/L | | u_creat_si | code=46M7.
Urine albumin:creatinine ratio | 5.1 | mg/mmol | 0.0 - 3.0 | u_acr | code=46TC.
""",
        ),
        (
            "Full blood count (Sample: BLOOD)",
            """
Haemoglobin estimation | 118 | g/L | 115 - 165 | hgb | code=XaIyk;on=09 Mar 2024
Total white cell count | 7.7 | 10*9/L | 3.6 - 11.0 | wbc | code=XaIdY;on=09 Mar 2024
Platelet count | 322 | 10*9/L | 140 - 400 | plt | code=42P..;on=09 Mar 2024
Mean corpuscular volume (MCV) | 79.2 | fL | 80 - 100 | mcv | code=42A..;on=09 Mar 2024
Serum ferritin | 9 | ug/L | 10 - 200 | ferritin | code=XE24r;on=09 Mar 2024
""",
        ),
    ):
        sheet.section(panel)
        sheet.print_rows(grid, rows)
    sheet.close()
    sheet.section("Other numeric values", size=11, before=10)
    for day, code, what, value in (
        ("12 Mar 2024", "246..", "O/E - blood pressure reading", "142/84 mmHg"),
        ("12 Mar 2024", "22A..", "O/E - weight", "71.2 Kg"),
        ("12 Mar 2024", "22K..", "Body mass index", "27.8 Kg/m²"),
        ("11 Jan 2024", "XaQVY", "QRISK2 cardiovascular risk score", "21.4 %"),
    ):
        for x, text in ((40, day), (100, code), (145, what), (325, value)):
            sheet.text(x, sheet.y, text)
        sheet.down(11)


@layout("second-au-four-dates", font="Courier", size=7.5, held_out=True)
def four_dates(sheet: Sheet) -> None:
    """Four dated columns, oldest first, units before them, ranges last in brackets."""
    grid = Grid(
        columns=columns(
            "name@36",
            "unit@130",
            "a@240r",
            "b@300r",
            "c@360r",
            "value@425r",
            "flag@430",
            "range@455",
        ),
        font="Courier",
        size=7.5,
        leading=10,
        cells=lambda row: {
            **plain_cells(row),
            "a": row.option("a", "-"),
            "b": row.option("b", "-"),
            "c": row.option("c", "-"),
            "flag": row.flag,
            "range": f"({row.range})" if row.range else "",
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Wattle Grove Pathology", "ABN 00 111 000 000  NATA 0001")
        sheet.y = 66
        sheet.say(36, "IMAGINED, Taylor        DOB 04/11/1964  59Y F   Medicare 0000")
        sheet.say(36, "Dr P NOBODY, 1 High St   Copy to: Dr Q NOONE   UR: 7712340")
        sheet.rule(36, 560, sheet.y - 6)
        sheet.down(6)
        page_footer(
            sheet, "Lab enquiries 02 5550 0177   Validated by Dr F Unreal FRCPA"
        )

    def dates(ids: tuple[str, ...], days: tuple[str, ...]) -> None:
        for label, cells in (("Request No.", ids), ("Date", days)):
            sheet.need(11)
            sheet.text(36, sheet.y, label)
            for x, text in zip((240, 300, 360, 425), cells, strict=True):
                sheet.text(x, sheet.y, text, align="r")
            if label == "Date":
                sheet.text(455, sheet.y, "(Reference)")
            sheet.down(10)
        sheet.down(3)

    days = ("14/02/21", "20/02/22", "03/03/23", "11/03/24")
    ids = ("21-4410", "22-5102", "23-6621", "24-7731")
    sheet.begin(head)
    for panel, rows, notes in (
        (
            "CUMULATIVE BIOCHEMISTRY - SERUM",
            """
Sodium | 138 | mmol/L | 137-147 | sodium | a=140;b=141;c=139
Potassium | 4.6 | mmol/L | 3.5-5.0 | potassium | a=4.4;b=4.1;c=4.5
Chloride | 104 | mmol/L | 96-109 | chloride | a=105;b=104;c=106
Bicarbonate | 26 | mmol/L | 25-33 | co2 | a=27;c=28
Urea | 6.2 | mmol/L | 2.5-7.5 | urea_si | a=5.1;b=5.5;c=5.8
Creatinine | 88 | umol/L | 45-85 | creat_si | a=70;b=74;c=79
eGFR | 62 | mL/min/1.73m2 | >59 | egfr | a=83;b=77;c=71
Bili.Total | 8 | umol/L | 2-20 | bili_si | a=9;b=7;c=8
ALP | 71 | U/L | 30-115 | alp | a=66;b=69;c=70
GGT | 58 | U/L | 0-45 | ggt | a=31;b=38;c=44
ALT | 44 | U/L | 0-45 | alt | a=22;b=29;c=35
Calcium | 2.41 | mmol/L | 2.25-2.65 | calcium_si | c=2.38
Corr.Calcium | 2.39 | mmol/L | 2.25-2.65 | | c=2.36
""",
            ("24-7731 GGT mildly raised, consider alcohol or fatty liver.",),
        ),
        (
            "CUMULATIVE LIPIDS",
            """
Fasting status | Fasting | | | | optional;a=Fasting;b=Random;c=Fasting
Cholesterol | 6.3 | mmol/L | 3.9-5.5 | chol_si | a=5.4;b=5.9;c=6.1
Triglyceride | 1.9 | mmol/L | 0.5-1.7 | trig_si | a=1.1;b=1.9;c=1.6
HDL Chol. | 1.22 | mmol/L | 0.90-2.10 | hdl_si | a=1.41;b=1.30;c=1.28
LDL Chol. | 4.2 | mmol/L | 1.7-3.5 | ldl_si | a=3.5;b=3.7;c=4.1
""",
            (
                "Targets for high risk patients (lipid guideline 2023):",
                "Total Cholesterol <4.0   LDL <1.8   HDL >1.0   Trig <2.0 mmol/L",
            ),
        ),
        (
            "CUMULATIVE IRON STUDIES",
            """
Iron | 14 | umol/L | 10-30 | iron_si | b=16
Transferrin | 2.6 | g/L | 2.0-3.6 | | b=2.4
Saturation | 22 | % | 15-45 | tsat | b=27
Ferritin | 211 | ug/L | 30-200 | ferritin | b=140
""",
            ("24-7731 Ferritin is an acute phase reactant. CRP 3 mg/L on 11/03/24.",),
        ),
    ):
        sheet.section(panel, x=36)
        dates(ids, days)
        for row in sheet.read(rows):
            sheet.print_row(grid, row)
            _earlier(sheet, row, ("a", "b", "c"))
        sheet.down(4)
        for note in notes:
            sheet.say(36, note)


@layout("second-ca-range-with-unit", size=8.5, held_out=True)
def range_with_unit(sheet: Sheet) -> None:
    """Provincial print: flag before result, range and unit share the last column."""
    grid = Grid(
        columns=columns(
            "name@44w180=Test",
            "flag@235=Flag",
            "value@270=Result",
            "range@350=Reference Range - Units",
        ),
        size=8.5,
        leading=11,
        cells=lambda row: {
            "name": row.name,
            "flag": Cell("A" if row.flag else "", bold=True),
            "value": Cell(row.value, bold=bool(row.flag)),
            "range": f"{row.range} {row.unit}".strip(),
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet, "Maple Prairie Labs", "100 Sample Blvd, Toronto  1-800-555-0100"
        )
        sheet.box(40, 60, 520, 56)
        sheet.y = 72
        two_blocks(
            sheet,
            [
                ("Patient", "FABRICATED, Robin"),
                ("HCN", "0000-000-000-AA"),
                ("DOB", "1983-05-17  Sex F"),
                ("Phone", "416-555-0144"),
            ],
            [
                ("Lab #", "2024-440012233"),
                ("Ordered by", "NOBODY, N."),
                ("Collected on", "2024-04-02 08:31"),
                ("Reported on", "2024-04-03 02:10"),
            ],
        )
        sheet.down(14)
        page_footer(sheet, "FINAL RESULTS   A = Abnormal   * = see comment   IQMH 0000")

    sheet.begin(head)
    sheet.titles(grid)
    for panel, rows, note in (
        (
            "Hematology",
            """
WBC | 3.8 | x E9/L | 4.0 - 11.0 | wbc
RBC | 4.21 | x E12/L | 4.00 - 5.10 | rbc
Hemoglobin | 121 | g/L | 120 - 160 | hgb
Hematocrit | 0.365 | L/L | 0.350 - 0.450 |
MCV | 86.7 | fL | 80 - 100 | mcv
RDW | 14.9 | % | 11.5 - 14.5 | rdw
Platelet Count | 244 | x E9/L | 150 - 400 | plt
""",
            "",
        ),
        (
            "Differential",
            """
Neutrophils | 1.7 | x E9/L | 2.0 - 7.5 | neut
Lymphocytes | 1.6 | x E9/L | 1.0 - 3.5 | lymph
Immature Granulocytes | 0.0 | x E9/L | 0.0 - 0.1 |
Nucleated RBC | 0 | /100 WBC | |
""",
            "",
        ),
        (
            "General Chemistry",
            """
Glucose Fasting | 5.8 | mmol/L | 3.6 - 6.0 | | doubtful
Hemoglobin A1C/Total Hemoglobin | 5.9 | % | <6.0 | a1c
Creatinine | 66 | umol/L | 50 - 100 | creat_si
Glomerular Filtration Rate (eGFR) | 103 | mL/min/1.73m² | >=60 | egfr
""",
            "Non diabetic: <6.0 %. Prediabetes: 6.0 - 6.4 %. Diabetes: >= 6.5 %. "
            "For most people with diabetes a target of <= 7.0 % is recommended. KDIGO "
            "2012: an eGFR of 60 - 89 is consistent with mildly decreased function.",
        ),
        (
            "Lipids",
            """
Hours After Meal | 12 | hours | | | optional
Triglyceride | 1.02 | mmol/L | <1.70 | trig_si
Cholesterol | 5.44 | mmol/L | <5.20 | chol_si
HDL Cholesterol | 1.61 | mmol/L | >=1.30 | hdl_si
LDL Cholesterol | 3.36 | mmol/L | <3.50 | ldl_si
Non HDL Cholesterol | 3.83 | mmol/L | <4.20 | nonhdl_si
""",
            "Treatment target, high risk: LDL-C <=2.00 mmol/L or >50 % reduction, or "
            "Apo B <=0.80 g/L, or non HDL-C <=2.60 mmol/L. Intermediate risk (FRS 10 - "
            "19 %): treat if LDL-C >=3.50 mmol/L.",
        ),
        (
            "Serology",
            """
Rubella Antibody IgG | 42 | IU/mL | >=10 |
Hepatitis B Surface Antigen | Non-Reactive | | | hbsag
HIV 1/2 Ag/Ab Combo Screen | Non-Reactive | | | hiv
""",
            "Rubella: evidence of immunity. Results of 5 - 9 IU/mL are indeterminate.",
        ),
    ):
        sheet.section(panel)
        sheet.print_rows(grid, rows)
        if note:
            sheet.prose(60, 470, note, size=7.5, gap=9)
