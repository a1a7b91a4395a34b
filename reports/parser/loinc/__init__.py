"""LOINC codes for the rows of a report, from the project's own catalogue."""

from __future__ import annotations

from .catalogue import LOINC_NOTICE, Entry, load_catalogue
from .matching import LoincVerdict, match_loinc
from .names import known_name

__all__ = [
    "LOINC_NOTICE",
    "Entry",
    "LoincVerdict",
    "known_name",
    "load_catalogue",
    "match_loinc",
]
