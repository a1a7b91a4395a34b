"""Sheets that measure a body or explain results, and are no lab report."""

from __future__ import annotations

from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet


@layout("fifth-not-body-scale", is_lab_report=False)
def body_scale(sheet: Sheet) -> None:
    """A gymnasium's scale measures a body, with normal ranges, and no specimen."""
    sheet.begin(lambda sheet: None)
    sheet.y = 50
    sheet.say(40, "BODY COMPOSITION ANALYSIS", size=14, bold=True, gap=20)
    sheet.say(40, "ID: Unreal Gym 044   Height 178 cm   Age 35   Gender Male", gap=18)
    for line in (
        ("Item", "Value", "Unit", "Normal Range"),
        ("Weight", "81.4", "kg", "59.3 - 80.2"),
        ("Total Body Water", "44.8", "L", "38.9 - 47.5"),
        ("Protein", "12.1", "kg", "10.4 - 12.8"),
        ("Minerals", "4.12", "kg", "3.61 - 4.41"),
        ("Body Fat Mass", "20.4", "kg", "8.4 - 16.7"),
        ("Skeletal Muscle Mass", "34.5", "kg", "29.6 - 36.2"),
        ("Percent Body Fat", "25.1", "%", "10.0 - 20.0"),
        ("BMI", "25.7", "kg/m²", "18.5 - 25.0"),
        ("Visceral Fat Level", "9", "", "1 - 9"),
        ("Basal Metabolic Rate", "1688", "kcal", "1710 - 2006"),
    ):
        for x, text in zip((40, 200, 270, 340), line, strict=True):
            sheet.text(x, sheet.y, text)
        sheet.down(14)


@layout("fifth-not-lipid-leaflet", is_lab_report=False)
def lipid_leaflet(sheet: Sheet) -> None:
    """A leaflet on what laboratory numbers mean: bands and no patient's result."""
    sheet.begin(lambda sheet: None)
    sheet.y = 50
    sheet.say(40, "Know your numbers", size=16, bold=True, gap=22)
    sheet.prose(
        40,
        500,
        "Your doctor may order a blood test. This leaflet explains what the numbers "
        "of a lipid profile and a glucose test mean for adults.",
    )
    for title, bands in (
        (
            "LDL cholesterol (mg/dL)",
            (
                ("Optimal", "< 100"),
                ("Near optimal", "100 - 129"),
                ("High", "160 - 189"),
            ),
        ),
        (
            "HDL cholesterol (mg/dL)",
            (("Low, men", "< 40"), ("Low, women", "< 50"), ("Protective", "> 60")),
        ),
        (
            "Triglycerides (mg/dL)",
            (("Normal", "< 150"), ("Borderline high", "150 - 199"), ("High", "> 200")),
        ),
        (
            "Fasting glucose (mg/dL)",
            (
                ("Normal", "70 - 99"),
                ("Prediabetes", "100 - 125"),
                ("Diabetes", "> 125"),
            ),
        ),
        (
            "HbA1c (%)",
            (("Normal", "< 5.7"), ("Prediabetes", "5.7 - 6.4"), ("Diabetes", "6.5")),
        ),
    ):
        sheet.section(title, panel=None)
        for name, band in bands:
            sheet.text(60, sheet.y, name)
            sheet.text(220, sheet.y, band)
            sheet.down(12)
