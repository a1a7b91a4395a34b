"""Held out: pages near to medicine that are no lab report, and so give no row."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import letterhead, page_footer, two_blocks
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet


def _lines(sheet: Sheet, places: tuple[float, ...], *lines: tuple[str, ...]) -> None:
    for line in lines:
        sheet.need(12)
        for x, text in zip(places, line, strict=False):
            sheet.text(x, sheet.y, text, bold=line is lines[0])
        sheet.down(12)
    sheet.down(8)


@layout(
    "second-not-discharge-letter",
    font="Times-Roman",
    size=10,
    is_lab_report=False,
    held_out=True,
)
def discharge_letter(sheet: Sheet) -> None:
    sheet.begin(lambda s: page_footer(s, "Sampleshire Hospitals, discharge letter"))
    letterhead(sheet, "Discharge Summary", "Ward 7B, Sampleshire General")
    sheet.y = 76
    two_blocks(
        sheet,
        [
            ("Patient", "NOSUCH, Ronnie"),
            ("DOB", "04/05/1948"),
            ("Hospital No", "X00771"),
        ],
        [
            ("Admitted", "02/02/2024"),
            ("Discharged", "07/02/2024"),
            ("Consultant", "Dr N"),
        ],
    )
    sheet.down(10)
    sheet.say(40, "Dear Doctor,", gap=16)
    sheet.prose(
        40,
        510,
        "This 75 year old woman was admitted with community acquired pneumonia "
        "(CURB-65 score 2). On arrival CRP was 186 mg/L with a white cell count of "
        "17.4, and creatinine had risen to 142 from 88 umol/L. She was given IV "
        "co-amoxiclav 1.2 g three times a day for 3 days, then 5 days by mouth. By "
        "discharge CRP had fallen to 34, creatinine to 96. Haemoglobin was stable at "
        "112 g/L throughout. Chest X-ray showed right lower zone consolidation.",
        size=10,
        gap=13,
    )
    sheet.down(10)
    sheet.say(40, "Observations", bold=True)
    _lines(
        sheet,
        (50, 200, 300, 400),
        ("Observation", "On admission", "On discharge", "Target"),
        ("Temperature", "38.9 °C", "36.8 °C", ""),
        ("Heart rate", "112 bpm", "78 bpm", "60 - 100"),
        ("Blood pressure", "98/54 mmHg", "128/72 mmHg", "< 140/90"),
        ("Respiratory rate", "26 /min", "16 /min", "12 - 20"),
        ("SpO2 (air)", "89 %", "96 %", "94 - 98 %"),
        ("Weight", "61.4 kg", "60.2 kg", ""),
        ("NEWS2", "9", "1", ""),
    )
    sheet.say(40, "Medication on discharge", bold=True)
    _lines(
        sheet,
        (50, 200, 300, 400),
        ("Drug", "Dose", "Frequency", "Days"),
        ("Co-amoxiclav", "625 mg", "three times", "5"),
        ("Furosemide", "40 mg", "once daily", "ongoing"),
        ("Potassium chloride", "600 mg", "twice daily", "7"),
        ("Atorvastatin", "20 mg", "at night", "ongoing"),
    )
    sheet.say(40, "Actions for GP: repeat U&E in 1 week, chest X-ray in 6 weeks.")
    sheet.say(40, "Please check potassium (4.9 mmol/L on 06/02/2024) on furosemide.")


@layout(
    "second-not-pharmacy-sheet",
    page_size=LETTER,
    is_lab_report=False,
    held_out=True,
)
def pharmacy_sheet(sheet: Sheet) -> None:
    """Labels three abreast, with strengths, quantities and refill counts."""
    sheet.begin()
    sheet.say(
        40, "SAMPLE PHARMACY #0114   555-010-6600   Rx labels 05/14/2024", bold=True
    )
    sheet.down(8)
    labels = (
        ("POTASSIUM CHLORIDE ER", "20 mEq", "QTY 60", "REFILLS 3", "Rx 7714420"),
        ("LEVOTHYROXINE SODIUM", "75 mcg", "QTY 90", "REFILLS 1", "Rx 7714421"),
        ("VITAMIN D3", "50000 IU", "QTY 12", "REFILLS 0", "Rx 7714422"),
        ("CALCIUM CARBONATE", "600 mg", "QTY 120", "REFILLS 5", "Rx 7714423"),
        ("IRON (FERROUS SULFATE)", "325 mg", "QTY 100", "REFILLS 2", "Rx 7714424"),
        ("LITHIUM CARBONATE", "300 mg", "QTY 180", "REFILLS 0", "Rx 7714425"),
        ("GLUCOSE TABLETS", "4 g", "QTY 50", "REFILLS 6", "Rx 7714426"),
        ("FOLIC ACID", "1 mg", "QTY 30", "REFILLS 11", "Rx 7714427"),
        ("MAGNESIUM OXIDE", "400 mg", "QTY 60", "REFILLS 2", "Rx 7714428"),
    )
    for n, (drug, strength, quantity, refills, number) in enumerate(labels):
        x, y = 40 + 180 * (n % 3), sheet.y + 110 * (n // 3)
        sheet.box(x - 6, y - 12, 170, 98)
        sheet.text(x, y, drug, bold=True)
        sheet.text(x, y + 13, strength)
        sheet.text(x + 90, y + 13, quantity)
        sheet.text(x, y + 26, "TAKE 1 TABLET BY MOUTH", size=7)
        sheet.text(x, y + 36, "TWICE DAILY WITH 8 OZ WATER", size=7)
        sheet.text(x, y + 50, refills)
        sheet.text(x + 90, y + 50, number)
        sheet.text(x, y + 64, "DISCARD AFTER 05/14/2025", size=7)
        sheet.text(x, y + 76, "NDC 00000-0000-00   DR NOBODY", size=7)


@layout(
    "second-not-benefits-statement",
    page_size=LETTER,
    size=8.5,
    is_lab_report=False,
    held_out=True,
)
def benefits_statement(sheet: Sheet) -> None:
    """An insurer's statement: lab services by name with amounts in columns."""

    def head(sheet: Sheet) -> None:
        letterhead(sheet, "Nowhere Mutual Health", "THIS IS NOT A BILL")
        sheet.y = 72
        page_footer(sheet, "Member services 555-010-9090")

    sheet.begin(head)
    sheet.say(40, "Explanation of Benefits", size=14, bold=True, gap=20)
    two_blocks(
        sheet,
        [("Patient", "Pat Unreal"), ("Member ID", "NMH000111"), ("Group", "77120")],
        [
            ("Claim", "24-0511-7781"),
            ("Provider", "Testport Lab"),
            ("Date", "05/30/2024"),
        ],
    )
    sheet.down(10)
    _lines(
        sheet,
        (40, 105, 150, 290, 355, 425, 500),
        ("Date", "Code", "Service", "Billed", "Allowed", "Plan paid", "You owe"),
        (
            "05/11/2024",
            "80053",
            "Comprehensive metabolic",
            "78.00",
            "10.56",
            "8.45",
            "2.11",
        ),
        ("05/11/2024", "80061", "Lipid panel", "96.50", "13.39", "10.71", "2.68"),
        ("05/11/2024", "83036", "Hemoglobin A1c", "52.00", "9.71", "7.77", "1.94"),
        ("05/11/2024", "84443", "TSH", "110.00", "16.80", "13.44", "3.36"),
        (
            "05/11/2024",
            "82306",
            "Vitamin D, 25-hydroxy",
            "188.00",
            "29.60",
            "0.00",
            "29.60",
        ),
        (
            "05/11/2024",
            "85025",
            "CBC with differential",
            "41.00",
            "7.77",
            "6.22",
            "1.55",
        ),
        ("05/11/2024", "82728", "Ferritin", "74.00", "13.63", "10.90", "2.73"),
        ("05/11/2024", "36415", "Venipuncture", "20.00", "8.57", "6.86", "1.71"),
        ("", "", "Totals", "659.50", "110.03", "64.35", "45.68"),
    )
    sheet.say(
        40, "Deductible met: 450.00 of 1,500.00    Out of pocket: 610.20 of 4,000.00"
    )
    sheet.prose(
        40,
        500,
        "Remark 45: charge exceeds schedule. Remark 96: vitamin D testing more than "
        "once in 12 months is not covered. You have 180 days to appeal.",
    )


@layout(
    "second-not-paper-page",
    font="Times-Roman",
    size=9.5,
    is_lab_report=False,
    held_out=True,
)
def paper_page(sheet: Sheet) -> None:
    """A journal page: reference intervals of a population, nobody's results."""

    def head(sheet: Sheet) -> None:
        sheet.text(40, 34, "J Fict Lab Med 2021; 44(3): 211-219", size=8)
        sheet.text(555, 34, "214", size=8, align="r")
        sheet.y = 58

    sheet.begin(head)
    sheet.say(
        40, "Reference intervals for adults of an invented island", size=13, gap=18
    )
    sheet.prose(
        40,
        515,
        "Results. Of 1,204 volunteers 1,018 met the criteria (547 women; median "
        "age 41 years). Partitioning by sex was needed for creatinine, urate "
        "and ferritin (z > 3). Table 2 gives the 2.5th and 97.5th percentiles with 90% "
        "confidence limits. Creatinine medians were 64 and 81 umol/L (p < 0.001).",
        size=9.5,
        gap=12,
    )
    sheet.down(10)
    sheet.say(40, "Table 2. Reference intervals by analyte", bold=True)
    sheet.rule(40, 555, sheet.y - 8)
    _lines(
        sheet,
        (44, 150, 215, 255, 330, 430),
        ("Analyte", "Unit", "n", "Median", "Reference interval", "Manufacturer"),
        ("Sodium", "mmol/L", "1012", "140", "136 - 144", "135 - 145"),
        ("Potassium", "mmol/L", "1009", "4.2", "3.6 - 4.9", "3.5 - 5.1"),
        ("Urea", "mmol/L", "1018", "4.8", "2.7 - 7.6", "2.5 - 7.8"),
        ("Creatinine (F)", "umol/L", "547", "64", "47 - 84", "45 - 84"),
        ("Creatinine (M)", "umol/L", "471", "81", "60 - 106", "59 - 104"),
        ("ALT (F)", "U/L", "545", "17", "8 - 38", "< 33"),
        ("ALT (M)", "U/L", "470", "25", "10 - 55", "< 41"),
        ("Albumin", "g/L", "1016", "44", "38 - 50", "35 - 52"),
        ("TSH", "mIU/L", "998", "1.7", "0.5 - 4.3", "0.27 - 4.20"),
        ("Ferritin (F)", "ug/L", "540", "46", "9 - 178", "13 - 150"),
    )
    sheet.prose(
        40,
        515,
        "Discussion. The upper limit of ALT in men (55 U/L) is higher than the "
        "manufacturer's 41 U/L, in keeping with a mean BMI of 28.1 kg/m2. Our "
        "interval for TSH agrees with earlier work [12, 17]. Within-run CV: 1.1% for "
        "sodium and 3.4% for ferritin.",
        size=9.5,
        gap=12,
    )
    sheet.down(8)
    sheet.say(40, "References", bold=True)
    sheet.say(
        40, "12. Nobody A, Noone B. Thyrotropin in islanders. Clin Fict 2014;8:55-61."
    )
    sheet.say(40, "17. Unreal C. Reference limits revisited. Lab Inv 2018;22(4):301-9.")
