"""Marks of parsed rows against the truth, counted as the accuracy table says.

A row is recalled when a parsed row has its name and stands in the same place of the
answer; value, unit, range, interpretation and LOINC are counted among those pairs.
Strict is name, value, unit and range all right, out of the rows that are true. Each
confidence the parser states is kept beside whether it was right (`Claim`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from reports.management.scorecard.truth import TrueReport, TrueRow
from reports.parser.report import LoincMatchStatus, ParsedResult

_DASHES = re.compile("[\u2010-\u2015\u2212]")


@dataclass(frozen=True, slots=True)
class Share:
    """Right answers out of those asked for."""

    right: int = 0
    asked: int = 0

    def __add__(self, other: Share) -> Share:
        return Share(self.right + other.right, self.asked + other.asked)

    @property
    def rate(self) -> float:
        return self.right / self.asked if self.asked else 1.0


PARTS = (
    "recall",
    "precision",
    "value",
    "unit",
    "range",
    "interpretation",
    "loinc",
    "strict",
)


CLAIMS = ("row", "text", "unit", "range", "loinc", "overall")


@dataclass(frozen=True, slots=True)
class Claim:
    """A confidence as stated, 0 to 1, and whether what it vouched for was right.

    row: the report has this result; text: name and value are as printed; unit, range,
    loinc: that part is right, overall: name, value, unit and range all are. All but row
    and overall only where the row is one of the report's.
    """

    part: str
    confidence: float
    right: bool


@dataclass(frozen=True, slots=True)
class Marks:
    """Shares by part, what went wrong in words, and the claims.

    wrong_codes were matched without review; invented counts rows the report has not;
    misread counts its rows that were given another value.
    """

    parts: dict[str, Share]
    faults: tuple[str, ...] = ()
    wrong_codes: int = 0
    invented: int = 0
    misread: int = 0
    claims: tuple[Claim, ...] = ()

    def rate(self, part: str) -> float:
        return self.parts[part].rate


@dataclass
class _Tally:
    parts: dict[str, Share] = field(
        default_factory=lambda: dict.fromkeys(PARTS, Share())
    )

    def count(self, part: str, *, right: bool) -> bool:
        self.parts[part] += Share(int(right), 1)
        return right


def mark_report(report: TrueReport, parsed: Sequence[ParsedResult]) -> Marks:
    """Mark the rows parsed from one report."""
    pairs = _pairs(report.rows, parsed)
    tally = _Tally()
    faults: list[str] = []
    wrong_codes = 0
    for n, true in enumerate(report.rows):
        found = pairs.get(n)
        if true.optional:
            continue
        if not tally.count("recall", right=found is not None) or found is None:
            tally.count("strict", right=False)
            faults.append(f"missed   {_shown(true)}")
            continue
        got = parsed[found]
        faults += _mark_pair(tally, true, got)
        if got.loinc_matches and true.loinc:
            wrong = got.loinc_matches[0].loinc_code not in true.loinc
            auto = got.loinc_match_status == LoincMatchStatus.AUTO_MATCH
            wrong_codes += int(wrong and auto)
    taken = set(pairs.values())
    for n, got in enumerate(parsed):
        if not tally.count("precision", right=n in taken):
            faults.append(
                f"invented {got.test_name!r} = {got.value!r} {got.units!r} "
                f"[{got.reference_range!r}]"
            )
    return Marks(
        tally.parts,
        tuple(faults),
        wrong_codes,
        invented=len(parsed) - len(taken),
        misread=tally.parts["value"].asked - tally.parts["value"].right,
        claims=_claims(report.rows, parsed, pairs),
    )


def add_marks(several: Sequence[Marks]) -> Marks:
    """Rows of all reports in one pot."""
    parts = dict.fromkeys(PARTS, Share())
    for marks in several:
        for part in PARTS:
            parts[part] += marks.parts[part]
    return Marks(
        parts,
        tuple(fault for marks in several for fault in marks.faults),
        wrong_codes=sum(marks.wrong_codes for marks in several),
        invented=sum(marks.invented for marks in several),
        misread=sum(marks.misread for marks in several),
        claims=tuple(claim for marks in several for claim in marks.claims),
    )


def is_same_name(true: TrueRow, got: str) -> bool:
    """Equal but for case, spacing and signs; never equal by likeness."""
    return _name(got) in {_name(true.name), *map(_name, true.also)}


def is_same_value(true: str, got: str) -> bool:
    """Equal but for the width of gaps."""
    return " ".join(true.split()) == " ".join(got.split())


def is_same_unit(true: str | None, got: str | None) -> bool:
    """Equal in their one spelling."""
    return normalize_unit(true) == normalize_unit(got)


def is_same_range(true: TrueRow, got: str | None) -> bool:
    """Equal texts, with or without the row's unit after it."""
    if true.any_range:
        return True
    want, have = normalize_range(true.range), normalize_range(got)
    unit = normalize_range(true.unit)
    return want == have or (
        bool(want) and want.removesuffix(unit) == have.removesuffix(unit)
    )


def normalize_unit(text: str | None) -> str:
    """One spelling of the many ways to print a unit, for comparison only."""
    unit = unicodedata.normalize("NFKC", _superscripts_marked(text or "")).casefold()
    unit = re.sub(r"\(calc\.?\)|\s+", "", unit).replace("μ", "u").replace("mcg", "ug")
    unit = unit.replace("×", "x").replace("mcl", "ul").replace("*", "^").strip("().")
    unit = re.sub(r"^x(?=10)", "", unit)
    unit = re.sub(r"^10(?:e\+?|\^)?(\d{1,2})(?=/)", r"10^\1", unit)
    return unit.replace("gm/", "g/")


def normalize_range(text: str | None) -> str:
    """Text without spaces, case, brackets and the kind of dash."""
    plain = _DASHES.sub("-", unicodedata.normalize("NFKC", text or "")).casefold()
    plain = plain.replace("≤", "<=").replace("≥", ">=").replace("μ", "u")
    plain = re.sub(r"[\s;|()\[\]{}]+", "", plain)
    return "" if plain in ("-", "--") else plain.strip(",")


def _mark_pair(tally: _Tally, true: TrueRow, got: ParsedResult) -> list[str]:
    checks = {
        "name": is_same_name(true, got.test_name),
        "value": tally.count("value", right=is_same_value(true.value, got.value)),
        "unit": tally.count("unit", right=is_same_unit(true.unit, got.units)),
        "range": tally.count("range", right=is_same_range(true, got.reference_range)),
    }
    tally.count("strict", right=all(checks.values()))
    if true.interpretation is not None:
        checks["interpretation"] = tally.count(
            "interpretation", right=got.interpretation == true.interpretation
        )
    code = got.loinc_matches[0].loinc_code if got.loinc_matches else None
    if true.loinc:
        checks["loinc"] = tally.count("loinc", right=code in true.loinc)
    answers = {
        "name": (true.name, got.test_name),
        "value": (true.value, got.value),
        "unit": (true.unit, got.units),
        "range": (true.range, got.reference_range),
        "interpretation": (true.interpretation, got.interpretation.value),
        "loinc": ("/".join(true.loinc), code),
    }
    return [
        f"{part:<8} {true.name!r}: {answers[part][0]!r} read as {answers[part][1]!r}"
        for part, right in checks.items()
        if not right
    ]


def _claims(
    rows: Sequence[TrueRow], parsed: Sequence[ParsedResult], pairs: dict[int, int]
) -> tuple[Claim, ...]:
    owners = {m: rows[n] for n, m in pairs.items()}
    found: list[tuple[str, float | None, bool]] = []
    for m, got in enumerate(parsed):
        sure, true = got.confidence, owners.get(m)
        found.append(("row", sure.row, true is not None))
        if true is None:
            found.append(("overall", sure.overall, False))
            continue
        named = is_same_name(true, got.test_name)
        read = named and is_same_value(true.value, got.value)
        unit = is_same_unit(true.unit, got.units)
        spread = is_same_range(true, got.reference_range)
        found += [
            ("text", sure.text, read),
            ("unit", sure.unit, unit),
            ("range", sure.range, spread),
            ("overall", sure.overall, read and unit and spread),
        ]
        if true.loinc and got.loinc_matches:
            first = got.loinc_matches[0].loinc_code
            found.append(("loinc", sure.loinc, first in true.loinc))
    return tuple(
        Claim(p, stated, right) for p, stated, right in found if stated is not None
    )


def _pairs(true: Sequence[TrueRow], parsed: Sequence[ParsedResult]) -> dict[int, int]:
    """Index of true row to index of parsed row, the best fitting pairs first."""
    scored = []
    for n, row in enumerate(true):
        for m, got in enumerate(parsed):
            score = _fit(row, got)
            if score > 0:
                scored.append((-score, row.optional, abs(n - m), n, m))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, _, n, m in sorted(scored):
        if n not in pairs and m not in taken:
            pairs[n] = m
            taken.add(m)
    return pairs


def _fit(row: TrueRow, got: ParsedResult) -> float:
    have = _name(got.test_name)
    likeness = max(fuzz.ratio(_name(n), have) for n in (row.name, *row.also)) / 100
    value = is_same_value(row.value, got.value)
    want = _name(row.name)
    inside = min(len(want), len(have)) >= 3 and (want in have or have in want)
    if not (likeness >= 0.75 or (value and (likeness >= 0.5 or inside))):
        return 0
    if row.optional and not value:
        return 0
    unit = is_same_unit(row.unit, got.units)
    span = is_same_range(row, got.reference_range)
    return likeness + value + 0.3 * unit + 0.1 * span


def _name(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(sign for sign in plain if sign.isalnum())


def _superscripts_marked(text: str) -> str:
    marked = re.sub(r"10([⁰¹²³⁴-⁹]+)", r"10^\1", text)
    return marked.replace("µ", "u")


def _shown(row: TrueRow) -> str:
    return f"{row.name!r} = {row.value!r} {row.unit!r} [{row.range!r}]"
