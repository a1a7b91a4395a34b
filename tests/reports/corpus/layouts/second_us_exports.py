"""Held out, United States: a text download and a rendered care summary."""

from __future__ import annotations

from reportlab.lib.pagesizes import LETTER

from tests.reports.corpus.heads import page_footer
from tests.reports.corpus.printed import Row, truth_of
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Cell, Grid, columns


@layout("second-us-blue-download", page_size=LETTER, font="Courier", held_out=True)
def blue_download(sheet: Sheet) -> None:
    """A plain text download: each test is a block of labelled lines."""

    def line(text: str) -> None:
        sheet.say(50, text, gap=11)

    def head(sheet: Sheet) -> None:
        sheet.text(50, 36, "MY HEALTH DOWNLOAD    **** PERSONAL INFORMATION ****")
        page_footer(sheet, "NOWAN, TERRY   Date of Birth: 14 Feb 1961")

    sheet.begin(head)
    line("------------------------ LABS AND TESTS ---------------------------")
    line("Source: Fed Health System    Last Updated: 04 Mar 2024 @ 2210")
    for panel, when, rows in (
        (
            "Chem/Hematology",
            "01 Mar 2024 @ 0806",
            """
GLUCOSE | 101 | mg/dL | 70-110 | glucose
CREATININE | 0.9 | mg/dL | 0.6-1.3 | creat
POTASSIUM | 3.4 | mmol/L | 3.5-5.1 | potassium
ALT (SGPT) | 28 | U/L | 0-55 | alt
SODIUM | 139 | mmol/L | 136-145 | sodium
CHOLESTEROL | 171 | mg/dL | <200 | chol
LDL (CALC) | 92 | mg/dL | <130 | ldl
""",
        ),
        (
            "Endocrine",
            "01 Mar 2024 @ 0806",
            """
TSH | 2.04 | uIU/mL | 0.35-4.94 | tsh
VITAMIN D 25 OH | 19 | ng/mL | 30-100 | vitd
HEPATITIS C ANTIBODY | Nonreactive | | Nonreactive | hcv
""",
        ),
    ):
        sheet.panel = panel
        line("")
        line(f"Lab Type:            {panel}")
        line("Ordering Provider:   NOONE,DOCTOR")
        line(f"Date/Time Collected: {when}")
        line("Specimen Sample:     SERUM")
        line("Collected Location:  SAMPLEVILLE FED MED CTR")
        for row in sheet.read(rows):
            sheet.need(77)
            flag = {"H": " (High)", "L": " (Low)"}.get(row.flag, "")
            line("")
            line(f"Lab Test:            {row.name}")
            line("Lab Test Status:     Final")
            line(f"Result:              {row.value}{flag}")
            line(f"Units:               {row.unit}")
            line(f"Reference Range:     ({row.range})")
            line("Interpretation:      --")
            sheet.rows.append(truth_of(row, panel))
    line("")
    line("------------------------ VITALS AND READINGS ----------------------")
    line("Measurement Type:    Blood pressure")
    line("Date/Time:           01 Mar 2024 @ 0751")
    line("Measurement:         128/76 mm[Hg]")
    line("Measurement Type:    Body weight")
    line("Measurement:         183 lb")
    line("END OF MY HEALTH DOWNLOAD")


def _shade(row: Row) -> Cell:
    return Cell(f"{row.value} ({row.flag})" if row.flag else row.value)


@layout("second-us-continuity-document", page_size=LETTER, size=8, held_out=True)
def continuity_document(sheet: Sheet) -> None:
    """A rendered care summary: results among medications, vitals and history."""
    grid = Grid(
        columns=columns(
            "name@44=Component",
            "value@160=Value",
            "range@225=Ref Range",
            "method@315=Test Method",
            "time@375=Analysis Time",
            "site@470w95=Performed At",
        ),
        size=8,
        leading=10,
        rules="boxes",
        left=40,
        right=572,
        cells=lambda row: {
            "name": row.name,
            "value": _shade(row),
            "range": f"{row.range} {row.unit}".strip(),
            "time": row.option("time", "03/12/2024 8:41 AM EDT"),
            "site": row.option("site", "ELMFIELD HOSPITAL LAB"),
            "method": row.option("method"),
        },
    )

    def head(sheet: Sheet) -> None:
        sheet.text(40, 38, "Summary of Care, generated on Mar. 18, 2024", size=11)
        sheet.y = 60
        page_footer(sheet, "Jo Fakename, born Nov. 30, 1988")

    def plain(title: str, titles: tuple[str, ...], *lines: tuple[str, ...]) -> None:
        sheet.section(title, size=11, gap=14)
        for texts in (titles, *lines):
            sheet.need(11)
            for n, text in enumerate(texts):
                sheet.text(44 + 130 * n, sheet.y, text, bold=texts is titles)
            sheet.down(11)

    sheet.begin(head)
    plain(
        "Medications",
        ("Medication", "Sig", "Dispensed", "Start Date"),
        ("levothyroxine 50 MCG tablet", "1 tablet daily", "90 tablet", "01/04/2024"),
        ("ferrous sulfate 325 mg", "1 tablet daily", "30 tablet", "02/11/2024"),
    )
    plain(
        "Last Filed Vital Signs",
        ("Vital Sign", "Reading", "Time Taken", "Comments"),
        ("Blood Pressure", "118/74", "03/12/2024 8:20 AM", ""),
        ("Pulse", "72", "03/12/2024 8:20 AM", ""),
        ("Temperature", "36.7 °C (98 °F)", "03/12/2024 8:20 AM", ""),
        ("Oxygen Saturation", "98%", "03/12/2024 8:20 AM", ""),
        ("Weight", "64.4 kg (142 lb)", "03/12/2024 8:20 AM", ""),
        ("Body Mass Index", "23.6", "03/12/2024 8:20 AM", ""),
    )
    sheet.section("Results", size=11, gap=14)
    for title, rows, specimen in (
        (
            "CBC with Differential (03/12/2024 8:30 AM EDT)",
            """
WBC | 6.8 | 10*3/uL | 4.0 - 10.5 | wbc
RBC | 3.91 | 10*6/uL | 3.90 - 5.20 | rbc
Hemoglobin | 10.8 | g/dL | 11.7 - 15.5 | hgb
Hematocrit | 33.9 | % | 35.0 - 45.0 | hct
MCV | 76.2 | fL | 80.0 - 100.0 | mcv
RDW | 17.1 | % | 11.5 - 15.0 | rdw
Platelets | 388 | 10*3/uL | 150 - 400 | plt
Neutrophils % | 61 | % | 40 - 75 | neut_pct
Absolute Neutrophils | 4.1 | 10*3/uL | 1.8 - 7.7 | neut
""",
            "Blood",
        ),
        (
            "Ferritin (03/12/2024 8:30 AM EDT)",
            "Ferritin | 6 | ng/mL | 11 - 264 | ferritin | method=ECLIA",
            "Blood",
        ),
        (
            "TSH with Reflex (03/12/2024 8:30 AM EDT)",
            "TSH | 5.71 | uIU/mL | 0.40 - 4.50 | tsh\n"
            "Free T4 | 1.0 | ng/dL | 0.8 - 1.8 | ft4",
            "Blood",
        ),
        (
            "hCG Qualitative, Urine (03/12/2024 8:55 AM EDT)",
            "Preg Test, Ur | Negative | | Negative | | site=ELMFIELD POINT OF CARE",
            "Urine",
        ),
    ):
        sheet.section(title, gap=12, panel=title.partition(" (")[0], keep=60)
        sheet.titles(grid)
        sheet.print_rows(grid, rows)
        sheet.close()
        sheet.down(4)
        sheet.say(44, f"Specimen (Source): {specimen}   Collection Method / Volume: -")
        sheet.say(44, "Authorizing Provider   Result Type   Result Status")
        sheet.say(44, "A. Notreal MD          LAB            Final Result")
    plain(
        "Immunizations",
        ("Name", "Administration Dates", "Next Due"),
        ("Influenza, 3 valent", "10/02/2023", "09/01/2024"),
        ("Tdap", "05/06/2019", "05/06/2029"),
    )
    plain(
        "Social History",
        ("Tobacco Use", "Types", "Packs/Day", "Years Used"),
        ("Former", "Cigarettes", "0.5", "4"),
    )
