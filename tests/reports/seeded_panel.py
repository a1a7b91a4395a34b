"""A report of thirty markers with three errors in it, which demo shows too.

Run `python -m tests.reports.seeded_panel` after a change of it.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from portal import demo

FILE = Path(demo.__file__).with_name("reports") / "full-panel.pdf"
# Potassium has lost its point, hemoglobin has another unit than its range, and the
# lymphocytes have slipped in from another row.
ROWS = """Glucose|92|mg/dL|70 - 99
Urea Nitrogen|14|mg/dL|7 - 20
Creatinine|0.88|mg/dL|0.6 - 1.2
Sodium|140|mmol/L|135 - 145
Potassium|42|mmol/L|3.5 - 5.1
Chloride|102|mmol/L|98 - 107
Calcium|9.4|mg/dL|8.6 - 10.3
Total Protein|7.1|g/dL|6.0 - 8.3
Albumin|4.4|g/dL|3.5 - 5.2
Bilirubin, Total|0.6|mg/dL|0.2 - 1.2
ALT|22|U/L|7 - 56
AST|24|U/L|10 - 40
Alkaline Phosphatase|64|U/L|44 - 121
Cholesterol, Total|180|mg/dL|< 200
HDL Cholesterol|61|mg/dL|> 40
LDL Cholesterol|102|mg/dL|< 130
Triglycerides|84|mg/dL|< 150
Leukocytes|6.1|10*3/uL|4.0 - 11.0
Erythrocytes|4.6|10*6/uL|4.2 - 5.4
Hemoglobin|138|g/dL|120 - 160
Hematocrit|41.2|%|36 - 46
Platelets|245|10*3/uL|150 - 400
Neutrophils|58|%|40 - 70
Lymphocytes|42|%|20 - 45
Monocytes|7|%|2 - 10
Eosinophils|4|%|0 - 6
Basophils|1|%|0 - 2
TSH|2.11|mIU/L|0.45 - 4.50
Ferritin|38|ng/mL|30 - 200
Vitamin B12|410|pg/mL|200 - 900"""


def draw_panel() -> bytes:
    """The report of a person who does not exist."""
    written = BytesIO()
    canvas = Canvas(written, invariant=1)
    canvas.drawString(60, 790, "Example Laboratory")
    canvas.drawString(60, 770, "Patient Name: Beispiel, Rosa")
    canvas.drawString(60, 756, "Collected: 2026-03-02")
    head = "Test|Result|Units|Reference Range"
    for place, line in enumerate([head, *ROWS.splitlines()]):
        for left, text in zip((60, 250, 330, 430), line.split("|"), strict=True):
            canvas.drawString(left, 728 - 20 * place, text)
    canvas.save()
    return written.getvalue()


if __name__ == "__main__":
    FILE.write_bytes(draw_panel())
