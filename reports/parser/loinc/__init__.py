"""LOINC codes for the rows of a report, from the project's own catalogue
and, behind it, an imported table."""

from __future__ import annotations

from .catalogue import LOINC_NOTICE, Entry, load_loinc_catalogue
from .matching import LoincMatches, rank_loinc_matches
from .names import is_known_test_name, rate_analyte_name_likelihood
from .release import (
    ReleaseFault,
    ReleaseRefused,
    has_valid_loinc_check_digit,
    import_loinc_release,
)
from .search import LoincHit, is_loinc_hit_contradicted, search_loinc_codes
from .widening import match_name_in_loinc_release

__all__ = [
    "LOINC_NOTICE",
    "Entry",
    "LoincHit",
    "LoincMatches",
    "ReleaseFault",
    "ReleaseRefused",
    "has_valid_loinc_check_digit",
    "import_loinc_release",
    "is_known_test_name",
    "is_loinc_hit_contradicted",
    "load_loinc_catalogue",
    "match_name_in_loinc_release",
    "rank_loinc_matches",
    "rate_analyte_name_likelihood",
    "search_loinc_codes",
]
