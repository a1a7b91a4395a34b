"""Tables with more columns than the results need: numbers, codes, specimens, times."""

from __future__ import annotations

from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells

_BAND = HexColor("#dfe7ef")


def _head(sheet: Sheet, lab: str, patient: str) -> None:
    letterhead(sheet, lab, "Unit 4, Sample Park   www.example.org")
    sheet.y = 68
    two_blocks(
        sheet,
        [("Patient", patient), ("Age/Gender", "37 Y 2 M 11 D /F"), ("Client", "C0042")],
        [
            ("Visit ID", "LKV2207714"),
            ("Collected", "21/Aug/2024 08:01AM"),
            ("Reported", "21/Aug/2024 03:26PM"),
        ],
    )
    sheet.down(12)
    page_footer(sheet, f"{lab}   SIN No: 1100457   Helpline 0000 555 0100")


def _number(row: Row) -> str:
    return row.option("no")


@layout("table-serial-numbers", size=9)
def serial_numbers(sheet: Sheet) -> None:
    """A running number stands before each name."""
    grid = Grid(
        columns=columns(
            "no@44=S.No",
            "name@80=Investigation",
            "value@270r=Result",
            "unit@290=Unit",
            "range@380=Normal Range",
        ),
        leading=13.5,
        rules="boxes",
        cells=lambda row: (
            plain_cells(row)
            | {"no": _number(row), "value": Cell(row.value, bold=bool(row.flag))}
        ),
    )
    sheet.begin(lambda s: _head(s, "Unity Diagnostics", "Mrs. KATHA"))
    sheet.titles(grid)
    sheet.panel = "KIDNEY FUNCTION TEST"
    sheet.print_rows(
        grid,
        """
Blood Urea | 24 | mg/dL | 13 - 43 | urea | no=1
Serum Creatinine | 0.71 | mg/dL | 0.5 - 0.9 | creat | no=2
Serum Uric Acid | 6.3 | mg/dL | 2.4 - 5.7 | urate | no=3
Serum Calcium | 9.1 | mg/dL | 8.6 - 10.0 | calcium | no=4
Serum Phosphorus | 3.2 | mg/dL | 2.5 - 4.5 | phosphate | no=5
Serum Sodium | 134 | mmol/L | 136 - 145 | sodium | no=6
Serum Potassium | 4.4 | mmol/L | 3.5 - 5.1 | potassium | no=7
Serum Chloride | 100 | mmol/L | 98 - 107 | chloride | no=8
Total Proteins | 7.5 | g/dL | 6.4 - 8.3 | protein | no=9
Serum Albumin | 4.1 | g/dL | 3.5 - 5.2 | albumin | no=10
C-Reactive Protein | 9.4 | mg/L | < 5.0 | crp | no=11
HBsAg | Non Reactive | | Non Reactive | hbsag | no=12
""",
    )


@layout("table-test-codes", page_size=LETTER, font="Times-Roman", size=9.5)
def test_codes(sheet: Sheet) -> None:
    """Test code before the name, specimen and time of each row behind it."""
    grid = Grid(
        columns=columns(
            "code@40=Code",
            "name@90=Test Description",
            "specimen@235=Specimen",
            "time@290=Collected",
            "value@350=Result",
            "flag@395=Flag",
            "unit@425=Units",
            "range@490=Ref. Range",
        ),
        font="Times-Roman",
        size=9.5,
        leading=13,
        cells=lambda row: (
            plain_cells(row)
            | {
                "code": row.option("code"),
                "specimen": row.option("on", "Serum"),
                "time": "08:01",
            }
        ),
    )
    sheet.begin(lambda s: _head(s, "Prairie Regional Lab", "DOE-LIKE, CHRIS"))
    sheet.titles(grid)
    sheet.panel = "GENERAL CHEMISTRY"
    sheet.print_rows(
        grid,
        """
Glucose | 103 | mg/dL | 70-99 | glucose | code=1001
Urea Nitrogen | 11 | mg/dL | 7-20 | bun | code=1004
Creatinine | 0.93 | mg/dL | 0.60-1.10 | creat | code=1007
Sodium | 142 | mmol/L | 136-145 | sodium | code=1010
Potassium | 4.0 | mmol/L | 3.5-5.1 | potassium | code=1011
Total Bilirubin | 1.4 | mg/dL | 0.2-1.2 | bili | code=1033
AST | 25 | U/L | 5-40 | ast | code=1041
ALT | 20 | U/L | 5-40 | alt | code=1042
Hemoglobin | 12.8 | g/dL | 12.0-16.0 | hgb | code=2003;on=Blood
Platelet Count | 143 | K/uL | 150-400 | plt | code=2009;on=Blood
Hemoglobin A1c | 5.3 | % | 4.0-5.6 | a1c | code=2044;on=Blood
Protein | Negative | mg/dL | Negative | u_protein | code=4006;on=Urine
Glucose | Negative | mg/dL | Negative | u_glucose | code=4007;on=Urine
""",
    )


@layout("table-cells-centred", size=9)
def cells_centred(sheet: Sheet) -> None:
    """Cells centred in the height of their row, so that no baseline is shared."""
    grid = Grid(
        columns=columns(
            "name@46w150=Test Name",
            "value@215c=Result",
            "unit@260=Units",
            "range@330=Reference Range",
            "method@470=Method",
        ),
        leading=11,
        rules="lines",
        middle=True,
        cells=lambda row: (
            plain_cells(row)
            | {"value": f"{row.value}{' ' + row.flag if row.flag else ''}"}
        ),
    )
    sheet.begin(lambda s: _head(s, "Zenith Care Labs", "Ms. PRATIMA"))
    sheet.titles(grid)
    sheet.section("Immunoassay, Serum", panel="Immunoassay, Serum")
    sheet.print_rows(
        grid,
        """
Thyroid Stimulating Hormone (TSH) Ultrasensitive, 3rd Generation | 5.2 | µIU/mL \
| 0.35 - 4.94 | tsh | method=CMIA
Vitamin D Total (25-Hydroxy Cholecalciferol) | 22.1 | ng/mL \
| Deficiency: < 20¶Insufficiency: 20 - 30¶Sufficiency: 30 - 100 | vitd | method=CLIA
Ferritin | 14 | ng/mL | Male: 22 - 322¶Female: 10 - 291 | ferritin | method=CLIA
Vitamin B12 | 342 | pg/mL | 187 - 883 | b12 | method=CMIA
HDL Cholesterol | 41 | mg/dL | Low: < 40¶High: > 60 | hdl | method=Direct
LDL Cholesterol | 133 | mg/dL \
| Optimal: < 100¶Above optimal: 100 - 129¶Borderline: 130 - 159 | ldl \
| method=Calculated
Glycosylated Hemoglobin (HbA1c) Whole Blood EDTA | 5.5 | % \
| Normal: < 5.7¶Prediabetes: 5.7 - 6.4¶Diabetes: >= 6.5 | a1c | method=HPLC
Triglycerides | 171 | mg/dL | < 150 | trig | method=GPO
""",
    )


@layout("table-range-below-value", page_size=LETTER, font="Vera", size=8)
def range_below_value(sheet: Sheet) -> None:
    """The range stands small below the value, in brackets and with the unit."""
    grid = Grid(
        columns=columns("name@60=Test", "value@300=Result", "flag@440=Interpretation"),
        font="Vera",
        size=8.5,
        leading=12,
        cells=lambda row: {
            "name": row.name,
            "value": Cell(f"{row.value} {row.unit}", bold=True),
            "flag": {"H": "High", "L": "Low"}.get(row.flag, "Normal"),
        },
    )
    sheet.begin(lambda s: _head(s, "Foxglove Health", "Jo Invention"))
    sheet.titles(grid)
    sheet.panel = "Wellness panel"
    for row in sheet.read(
        """
Sodium | 141 | mmol/L | 135 - 145 | sodium
Potassium | 4.3 | mmol/L | 3.5 - 5.0 | potassium
Creatinine | 0.84 | mg/dL | 0.55 - 1.02 | creat
Total Cholesterol | 211 | mg/dL | 0 - 200 | chol
HDL Cholesterol | 66 | mg/dL | 40 - 90 | hdl
Triglycerides | 83 | mg/dL | 0 - 150 | trig
TSH | 0.29 | mIU/L | 0.40 - 4.00 | tsh
Ferritin | 61 | ng/mL | 15 - 200 | ferritin
Hemoglobin | 13.7 | g/dL | 12.0 - 15.5 | hgb
"""
    ):
        sheet.print_row(grid, row)
        sheet.say(300, f"({row.range} {row.unit})", size=6.5, colour=GREY, gap=14)


@layout("table-banded-serum", size=8.5)
def banded(sheet: Sheet) -> None:
    """Shaded bands, an untitled flag column before the value."""
    grid = Grid(
        columns=columns(
            "name@60=Parameter",
            "flag@232",
            "value@250=Observed Value",
            "unit@330=UOM",
            "range@400=Biological Reference Interval",
        ),
        size=8.5,
        leading=15,
    )
    sheet.begin(lambda s: _head(s, "Pinnacle Path Labs", "Master ADARSH"))
    sheet.box(44, sheet.y - 8, 510, 18, fill=_BAND, stroke=False)
    sheet.titles(grid)
    for panel, rows in (
        (
            "Liver Function Test, Serum",
            """
Bilirubin, Total | 0.62 | mg/dL | 0.20 - 1.00 | bili
Bilirubin, Direct | 0.21 | mg/dL | 0.00 - 0.20 | bili_direct
SGOT | 38 | IU/L | 15 - 60 | ast
SGPT | 22 | IU/L | 13 - 45 | alt
Alkaline Phosphatase | 402 | IU/L | 142 - 335 | alp
GGT | 14 | IU/L | 5 - 32 | ggt
""",
        ),
        (
            "Iron Study, Serum",
            """
Iron | 31 | µg/dL | 50 - 120 | iron
TIBC | 421 | µg/dL | 250 - 400 | tibc
Transferrin Saturation | 7.4 | % | 15.0 - 50.0 | tsat
""",
        ),
    ):
        sheet.section(panel, x=50)
        for row in sheet.read(rows):
            sheet.box(44, sheet.y - 10, 510, 7, fill=_BAND, stroke=False)
            sheet.print_row(grid, row)
    sheet.close()
    sheet.say(50, "Verified by: Ms. Lekha (Reg. No. 2017/08/3344)", size=7)
