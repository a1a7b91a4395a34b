"""Pages met among uploaded files that are no lab report: no row may come of them."""

from __future__ import annotations

from tests.reports.corpus.heads import two_blocks
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Column, Grid


def _table(
    sheet: Sheet, columns: tuple[Column, ...], lines: list[tuple[str, ...]]
) -> None:
    sheet.titles(Grid(columns=columns, size=sheet.size))
    for line in lines:
        sheet.need(13)
        for column, text in zip(columns, line, strict=True):
            sheet.text(column.x, sheet.y, text, align=column.align)
        sheet.down(13)
    sheet.close()


@layout("not-receipt", font="Courier", is_lab_report=False)
def receipt(sheet: Sheet) -> None:
    sheet.begin()
    for line in (
        "CORNER GROCERY",
        "12 Sample St   Tel 555-0110",
        "Receipt No 004417   14/03/2024 17:22",
    ):
        sheet.say(60, line)
    _table(
        sheet,
        (
            Column("item", 60, "ITEM"),
            Column("qty", 260, "QTY", align="r"),
            Column("price", 340, "PRICE", align="r"),
            Column("total", 420, "TOTAL", align="r"),
        ),
        [
            ("Potassium-free salt", "1", "2.49", "2.49"),
            ("Milk 1 L", "2", "1.19", "2.38"),
            ("Iron skillet", "1", "18.00", "18.00"),
            ("Magnesium tablets 250 mg", "1", "6.75", "6.75"),
            ("Eggs 12", "1", "3.10", "3.10"),
            ("Glucose syrup 500 g", "1", "2.20", "2.20"),
        ],
    )
    for line in (
        "SUBTOTAL                           34.92",
        "TAX 8.0 %                           2.79",
        "TOTAL                              37.71",
        "CARD ****4410            AUTH 003312",
        "Thank you",
    ):
        sheet.say(60, line)


@layout("not-exam-timetable", font="Times-Roman", size=10, is_lab_report=False)
def exam_timetable(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(60, "Examination Timetable - Spring 2024", size=16, bold=True, gap=24)
    two_blocks(
        sheet,
        [("Candidate", "Robin Sample"), ("Roll No", "40118")],
        [("Programme", "BSc Biology"), ("Year", "2")],
    )
    sheet.down(10)
    _table(
        sheet,
        (
            Column("code", 60, "Code"),
            Column("paper", 130, "Paper"),
            Column("date", 330, "Date"),
            Column("time", 410, "Time"),
            Column("hall", 500, "Hall"),
        ),
        [
            ("BIO201", "Blood and Circulation", "06/05/2024", "09:00 - 11:00", "A 12"),
            ("BIO204", "Lipid Chemistry", "08/05/2024", "14:00 - 16:00", "B 3"),
            (
                "BIO210",
                "Urine Analysis Practical",
                "13/05/2024",
                "09:00 - 12:00",
                "L 2",
            ),
            ("MAT110", "Statistics", "15/05/2024", "09:00 - 11:30", "A 14"),
            ("CHE220", "Protein Structure", "17/05/2024", "14:00 - 16:00", "B 3"),
        ],
    )
    sheet.say(60, "Report 30 minutes before the start. Pass mark 40 - 100 %.")


@layout("not-resume", font="Helvetica", size=10, is_lab_report=False)
def resume(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(60, "Jordan Placeholder", size=18, bold=True, gap=22)
    sheet.say(60, "Laboratory technician    555-010-3344    jordan@example.org")
    for title, lines in (
        (
            "Experience",
            (
                "Northfield Laboratory, Senior Technician      2019 - 2024",
                "Ran 1,200 hemoglobin and glucose tests a day, 99.2 % on time",
                "Westmoor Hospital, Phlebotomist               2015 - 2019",
                "Cut repeat draws from 4.1 % to 1.8 % in 12 months",
            ),
        ),
        (
            "Education",
            (
                "BSc Biochemistry, GPA 3.7 / 4.0               2011 - 2015",
                "Diploma in Medical Laboratory Science         85 %",
            ),
        ),
        (
            "Skills",
            (
                "Haematology analysers        5/5",
                "PCR                          4/5",
                "German B2, Spanish A1",
            ),
        ),
    ):
        sheet.section(title, x=60, before=12, size=12)
        for line in lines:
            sheet.say(70, line, gap=14)


@layout("not-invoice", is_lab_report=False)
def invoice(sheet: Sheet) -> None:
    """An invoice of a laboratory: test names beside numbers, and no result."""
    sheet.begin()
    sheet.say(50, "INVOICE 2024-0417", size=16, bold=True, gap=22)
    two_blocks(
        sheet,
        [("Bill to", "Robin Sample"), ("Date", "18/04/2024")],
        [("Lab", "Northfield Laboratory"), ("Due", "18/05/2024")],
    )
    sheet.down(12)
    _table(
        sheet,
        (
            Column("item", 50, "Test"),
            Column("code", 250, "Code"),
            Column("qty", 340, "Qty", align="r"),
            Column("price", 420, "Unit price", align="r"),
            Column("total", 510, "Amount", align="r"),
        ),
        [
            ("Complete blood count", "85025", "1", "24.00", "24.00"),
            ("Lipid panel", "80061", "1", "38.50", "38.50"),
            ("Hemoglobin A1c", "83036", "1", "29.00", "29.00"),
            ("TSH", "84443", "2", "31.00", "62.00"),
            ("Vitamin D, 25-Hydroxy", "82306", "1", "58.00", "58.00"),
            ("Venipuncture", "36415", "1", "8.00", "8.00"),
        ],
    )
    for line in ("Subtotal  219.50", "Tax 7 %  15.37", "Total due USD  234.87"):
        sheet.say(400, line)


@layout("not-radiology", font="Times-Roman", size=11, is_lab_report=False)
def radiology(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(180, "MRI OF THE LUMBAR SPINE", size=14, bold=True, gap=20)
    two_blocks(
        sheet,
        [("Patient", "Testperson, Avery"), ("Age / Sex", "44 / F")],
        [("Study date", "2024-03-11"), ("Accession", "RAD-88120")],
    )
    sheet.down(12)
    for line in (
        "TECHNIQUE: Sagittal T1, T2 and STIR, 4 mm slices, 1.5 T.",
        "FINDINGS:",
        "L3-L4: Disc height preserved. Canal 14 mm (normal > 12 mm).",
        "L4-L5: Broad based bulge of 3 mm, canal 11 mm.",
        "L5-S1: Annular fissure of 5 mm. No compression of the S1 root.",
        "Simple cyst of the right kidney, 12 x 10 mm.",
        "Bone density T-score                -1.2",
        "IMPRESSION: Mild degenerative change at 2 levels.",
    ):
        sheet.say(60, line, gap=16)


@layout("not-bank-statement", font="Courier", size=8.5, is_lab_report=False)
def bank_statement(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(40, "STATEMENT OF ACCOUNT   01/02/2024 - 29/02/2024", bold=True)
    sheet.say(40, "Account 00-1144-22   Sort 00-00-00   Opening balance 1,204.11")
    _table(
        sheet,
        (
            Column("date", 40, "Date"),
            Column("what", 110, "Description"),
            Column("out", 360, "Paid out", align="r"),
            Column("in", 430, "Paid in", align="r"),
            Column("left", 520, "Balance", align="r"),
        ),
        [
            ("01/02", "CARD PHARMACY 4410", "12.60", "", "1,191.51"),
            ("03/02", "SALARY EXAMPLE LTD", "", "2,310.00", "3,501.51"),
            ("05/02", "RENT", "950.00", "", "2,551.51"),
            ("09/02", "IRON GYM MEMBERSHIP", "29.99", "", "2,521.52"),
            ("14/02", "BLOOD DONOR CAFE", "8.20", "", "2,513.32"),
            ("21/02", "TRANSFER K. SAMPLE", "", "40.00", "2,553.32"),
            ("28/02", "INTEREST 1.25 % (0.5 - 2.0)", "", "1.12", "2,554.44"),
        ],
    )


@layout("not-price-list", is_lab_report=False)
def price_list(sheet: Sheet) -> None:
    """What a laboratory offers: sample, time and price of each test."""
    sheet.begin()
    sheet.say(50, "Test directory and prices 2024", size=14, bold=True, gap=20)
    _table(
        sheet,
        (
            Column("name", 50, "Test name"),
            Column("sample", 230, "Sample"),
            Column("time", 350, "Turnaround"),
            Column("price", 470, "Price (USD)", align="r"),
        ),
        [
            ("Creatinine", "Serum 1 mL", "1 day", "12"),
            ("Ferritin", "Serum 1 mL", "1 - 2 days", "28"),
            ("Haemoglobin", "EDTA 3 mL", "4 h", "9"),
            ("HbA1c", "EDTA 3 mL", "1 day", "25"),
            ("Potassium", "Serum 1 mL", "4 h", "11"),
            ("TSH", "Serum 1 mL", "1 day", "30"),
            ("Urine culture", "Urine 10 mL", "2 - 3 days", "35"),
        ],
    )


@layout("not-medication-list", font="Vera", size=8.5, is_lab_report=False)
def medication_list(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(50, "MEDICATION LIST - Dana Marlow, born 1968-11-30", bold=True, gap=20)
    _table(
        sheet,
        (
            Column("drug", 50, "Drug"),
            Column("dose", 210, "Dose"),
            Column("unit", 270, "Unit"),
            Column("how", 340, "Frequency"),
            Column("since", 450, "Since"),
        ),
        [
            ("Metformin", "500", "mg", "2 x daily", "2021"),
            ("Levothyroxine", "75", "ug", "1 x daily", "2019"),
            ("Iron (ferrous sulfate)", "325", "mg", "1 x daily", "2023"),
            ("Vitamin D3", "1000", "IU", "1 x daily", "2022"),
            ("Potassium chloride", "20", "mEq", "1 x daily", "2024"),
            ("Insulin glargine", "18", "units", "at night", "2024"),
        ],
    )


@layout("not-order-form", size=9, is_lab_report=False)
def order_form(sheet: Sheet) -> None:
    """A requisition: names of tests beside boxes and tube counts."""
    sheet.begin()
    sheet.say(50, "LABORATORY REQUISITION   No 0004812", size=13, bold=True, gap=20)
    sheet.say(50, "Patient: Robin Sample   DOB 04/12/1979   Sex M   Fasting: 12 h")
    for n, name in enumerate(
        (
            "Glucose, fasting",
            "Hemoglobin A1c",
            "Lipid panel",
            "CBC with differential",
            "TSH",
            "Ferritin",
            "Urinalysis",
            "Vitamin B12",
        )
    ):
        sheet.box(52, sheet.y - 7, 8, 8)
        sheet.text(68, sheet.y, name)
        sheet.text(240, sheet.y, f"Tube {n % 3 + 1}")
        sheet.text(320, sheet.y, f"ICD E11.{n}")
        sheet.down(14)
    sheet.say(50, "Draw volume 3 x 5 mL   Centrifuge 10 min at 1,500 g")


@layout("not-nutrition-label", size=10, is_lab_report=False)
def nutrition_label(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(60, "Nutrition Facts", size=18, bold=True, gap=22)
    sheet.say(60, "About 8 servings per container, serving size 2/3 cup (55 g)")
    _table(
        sheet,
        (
            Column("what", 60, "Amount per serving"),
            Column("amount", 240, "Amount", align="r"),
            Column("unit", 246, "Unit"),
            Column("daily", 340, "% Daily Value", align="r"),
        ),
        [
            ("Calories", "230", "kcal", ""),
            ("Total Fat", "8", "g", "10 %"),
            ("Cholesterol", "0", "mg", "0 %"),
            ("Sodium", "160", "mg", "7 %"),
            ("Protein", "3", "g", ""),
            ("Vitamin D", "2", "mcg", "10 %"),
            ("Calcium", "260", "mg", "20 %"),
            ("Iron", "8", "mg", "45 %"),
            ("Potassium", "235", "mg", "6 %"),
        ],
    )


@layout("not-vaccination-record", font="Times-Roman", size=10, is_lab_report=False)
def vaccination_record(sheet: Sheet) -> None:
    sheet.begin()
    sheet.say(60, "IMMUNIZATION RECORD", size=14, bold=True, gap=22)
    sheet.say(60, "Name: Robin Sample    Date of birth: 04/12/1979")
    _table(
        sheet,
        (
            Column("what", 60, "Vaccine"),
            Column("date", 200, "Date"),
            Column("dose", 290, "Dose"),
            Column("lot", 360, "Lot"),
            Column("site", 450, "Site"),
        ),
        [
            ("Hepatitis B", "03/02/2020", "0.5 mL", "HB4410", "Left arm"),
            ("Hepatitis B", "03/03/2020", "0.5 mL", "HB4417", "Left arm"),
            ("Influenza", "10/11/2023", "0.5 mL", "FL2209", "Right arm"),
            ("Tetanus", "06/30/2018", "0.5 mL", "TD1180", "Left arm"),
        ],
    )
