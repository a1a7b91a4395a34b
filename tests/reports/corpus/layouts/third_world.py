"""Awkward prints of South Africa, the Philippines and the Gulf."""

from __future__ import annotations

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import BLUE, Sheet
from tests.reports.corpus.tables import Grid, columns, plain_cells


@layout("third-za-prefixed-lines", size=8.5)
def prefixed_lines(sheet: Sheet) -> None:
    """Prefix of the specimen, arrows behind numbers, ranges left of units."""
    grid = Grid(
        columns=columns(
            "name@40=",
            "value@220r=Result",
            "flag@226",
            "range@260=Ref. Range",
            "unit@350=Units",
            "method@440=",
        ),
        size=8.5,
        leading=12,
        cells=lambda row: (
            plain_cells(row) | {"flag": {"H": "↑", "L": "↓"}.get(row.flag, "")}
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet,
            "Drs Sample, Specimen & Partners",
            "Pathologists  Pr. No. 5200000000000",
        )
        sheet.y = 70
        two_blocks(
            sheet,
            [
                ("Patient", "Mnr T. VERSINSEL"),
                ("ID No.", "5501015000000"),
                ("Age / Sex", "69 Y / M"),
            ],
            [
                ("Req. No.", "411209938"),
                ("Collected", "2024-06-03 07:55"),
                ("Reported", "2024-06-03 15:20"),
            ],
        )
        sheet.down(10)
        page_footer(sheet, "Tel 555 010 7000   Practice 0001")

    sheet.begin(head)
    for title, rows in (
        (
            "UREA, ELECTROLYTES AND CREATININE",
            """
S-Sodium | 140 | 136 - 145 | mmol/L | sodium
S-Potassium | 3.3 | 3.5 - 5.1 | mmol/L | potassium
S-Chloride | 104 | 98 - 107 | mmol/L | chloride
S-Urea | 6.2 | 2.1 - 7.1 | mmol/L | urea_si
S-Creatinine | 118 | 64 - 104 | umol/L | creat_si
eGFR (CKD-EPI) | 57 | > 60 | mL/min/1.73m2 | egfr
""",
        ),
        (
            "GLUCOSE METABOLISM",
            """
Fl-Glucose fasting | 6.4 | 3.9 - 5.5 | mmol/L | glucose_si
B-HbA1c (NGSP) | 6.6 | < 6.5 | % | a1c
B-HbA1c (IFCC) | 49 | < 48 | mmol/mol | a1c_ifcc
""",
        ),
        (
            "PROSTATE",
            """
S-PSA total | 4.92 | 0.00 - 4.00 | ug/L | psa
S-PSA free | 0.71 | | ug/L | psa_free
PSA free/total ratio | 14 | > 25 | % |
""",
        ),
        (
            "INFECTION",
            """
S-C-reactive protein | <1 | < 5 | mg/L | crp
S-Procalcitonin | 0.04 | < 0.10 | ug/L | procalc
""",
        ),
    ):
        sheet.section(title, size=9.5)
        sheet.titles(grid)
        for row in sheet.read(rows):
            sheet.print_row(
                grid,
                Row(row.name, row.value, row.range, row.unit, row.key, row.options),
            )
        sheet.close()
    sheet.say(
        40,
        (
            "Probability of cancer by free/total ratio: 0-10 % 56 %; "
            "10-15 % 28 %; 15-20 % 20 %; 20-25 % 16 %; >25 % 8 %"
        ),
        size=7,
    )


@layout("third-ph-two-systems", size=8)
def two_systems(sheet: Sheet) -> None:
    """SI and conventional results side by side, each with its range and unit."""
    grid = Grid(
        columns=columns(
            "name@40=TEST",
            "value@170=SI RESULT",
            "unit@225=UNIT",
            "range@275=REFERENCE",
            "cvalue@360=CONV. RESULT",
            "cunit@430=UNIT",
            "crange@480=REFERENCE",
        ),
        size=8,
        leading=13,
        rules="lines",
        cells=lambda row: {
            "name": row.name,
            "value": row.value + (f" {row.flag}" if row.flag else ""),
            "unit": row.unit,
            "range": row.range,
            "cvalue": row.option("cv"),
            "cunit": row.option("cu"),
            "crange": row.option("cr"),
        },
    )

    def head(sheet: Sheet) -> None:
        sheet.text(
            300, 38, "SAMPLE-PRECISION DIAGNOSTICS", size=14, bold=True, align="c"
        )
        sheet.text(
            300,
            50,
            "Quezon Sample City   Tel (02) 8000-0000   DOH Lic. No. 00-0000",
            size=7,
            align="c",
        )
        sheet.y = 70
        two_blocks(
            sheet,
            [
                ("Name", "IMAHINASYON, JUAN"),
                ("Age/Sex", "44/M"),
                ("Requested by", "DR. WALA"),
            ],
            [
                ("SID", "24-0718822"),
                ("Date Received", "07/18/2024 07:31"),
                ("Date Released", "07/18/2024 12:02"),
            ],
        )
        sheet.down(8)
        page_footer(sheet, "RMT Lic. 0000000   Pathologist Lic. 0000000")

    sheet.begin(head)
    sheet.section("CLINICAL CHEMISTRY", x=300, align="c", size=11)
    sheet.titles(grid)
    for row in sheet.read("""
Fasting Blood Sugar | 6.3 | mmol/L | 4.1 - 5.9 | glucose_si | cv=113.5;cu=mg/dL;\
cr=74 - 106
Blood Urea Nitrogen | 5.2 | mmol/L | 3.2 - 7.4 | urea_si | cv=14.6;cu=mg/dL;cr=9 - 21
Creatinine | 97 | umol/L | 64 - 104 | creat_si | cv=1.10;cu=mg/dL;cr=0.72 - 1.18
Blood Uric Acid | 471 | umol/L | 208 - 428 | urate_si | cv=7.9;cu=mg/dL;cr=3.5 - 7.2
Total Cholesterol | 6.11 | mmol/L | 0 - 5.18 | chol_si | cv=236;cu=mg/dL;cr=0 - 200
Triglycerides | 1.42 | mmol/L | 0 - 1.70 | trig_si | cv=126;cu=mg/dL;cr=0 - 150
HDL Cholesterol | 1.22 | mmol/L | 1.04 - 1.55 | hdl_si | cv=47;cu=mg/dL;cr=40 - 60
LDL Cholesterol | 4.24 | mmol/L | 0 - 3.36 | ldl_si | cv=164;cu=mg/dL;cr=0 - 130
SGPT/ALT | 48 | U/L | 0 - 55 | alt
SGOT/AST | 33 | U/L | 5 - 34 | ast
"""):
        sheet.print_row(grid, row)
        if row.option("cv"):
            other = Row(
                row.name,
                row.option("cv"),
                row.option("cu"),
                row.option("cr"),
                options={"optional": ""},
            )
            sheet.rows.append(truth_of(other, sheet.panel))
    sheet.close()
    sheet.say(
        40, "H - above reference  L - below reference   *** END OF REPORT ***", size=7
    )


@layout("third-gulf-bilingual", font="Helvetica", size=8.5)
def gulf_bilingual(sheet: Sheet) -> None:
    """Boxed table, method column in the middle, range in two lines by sex."""
    grid = Grid(
        columns=columns(
            "name@44w130=Test Name",
            "method@180=Methodology",
            "value@270=Result",
            "unit@330=Unit",
            "range@390w100=Reference Range",
            "flag@500=Remarks",
        ),
        size=8.5,
        leading=11,
        rules="boxes",
        left=40,
        right=556,
        middle=True,
        cells=lambda row: (
            plain_cells(row) | {"flag": {"H": "High", "L": "Low"}.get(row.flag, "")}
        ),
    )

    def head(sheet: Sheet) -> None:
        letterhead(
            sheet,
            "AL MITHAL MEDICAL LABORATORY L.L.C",
            "P.O. Box 00000   CAP and ISO 15189 accredited",
            colour=BLUE,
        )
        sheet.y = 74
        two_blocks(
            sheet,
            [
                ("Patient Name", "MR. SAMPLE AL MITHALI"),
                ("Age / Gender", "38 Y 2 M / Male"),
                ("File No.", "D-00211"),
            ],
            [
                ("Barcode", "1120044981"),
                ("Registered", "19-Mar-2024 08:10"),
                ("Validated", "19-Mar-2024 13:42"),
            ],
        )
        sheet.down(10)
        page_footer(
            sheet, "Test results relate only to the sample received. Tel 800 0000"
        )

    sheet.begin(head)
    for title, rows in (
        (
            "BIOCHEMISTRY - SERUM",
            """
Glucose - Fasting (FBS) | 103 | mg/dL | 70 - 100 | glucose_fasting | method=Hexokinase
Urea | 29 | mg/dL | 17 - 43 | urea | method=GLDH
Creatinine | 0.94 | mg/dL | 0.67 - 1.17 | creat | method=Jaffe
Uric Acid | 7.6 | mg/dL | Male: 3.5 - 7.2¶Female: 2.6 - 6.0 | urate | method=Uricase;\
doubtful;flag=H
Gamma Glutamyl Transferase (GGT) | 38 | U/L | Male: < 55¶Female: < 38 | ggt | \
method=IFCC;doubtful
Lactate Dehydrogenase (LDH) | 188 | U/L | 0 - 248 | ldh | method=IFCC
""",
        ),
        (
            "HORMONES - SERUM",
            """
25-OH Vitamin D (Total) | 14.2 | ng/mL | Deficient: < 20¶Insufficient: 20 - 29¶\
Sufficient: 30 - 100 | vitd | method=ECLIA;doubtful;flag=L
Testosterone - Total | 3.88 | ng/mL | 2.49 - 8.36 | testo | method=ECLIA
TSH | 2.21 | µIU/mL | 0.27 - 4.20 | tsh | method=ECLIA
""",
        ),
    ):
        sheet.section(title, x=44, size=10)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()
        sheet.down(6)
    sheet.say(44, "--- End of report ---")
