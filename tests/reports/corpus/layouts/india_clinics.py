"""Small Indian laboratories: free spelling, wrapped names, lakhs, kits, sediments."""

from __future__ import annotations

from tests.reports.corpus.heads import clinic_page
from tests.reports.corpus.registry import layout
from tests.reports.corpus.sheet import Sheet
from tests.reports.corpus.tables import Grid, columns


@layout("in-clinic-haemogram", font="Times-Roman", size=10.5)
def clinic_haemogram(sheet: Sheet) -> None:
    """Indian digit groups, lakhs, misspelt and wrapped names, plausibility traps."""
    grid = Grid(
        columns=columns(
            "name@60=INVESTIGATION",
            "value@270=RESULT",
            "unit@350=UNIT",
            "range@450=NORMAL VALUE",
        ),
        font="Times-Roman",
        size=10.5,
        leading=14,
    )
    sheet.begin(
        lambda s: clinic_page(
            s, "SHREE NAMUNA LABORATORY", "Smt. UDAHARAN BAI", "34Y / F"
        )
    )
    sheet.section("HAEMOGRAM", x=260, size=12, gap=16)
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Haemoglobin | 9.8 | gm% | 11.5 - 16.5 | hgb
Total R.B.C. Count | 4.02 | mill/cumm | 3.8 - 5.8 | rbc
P.C.V. | 31.2 | % | 37 - 47 | hct
M.C.V. | 77.6 | fl | 76 - 96 | mcv
M.C.H. | 24.4 | Pg | 27 - 32 | mch
M.C.H.C. | 31.4 | % | 30 - 35 | mchc
Red cell Distribution Width (R.D.W.-¶CV) | 16.2 | % | 11.5 - 14.5 | rdw
Total W.B.C. Count | 11,400 | /cumm | 4,000 - 11,000 | wbc
""",
    )
    sheet.section("DIFFERENTIAL COUNT", x=60)
    sheet.print_rows(
        grid,
        """
Neutrophils | 71 | % | 40 - 75 | neut_pct
Lymphocytes | 22 | % | 20 - 45 | lymph_pct
Eosinophils | 05 | % | 00 - 06 | eos_pct
Monocytes | 02 | % | 02 - 10 | mono_pct
Basophils | 00 | % | 00 - 01 | baso_pct
""",
    )
    sheet.down(4)
    sheet.print_rows(
        grid,
        """
Platelet Count | 2,85,000 | /cumm | 1,50,000 - 4,50,000 | plt | fixed
Erythrocyte Sedimentation Rate¶(Westergren) | 34 | mm/1st hr | 00 - 20 | esr | \
also=Erythrocyte Sedimentation Rate
""",
    )
    sheet.section("PERIPHERAL SMEAR", x=60)
    for label, text in (
        ("R.B.C.", "Microcytic hypochromic"),
        ("W.B.C.", "Mild leucocytosis"),
        ("Platelets", "Adequate on smear"),
        ("Parasites", "Not seen"),
    ):
        sheet.text(60, sheet.y, label)
        sheet.say(270, text, gap=14)
    sheet.add_truth(
        """
R.B.C. | Microcytic hypochromic | | | | optional
W.B.C. | Mild leucocytosis | | | | optional
Platelets | Adequate on smear | | | | optional
Parasites | Not seen | | | | optional
"""
    )
    sheet.close()
    sheet.say(400, "Lab Technician", gap=30)


@layout("in-lakh-and-cumm", font="Helvetica", size=10)
def lakh_and_cumm(sheet: Sheet) -> None:
    """Each count in another unit; range before unit; unit that runs on below."""
    grid = Grid(
        columns=columns(
            "name@50=Test",
            "value@240=Observed Value",
            "range@340=Reference Range",
            "unit@460=Unit",
        ),
        size=9.5,
        leading=13,
        rules="boxes",
    )
    sheet.begin(
        lambda s: clinic_page(
            s, "Jeevan Diagnostic Centre", "Baby NAMUNA", "7 Y / Male"
        )
    )
    sheet.section("Complete Haemogram", x=230)
    sheet.titles(grid)
    sheet.print_rows(grid, _LAKH)
    sheet.close()
    sheet.section("Repeat count (second counter)", x=50)
    sheet.titles(grid)
    sheet.print_rows(
        grid,
        """
Platelet Count | 3.5 | x10^3/uL | 1.5-4.5 | plt
Platelets | 370 | /uL | 150 - 450 | plt
W.B.C. | 8.1 | thou/µL | 5.0-13.0 | wbc
""",
    )


_LAKH = """
Hemoglobin | 12.2 | gm/dL | 11.5-15.5 | hgb
TLC | 7,800 | cells/cum¶m | 5,000-13,000 | wbc
RBC COUNT | 4.71 | million/cu.mm | 4.0-5.2 | rbc
HCT | 36.8 | % | 35-45 | hct
MCV | 78.1 | fL | 77-95 | mcv
MCH | 25.9 | pg | 25-33 | mch
MCHC | 33.2 | g/dL | 31-37 | mchc
PLATELET COUNT | 3.10 | lakhs/cumm | 1.5-4.5 | plt
MPV | 9.1 | fL | 7-5 - 12.0 | mpv | fixed
PDW | 15.8 | % | (9.0-17.0
PCT | 0.28 | % | 0.108-0.282
RDW-SD | 39.4 | fl | 35-56 | rdwsd
Absolute Neutrophil Count | 4290 | /cu mm | 2000-8000 | neut
Absolute Lymphocyte Count | 2808 | /cu mm | 1000-5000 | lymph
Absolute Eosinophil Count | 0.31 | X 10³ / µL | 0.1-1.0 | eos
Absolute Monocyte Count | 0.47 | 10^3/µL | 0.2-1.0 | mono
"""


@layout("in-serology-kits", size=10)
def serology_kits(sheet: Sheet) -> None:
    """Text answers, titres, wrapped names, kerning gaps; sentences for ranges."""
    grid = Grid(
        columns=columns(
            "name@50=Test Name",
            "value@270=Result",
            "range@400=Normal Range",
        ),
        size=9.5,
        leading=13,
        cells=lambda row: {
            "name": row.name,
            "value": f"{row.value} {row.unit}".strip(),
            "range": row.range,
        },
    )
    sheet.begin(lambda s: clinic_page(s, "Aadhar Pathology", "Mr. KALPIT", "58 Y / M"))
    sheet.titles(grid)
    sheet.section("SEROLOGY", x=50)
    sheet.print_rows(
        grid,
        """
Hepatitis B Surface Antigen (HBsAg)¶Rapid Card | Non reactive | | Non reactive | hbsag
H.I.V. I & II Antibodies | Non Reactive | | Non Reactive | hiv
Anti H‸CV | Non Reactive | | Non Reactive | hcv
V.D.R.L. | Reactive 1:64 | | Non reactive | | flag=A
Dengue NS1 Antigen | Negative | | Negative |
Malaria Parasite Antigen¶(P. vivax) | Negative | | Negative |
C.R.P. (Quantitative) | 12.4 | mg/L | 0.0 - 6.0 | crp
R.A. Fac‸tor | < 8 | IU/ml | Upto 14 | ra
A.S.O. Titre | 120 | IU/ml | < 200 |
""",
    )
    sheet.section("WIDAL TEST", x=50)
    sheet.print_rows(
        grid,
        """
Salmonella Typhi 'O' | 1:160 | | < 1:80 |
Salmonella Typhi 'H' | 1:80 | | < 1:80 |
Salmonella Paratyphi 'AH' | 1:20 | | < 1:80 |
""",
    )
    sheet.section("BIOCHEMISTRY", x=50)
    sheet.print_rows(
        grid,
        """
Creat‸inine | 1.31 | mg/dl | 0.7 - 1.4 | creat
Blood Sug‸ar Random | 164 | mg/dl | 70 - 140 | glucose
Total Billirubin | 1.8 | % mg/dl | 0.2 - 1.0 | bili
Total CHOLESTROL | 251 | mg% | 130 - 220 | chol
S.G.P.T. | 88 | IU/L | Adult:0-40 | alt | doubtful
Alkaline Phosphatase | 131 | U/L | <6 years:up to 350¶>6 years:up to 140 | alp | \
doubtful
""",
    )
    sheet.section("COAGULATION", x=50)
    sheet.print_rows(
        grid,
        """
POTHROMBIN TIME (Patient) | 15.4 | Sec | 11 - 14 | pt
I.N.R. | 1.28 | | 0.8 - 1.2 | inr
""",
    )
    sheet.close()
    sheet.down(8)
    sheet.prose(
        50,
        480,
        "A titre of 1:80 or above is suggestive of infection. Rise in titre after 7 "
        "days is significant. A non reactive result does not exclude recent exposure "
        "within the last 12 weeks. Kit lot no 44210 expiry 05/2025.",
    )


@layout("in-urine-routine", font="Times-Roman", size=11)
def urine_routine(sheet: Sheet) -> None:
    """Plain names that mean urine only through the section header."""
    grid = Grid(
        columns=columns("name@70=Test", "value@270=Result", "range@420=Normal Range"),
        font="Times-Roman",
        size=10.5,
        leading=14,
        cells=lambda row: {
            "name": row.name,
            "value": f": {row.value} {row.unit}".rstrip(),
            "range": row.range,
        },
    )
    sheet.begin(
        lambda s: clinic_page(s, "City Lab & X-Ray", "Ku. MISAL RANI", "22 Y/F")
    )
    sheet.section("URINE EXAMINATION REPORT", x=190, size=13, gap=18)
    sheet.titles(grid)
    sheet.section("PHYSICAL EXAMINATION", x=70, panel="URINE EXAMINATION")
    sheet.print_rows(
        grid,
        """
Quantity | 20 | ml | |
Colour | Pale yellow | | | u_color
Appearance | Slightly turbid | | Clear | u_appearance
Reaction (pH) | 6.5 | | 6 .0 - 8.0 pH | u_ph | doubtful
Specific Gravity | 1.020 | | 1.005 - 1.030 | u_sg
""",
    )
    sheet.section("CHEMICAL EXAMINATION", x=70, panel="URINE EXAMINATION")
    sheet.print_rows(
        grid,
        """
Protein | 1+ | | Nil | u_protein
Glucose | Nil | | Nil | u_glucose
Ketone Bodies | Absent | | Absent | u_ketones
Bile Salts | Absent | | Absent |
Bile Pigments | Absent | | Absent |
Urobilinogen | Normal | | Normal | u_urobili
""",
    )
    sheet.section("MICROSCOPIC EXAMINATION", x=70, panel="URINE EXAMINATION")
    sheet.print_rows(
        grid,
        """
Pus Cells | 8-10 | /hpf | 0 - 5 | u_wbc | doubtful
RBC | 1-2 | /hpf | Nil | u_rbc
Epithelial Cells | 0 - 5 | /hpf | 0 - 5 | u_epi
Casts | Absent | | Absent | u_casts
Crystals | Ca. oxalate + | | Absent |
Bacteria | Present (+) | | Absent | u_bact
""",
    )
    sheet.close()
    sheet.down(10)
    sheet.say(200, "----- End of Report -----")
