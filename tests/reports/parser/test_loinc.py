"""Which code a row gets: names, units, panels and specimens as reports print them."""

from __future__ import annotations

import csv
import hashlib
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from portal.lib.units import can_printed_unit_express_loinc_property, normalize_unit
from reports.parser.loinc import (
    LOINC_NOTICE,
    LoincMatches,
    load_loinc_catalogue,
    rank_loinc_matches,
    rate_analyte_name_likelihood,
)
from reports.parser.loinc.catalogue import build_name_key
from reports.parser.loinc.names import look_up_name_in_catalogue
from reports.parser.report import LoincMatchStatus, MeasurementKind, SampleType
from tests.bench.reports.loinc_names import outcomes

AUTO = LoincMatchStatus.AUTO_MATCH
REVIEW = LoincMatchStatus.NEEDS_REVIEW
NONE = LoincMatchStatus.NO_MATCH

CASES = tuple(
    csv.DictReader(
        (Path(__file__).parent / "loinc_cases.csv")
        .read_text(encoding="utf-8")
        .splitlines()
    )
)
ENTRIES = tuple(
    entry for entries in load_loinc_catalogue().entries.values() for entry in entries
)
# Of "code, tab, long common name" by line, as compared with the source table when the
# catalogue was last extended.
SOURCE_COUNT = 827
SOURCE_DIGEST = "faa676e71a7d19bc895ce82b4b663a518483f15fdbf5894142253c8d0188931e"


def match(
    name: str,
    units: str | None = None,
    *,
    value: str = "1",
    panel: str | None = None,
    sample_type: SampleType | None = None,
) -> LoincMatches:
    return rank_loinc_matches(
        name=name, units=units, value=value, panel=panel, sample_type=sample_type
    )


def code_of(verdict: LoincMatches) -> str | None:
    return verdict.matches[0].loinc_code if verdict.matches else None


def test_every_printed_row_gets_its_code() -> None:
    found = [
        match(
            case["name"],
            case["units"] or None,
            value=case["value"],
            panel=case["panel"] or None,
            sample_type=SampleType(case["specimen"]) if case["specimen"] else None,
        )
        for case in CASES
    ]

    wrong = [
        (case, code_of(verdict))
        for case, verdict in zip(CASES, found, strict=True)
        if code_of(verdict) != case["code"]
    ]
    assert wrong == []
    assert len(CASES) > 600


# The catalogue


def check_digit(body: str) -> int:
    doubled = 0
    for place, digit in enumerate(reversed(body)):
        number = int(digit) * (2 if place % 2 == 0 else 1)
        doubled += number - 9 if number > 9 else number
    return (10 - doubled % 10) % 10


def test_every_code_has_a_valid_check_digit() -> None:
    parts = [entry.code.partition("-") for entry in ENTRIES]

    wrong = [body for body, _, digit in parts if check_digit(body) != int(digit)]
    assert wrong == []
    assert len(parts) > 900


def test_the_names_taken_over_from_loinc_are_unaltered() -> None:
    taken = sorted(
        {
            (entry.code, entry.long_common_name)
            for entry in ENTRIES
            if entry.source in {"loinc", "loinc_common"}
        }
    )
    text = "\n".join("\t".join(pair) for pair in taken)

    assert len(taken) == SOURCE_COUNT
    assert hashlib.sha256(text.encode()).hexdigest() == SOURCE_DIGEST


def test_a_code_has_one_official_name() -> None:
    official: dict[str, set[str]] = {}
    for entry in ENTRIES:
        official.setdefault(entry.code, set()).add(entry.long_common_name)

    assert {code for code, found in official.items() if len(found) > 1} == set()
    assert len(official) >= 850


def test_the_catalogue_lists_units_that_express_its_properties() -> None:
    contradictory = {
        (entry.code, unit)
        for entry in ENTRIES
        for unit in entry.units
        if normalize_unit(unit) is None
        or can_printed_unit_express_loinc_property(property=entry.property, units=unit)
        is False
    }

    assert contradictory == set()


def test_a_name_of_two_analytes_is_decided_by_unit_or_specimen() -> None:
    catalogue = load_loinc_catalogue()
    printed = {
        build_name_key(name) for names in catalogue.aliases.values() for name in names
    }
    undecided = set()
    for key in printed:
        analytes = {sense.analyte for sense in catalogue.senses[key]}
        for one, other in combinations(sorted(analytes), 2):
            usual, rival = catalogue.entries[one][0], catalogue.entries[other][0]
            by_unit = any(
                can_printed_unit_express_loinc_property(
                    property=rival.property, units=unit
                )
                is False
                for unit in usual.units
            ) or any(
                can_printed_unit_express_loinc_property(
                    property=usual.property, units=unit
                )
                is False
                for unit in rival.units
            )
            if not by_unit and usual.specimen == rival.specimen:
                undecided.add((key, one, other))

    # What one word says of two tests, a person tells: rubeola is measles in English and
    # rubella in Spanish, azotemia urea in Italy and its nitrogen elsewhere.
    assert {(one, other) for _, one, other in undecided} == {
        ("measles_igg", "rubella_igg"),
        ("bun", "urea"),
        ("troponin_i", "troponin_t"),
        ("covid_ag", "covid_pcr"),
        ("influenza_a", "influenza_a_rna"),
        ("influenza_b", "influenza_b_rna"),
        ("h_pylori_iga", "h_pylori_igg"),
        ("h_pylori_iga", "h_pylori_igm"),
        ("h_pylori_igg", "h_pylori_igm"),
    }


def test_the_loinc_notice_is_at_hand() -> None:
    assert "Regenstrief Institute, Inc." in LOINC_NOTICE
    assert "http://loinc.org/license" in LOINC_NOTICE


def test_each_match_carries_loincs_name_and_our_own_beside_it() -> None:
    match_ = match("SGPT", "U/L").matches[0]

    assert match_.loinc_code == "1742-6"
    assert match_.loinc_name == (
        "Alanine aminotransferase [Enzymatic activity/volume] in Serum or Plasma"
    )
    assert match_.display_name == "ALT"
    assert "SGPT" in match_.aliases
    assert 0 < match_.confidence_score <= 1


# What bars an automatic match


def test_a_unit_of_another_property_asks_for_review() -> None:
    verdict = match("MCHC", "%", value="33.1")

    assert code_of(verdict) == "786-4"
    assert verdict.status is REVIEW
    assert verdict.matches[0].confidence_score < 0.5


def test_a_contradicted_candidate_ranks_behind_every_other() -> None:
    verdict = match("Glucose", "mmol/L")

    codes = [found.loinc_code for found in verdict.matches]
    assert codes[0] == "14749-6"
    assert "2345-7" not in codes[:3]


def test_mass_or_moles_without_a_unit_asks_for_review() -> None:
    verdict = match("Creatinine", value="0.9", panel="Renal profile")

    assert code_of(verdict) == "2160-0"
    assert verdict.status is REVIEW


def test_a_unit_that_cannot_be_read_tells_as_little_as_none() -> None:
    assert match("Neutrophils", "K/ut").status is REVIEW
    assert match("Neutrophils", "K/uL").status is AUTO


def test_a_test_of_one_property_needs_no_unit() -> None:
    verdict = match("Sodium", value="140", panel="Electrolytes")

    assert code_of(verdict) == "2951-2"
    assert verdict.status is AUTO


def test_a_near_spelling_is_certain_only_with_an_agreeing_unit() -> None:
    with_unit = match("Creatinlne", "mg/dL")
    without = match("Creatinlne")
    other = match("Creatinlne", "U/L")

    assert code_of(with_unit) == code_of(without) == "2160-0"
    assert with_unit.status is AUTO
    assert without.status is REVIEW
    assert other.status is REVIEW


def test_an_unknown_name_has_no_match() -> None:
    verdict = match("Quixotin", "mg/dL")

    assert verdict == LoincMatches(
        matches=(), status=NONE, measurement_kind=None, sample_type=None
    )


def test_at_most_five_candidates_are_given_best_first() -> None:
    scores = [found.confidence_score for found in match("WBC").matches]

    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)


@given(
    name=st.text(max_size=130) | st.sampled_from([case["name"] for case in CASES]),
    units=st.none() | st.text(max_size=20),
    value=st.text(max_size=20),
    panel=st.none() | st.text(max_size=40),
    sample_type=st.none() | st.sampled_from(SampleType),
)
def test_any_row_gets_a_verdict_in_order(
    name: str,
    units: str | None,
    value: str,
    panel: str | None,
    sample_type: SampleType | None,
) -> None:
    verdict = match(name, units, value=value, panel=panel, sample_type=sample_type)

    assert (verdict.status is NONE) is (not verdict.matches)
    assert all(0 <= found.confidence_score <= 1 for found in verdict.matches)
    assert 0 <= rate_analyte_name_likelihood(name) <= 1


# Pairs that must never be taken for each other


@pytest.mark.parametrize(
    ("name", "units", "wrong"),
    [
        ("Hemoglobin A1c", "%", {"4551-8"}),
        ("HbA1c", "mmol/mol", {"4548-4"}),
        ("Hemoglobin A2", "%", {"4548-4", "59261-8"}),
        ("Vitamin D, 25-Hydroxy", "ng/mL", {"1649-3", "14566-4"}),
        ("1,25 Dihydroxy Vitamin D", "pg/mL", {"1989-3", "62292-8"}),
        ("Free T4", "ng/dL", {"3026-2"}),
        ("T4", "ug/dL", {"3024-7"}),
        ("PSA, Free", "ng/mL", {"2857-1"}),
        ("PSA, Total", "ng/mL", {"10886-0"}),
        ("Free Testosterone", "pg/mL", {"2986-8"}),
        ("Bilirubin Direct", "mg/dL", {"1975-2"}),
        ("Complement C3", "mg/dL", {"4498-2"}),
        ("IgG Subclass 2", "mg/dL", {"2466-1", "2465-3"}),
        ("Non-HDL Cholesterol", "mg/dL", {"2085-9", "2093-3"}),
        ("High Sensitivity Troponin I", "ng/L", {"67151-1"}),
        ("Urea", "mg/dL", {"3094-0"}),
        ("BUN", "mg/dL", {"3091-6"}),
        ("eGFR (CKD-EPI 2021)", "mL/min/1.73m2", {"62238-1"}),
        ("AMH", "ng/mL", {"14634-0"}),
        ("25-OH Vitamin D", "ng/mL", {"14635-7"}),
        ("Hepatitis C Virus (HCV) RNA PCR", "IU/mL", {"13955-0"}),
        ("HDL/LDL Ratio", None, {"11054-4"}),
        ("Urea/Creatinine Ratio", None, {"3097-3"}),
        ("MPO Antibodies", "U/mL", {"8099-4"}),
        ("Hepatitis E IgM", None, {"13950-1"}),
        ("HBs-Antigen", None, {"10331-7"}),
        ("Rubéole IgG", "UI/mL", {"5244-9"}),
    ],
)
def test_neighbours_are_never_confused(
    name: str, units: str | None, wrong: set[str]
) -> None:
    verdict = match(name, units)

    sure = [code_of(verdict)] if verdict.status is AUTO else []
    assert code_of(verdict) not in wrong
    assert not wrong & set(sure)


# What else a row tells


@pytest.mark.parametrize(
    ("name", "units", "kind"),
    [
        ("Glucose", "mg/dL", MeasurementKind.DIRECT),
        ("LDL-CHOLESTEROL", "mg/dL (calc)", MeasurementKind.CALCULATED),
        ("LDL Cholesterol Direct", "mg/dL", MeasurementKind.DIRECT),
        ("eGFR", "mL/min/1.73m2", MeasurementKind.CALCULATED),
        ("A/G Ratio", None, MeasurementKind.RATIO),
        ("Total Chol / HDL Ratio", None, MeasurementKind.RATIO),
        ("Strange/Stranger Ratio", None, MeasurementKind.RATIO),
    ],
)
def test_the_measurement_kind_follows_the_row(
    name: str, units: str | None, kind: MeasurementKind
) -> None:
    assert match(name, units).measurement_kind is kind


@pytest.mark.parametrize(
    ("name", "panel", "given", "expected"),
    [
        ("Glucose", "URINE ROUTINE EXAMINATION", None, SampleType.URINE),
        ("Glucose", None, SampleType.URINE, SampleType.URINE),
        ("Glucose", None, None, SampleType.BLOOD),
        ("Creatinine, Urine", None, None, SampleType.URINE),
        ("S. Creatinine", None, None, SampleType.BLOOD),
        ("Occult Blood", "STOOL EXAMINATION", None, SampleType.STOOL),
        ("Sperm Motility", "SEMEN ANALYSIS", None, SampleType.OTHER),
    ],
)
def test_the_specimen_is_read_from_name_and_panel(
    name: str,
    panel: str | None,
    given: SampleType | None,
    expected: SampleType,
) -> None:
    verdict = match(name, panel=panel, sample_type=given)

    assert verdict.sample_type is expected


# Names


@pytest.mark.parametrize(
    "name", ["Haemoglobin", "SGPT (ALT)", "Creat inine", "{ # } MPV", "*eGFR", "WBC02"]
)
def test_a_printed_analyte_is_a_known_name(name: str) -> None:
    assert rate_analyte_name_likelihood(name) > 0.9


@pytest.mark.parametrize(
    "text",
    [
        "Age",
        "Accession No",
        "Page 1 of 3",
        "Collected",
        "Interpretation",
        "Desirable",
        "Near optimal",
        "Non-diabetic",
        "First trimester",
        "Increased glucose levels are seen in diabetes mellitus",
        "",
        "***",
        "12.5",
    ],
)
def test_words_of_the_page_are_no_names(text: str) -> None:
    assert rate_analyte_name_likelihood(text) == 0.0


def test_words_that_are_also_ordinary_tell_less() -> None:
    assert rate_analyte_name_likelihood("Volume") == 0.6
    assert rate_analyte_name_likelihood("K") == 0.8


def test_a_miss_is_compared_with_few_names_and_only_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared = 0
    ratio = fuzz.ratio

    def count(*args: str, score_cutoff: float) -> float:
        nonlocal compared
        compared += 1
        return float(ratio(*args, score_cutoff=score_cutoff))

    monkeypatch.setattr(fuzz, "ratio", count)
    misses = [f"Undreamt-of analyte {letter}" for letter in "abcdefghij"]
    look_up_name_in_catalogue.cache_clear()

    for text in misses:
        assert rate_analyte_name_likelihood(text) == 0.0
    first = compared
    for text in misses:
        assert rate_analyte_name_likelihood(text) == 0.0

    assert compared == first
    assert first <= 60 * len(misses)


# Names written down before they were looked for


def test_no_unseen_name_gets_a_wrong_code_without_a_person() -> None:
    found = list(outcomes())

    assert [row for row, outcome in found if outcome.endswith("wrong")] == []
    right = sum(outcome == "right" for _, outcome in found)
    assert right / len(found) > 0.97
    assert len(found) > 400


@pytest.mark.parametrize(
    ("panel", "name", "code"),
    [
        ("VENOUS BLOOD GAS", "pH", "2746-6"),
        ("Blood Gas Venous", "pCO2, Ven", "2021-4"),
        ("ARTERIAL BLOOD GAS", "pH", "2744-1"),
    ],
)
def test_blood_of_another_vessel_is_another_specimen(
    panel: str, name: str, code: str
) -> None:
    verdict = match(name, panel=panel)

    assert verdict.status is AUTO
    assert code_of(verdict) == code


def test_cord_blood_is_no_patients_blood() -> None:
    assert match("pH", panel="CORD BLOOD GAS", value="7.30").status is REVIEW


def test_a_days_urine_may_stand_under_urine() -> None:
    verdict = match("Protein", "mg/24 h", panel="URINE CHEMISTRY", value="98")

    assert verdict.status is AUTO
    assert code_of(verdict) == "2889-4"


def test_glucose_under_a_heading_of_urine_is_never_that_of_blood() -> None:
    for heading in ("TAM İDRAR TETKİKİ", "URINALISIS", "Moč", "Virtsa", "尿常规"):
        verdict = match("Glukoz", "mg/dL", panel=heading, value="5")

        assert verdict.matches[0].loinc_code == "5792-7"


@pytest.mark.parametrize(
    ("name", "units", "value"),
    [
        ("Azotemia", "mg/dL", "34"),
        ("Troponin", "ng/L", "9"),
        ("Influenza A", None, "Not detected"),
        ("COVID-19", None, "Negative"),
        ("H. Pylori Antibody", None, "Negative"),
        ("Direct Renin", "uIU/mL", "12"),
        ("Plasma Hemoglobin", "mg/dL", "3"),
        ("HBsAg Quantitative", "IU/mL", "0.02"),
        ("Factor II", "%", "98"),
        ("PSA Density", None, "0.1"),
        ("Vitamin E (Gamma Tocopherol)", "mg/L", "1.2"),
        ("Dexamethasone Suppression Test - Cortisol", "ug/dL", "1.1"),
        ("Total Sperm Count", "million/ejaculate", "50.4"),
        ("Volume", "mL", "2.8"),
        ("Blood Ketones", "mmol/L", "0.4"),
        ("Protein Electrophoresis", None, "See report"),
    ],
)
def test_a_neighbour_of_a_common_test_waits_for_a_person(
    name: str, units: str | None, value: str
) -> None:
    assert match(name, units, value=value).status is not AUTO


def test_three_part_counts_are_no_neutrophils_or_monocytes() -> None:
    assert code_of(match("GRAN%", "%", value="61")) == "19023-1"
    assert code_of(match("MID#", "10^9/L", value="0.6")) == "32154-7"


def test_an_amount_is_no_mere_presence() -> None:
    found = match("Oxycodone", "ng/mL", value="1844", panel="DRUG SCREEN, URINE")

    assert found.status is REVIEW
    screened = match("Oxycodone", "ng/mL", value="Negative", panel="DRUG SCREEN, URINE")
    assert screened.status is AUTO
    assert code_of(screened) == "10998-3"


def test_drugs_confirmed_in_urine_get_no_code_of_serum() -> None:
    verdict = match(
        "Gabapentin", "ng/mL", value="9800", panel="DEFINITIVE CONFIRMATION"
    )

    assert verdict.status is REVIEW


def test_a_letter_before_a_known_name_is_no_specimen() -> None:
    assert code_of(match("P-LCR", "%", value="22.6")) == "48386-7"
    assert match("P-LCR", "%", value="22.6").status is AUTO
    assert code_of(match("P Glucose fasting", "mmol/L", value="5.1")) == "14771-0"
    assert code_of(match("B Lymphocytes", "%", value="12")) != "736-9"


def test_albumins_share_of_protein_is_told_by_its_unit() -> None:
    assert code_of(match("Albumin", "%", value="58.1")) == "13980-8"
    assert code_of(match("Albumin", "g/dL", value="4.1")) == "1751-7"
    assert match("Albumin", value="4.1").status is AUTO


def test_a_chemical_examination_is_one_of_urine() -> None:
    for heading in ("CHEMICAL EXAMINATION", "Examen químico"):
        assert (
            code_of(match("Glucose", "mg/dL", panel=heading, value="100")) == "5792-7"
        )
    heading = "BIOCHEMICAL EXAMINATION"
    assert code_of(match("Glucose", "mg/dL", panel=heading, value="100")) == "2345-7"


def test_what_stops_a_germ_is_no_level_in_blood() -> None:
    for heading in ("BLOOD CULTURE", "Wound culture - Susceptibility", "Hemocultivo"):
        assert match("Gentamicin", "ug/mL", panel=heading, value="2").status is REVIEW
    reflex = "Urinalysis with reflex to culture"
    assert match("Protein", value="Negative", panel=reflex).status is AUTO


def test_whole_blood_is_no_serum() -> None:
    assert match("Selenium, Whole Blood", "ug/L", value="110").status is REVIEW
    assert code_of(match("Glucose, Whole Blood", "mg/dL", value="92")) == "2339-0"
    assert code_of(match("Lactate (sangue total)", "mmol/L", value="1")) == "32693-4"
    assert match("Blood Urea", "mg/dL", value="24").status is AUTO
