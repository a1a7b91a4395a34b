"""LOINC codes for the rows of a report, from the project's own catalogue
and, behind it, an imported table."""

from __future__ import annotations

from .catalogue import LOINC_NOTICE, Entry, load_catalogue
from .matching import LoincMatches, match_loinc
from .names import rate_known_name
from .release import ReleaseFault, ReleaseRefused, has_check_digit, write_release
from .search import LoincHit, is_contradicted, search_loinc
from .widening import match_release

__all__ = [
    "LOINC_NOTICE",
    "Entry",
    "LoincHit",
    "LoincMatches",
    "ReleaseFault",
    "ReleaseRefused",
    "has_check_digit",
    "is_contradicted",
    "load_catalogue",
    "match_loinc",
    "match_release",
    "rate_known_name",
    "search_loinc",
    "write_release",
]
