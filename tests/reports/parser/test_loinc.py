"""Which code a row gets: names, units, panels and specimens as reports print them."""

from __future__ import annotations

from reports.parser.loinc import match_loinc
from reports.parser.report import LoincMatchStatus, SampleType


def test_a_percent_unit_chooses_the_share_of_neutrophils() -> None:
    verdict = match_loinc(
        name="Neutrophils", units="%", value="62", panel="CBC", sample_type=None
    )

    assert verdict.matches[0].loinc_code == "770-8"
    assert verdict.status is LoincMatchStatus.AUTO_MATCH
    assert verdict.sample_type is SampleType.BLOOD
