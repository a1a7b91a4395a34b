"""Diagnosis codes: search and validate ICD-10-CM.

labs/data/icd10cm.csv has about 120 codes that are frequent in laboratory orders, with
their official descriptions: ICD-10-CM, fiscal year 2025, of the National Center for
Health Statistics, public domain in the United States.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FILE = Path(__file__).parents[2] / "data" / "icd10cm.csv"
_SHAPE = re.compile(r"[A-Z][0-9][0-9A-Z](?:\.[0-9A-Z]{1,4})?\Z", re.ASCII)
_BREAKS = re.compile(r"[^a-z0-9]+")
FOUND_AT_MOST = 50


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """An ICD-10-CM code with its point and official description.

    `is_secondary` marks one that says more of another and can't stand first: drugs
    taken, history (ICD-10-CM guidelines I.C.21.c).
    """

    code: str
    description: str
    is_secondary: bool


@dataclass(frozen=True, slots=True)
class DiagnosisFault:
    """A problem with a code; `other` is the code it conflicts with."""

    diagnosis_code: str
    code: str
    message: str
    other: str = ""


@dataclass(frozen=True, slots=True)
class DiagnosisCheck:
    """The outcome of validating a list of codes.

    `errors` are no codes at all, `violations` break a rule of coding, `warnings` stop
    nothing. `codes` are those with their point, once each, in the order given.
    """

    codes: tuple[str, ...]
    errors: tuple[DiagnosisFault, ...]
    violations: tuple[DiagnosisFault, ...]
    warnings: tuple[DiagnosisFault, ...]

    @property
    def is_valid(self) -> bool:
        """Return whether the codes can be sent to an insurer."""
        return not (self.errors or self.violations)


@cache
def load_diagnoses_by_code() -> Mapping[str, Diagnosis]:
    """Return the built-in diagnoses by code, sorted by code."""
    with _FILE.open(encoding="utf-8", newline="") as opened:
        return {
            row["code"]: Diagnosis(
                row["code"], row["description"], row["is_secondary"] == "true"
            )
            for row in csv.DictReader(opened)
        }


def search_diagnoses(text: str) -> list[Diagnosis]:
    """List codes starting with `text`, then those with words starting like its words.

    At most 50. Source: Contract 6.21.
    """
    words = text.lower().split()
    if not words:
        return []
    start = insert_diagnosis_code_point("".join(words).upper())
    known = load_diagnoses_by_code().values()
    by_code = [one for one in known if one.code.startswith(start)]
    by_words = [
        one for one in known if one not in by_code and _matches_words(one, words)
    ]
    return [*by_code, *by_words][:FOUND_AT_MOST]


def validate_diagnosis_codes(codes: Sequence[str]) -> DiagnosisCheck:
    """Validate codes as an insurer would: format, repeats, primary first.

    A well-formed code that the set does not hold is a warning: the set is not all of
    ICD-10-CM. Source: Contract 6.21; Ours: the codes of the faults.
    """
    errors, violations, warnings, valid = [], [], [], []
    for entered in codes:
        code = insert_diagnosis_code_point(entered.strip().upper())
        if not _SHAPE.match(code):
            errors.append(
                DiagnosisFault(
                    entered, "malformed", _("Enter an ICD-10-CM code, such as E11.9.")
                )
            )
        elif code in valid:
            message = _("This code is listed twice. Remove one.")
            violations.append(DiagnosisFault(code, "repeated", message, other=code))
        else:
            valid.append(code)
            if code not in load_diagnoses_by_code():
                message = _(
                    "This code is not in the built-in list. Check it before you order."
                )
                warnings.append(DiagnosisFault(code, "unknown", message))
    first = load_diagnoses_by_code().get(valid[0]) if valid else None
    if first is not None and first.is_secondary:
        message = _("This is a secondary code. List the primary diagnosis first.")
        follows = valid[1] if len(valid) > 1 else ""
        violations.insert(
            0, DiagnosisFault(first.code, "secondary_first", message, other=follows)
        )
    return DiagnosisCheck(
        tuple(valid), tuple(errors), tuple(violations), tuple(warnings)
    )


def describe_diagnoses(codes: Sequence[str]) -> list[tuple[str, str]]:
    """Return codes with their descriptions, empty for one that is not built in."""
    known = load_diagnoses_by_code()
    return [(code, known[code].description if code in known else "") for code in codes]


def insert_diagnosis_code_point(code: str) -> str:
    """Return a code with the point after its third character: E119 as E11.9."""
    return f"{code[:3]}.{code[3:]}" if len(code) > 3 and "." not in code else code


def _matches_words(diagnosis: Diagnosis, words: Sequence[str]) -> bool:
    text = f" {_BREAKS.sub(' ', diagnosis.description.lower())}"
    return all(f" {word}" in text for word in words)
