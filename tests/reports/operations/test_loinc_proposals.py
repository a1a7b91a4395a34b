from __future__ import annotations

import pytest

from accounts.declarations.hooks import LoincQuestion
from reports.operations.loinc_proposals import propose_loinc_codes


def ask(name, *, unit="", panel="", sample_type="serum"):
    question = LoincQuestion(name=name, unit=unit, panel=panel, sample_type=sample_type)
    return propose_loinc_codes(question)


@pytest.mark.parametrize(
    ("name", "unit", "panel", "sample_type", "code"),
    [
        ("Glucose", "mg/dL", "", "serum", "2345-7"),
        ("Glucose", "mmol/L", "", "serum", "14749-6"),
        ("Protein", "", "Urinalysis", "urine", "20454-5"),
        ("Ferritin", "ng/mL", "", "serum", "2276-4"),
    ],
)
def test_unit_and_sample_decide_between_codes_of_one_name(
    name, unit, panel, sample_type, code
):
    found = ask(name, unit=unit, panel=panel, sample_type=sample_type)

    assert found[0].code == code
    scores = [proposal.confidence for proposal in found]
    assert 0 <= min(scores) <= scores[0] <= 1


def test_a_name_of_nothing_has_no_proposal(settings, tmp_path):
    assert ask("Comment to the client") == []
