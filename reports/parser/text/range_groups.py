"""Chooses the patient's part of ranges printed for several groups.

Pure functions on text. The patient's sex and age are what the report's own header
says; where that leaves two parts, or none, no part is chosen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SEX = re.compile(
    r"(?i)\b(?:(?P<female>females?|wom[ae]n|girls?|frau(?:en)?|weiblich|mujer(?:es)?"
    r"|femenino|mulher(?:es)?|feminino|femmes?|f[ée]minin|donn[ae]|femmin[ae]|kad[ıi]n)"
    r"|(?P<male>males?|m[ae]n|boys?|m[äa]nn(?:er|lich)|hombres?|varones|masculino"
    r"|hom(?:em|ens)|hommes?|masculin|uomin?[io]|maschi[oe]?|erkek))\b"
)
_LETTER = re.compile(
    r"\b(?P<letter>[MFWH])\b(?!\s*/)(?=\s*[:=)\];,.-]|\s+[<>]?\d|\s*$)"
)
_YEARS = (
    r"years?|yrs?|y(?=\b)|jahren?|ans|a[ñn]os|anni|months?|mths?|mos?|monaten?|mois"
    r"|meses|mesi|weeks?|wks?|wochen|semaines|semanas|settimane|days?|tagen?|jours"
    r"|d[ií]as|giorni"
)
_AGE = re.compile(
    r"(?i)(?:(?P<below><=?|≤|under|below|up\s*to|unter|bis|moins\s+de|menos\s+de)"
    r"|(?P<above>>=?|≥|over|above|ab|[üu]ber|plus\s+de|m[aá]s\s+de))?\s*"
    r"(?<![\d.,])(?P<from>\d{1,3})\s*(?:(?:-|–|to|bis|a|à)\s*(?P<to>\d{1,3})\s*)?"
    rf"(?P<unit>{_YEARS})\b\.?(?:\s*(?:of\s+age|old|and\s+above))?"
)
_GROWN = re.compile(
    r"(?i)\b(?:(?P<adult>adult\w*|erwachsene\w*)|(?P<child>child(?:ren)?|kinder"
    r"|enfants?|ni[ñn]os|crian[çc]as|bambini|infants?|newborns?|neonates?))\b"
)
_ADULT_FROM = 18.0
_GLUE = re.compile(r"[\s:;,/()\[\]=.|-]*")
_EDGES = " :;,/()[]=|"


@dataclass(frozen=True, slots=True)
class _Mark:
    """The group a label names: a sex, or ages in years, upper end excluded."""

    start: int
    end: int
    sex: str | None = None
    since: float = 0.0
    until: float = float("inf")
    is_letter: bool = False
    is_age: bool = False


def choose_range_for_patient(
    text: str, *, sex: str | None, age: float | None
) -> str | None:
    """Return the part of a range for a patient; all of it if it has no parts.

    sex: "male" or "female"; age in years; None where the header does not tell. None
    is returned where the text is parted and the header does not choose one part.
    """
    marks = _marks(text)
    if not marks:
        return text
    labels = _labels(text, marks)
    is_letter = len(labels) == 1 and all(mark.is_letter for mark in labels[0])
    if is_letter and not re.search(r"[MFWH]\s*[:)\]]", text):
        return text  # a unit or a flag
    fits = [
        (_fits(label, sex=sex, age=age), part)
        for label, part in zip(labels, _parts(text, labels), strict=True)
    ]
    chosen = [part for fit, part in fits if fit]
    is_open = any(fit is None for fit, _ in fits)
    return chosen[0] if len(chosen) == 1 and not is_open else None


def mask_ages(text: str) -> str:
    """Return a text with a word for each age, which is no range of the test."""
    return _AGE.sub("aged", text)


def _marks(text: str) -> list[_Mark]:
    found: list[_Mark] = []
    found += (
        _Mark(m.start(), m.end(), sex=str(m.lastgroup)) for m in _SEX.finditer(text)
    )
    letters = list(_LETTER.finditer(text))
    # In Spanish and French H is he; beside it M is she.
    spanish = any(m["letter"] == "H" for m in letters)
    for m in letters:
        is_male = m["letter"] == ("H" if spanish else "M")
        found.append(
            _Mark(
                m.start(), m.end(), sex="male" if is_male else "female", is_letter=True
            )
        )
    for m in _AGE.finditer(text):
        found.append(_age_mark(m))
    for m in _GROWN.finditer(text):
        grown = m.lastgroup == "adult"
        found.append(
            _Mark(
                m.start(),
                m.end(),
                since=_ADULT_FROM if grown else 0.0,
                until=float("inf") if grown else _ADULT_FROM,
                is_age=True,
            )
        )
    return sorted(found, key=lambda mark: mark.start)


def _age_mark(match: re.Match[str]) -> _Mark:
    unit = match["unit"].casefold()
    scale = 1.0
    if unit.startswith(("mo", "mt", "me")):
        scale = 12.0
    elif unit.startswith(("w", "sem", "set")):
        scale = 52.18
    elif unit.startswith(("d", "t", "jour", "gi")):
        scale = 365.25
    first = float(match["from"])
    since, until = first, first + 1
    if match["to"]:
        until = float(match["to"]) + 1
    elif match["below"]:
        since, until = 0.0, first
    elif match["above"] or re.search(r"(?i)above$", match[0]):
        until = float("inf")
    return _Mark(
        match.start(),
        match.end(),
        since=since / scale,
        until=until / scale,
        is_age=True,
    )


def _labels(text: str, marks: list[_Mark]) -> list[list[_Mark]]:
    """Marks with nothing but signs between them, and other kinds, are one label."""
    labels: list[list[_Mark]] = []
    for mark in marks:
        before = labels[-1][-1] if labels else None
        joins = (
            before is not None
            and _GLUE.fullmatch(text[before.end : mark.start])
            and all(mark.is_age != other.is_age for other in labels[-1])
        )
        if before is not None and mark.start < before.end:
            continue
        if joins:
            labels[-1].append(mark)
        else:
            labels.append([mark])
    return labels


def _parts(text: str, labels: list[list[_Mark]]) -> list[str]:
    """Return the text of each label: after it, or before if the text starts so."""
    starts = [label[0].start for label in labels]
    ends = [label[-1].end for label in labels]
    if any(sign.isdigit() for sign in text[: starts[0]]):
        begins = [0, *ends[:-1]]
        pieces = [text[a:b] for a, b in zip(begins, starts, strict=True)]
    else:
        stops = [*starts[1:], len(text)]
        pieces = [text[a:b] for a, b in zip(ends, stops, strict=True)]
    return [piece.strip(_EDGES).rstrip("-–") for piece in pieces]


def _fits(label: list[_Mark], *, sex: str | None, age: float | None) -> bool | None:
    """Return whether a patient is in a group; None if the header does not say."""
    verdicts: list[bool | None] = []
    for mark in label:
        if mark.sex is not None:
            verdicts.append(None if sex is None else sex == mark.sex)
        elif age is not None:
            verdicts.append(mark.since <= age < mark.until)
        else:
            # Reports that name no age are those of adults, and say so of children.
            is_adult = (mark.since, mark.until) == (_ADULT_FROM, float("inf"))
            verdicts.append(True if is_adult else None)
    if False in verdicts:
        return False
    return None if None in verdicts else True
