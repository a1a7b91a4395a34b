"""What a row says besides its name: unit, specimen, share, method and panel.

Only collects; what speaks for a code and what against it is weighed in matching.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from reports.parser.report import SampleType
from reports.parser.word_lists import read_named_patterns

from .catalogue import normalize_name_text
from .hints import Hints

_BLOOD_SIDE = frozenset({"serum", "blood", "arterial", "venous", "capillary"})
SPECIMENS_OF: dict[SampleType, frozenset[str]] = {
    SampleType.BLOOD: _BLOOD_SIDE,
    SampleType.CAPILLARY_BLOOD: _BLOOD_SIDE,
    SampleType.URINE: frozenset({"urine", "urine24"}),
    SampleType.STOOL: frozenset({"stool"}),
    SampleType.SALIVA: frozenset({"saliva"}),
    SampleType.OTHER: frozenset({"csf", "fluid", "semen", "breath", "sweat", "other"}),
}

_NOT_BLOOD = frozenset().union(*SPECIMENS_OF.values()) - _BLOOD_SIDE

# Of the title of a panel; the first that fits counts.
_PANEL_SPECIMENS = tuple(
    (re.compile(pattern), specimen)
    for specimen, pattern in read_named_patterns("panel_specimens.txt")
)
_PERCENT_PANEL = re.compile(r"differential|\bd\.?l\.?c\b|percent|relative|%")
_ABSOLUTE_PANEL = re.compile(r"absolute|\babs\b")
# What a microscope shows in words, as true an answer to a count as a number.
_SIGHTING = re.compile(
    r"(?i)\b(?:none|nil|not?\s+seen|seen|absent|few|rare|occasional|moderate|many|plenty"
    r"|numerous|full|loaded|packed|scanty|several)\b"
)
_NUMBER = re.compile(r"[<>≤≥=~]*\s*[+-]?\s*[\d.,]*\d[\d.,\s]*(?:[-–]\s*[\d.,]+)?\s*%?")
_TITRE = re.compile(r"[<>≤≥=]*\s*1\s*[:/]\s*\d+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a row says besides its name; None where it does not say.

    exact_specimen is the name's or the panel's, named_specimen the name's alone, or
    "whole blood".
    """

    units: str | None
    is_number: bool | None
    is_sighting: bool
    is_titre: bool
    specimens: frozenset[str] | None
    exact_specimen: str | None
    named_specimen: str | None
    share: str | None
    methods: frozenset[str]
    panel: str


def _specimens_with(specimen: str) -> frozenset[str]:
    """What a printed specimen may be; "urine" does not deny that a day's was kept."""
    if specimen in _BLOOD_SIDE:
        return _BLOOD_SIDE
    if specimen == "urine":
        return SPECIMENS_OF[SampleType.URINE]
    if specimen == "culture":
        return _NOT_BLOOD
    return frozenset({specimen})


@lru_cache(maxsize=1024)
def _find_panel_specimen(title: str) -> str | None:
    return next((s for p, s in _PANEL_SPECIMENS if p.search(title)), None)


def collect_loinc_evidence(
    *,
    hints: Hints,
    units: str | None,
    value: str,
    panel: str | None,
    sample_type: SampleType | None,
) -> Evidence:
    """Return what unit, value, panel and the name's hints say of the LOINC code."""
    units = units.strip() if units else None
    value = value.strip()
    if not units and value.endswith("%"):
        units = "%"
    title = normalize_name_text(panel) if panel else ""
    specimen = hints.specimen
    panel_specimen = _find_panel_specimen(title)
    specimens: frozenset[str] | None = None
    if specimen:
        specimens = _specimens_with(specimen)
        if specimen == "urine" and panel_specimen == "urine24":
            specimen, specimens = "urine24", frozenset({"urine24"})
    elif sample_type in SPECIMENS_OF:
        specimens = SPECIMENS_OF[sample_type]
        specimen = panel_specimen if panel_specimen in specimens else None
        if specimen is None and len(specimens) == 1:
            (specimen,) = specimens
        elif specimen is None and sample_type is SampleType.URINE:
            specimen = "urine"
    elif panel_specimen:
        specimen = panel_specimen
        specimens = _specimens_with(specimen)
    share = hints.share
    if share is None and not units:
        if _ABSOLUTE_PANEL.search(title):
            share = "absolute"
        elif _PERCENT_PANEL.search(title):
            share = "percent"
    methods = hints.methods
    if units and re.search(r"\bcalc", units, re.IGNORECASE):
        methods = methods | {"calculated"}
    if units and "ddu" in units.casefold():
        methods = methods | {"ddu"}
    return Evidence(
        units=units,
        is_number=(
            bool(_NUMBER.fullmatch(value) or _TITRE.fullmatch(value)) if value else None
        ),
        is_sighting=bool(_SIGHTING.search(value)),
        is_titre=bool(_TITRE.fullmatch(value)),
        specimens=specimens,
        exact_specimen=specimen,
        named_specimen="whole blood" if hints.is_whole else hints.specimen,
        share=share,
        methods=methods,
        panel=title,
    )
