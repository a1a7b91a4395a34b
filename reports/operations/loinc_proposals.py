"""Propose LOINC codes for the results of a catalogue, as rows of reports get them.

Nothing here decides: a person confirms each code before it counts.
"""

from __future__ import annotations

from accounts.declarations.hooks import LoincProposal, LoincQuestion
from reports.operations.reading.loinc_table import get_imported_loinc_folder
from reports.parser.loinc import match_name_in_loinc_release, rank_loinc_matches
from reports.parser.report import SampleType

# What a catalogue calls the sample; serum stands for any tube of venous blood there.
_SAMPLES = {
    "serum": SampleType.BLOOD,
    "dried_blood_spot": SampleType.CAPILLARY_BLOOD,
    "arm_collector": SampleType.CAPILLARY_BLOOD,
    "saliva": SampleType.SALIVA,
    "urine": SampleType.URINE,
    "stool": SampleType.STOOL,
}


def propose_loinc_codes(question: LoincQuestion) -> list[LoincProposal]:
    """Return the codes that a result may have, best first, at most five.

    The reader's own catalogue is asked first, then the imported LOINC table. Candidates
    that a unit or a specimen contradicts come last, with a low confidence. Source:
    Ours: one matcher for what a lab prints and for what it lists.
    """
    sample_type = _SAMPLES.get(question.sample_type)
    units, panel = question.unit or None, question.panel or None
    found = rank_loinc_matches(
        name=question.name, units=units, value="", panel=panel, sample_type=sample_type
    )
    if not found.matches:
        of_table = match_name_in_loinc_release(
            get_imported_loinc_folder(),
            name=question.name,
            units=units,
            value="",
            panel=panel,
            sample_type=sample_type,
        )
        found = of_table or found
    return [
        LoincProposal(match.loinc_code, match.loinc_name, match.confidence_score)
        for match in found.matches
    ]
