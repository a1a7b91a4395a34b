"""Typesetting that hides the rows: halves, loose words, page breaks, glued flags."""

from __future__ import annotations

from tests.reports.corpus.heads import ward_page
from tests.reports.corpus.printed import Row
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import GREY, Sheet
from tests.reports.corpus.tables import Cell, Grid, columns, plain_cells, shifted


@layout("trap-two-halves", size=8)
def two_halves(sheet: Sheet) -> None:
    """One table flows down the left half and goes on in the right half."""
    left = Grid(
        columns=columns(
            "name@36=Analyte", "value@132r=Result", "unit@138=Unit", "range@206=Range"
        ),
        size=7.5,
        leading=12,
        cells=lambda row: (
            plain_cells(row) | {"value": f"{row.flag} {row.value}".strip()}
        ),
    )
    right = shifted(left, 270)
    sheet.begin(lambda s: ward_page(s, "Northgate Hospital Lab", "VIRTUAL, Micah"))
    sheet.section("Serum chemistry and blood count", panel="Serum chemistry")
    sheet.side_by_side(
        [left, right],
        [
            sheet.read(
                """
Sodium | 147 | mmol/L | 136-145 | sodium
Potassium | 3.9 | mmol/L | 3.5-5.1 | potassium
Chloride | 112 | mmol/L | 98-107 | chloride
Bicarbonate | 21 | mmol/L | 22-29 | co2
Urea | 11.2 | mmol/L | 2.8-8.1 | urea_si
Creatinine | 99 | µmol/L | 45-84 | creat_si
Calcium | 2.31 | mmol/L | 2.15-2.50 | calcium_si
Phosphate | 1.19 | mmol/L | 0.81-1.45 | phosphate_si
Magnesium | 0.79 | mmol/L | 0.66-1.07 | magnesium_si
Glucose | 7.7 | mmol/L | 3.9-5.8 | glucose_si
Albumin | 36 | g/L | 35-52 | albumin
"""
            ),
            sheet.read(
                """
Leukocytes | 8.8 | 10^9/L | 4.0-10.0 | wbc
Erythrocytes | 3.9 | 10^12/L | 3.9-5.1 | rbc
Hemoglobin | 118 | g/L | 117-153 | hgb
Hematocrit | 0.35 | L/L | 0.35-0.46
MCV | 90 | fL | 80-98 | mcv
Platelets | 402 | 10^9/L | 150-370 | plt
CRP | 41 | mg/L | <5 | crp
ALT | 18 | U/L | <35 | alt
AST | 24 | U/L | <35 | ast
GGT | 61 | U/L | <40 | ggt
Bilirubin | 8 | µmol/L | <21 | bili_si
"""
            ),
        ],
    )
    sheet.down(10)
    sheet.say(36, "Remark: haemolysis index 12, lipaemia index 4, icterus index 1")


@layout("trap-words-apart", font="Times-Roman", size=9.5)
def words_apart(sheet: Sheet) -> None:
    """Every word is its own text operator, values are printed before names."""
    sheet.wordwise = True
    grid = Grid(
        columns=columns(
            "name@45=Name of Investigation",
            "value@260=Result Value",
            "unit@340=Unit",
            "range@420=Biological Ref Interval",
        ),
        font="Times-Roman",
        size=9.5,
        leading=12.5,
        order="values_first",
        rules="lines",
    )
    sheet.begin(lambda s: ward_page(s, "Orchard Medical Lab", "PRETENDER, Ash"))
    sheet.titles(grid)
    sheet.section("Fever Panel", x=45)
    sheet.print_rows(
        grid,
        """
Total Leucocyte Count (TLC) | 13.9 | X 10³ / µL | 4.0 - 10.0 | wbc
Red Blood Cell Count | 4.6 | X 10⁶ / µL | 3.8 - 4.8 | rbc
Haemoglobin (Hb) | 12.9 | gm/dL | 12.0 - 15.0 | hgb
Packed Cell Volume | 38.8 | % | 36.0 - 46.0 | hct
Platelet Count (Automated) | 455 | X 10³ / µL | 150 - 410 | plt
Erythrocyte Sedimentation Rate | 41 | mm / hr | 0 - 20 | esr
C - Reactive Protein | 38.2 | mg / L | < 5.0 | crp
S. Creatinine | 0.7 | mg / dL | 0.5 - 1.1 | creat
S. Sodium (Na +) | 134 | mEq / L | 136 - 145 | sodium
S. Potassium (K +) | 3.6 | mEq / L | 3.5 - 5.1 | potassium
Blood Glucose Random | 121 | mg / dL | 70 - 140 | glucose
Typhi Dot IgM | Negative | | Negative |
Malarial Parasite | Not Detected | | Not Detected |
""",
    )


@layout("trap-spread-letters", font="Vera", size=7.5)
def spread_letters(sheet: Sheet) -> None:
    """Letters set wide, tight rows, no rules, no unit for some, tiny type."""
    sheet.spacing = 0.35
    grid = Grid(
        columns=columns(
            "name@60=PARAMETER",
            "value@250=FINDING",
            "range@330=REFERENCE",
            "unit@430=UNIT",
        ),
        font="Vera",
        size=6.5,
        leading=8.5,
    )
    sheet.begin(lambda s: ward_page(s, "Kestrel Laboratory", "NOTREAL, Remy"))
    sheet.titles(grid)
    sheet.section("CLINICAL CHEMISTRY", x=60, gap=9)
    sheet.print_rows(
        grid,
        """
GLUCOSE (PP) | 151 | mg/dl | 70 - 140 | | doubtful
UREA | 22 | mg/dl | 10 - 50 | urea
CREATININE | 0.9 | mg/dl | 0.6 - 1.2 | creat
URIC ACID | 3.1 | mg/dl | 2.5 - 6.0 | urate
TOTAL PROTEIN | 6.2 | gm/dl | 6.4 - 8.3 | protein
ALBUMIN | 3.9 | gm/dl | 3.5 - 5.0 | albumin
A : G RATIO | 1.7 | | 1.2 - 2.0 | ag_ratio
CALCIUM | 8.1 | mg/dl | 8.5 - 10.5 | calcium
IONISED CALCIUM | 1.02 | mmol/L | 1.10 - 1.35 |
AMYLASE | 71 | U/L | 25 - 125 | amylase
LIPASE | 88 | U/L | 8 - 78 | lipase
LDH | 198 | U/L | 120 - 246 | ldh
CPK TOTAL | 402 | U/L | 30 - 200 | ck
""",
    )


@layout("trap-long-table", size=9)
def long_table(sheet: Sheet) -> None:
    """Results run over page breaks, with page heads and titles between them."""
    grid = Grid(
        columns=columns(
            "name@45=Test",
            "value@240r=Result",
            "flag@246",
            "unit@275=Unit",
            "range@360=Reference Range",
            "method@470=Method",
        ),
        leading=26,
        cells=lambda row: (
            plain_cells(row) | {"method": row.option("method", "Spectrophotometry")}
        ),
    )
    sheet.begin(lambda s: ward_page(s, "Highfield Central Lab", "CONCOCTED, Jamie"))
    sheet.titles(grid)
    for panel, rows in _LONG:
        sheet.section(panel, x=45)
        sheet.print_rows(grid, rows)
    sheet.close()
    sheet.say(220, "*** END OF REPORT ***")


_LONG = (
    (
        "HAEMATOLOGY",
        """
Haemoglobin | 15.1 | g/dL | 13.0 - 17.0 | hgb
Total Leucocyte Count | 9.2 | 10^3/µL | 4.0 - 10.0 | wbc
RBC Count | 5.2 | 10^6/µL | 4.5 - 5.5 | rbc
PCV | 46.0 | % | 40 - 50 | hct
MCV | 88.5 | fL | 83 - 101 | mcv
MCH | 29.0 | pg | 27 - 32 | mch
MCHC | 32.8 | g/dL | 31.5 - 34.5 | mchc
RDW-CV | 13.1 | % | 11.6 - 14.0 | rdw
Platelet Count | 250 | 10^3/µL | 150 - 410 | plt
Neutrophils | 55 | % | 40 - 80 | neut_pct
Lymphocytes | 35 | % | 20 - 40 | lymph_pct
Monocytes | 6 | % | 2 - 10 | mono_pct
Eosinophils | 4 | % | 1 - 6 | eos_pct
ESR | 9 | mm/h | 0 - 15 | esr
""",
    ),
    (
        "BIOCHEMISTRY",
        """
Glucose, Fasting | 93 | mg/dL | 70 - 99 | glucose_fasting
HbA1c | 5.5 | % | 4.0 - 5.6 | a1c
Urea | 24 | mg/dL | 13 - 43 | urea
Creatinine | 1.08 | mg/dL | 0.67 - 1.17 | creat
Uric Acid | 6.2 | mg/dL | 3.5 - 7.2 | urate
Sodium | 141 | mmol/L | 136 - 145 | sodium
Potassium | 4.7 | mmol/L | 3.5 - 5.1 | potassium
Chloride | 104 | mmol/L | 98 - 107 | chloride
Bilirubin, Total | 0.9 | mg/dL | 0.3 - 1.2 | bili
AST | 27 | U/L | 0 - 50 | ast
ALT | 33 | U/L | 0 - 50 | alt
ALP | 69 | U/L | 30 - 120 | alp
GGT | 55 | U/L | 0 - 55 | ggt
Total Protein | 7.4 | g/dL | 6.6 - 8.3 | protein
Albumin | 4.6 | g/dL | 3.5 - 5.2 | albumin
Cholesterol | 222 | mg/dL | < 200 | chol
Triglycerides | 141 | mg/dL | < 150 | trig
HDL Cholesterol | 42 | mg/dL | > 40 | hdl
LDL Cholesterol | 152 | mg/dL | < 100 | ldl
""",
    ),
    (
        "HORMONES AND VITAMINS",
        """
T3, Total | 1.21 | ng/mL | 0.80 - 2.00 | t3
T4, Total | 8.4 | µg/dL | 5.1 - 14.1 | t4
TSH | 1.62 | µIU/mL | 0.27 - 4.20 | tsh
Vitamin B12 | 301 | pg/mL | 197 - 771 | b12
Vitamin D, 25 Hydroxy | 14.4 | ng/mL | 30 - 100 | vitd
PSA, Total | 0.71 | ng/mL | < 4.00 | psa
""",
    ),
)


@layout("trap-glued-and-bold", font="Courier", size=9)
def glued_and_bold(sheet: Sheet) -> None:
    """Flags glued to values in several ways; comments that look like results."""

    def cells(row: Row) -> dict[str, str | Cell]:
        glued = row.option("glue")
        return plain_cells(row) | {
            "value": Cell(f"{row.value}{glued}", bold=bool(row.flag)),
            "range": f"({row.range})" if row.range else "",
        }

    grid = Grid(
        columns=columns("name@45", "value@240", "unit@330", "range@430"),
        font="Courier",
        size=9,
        leading=12,
        cells=cells,
    )
    sheet.begin(lambda s: ward_page(s, "Quarry Bay Pathology", "SUPPOSED, Lou"))
    sheet.section("HAEMATOLOGY", x=45)
    sheet.print_rows(
        grid,
        """
Haemoglobin | 9.10 | g/dL | 12.00-16.00 | hgb | glue= [L];fixed
PCV | 28.5 | % | 36.0-46.0 | hct | glue= L;fixed
WBC Count | 14.2 | thou/mm3 | 4.0-11.0 | wbc | glue= H;fixed
Neutrophils | 82 | % | 40-75 | neut_pct | glue= H;fixed
Eosinophils | 00 | % | 01-06 | eos_pct | glue= L;fixed
Platelets | 512 | thou/mm3 | 150-450 | plt | glue=H;fixed
ESR | 64 | mm/hr | 0-20 | esr | glue=*;fixed
MCV | 71.0 | fL | 80.0-100.0 | mcv | glue= (L);fixed
""",
    )
    sheet.section("BIOCHEMISTRY", x=45)
    sheet.print_rows(
        grid,
        """
Glucose | 412 | mg/dL | 70-140 | glucose | glue= HH;fixed;doubtful
Potassium | 6.4 | mmol/L | 3.5-5.1 | potassium | glue= !!;fixed;doubtful
Sodium | 128 | mmol/L | 135-145 | sodium | glue=↓;fixed
Calcium | 7.9 | mg/dL | 8.5-10.5 | calcium | glue=-;fixed
Ferritin | 7.2 | ng/mL | 15.0-150.0 | ferritin | glue=#;fixed
Iron | 31 | ug/dL | 50-170 | iron | glue= Low;fixed
TIBC | 470 | ug/dL | 250-425 | tibc | glue= High;fixed
""",
    )
    sheet.down(6)
    for line in (
        "Critical value called to ward 5 at 10:32 by tech 014, read back.",
        "Sample integrity  H 1  L 0  I 0",
        "Delta check previous potassium 4.9 on 02-06-2024.",
    ):
        sheet.say(45, line, colour=GREY, size=8)


def _raised_power(row: Row) -> dict[str, str | Cell]:
    base, _, rest = row.unit.partition("^")
    unit: str | Cell = row.unit
    if rest and base.endswith("10"):
        power, _, tail = rest.partition("/")
        unit = Cell(base, raised=power, tail=f"/{tail}")
    return plain_cells(row) | {"unit": unit}


@layout("trap-odd-units", size=9.5)
def odd_units(sheet: Sheet) -> None:
    """Raised powers as small digits, misprinted units, ranges that are no numbers."""
    grid = Grid(
        columns=columns(
            "name@45=Test",
            "value@230c=Result",
            "unit@270=Units",
            "range@370=Reference Values",
            "flag@520=Flag",
        ),
        size=9.5,
        leading=13,
        rules="boxes",
        cells=_raised_power,
    )
    sheet.begin(lambda s: ward_page(s, "Old Mill Laboratory", "ASSUMED, Noa"))
    sheet.titles(grid)
    sheet.section("Haematology", x=45)
    sheet.print_rows(
        grid,
        """
WBC | 7.4 | x10^9/L | 4.0 - 11.0 | wbc
RBC | 3.71 | x10^12/L | 3.80 - 5.80 | rbc
Platelets | 288 | x10^9/L | 150 - 400 | plt
Platelets (citrate) | 291 | Bin/µL | - |
Haemoglobin | 11.2 | g% | 12 - 16 | hgb
Haematocrit | 33.1 | % | 36 - 46 | hct
Reticulocytes | 1.1 | % | 0.5 - 2.5 |
""",
    )
    sheet.section("Chemistry", x=45)
    sheet.print_rows(
        grid,
        """
Fasting blood sugar | 92 | %mg | 70 - 110 | | also=Fasting bloodsugar
Uric acid | 7.0 | mg/100ml | 2.4 - 6.0 | urate
Sodium | 140 | mEq/L | (135-145) | sodium
Potassium | 4.0 | mEq/L | [3.5-5.1] | potassium
Calcium, ionized | 1.19 | mmol/L | (1.08-2.25 |
Cholesterol | 188 | mg/dL | <200.00 | chol
Creatinine clearance | 101 | ml/min | 75 -- 115 | | doubtful
Lactate | 1.1 | mmol/L | 0,5-2,2 | | doubtful
""",
    )
    sheet.section("Immunoassay", x=45)
    sheet.print_rows(
        grid,
        """
TSH | 1.44 | mlU/L | 0.40 - 4.00 | tsh
Anti-TPO | 12 | IU/mL | See comment below | tpo
Insulin | 9.8 | µlU/mL | 2.6 - 24.9 |
Beta hCG | < 0.1 | mIU/mL | Negative: < 5.0 | | doubtful
Blood Group | O | | |
Rh Type | Positive | | |
""",
    )
    sheet.close()
    sheet.down(6)
    sheet.prose(
        45,
        500,
        "Comment: Anti-TPO below 34 IU/mL is found in 95 % of healthy adults. "
        "Borderline results between 34 and 60 should be repeated after 6 weeks.",
    )
