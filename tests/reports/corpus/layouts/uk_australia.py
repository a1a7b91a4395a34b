"""United Kingdom and Australia: hospital prints, cumulative and letter-like reports."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Cell, Column, Grid, columns, plain_cells


@layout("uk-hospital-star-flags", font="Helvetica", size=9)
def hospital_star_flags(sheet: Sheet) -> None:
    """Flag before the value, range in round brackets, lost superscripts."""

    def cells(row: Row) -> dict[str, str | Cell]:
        return {
            "name": row.name,
            "flag": "*" if row.flag else "",
            "value": row.value,
            "unit": row.unit,
            "range": f"[{row.range}]" if row.range else "",
        }

    grid = Grid(
        columns=(
            Column("name", 50),
            Column("flag", 226),
            Column("value", 270, align="r"),
            Column("unit", 280),
            Column("range", 380),
        ),
        leading=12,
        cells=cells,
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "PATHOLOGY", "Westmoor General Hospital, Sampleshire")
        sheet.y = 70
        two_blocks(
            sheet,
            [
                ("Patient", "FICTION, Morgan"),
                ("NHS No", "000 000 0000"),
                ("Born", "03-Sep-1957   Sex: F"),
                ("Location", "Acute Medical Unit"),
            ],
            [
                ("Lab Ref", "H,24.0118853.K"),
                ("Collected", "11-Feb-24 06:50"),
                ("Received", "11-Feb-24 07:31"),
                ("Reported", "11-Feb-24 09:02"),
            ],
        )
        sheet.down(8)
        page_footer(sheet, "Authorised by: Duty Biochemist   Tel ext 4410")

    sheet.begin(head)
    sheet.section("Full Blood Count", x=50)
    sheet.print_rows(
        grid,
        """
Haemoglobin | 108 | g/L | 115 - 165 | hgb
White cell count | 12.7 | x 109/L | 4.0 - 11.0 | wbc
Platelet count | 421 | x 109/L | 150 - 400 | plt
Red cell count | 3.92 | x 1012/L | 3.80 - 5.80 | rbc
Haematocrit | 0.331 | L/L | 0.370 - 0.470 |
Mean cell volume | 84.4 | fL | 80.0 - 100.0 | mcv
Mean cell haemoglobin | 27.6 | pg | 27.0 - 33.0 | mch
Neutrophils | 9.8 | x 109/L | 2.0 - 7.5 | neut
Lymphocytes | 1.6 | x 109/L | 1.0 - 4.0 | lymph
Monocytes | 0.9 | x 109/L | 0.2 - 1.0 | mono
Eosinophils | 0.3 | x 109/L | 0.0 - 0.5 | eos
Basophils | 0.1 | x 109/L | 0.0 - 0.1 | baso
""",
    )
    sheet.section("Urea and Electrolytes", x=50, before=8)
    sheet.print_rows(
        grid,
        """
Sodium | 131 | mmol/L | 133 - 146 | sodium
Potassium | 4.8 | mmol/L | 3.5 - 5.3 | potassium
Urea | 9.4 | mmol/L | 2.5 - 7.8 | urea_si
Creatinine | 118 | umol/L | 49 - 90 | creat_si
eGFR | 41 | mL/min/1.73m2 | | egfr
""",
    )
    sheet.prose(
        60,
        440,
        "eGFR: please multiply by 1.159 if of African-Caribbean origin. CKD stage 3a "
        "45-59, stage 3b 30-44, stage 4 15-29, stage 5 <15 mL/min.",
    )
    sheet.section("Liver Function Tests", x=50, before=8)
    sheet.print_rows(
        grid,
        """
Total bilirubin | 11 | umol/L | 0 - 21 | bili_si
Alanine transaminase | 23 | IU/L | 0 - 34 | alt
Alkaline phosphatase | 141 | IU/L | 30 - 130 | alp
Albumin | 33 | g/L | 35 - 50 | albumin
""",
    )
    sheet.print_rows(grid, "C reactive protein | 64 | mg/L | < 5 | crp | doubtful")
    sheet.down(8)
    sheet.say(50, "Comment: Mild normocytic anaemia. Suggest iron studies.")
    sheet.say(50, "*** Interim report: result/s to follow: Ferritin, Vitamin B12 ***")


@layout("au-cumulative", font="Courier", size=8.5)
def cumulative(sheet: Sheet) -> None:
    """Dated columns, the newest last and boxed; earlier ones may be left out."""
    grid = Grid(
        columns=(
            Column("name", 40),
            Column("a", 190, align="r"),
            Column("b", 250, align="r"),
            Column("flag", 300),
            Column("value", 330, align="r"),
            Column("range", 350),
            Column("unit", 440),
        ),
        font="Courier",
        size=8.5,
        leading=11,
        cells=lambda row: {
            "name": row.name,
            "a": row.option("a"),
            "b": row.option("b"),
            "flag": row.flag,
            "value": Cell(row.value, bold=True),
            "range": f"({row.range})" if row.range else "",
            "unit": row.unit,
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Banksia Pathology", "ABN 00 000 000 000  Phone 02 5550 0199")
        sheet.y = 66
        for line in (
            "PATIENT: PRETEND, Casey            DOB: 21/06/1971  SEX: M",
            "REQUESTED BY: Dr F. Imaginary      LAB REF: 24-5530091",
        ):
            sheet.say(40, line, gap=11)
        sheet.down(8)
        page_footer(sheet, "APA No. 000000  NATA accreditation no. 0000")

    sheet.begin(head)
    sheet.section("HAEMATOLOGY", gap=12)
    for label, a, b, c in (
        ("Date", "03/05/22", "19/04/23", "22/04/24"),
        ("Time", "08:00", "07:45", "08:10"),
        ("Lab No.", "22118843", "23440017", "24553009"),
    ):
        for x, text in ((40, label), (190, a), (250, b), (330, c)):
            sheet.text(x, sheet.y, text, align="l" if x == 40 else "r")
        if label == "Date":
            sheet.text(350, sheet.y, "Reference")
            sheet.text(440, sheet.y, "Units")
        sheet.down(11)
    sheet.down(3)
    sheet.print_rows(
        grid,
        """
Haemoglobin | 148 | g/L | 130-180 | hgb | a=151;b=150
RCC | 4.80 | x10^12/L | 4.50-6.50 | rbc | a=4.92;b=4.88
PCV | 0.44 | | 0.40-0.54 | | a=0.45;b=0.45
MCV | 91.7 | fL | 80.0-100.0 | mcv | a=91.1;b=91.5
MCH | 30.8 | pg | 27.0-32.0 | mch | a=30.7;b=30.7
Platelets | 133 | x10^9/L | 150-450 | plt | a=201;b=166
White Cells | 5.9 | x10^9/L | 4.0-11.0 | wbc | a=6.3;b=6.0
Neutrophils | 3.3 | x10^9/L | 2.0-7.5 | neut | a=3.6;b=3.4
Lymphocytes | 1.9 | x10^9/L | 1.0-4.0 | lymph | a=2.0;b=1.9
Monocytes | 0.5 | x10^9/L | 0.2-1.0 | mono | a=0.5;b=0.5
""",
    )
    sheet.section("BIOCHEMISTRY", gap=12, before=12)
    sheet.print_rows(
        grid,
        """
Sodium | 140 | mmol/L | 135-145 | sodium | a=139;b=141
Potassium | 4.4 | mmol/L | 3.5-5.5 | potassium | a=4.2;b=4.3
Bicarbonate | 27 | mmol/L | 20-32 | co2 | a=28;b=27
Urea | 6.1 | mmol/L | 3.0-8.5 | urea_si | a=5.5;b=5.9
Creatinine | 112 | umol/L | 60-110 | creat_si | a=98;b=104
Urate | 0.44 | mmol/L | 0.20-0.42 | urate_si | a=0.40;b=0.41
Ferritin | 387 | ug/L | 30-300 | ferritin | b=340
""",
    )
    sheet.add_truth(
        "\n".join(
            f"{name} | {value} | | | | optional"
            for name, values in _EARLIER.items()
            for value in values
        )
    )
    sheet.down(8)
    sheet.say(40, "Comment: Mild thrombocytopenia, suggest repeat in 4 weeks.")
    sheet.say(40, "Tests Completed: FBC, E/LFT, FER   Tests Pending: B12")


_EARLIER = {
    "Haemoglobin": ("151", "150"),
    "RCC": ("4.92", "4.88"),
    "PCV": ("0.45", "0.45"),
    "MCV": ("91.1", "91.5"),
    "MCH": ("30.7", "30.7"),
    "Platelets": ("201", "166"),
    "White Cells": ("6.3", "6.0"),
    "Neutrophils": ("3.6", "3.4"),
    "Lymphocytes": ("2.0", "1.9"),
    "Monocytes": ("0.5", "0.5"),
    "Sodium": ("139", "141"),
    "Potassium": ("4.2", "4.3"),
    "Bicarbonate": ("28", "27"),
    "Urea": ("5.5", "5.9"),
    "Creatinine": ("98", "104"),
    "Urate": ("0.40", "0.41"),
    "Ferritin": ("340",),
}


@layout("uk-practice-summary", font="Helvetica", size=9)
def practice_summary(sheet: Sheet) -> None:
    """Practice system print: each result a line with unit and bracketed range."""
    grid = Grid(
        columns=columns("name@60", "value@310", "flag@455"),
        leading=13,
        cells=lambda row: {
            "name": row.name,
            "value": f"{row.value} {row.unit}"
            + (f" [{row.range}]" if row.range else ""),
            "flag": {
                "H": "Above high reference limit",
                "L": "Below low reference limit",
            }.get(row.flag, ""),
        },
    )

    def head(sheet: Sheet) -> None:
        sheet.text(40, 40, "Willow Lane Surgery - Investigation results", size=13)
        sheet.y = 62
        sheet.say(
            40, "Name: Mx Drew MADEUP    Born: 14-Oct-1990 (33y)    NHS: 000 000 0001"
        )
        sheet.say(40, "Sample taken: 08-Jan-2024 09:10    Filed by: Dr U. Real")
        sheet.down(8)
        page_footer(sheet, "Printed 09-Jan-2024 18:20 by reception")

    sheet.begin(head)
    for panel, verdict, rows in (
        (
            "Full blood count - FBC",
            "Abnormal - speak to doctor",
            """
Haemoglobin concentration | 127 | g/L | 130.0 - 180.0 | hgb
Total white blood count | 6.2 | 10*9/L | 4.0 - 11.0 | wbc
Platelet count - observation | 241 | 10*9/L | 150.0 - 450.0 | plt
Red blood cell count | 4.39 | 10*12/L | 4.5 - 6.5 | rbc
Haematocrit | 0.38 | L/L | 0.4 - 0.54 |
Mean cell volume | 86.6 | fL | 80.0 - 100.0 | mcv
Mean cell haemoglobin level | 28.9 | pg | 27.0 - 32.0 | mch
Neutrophil count | 3.7 | 10*9/L | 2.0 - 7.5 | neut
Lymphocyte count | 1.8 | 10*9/L | 1.0 - 4.0 | lymph
""",
        ),
        (
            "Urea and electrolytes",
            "Normal - no action",
            """
Serum sodium level | 140 | mmol/L | 133.0 - 146.0 | sodium
Serum potassium level | 4.5 | mmol/L | 3.5 - 5.3 | potassium
Serum creatinine level | 79 | umol/L | 59.0 - 104.0 | creat_si
eGFR using creatinine (CKD-EPI) per 1.73 square metres | 88 | mL/min | | egfr
""",
        ),
        (
            "Bone profile",
            "Normal - no action",
            """
Serum adjusted calcium concentration | 2.41 | mmol/L | 2.2 - 2.6 |
Serum inorganic phosphate level | 1.02 | mmol/L | 0.8 - 1.5 | phosphate_si
Serum alkaline phosphatase level | 66 | IU/L | 30.0 - 130.0 | alp
Serum total 25-hydroxy vitamin D level | 38 | nmol/L | > 50.0 | vitd_si
""",
        ),
    ):
        sheet.section(panel, x=50)
        sheet.text(300, sheet.y - 13, verdict, size=8)
        sheet.print_rows(grid, rows)
    sheet.down(6)
    sheet.prose(
        60,
        440,
        "Vitamin D: below 25 nmol/L deficiency, 25 - 50 nmol/L may be inadequate, "
        "above 50 nmol/L sufficient for most. Please book review with practice nurse.",
    )


@layout("uk-hba1c-and-superscripts", size=9)
def hba1c_and_superscripts(sheet: Sheet) -> None:
    """True superscripts and a Greek mu in units; HbA1c in both units."""
    grid = Grid(
        columns=columns(
            "name@50=Test",
            "value@230=Result",
            "unit@300=Units",
            "range@390=Reference range",
            "flag@500=Status",
        ),
        leading=13,
        rules="lines",
        cells=lambda row: (
            plain_cells(row) | {"flag": {"H": "High ↑", "L": "Low ↓"}.get(row.flag, "")}
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Harbour Street Hospital", "Department of Blood Sciences")
        sheet.y = 70
        two_blocks(
            sheet,
            [("Surname", "NONESUCH"), ("Forename", "Ellis"), ("DOB", "02/02/1952")],
            [("Hospital No", "X004417"), ("Sample", "C,24.771820.P"), ("Sex", "Male")],
        )
        sheet.down(10)
        page_footer(sheet, "UKAS accredited laboratory No. 0000")

    sheet.begin(head)
    sheet.titles(grid)
    sheet.section("HAEMATOLOGY", x=50)
    sheet.print_rows(
        grid,
        """
Haemoglobin | 139 | g/L | 130–175 | hgb
White blood cells | 3.6 | x10⁹/L | 3.7–9.5 | wbc
Platelets | 188 | x10⁹/L | 150–400 | plt
Red cell count | 4.6 | x10¹²/L | 4.3–5.7 | rbc
MCV | 101 | fL | 80–99 | mcv
""",
    )
    sheet.section("BIOCHEMISTRY", x=50)
    sheet.print_rows(
        grid,
        """
Creatinine | 92 | μmol/L | 64–104 | creat_si
Bilirubin | 23 | μmol/L | ≤21 | bili_si
Ferritin | 612 | μg/L | 30–400 | ferritin
Total cholesterol | 4.1 | mmol/L | ≤5.0 | chol_si
HDL cholesterol | 1.3 | mmol/L | ≥1.0 | hdl_si
Triglycerides | 1.1 | mmol/L | ≤1.7 | trig_si
Total cholesterol:HDL ratio | 3.2 | | | chol_hdl
HbA1c | 44 | mmol/mol | 20–41 | a1c_ifcc
HbA1c | 6.2 | % | 4.0–5.9 | a1c
Vitamin B12 | 167 | ng/L | 197–771 |
Serum folate | 3.4 | μg/L | ≥3.9 | folate
TSH | 4.61 | mU/L | 0.27–4.20 | tsh
Free T4 | 13.8 | pmol/L | 11.0–22.0 | ft4_si
""",
    )
    sheet.close()
    sheet.down(8)
    sheet.prose(
        50,
        480,
        "HbA1c 42-47 mmol/mol (6.0-6.4 %) indicates high risk of diabetes. Ref: "
        "Example guidance NG28, 2015, updated 2022.",
    )


@layout("au-dot-leaders", font="Times-Roman", size=10)
def dot_leaders(sheet: Sheet) -> None:
    """Dots lead from name to value; range in round brackets before the unit."""

    def cells(row: Row) -> dict[str, str | Cell]:
        room = 46 - len(row.name)
        return {
            "name": f"{row.name} {'.' * room}",
            "flag": Cell(row.flag, bold=True),
            "value": row.value,
            "range": f"({row.range})" if row.range else "",
            "unit": row.unit,
        }

    grid = Grid(
        columns=columns("name@50", "value@310r", "flag@316", "unit@340", "range@430"),
        font="Courier",
        size=8,
        leading=11,
        cells=cells,
    )

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Wattle Creek Pathology", "PO Box 0, Sampleton NSW 0000")
        sheet.y = 70
        sheet.say(50, "Re: Mrs Taylor INVENTED, 5 Nowhere St, DOB 30/07/1966")
        sheet.say(50, "Dear Doctor, thank you for referring this patient. Ref 24-99812")
        sheet.down(8)
        page_footer(sheet, "Wattle Creek Pathology")

    sheet.begin(head)
    sheet.section("SERUM CHEMISTRY", x=50)
    sheet.print_rows(
        grid,
        """
Sodium | 143 | mmol/L | 135-145 | sodium
Potassium | 3.4 | mmol/L | 3.5-5.2 | potassium
Chloride | 104 | mmol/L | 95-110 | chloride
Bicarbonate | 25 | mmol/L | 22-32 | co2
Urea | 5.8 | mmol/L | 2.7-8.0 | urea_si
Creatinine | 64 | umol/L | 45-90 | creat_si
eGFR | > 90 | mL/min/1.73m2 | > 59 | egfr
Total Protein | 71 | g/L | 60-80 | protein
Albumin | 41 | g/L | 35-50 | albumin
Alk Phos | 118 | U/L | 30-110 | alp
Gamma GT | 22 | U/L | 5-35 | ggt
ALT | 19 | U/L | 5-30 | alt
AST | 23 | U/L | 10-35 | ast
Total Bilirubin | 9 | umol/L | 3-15 | bili_si
""",
    )
    sheet.section("FASTING LIPIDS", x=50)
    sheet.print_rows(
        grid,
        """
Cholesterol | 6.1 | mmol/L | < 5.2 | chol_si
Triglyceride | 1.4 | mmol/L | < 2.0 | trig_si
HDL | 1.62 | mmol/L | > 1.20 | hdl_si
LDL | 3.8 | mmol/L | < 3.4 | ldl_si
""",
    )
    sheet.prose(
        50,
        480,
        "Target levels for patients at high risk: LDL < 2.0 mmol/L, HDL > 1.0 mmol/L, "
        "triglycerides < 2.0 mmol/L, non-HDL < 2.5 mmol/L.",
    )
