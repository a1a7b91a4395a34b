"""Held out: Philippine and South African prints, twin bounds and tariffs."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells


@layout("second-ph-male-female-columns", size=7.5, held_out=True)
def male_female_columns(sheet: Sheet) -> None:
    """Hospital forms side by side: bounds for each sex in columns of their own."""

    def cells(row: Row) -> dict[str, str | Cell]:
        return {
            "name": row.name,
            "value": Cell(row.value, bold=True),
            "unit": row.unit,
            "male": row.option("m"),
            "female": row.range,
        }

    left = Grid(
        columns=columns(
            "name@34=EXAMINATION",
            "value@118=RESULT",
            "unit@158=UNIT",
            "male@200=MALE",
            "female@250=FEMALE",
        ),
        size=7.5,
        leading=12,
        rules="lines",
        left=30,
        right=295,
        cells=cells,
    )
    right = Grid(
        columns=columns("name@310=MACROSCOPIC / CHEMICAL", "value@450=RESULT"),
        size=7.5,
        leading=12,
        rules="lines",
        left=306,
        right=565,
    )

    def head(sheet: Sheet) -> None:
        middle = sheet.width / 2
        for n, line in enumerate(
            (
                "Republic of Nowhere - Department of Health",
                "SAMPLE PROVINCIAL HOSPITAL",
                "CLINICAL LABORATORY SECTION",
            )
        ):
            sheet.text(middle, 34 + 11 * n, line, align="c", bold=n == 1, size=9)
        sheet.y = 78
        two_blocks(
            sheet,
            [
                ("NAME", "DELA HALIMBAWA, MARIA C."),
                ("AGE / SEX", "36 / F"),
                ("WARD", "OPD"),
            ],
            [
                ("DATE", "02-14-2024"),
                ("REQ. PHYSICIAN", "DR. WALA"),
                ("LAB NO.", "24-02-1187"),
            ],
            width=75,
        )
        sheet.down(6)
        page_footer(sheet, "LIC. NO. 0000000  Form LAB-07 rev 2")

    sheet.begin(head)
    sheet.text(162, sheet.y, "HEMATOLOGY", bold=True, align="c", size=9)
    sheet.text(436, sheet.y, "URINALYSIS", bold=True, align="c", size=9)
    sheet.down(10)
    blood = sheet.read("""
Hemoglobin | 112 | g/L | 120-150 | hgb | m=140-170;anyrange
Hematocrit | 0.34 | vol % | 0.37-0.45 | | m=0.40-0.50;anyrange
RBC Count | 4.02 | x10^12/L | 4.0-5.5 | rbc | m=4.5-6.0;anyrange
WBC Count | 12.6 | x10^9/L | 5.0-10.0 | wbc | m=5.0-10.0;anyrange
Segmenters | 0.78 | | 0.55-0.65 | | m=0.55-0.65;anyrange
Lymphocytes | 0.18 | | 0.25-0.40 | | m=0.25-0.40;anyrange
Monocytes | 0.03 | | 0.02-0.06 | | m=0.02-0.06;anyrange
Eosinophils | 0.01 | | 0.01-0.05 | | m=0.01-0.05;anyrange
Platelet Count | 264 | x10^9/L | 150-400 | plt | m=150-400;anyrange
""")
    urine = sheet.read("""
Color | Dark Yellow | | | u_color
Transparency | Slightly Turbid | | | u_appearance
Reaction (pH) | 6.0 | | | u_ph
Specific Gravity | 1.025 | | | u_sg
Sugar | Negative | | | u_glucose
Albumin | Trace | | | u_protein
Pus Cells | 8-12 /hpf | | | u_wbc
Red Blood Cells | 2-4 /hpf | | | u_rbc
Epithelial Cells | Moderate | | | u_epi
Bacteria | Few | | | u_bact
""")
    urine = [
        Row(
            row.name,
            row.value.removesuffix(" /hpf"),
            "/hpf" if "/hpf" in row.value else "",
            "",
            row.key,
            {"print": row.value},
        )
        for row in urine
    ]
    start = sheet.y
    sheet.panel = "HEMATOLOGY"
    sheet.titles(left)
    sheet.print_rows(left, blood)
    low = sheet.y
    sheet.y = start
    sheet.panel = "URINALYSIS"
    sheet.titles(right)
    sheet.print_rows(right, urine)
    sheet.close()
    sheet.y = max(low, sheet.y) + 14
    sheet.text(306, sheet.y, 'BLOOD TYPE: "O" RH POSITIVE', bold=True)
    sheet.panel = None
    sheet.add_truth('BLOOD TYPE | "O" RH POSITIVE | | | | optional')
    sheet.text(34, sheet.y, "Remarks: Suggest repeat urine, midstream catch.")
    sheet.down(20)
    both = Grid(
        columns=columns(
            "name@34=CLINICAL CHEMISTRY",
            "value@170r=S.I.",
            "unit@176=Unit",
            "range@225=Normal",
            "conv@345r=CONV.",
            "cunit@352=Unit",
            "crange@400=Normal",
        ),
        size=7.5,
        leading=12,
        rules="boxes",
        left=30,
        right=480,
        cells=lambda row: {
            **plain_cells(row),
            "conv": row.option("conv"),
            "cunit": row.option("cunit"),
            "crange": row.option("crange"),
        },
    )
    sheet.panel = "CLINICAL CHEMISTRY"
    sheet.titles(both)
    for row in sheet.read("""
Fasting Blood Sugar | 6.62 | mmol/L | 3.9-6.1 | glucose_si \
| conv=119.2;cunit=mg/dL;crange=70-110
Blood Uric Acid | 0.31 | mmol/L | 0.16-0.43 | urate_si \
| conv=5.21;cunit=mg/dL;crange=2.7-7.2
Creatinine | 71.3 | umol/L | 53-97 | creat_si | conv=0.81;cunit=mg/dL;crange=0.6-1.1
Total Cholesterol | 5.61 | mmol/L | 0-5.2 | chol_si \
| conv=216.9;cunit=mg/dL;crange=0-200
SGPT/ALT | 31.0 | U/L | 0-41 | alt | fixed
"""):
        sheet.print_row(both, row)
        if row.option("conv"):
            again = Row(row.name, row.option("conv"), options={"optional": ""})
            sheet.rows.append(truth_of(again, sheet.panel))
    sheet.close()
    sheet.down(30)
    sheet.say(60, "JUAN HALIMBAWA, RMT                         WALA PANGALAN, MD, FPSP")
    sheet.say(
        60, "Medical Technologist Lic. 0012345           Pathologist Lic. 0054321"
    )


@layout("second-za-tariffs", size=8.5, held_out=True)
def tariffs(sheet: Sheet) -> None:
    """Specimen prefixes on names, arrows for flags, a tariff table after the rows."""
    grid = Grid(
        columns=columns(
            "name@44",
            "value@250r",
            "flag@256",
            "unit@285",
            "range@370",
        ),
        size=8.5,
        leading=12,
        cells=lambda row: {
            **plain_cells(row),
            "flag": {"H": "▲", "L": "▼"}.get(row.flag, ""),
            "name": row.option("as", row.name),
        },
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet, "KAROO PATHOLOGISTS INC.", "Reg 0000/000000/21  Pr No 0000000"
        )
        sheet.y = 70
        two_blocks(
            sheet,
            [
                ("Patient", "FIKTIEF, Kim (Ms)"),
                ("ID Number", "7001010000000"),
                ("Medical Aid", "NONEMED 001234"),
                ("ICD-10", "E11.9, I10"),
            ],
            [
                ("Requisition", "417702281"),
                ("Collected", "2024/05/06 07:15"),
                ("Received", "2024/05/06 09:48"),
                ("Age / Sex", "54y / F"),
            ],
        )
        sheet.down(10)
        page_footer(
            sheet, "SANAS accredited M0000. Results marked # are not accredited."
        )

    sheet.begin(head)
    sheet.say(44, "Tests requested: U&E, LFT, HbA1c, Lipogram, TSH, FBC", gap=16)
    for panel, rows, notes in (
        (
            "CLINICAL CHEMISTRY",
            """
S-Sodium | 141 | mmol/L | 136 - 145 | sodium
S-Potassium | 5.3 | mmol/L | 3.5 - 5.1 | potassium
S-Chloride | 103 | mmol/L | 98 - 107 | chloride
S-Urea | 4.9 | mmol/L | 2.1 - 7.1 | urea_si
S-Creatinine | 58 | µmol/L | 49 - 90 | creat_si
eGFR (CKD-EPI) | >60 | mL/min/1.73m² | | egfr
S-Bilirubin (total) | 7 | µmol/L | 5 - 21 | bili_si
S-ALT | 47 | U/L | 7 - 35 | alt
S-GGT | 66 | U/L | < 40 | ggt
""",
            ("Stage 3: 30-59; Stage 4: 15-29; Stage 5: < 15 mL/min/1.73m²",),
        ),
        (
            "HbA1c",
            """
B-HbA1c (NGSP) | 8.1 | % | | a1c
B-HbA1c (IFCC) | 65 | mmol/mol | | a1c_ifcc
Est. average glucose | 10.3 | mmol/L | |
""",
            (
                "SEMDSA 2017 targets: young, newly diagnosed < 6.5 %; most < 7.0 %;",
                "elderly, hypo-unaware 7.1 - 8.5 %. Diagnosis of diabetes: >= 6.5 %",
            ),
        ),
        (
            "LIPOGRAM (fasting)",
            """
S-Cholesterol (total) | 5.8 | mmol/L | < 5.0 | chol_si
S-Triglycerides | 2.44 | mmol/L | < 1.70 | trig_si
S-HDL cholesterol | 1.1 | mmol/L | > 1.2 | hdl_si
S-LDL cholesterol (calc) | 3.6 | mmol/L | < 3.0 | ldl_si
""",
            ("Very high risk: LDL < 1.8 mmol/L   High risk: LDL < 2.5 mmol/L",),
        ),
        (
            "THYROID AND TUMOUR MARKERS",
            """
S-TSH | 2.31 | mIU/L | 0.27 - 4.20 | tsh
S-CA 125 # | 14 | kU/L | < 35 | | also=S-CA 125
""",
            (),
        ),
        (
            "HAEMATOLOGY",
            """
Haemoglobin | 14.1 | g/dL | 12.0 - 15.0 | hgb
Red cell count | 4.66 | x10¹²/L | 3.80 - 4.80 | rbc
White cell count | 8.22 | x10⁹/L | 3.90 - 12.60 | wbc
Neutrophils Abs | 4.97 | x10⁹/L | 1.60 - 8.30 | neut
Platelets | 296 | x10⁹/L | 186 - 454 | plt
ESR | 22 | mm/hr | 0 - 20 | esr
""",
            ("Morphology: Normochromic normocytic red cells. No blasts seen.",),
        ),
    ):
        sheet.section(panel, x=44, keep=50)
        sheet.rule(40, 555, sheet.y - 9)
        sheet.down(3)
        sheet.print_rows(grid, rows)
        for note in notes:
            sheet.say(60, note, size=7.5)
    sheet.section("TARIFF CODES (for your medical scheme)", x=44, before=14, keep=120)
    for code, what, price in (
        ("4171", "Sodium + potassium + chloride + CO2 + urea", "R 172.40"),
        ("4032", "Creatinine", "R 41.10"),
        ("4064", "HbA1c", "R 154.90"),
        ("4025", "Lipogram", "R 236.70"),
        ("4507", "Thyrotropin (TSH)", "R 213.55"),
        ("3755", "Full blood count", "R 114.30"),
        ("", "Total incl. VAT 15 %", "R 932.95"),
    ):
        sheet.text(44, sheet.y, code)
        sheet.text(100, sheet.y, what)
        sheet.text(420, sheet.y, price, align="r")
        sheet.down(12)
