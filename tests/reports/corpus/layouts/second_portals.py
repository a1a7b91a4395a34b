"""Held out: patient portal and wellness prints, where no table carries the rows."""

from __future__ import annotations

from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import page_footer
from tests.reports.corpus.printed import Row, bounds, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import BLUE, GREY, RED, Sheet

_GREEN = HexColor("#8cc08c")
_AMBER = HexColor("#e9c46a")


def _card(sheet: Sheet, x: float, row: Row) -> None:
    """Name, normal range, a scale with its ends written below, the value above it."""
    y = sheet.y
    sheet.text(x, y, row.name, size=10, bold=True)
    sheet.text(x, y + 12, f"Normal range: {_spoken(row)}", size=8, colour=GREY)
    low, high = bounds(row)
    if low is not None or high is not None:
        sheet.box(x, y + 36, 60, 5, fill=_AMBER, stroke=False)
        sheet.box(x + 60, y + 36, 90, 5, fill=_GREEN, stroke=False)
        sheet.box(x + 150, y + 36, 60, 5, fill=_AMBER, stroke=False)
        place = {"L": 30, "H": 178}.get(row.flag, 100)
        sheet.text(x + place, y + 32, row.value, size=9, bold=True, align="c")
        first, _, last = row.range.partition(" - ")
        if last:
            sheet.text(x + 60, y + 50, first, size=7, align="c", colour=GREY)
            sheet.text(x + 150, y + 50, last, size=7, align="c", colour=GREY)
    else:
        sheet.text(x, y + 26, "Value", size=7, colour=GREY)
        sheet.text(x, y + 37, row.value, size=10, bold=True)
    if row.flag:
        word = {"H": "High", "L": "Low", "A": "Abnormal"}[row.flag]
        sheet.text(x + 210, y, word, size=8, colour=RED, align="r")
    sheet.rows.append(truth_of(row, sheet.panel))


def _spoken(row: Row) -> str:
    return f"{row.option('spoken', row.range)} {row.unit}".strip()


@layout("second-portal-scale-cards", page_size=LETTER, held_out=True)
def scale_cards(sheet: Sheet) -> None:
    """Two cards abreast, each with a scale: the value stands over it, alone."""

    def head(sheet: Sheet) -> None:
        sheet.text(40, 36, "Test Details", size=15, bold=True, colour=BLUE)
        sheet.text(572, 36, "Name: Alexis Inventado | DOB: 8/9/1990", size=8, align="r")
        sheet.y = 60
        page_footer(sheet, "Portal records are licensed from a fictional vendor © 2024")

    sheet.begin(head)
    for panel, rows in (
        (
            "COMPREHENSIVE METABOLIC PANEL",
            """
Sodium | 140 | mmol/L | 135 - 145 | sodium
Potassium | 3.2 | mmol/L | 3.5 - 5.1 | potassium
Chloride | 104 | mmol/L | 98 - 107 | chloride
Anion Gap | 9 | mmol/L | 5 - 15 |
Glucose | 118 | mg/dL | 70 - 99 | glucose
BUN | 12 | mg/dL | 7 - 25 | bun
Creatinine | 0.71 | mg/dL | 0.60 - 1.20 | creat
Calcium | 9.1 | mg/dL | 8.5 - 10.5 | calcium
""",
        ),
        (
            "LIPID PANEL",
            """
Cholesterol | 196 | mg/dL | <200 | chol
HDL | 66 | mg/dL | >=50 | hdl
LDL Calculated | 112 | mg/dL | <100 | ldl
Triglycerides | 90 | mg/dL | <150 | trig
""",
        ),
        (
            "URINALYSIS WITH MICROSCOPIC",
            """
Color, Urine | Yellow | | Yellow | u_color
Ketones, Urine | Trace | | Negative | u_ketones | flag=A
Leukocyte Esterase, Urine | Negative | | Negative | u_le
pH, Urine | 6.0 | | 5.0 - 8.0 | u_ph
""",
        ),
    ):
        sheet.section(panel, size=12, gap=12, keep=110)
        sheet.say(40, "Collected on March 8, 2024 7:40 AM", size=8, colour=GREY)
        sheet.say(40, "Results", size=11, bold=True, gap=18)
        found = sheet.read(rows)
        for n in range(0, len(found), 2):
            sheet.need(66)
            for x, row in zip((40, 320), found[n : n + 2], strict=False):
                _card(sheet, x, row)
            sheet.down(66)
        sheet.say(40, "Authorizing provider: Q. Nobody, MD   Result status: Final")
        sheet.say(40, "Resulting lab: ELMFIELD HOSPITAL LAB", gap=18)


@layout("second-wellness-sentences", page_size=LETTER, held_out=True)
def wellness_sentences(sheet: Sheet) -> None:
    """Direct to consumer: zone bar, big value, a sentence with numbers of its own."""

    def head(sheet: Sheet) -> None:
        sheet.text(50, 40, "vitalorbit", size=18, bold=True, colour=BLUE)
        sheet.text(562, 40, "Kit ID VO-88-2214   Sam Pretend, 34", size=8, align="r")
        sheet.y = 70
        page_footer(
            sheet, "These results are educational and no diagnosis. 855-555-0100"
        )

    sheet.begin(head)
    sheet.say(50, "Your biomarkers at a glance", size=14, bold=True, gap=18)
    sheet.say(50, "7 optimized   3 need work   2 at risk", size=10, gap=14)
    sheet.say(50, "Your inner age is 31.4, that is 2.6 years younger than 34.", gap=24)
    for panel, about, rows in (
        (
            "Metabolism",
            "Keeping fasting glucose under 90 mg/dL is linked to a 22% lower risk. Aim "
            "for 30 g of fiber and 150 minutes of activity each week.",
            """
Glucose | 97 | mg/dL | 65 - 94 | glucose
HbA1c | 5.2 | % | 4.0 - 5.6 | a1c
Insulin | 11.8 | uIU/mL | 2.0 - 8.0 |
""",
        ),
        (
            "Inflammation",
            "hsCRP above 3.0 mg/L for more than 2 weeks deserves a second test.",
            """
hsCRP | 0.4 | mg/L | <1.0 | hscrp
White blood cells | 5.4 | thousands/uL | 3.8 - 10.8 | wbc
""",
        ),
        (
            "Oxygen transfer & performance",
            "Serving ideas: 3 oz beef liver (5 mg iron), 1 cup lentils (6.6 mg iron), "
            "1/2 cup spinach (3.2 mg).",
            """
Ferritin | 24 | ng/mL | 40 - 150 | ferritin
Hemoglobin | 13.9 | g/dL | 13.2 - 17.1 | hgb
Transferrin saturation | 21 | % | 20 - 48 | tsat
""",
        ),
        (
            "Hormones & bone",
            "A vitamin D of 20 to 29 ng/mL is called insufficient by some experts.",
            """
Testosterone | 614 | ng/dL | 250 - 1100 | testo
SHBG | 33 | nmol/L | 10 - 50 |
Cortisol | 19.6 | ug/dL | 4.0 - 18.0 | cortisol
Vitamin D | 27 | ng/mL | 32 - 100 | vitd
""",
        ),
    ):
        sheet.section(panel, x=50, size=12, gap=16, keep=90)
        for row in sheet.read(rows):
            sheet.need(62)
            verdict = {"H": "At risk", "L": "Needs work"}.get(row.flag, "Optimized")
            sheet.text(50, sheet.y, row.name, size=11, bold=True)
            sheet.text(562, sheet.y, verdict, size=9, align="r")
            sheet.text(50, sheet.y + 18, row.value, size=16, bold=True)
            sheet.text(110, sheet.y + 18, row.unit, size=8, colour=GREY)
            sheet.box(220, sheet.y + 10, 110, 8, fill=_AMBER, stroke=False)
            sheet.box(330, sheet.y + 10, 120, 8, fill=_GREEN, stroke=False)
            sheet.box(450, sheet.y + 10, 110, 8, fill=_AMBER, stroke=False)
            sheet.text(
                220, sheet.y + 30, f"Optimal zone: {row.range} {row.unit}", size=8
            )
            place = {
                "H": f"Your {row.name} is higher than your optimal zone.",
                "L": f"Your {row.name} is below your optimal zone.",
            }.get(row.flag, f"Nice: your {row.name} is in the zone.")
            sheet.text(50, sheet.y + 42, place, size=8)
            sheet.down(60)
            sheet.rows.append(truth_of(row, panel))
        sheet.prose(50, 500, about, size=8.5)
        sheet.down(6)
