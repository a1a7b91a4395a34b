"""Diagnosis codes: search and validate ICD-10-CM.

labs/data/icd10cm.csv has about 120 codes that are frequent in laboratory orders, with
their official descriptions: ICD-10-CM, fiscal year 2025, of the National Center for
Health Statistics, public domain in the United States. An operator imports the whole.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import DiagnosisCode

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


def has_imported_diagnoses() -> bool:
    """Return whether an operator imported the whole of ICD-10-CM."""
    return DiagnosisCode.objects.exists()


def find_diagnoses(codes: Sequence[str]) -> dict[str, Diagnosis]:
    """Return the known ones of these codes: imported, else built in. One query."""
    built_in = load_diagnoses_by_code()
    found = {code: built_in[code] for code in codes if code in built_in}
    if codes:
        for row in DiagnosisCode.objects.filter(code__in=codes):
            found[row.code] = _read_imported(row)
    return found


def search_diagnoses(text: str) -> list[Diagnosis]:
    """List codes starting with `text`, then those with words starting like its words.

    At most 50, of the imported set where there is one. Source: Contract 6.21.
    """
    words = text.lower().split()
    if not words:
        return []
    start = insert_diagnosis_code_point("".join(words).upper())
    if has_imported_diagnoses():
        return _search_imported(start, words)
    known = load_diagnoses_by_code().values()
    by_code = [one for one in known if one.code.startswith(start)]
    by_words = [
        one for one in known if one not in by_code and _matches_words(one, words)
    ]
    return [*by_code, *by_words][:FOUND_AT_MOST]


def validate_diagnosis_codes(codes: Sequence[str]) -> DiagnosisCheck:
    """Validate codes as an insurer would: format, repeats, existence, primary first.

    A well-formed code that is not in the imported set is no billable code: an error.
    The built-in list is not all of ICD-10-CM: without an import it is a warning.
    Source: Contract 6.21; Ours: the codes of the faults.
    """
    errors, violations, warnings, valid = [], [], [], []
    pointed = [insert_diagnosis_code_point(one.strip().upper()) for one in codes]
    shaped = [code for code in pointed if _SHAPE.match(code)]
    known = find_diagnoses(shaped)
    is_whole = len(known) < len(set(shaped)) and has_imported_diagnoses()
    for entered, code in zip(codes, pointed, strict=True):
        if not _SHAPE.match(code):
            errors.append(
                DiagnosisFault(
                    entered, "malformed", _("Enter an ICD-10-CM code, such as E11.9.")
                )
            )
        elif code in valid:
            message = _("This code is listed twice. Remove one.")
            violations.append(DiagnosisFault(code, "repeated", message, other=code))
        elif code not in known and is_whole:
            message = _("ICD-10-CM has no billable code like this. Be more specific.")
            errors.append(DiagnosisFault(code, "unknown", message))
        else:
            valid.append(code)
            if code not in known:
                message = _(
                    "This code is not in the built-in list. Check it before you order."
                )
                warnings.append(DiagnosisFault(code, "unknown", message))
    first = known.get(valid[0]) if valid else None
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
    """Return codes with their descriptions, empty for an unknown one."""
    known = find_diagnoses(codes)
    return [(code, known[code].description if code in known else "") for code in codes]


def insert_diagnosis_code_point(code: str) -> str:
    """Return a code with the point after its third character: E119 as E11.9."""
    return f"{code[:3]}.{code[3:]}" if len(code) > 3 and "." not in code else code


def _search_imported(start: str, words: Sequence[str]) -> list[Diagnosis]:
    by_code = DiagnosisCode.objects.filter(code__startswith=start).order_by("code")
    found = [_read_imported(row) for row in by_code[:FOUND_AT_MOST]]
    by_words = DiagnosisCode.objects.order_by("code")
    for word in words:
        # At the beginning of a word: after the start, a blank or a sign.
        pattern = rf"(^|[^a-z0-9]){re.escape(word)}"
        by_words = by_words.filter(description__iregex=pattern)
    left = FOUND_AT_MOST - len(found)
    known = {one.code for one in found}
    return [
        *found,
        *(_read_imported(row) for row in by_words.exclude(code__in=known)[:left]),
    ]


def _read_imported(row: DiagnosisCode) -> Diagnosis:
    """Return an imported code; which are secondary only the built-in list says."""
    built_in = load_diagnoses_by_code().get(row.code)
    return Diagnosis(
        row.code, row.description, built_in is not None and built_in.is_secondary
    )


def _matches_words(diagnosis: Diagnosis, words: Sequence[str]) -> bool:
    text = f" {_BREAKS.sub(' ', diagnosis.description.lower())}"
    return all(f" {word}" in text for word in words)
