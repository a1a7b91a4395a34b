"""Arithmetic that ties the results of a report together.

A printed number stands for everything that rounds to it, so each rule is reckoned
over spans, and only a result outside the span and its slack is noted. Which of the
numbers is wrong arithmetic can't say: every row that took part is named, the reckoned
one first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from reports.parser.report import Fact, Note, NoteCode, RowState

from .readings import Reading

Formula = Callable[..., float]

# Of several rows for one analyte so many are tried.
_MOST_ROWS = 3


@dataclass(frozen=True, slots=True)
class Rule:
    """What one analyte is by others, each taken in a given unit ("1": none).

    slack is what may lie between two laboratories' ways of rounding, as a share of
    the expected number; room the same in the target's unit. holds_below bounds the
    inputs a formula is meant for.
    """

    name: str
    target: tuple[str, str]
    inputs: tuple[tuple[str, str], ...]
    formula: Formula
    severity: RowState
    slack: float = 0.02
    room: float = 0.0
    holds_below: tuple[float | None, ...] = ()
    specimen: str = "blood"


_SURE, _LIKELY = RowState.CONTRADICTION, RowState.LOOK


def _mass_and_moles(
    name: str,
    target: str,
    inputs: tuple[str, ...],
    formula: Formula,
    severity: RowState,
    *,
    slack: float = 0.02,
    room: tuple[float, float] = (0.0, 0.0),
) -> tuple[Rule, Rule]:
    return tuple(  # type: ignore[return-value]  # two units make two rules
        Rule(
            name,
            (target, unit),
            tuple((analyte, unit) for analyte in inputs),
            formula,
            severity,
            slack,
            allowed,
        )
        for unit, allowed in zip(("mg/dL", "mmol/L"), room, strict=True)
    )


def _ratio(name: str, target: str, above: str, below: str, *units: str) -> list[Rule]:
    return [
        Rule(
            name,
            (target, "1"),
            ((above, unit), (below, unit)),
            lambda a, b: a / b if b else 0.0,
            _SURE,
            slack=0.03,
        )
        for unit in units
    ]


RULES: tuple[Rule, ...] = (
    # Friedewald 1972; the formula is meant for triglycerides below 400 mg/dL, and a
    # laboratory that uses another one (Martin, Sampson) differs by some percent.
    Rule(
        "ldl_friedewald",
        ("ldl", "mg/dL"),
        (("cholesterol", "mg/dL"), ("hdl", "mg/dL"), ("triglycerides", "mg/dL")),
        lambda total, hdl, tg: total - hdl - tg / 5,
        _LIKELY,
        slack=0.15,
        room=10,
        holds_below=(None, None, 400),
    ),
    Rule(
        "ldl_friedewald",
        ("ldl", "mmol/L"),
        (("cholesterol", "mmol/L"), ("hdl", "mmol/L"), ("triglycerides", "mmol/L")),
        lambda total, hdl, tg: total - hdl - tg / 2.2,
        _LIKELY,
        slack=0.15,
        room=0.26,
        holds_below=(None, None, 4.5),
    ),
    *_mass_and_moles(
        "non_hdl",
        "non_hdl",
        ("cholesterol", "hdl"),
        lambda total, hdl: total - hdl,
        _SURE,
        room=(1, 0.05),
    ),
    Rule(
        "vldl",
        ("vldl", "mg/dL"),
        (("triglycerides", "mg/dL"),),
        lambda tg: tg / 5,
        _LIKELY,
        slack=0.1,
        room=3,
        holds_below=(400,),
    ),
    *_ratio(
        "chol_hdl_ratio", "chol_hdl_ratio", "cholesterol", "hdl", "mg/dL", "mmol/L"
    ),
    *_ratio("ldl_hdl_ratio", "ldl_hdl_ratio", "ldl", "hdl", "mg/dL", "mmol/L"),
    *_ratio("tg_hdl_ratio", "tg_hdl_ratio", "triglycerides", "hdl", "mg/dL", "mmol/L"),
    *_ratio("ag_ratio", "ag_ratio", "albumin", "globulin", "g/dL"),
    *_ratio("ast_alt_ratio", "ast_alt_ratio", "ast", "alt", "U/L", "[IU]/L"),
    *_ratio(
        "bun_creatinine_ratio", "bun_creatinine_ratio", "bun", "creatinine", "mg/dL"
    ),
    Rule(
        "globulin",
        ("globulin", "g/dL"),
        (("protein_total", "g/dL"), ("albumin", "g/dL")),
        lambda protein, albumin: protein - albumin,
        _SURE,
        room=0.05,
    ),
    *_mass_and_moles(
        "bilirubin_indirect",
        "bilirubin_indirect",
        ("bilirubin_total", "bilirubin_direct"),
        lambda total, direct: total - direct,
        _SURE,
        room=(0.05, 0.001),
    ),
    Rule(
        "mcv",
        ("mcv", "fL"),
        (("hematocrit", "%"), ("rbc", "10*6/uL")),
        lambda hct, rbc: 10 * hct / rbc if rbc else 0.0,
        _SURE,
        slack=0.05,
    ),
    Rule(
        "mch",
        ("mch", "pg"),
        (("hemoglobin", "g/dL"), ("rbc", "10*6/uL")),
        lambda hb, rbc: 10 * hb / rbc if rbc else 0.0,
        _SURE,
        slack=0.05,
    ),
    Rule(
        "mchc",
        ("mchc", "g/dL"),
        (("hemoglobin", "g/dL"), ("hematocrit", "%")),
        lambda hb, hct: 100 * hb / hct if hct else 0.0,
        _SURE,
        slack=0.05,
    ),
    *(
        Rule(
            "anion_gap",
            ("anion_gap", unit),
            (("sodium", unit), ("chloride", unit), (base, unit)),
            lambda na, cl, base: na - cl - base,
            _LIKELY,
            room=1,
        )
        for base in ("bicarbonate", "co2_total")
        for unit in ("mmol/L", "meq/L")
    ),
    *(
        Rule(
            "iron_saturation",
            ("iron_saturation", "%"),
            (("iron", unit), ("tibc", unit)),
            lambda iron, tibc: 100 * iron / tibc if tibc else 0.0,
            _SURE,
            slack=0.03,
            room=0.6,
        )
        for unit in ("ug/dL", "umol/L")
    ),
    *(
        Rule(
            "tibc",
            ("tibc", unit),
            (("iron", unit), ("uibc", unit)),
            lambda iron, uibc: iron + uibc,
            _SURE,
            room=room,
        )
        for unit, room in (("ug/dL", 2), ("umol/L", 0.5))
    ),
    # Nathan 2008 (ADAG).
    Rule(
        "eag",
        ("eag", "mg/dL"),
        (("hba1c", "%"),),
        lambda a1c: 28.7 * a1c - 46.7,
        _SURE,
        slack=0.01,
        room=1,
    ),
    Rule(
        "eag",
        ("eag", "mmol/L"),
        (("hba1c", "%"),),
        lambda a1c: 1.5944 * a1c - 2.5944,
        _SURE,
        slack=0.01,
        room=0.1,
    ),
    # The master equation between the NGSP and the IFCC network.
    Rule(
        "hba1c_units",
        ("hba1c", "mmol/mol"),
        (("hba1c", "%"),),
        lambda a1c: (a1c - 2.152) / 0.09148,
        _SURE,
        room=1,
    ),
    Rule(
        "psa_free_percent",
        ("psa_free_percent", "%"),
        (("psa_free", "ng/mL"), ("psa", "ng/mL")),
        lambda free, total: 100 * free / total if total else 0.0,
        _SURE,
        slack=0.03,
        room=0.6,
    ),
    Rule(
        "calcium_corrected",
        ("calcium_corrected", "mg/dL"),
        (("calcium", "mg/dL"), ("albumin", "g/dL")),
        lambda calcium, albumin: calcium + 0.8 * (4 - albumin),
        _LIKELY,
        room=0.3,
    ),
    Rule(
        "acr",
        ("acr", "mg/g{creat}"),
        (("microalbumin", "mg/L"), ("creatinine", "g/L")),
        lambda albumin, creatinine: albumin / creatinine if creatinine else 0.0,
        _SURE,
        slack=0.04,
        specimen="urine",
    ),
)

# The first can be no more than the second, of which it is a part.
_PARTS: tuple[tuple[str, str], ...] = (
    ("bilirubin_direct", "bilirubin_total"),
    ("bilirubin_indirect", "bilirubin_total"),
    ("hdl", "cholesterol"),
    ("ldl", "cholesterol"),
    ("albumin", "protein_total"),
    ("globulin", "protein_total"),
    ("psa_free", "psa"),
    ("iron", "tibc"),
    ("uibc", "tibc"),
    ("neutrophils", "wbc"),
    ("lymphocytes", "wbc"),
    ("t4_free", "t4_total"),
    ("t3_free", "t3_total"),
    ("testosterone_free", "testosterone"),
)
_PART_UNITS = ("g/L", "mol/L", "/L", "U/L", "[IU]/L")

_MAIN_CELLS = ("neutrophils", "lymphocytes", "monocytes", "eosinophils", "basophils")
_OTHER_CELLS = (
    "bands",
    "segs",
    "immature_granulocytes",
    "metamyelocytes",
    "myelocytes",
    "promyelocytes",
    "blasts",
    "atypical_lymphocytes",
    "plasma_cells",
)
_LEAST_CELLS = 4
_SUM_ROOM = 2.0
_COUNT_SLACK = 0.06


def check_arithmetic(readings: Sequence[Reading]) -> tuple[Note, ...]:
    """Notes on results that the report's own numbers speak against."""
    return (
        *_by_rules(readings),
        *_by_parts(readings),
        *_by_differential(readings),
        *_by_counts(readings),
    )


def _by_rules(readings: Sequence[Reading]) -> Iterator[Note]:
    for rule in RULES:
        for target, number, step in _taken(readings, *rule.target, rule.specimen):
            groups = [
                _near(_taken(readings, *wanted, rule.specimen), target)
                for wanted in rule.inputs
            ]
            verdicts = [
                (combination, _expected(rule, combination))
                for combination in product(*groups)
            ]
            judged = [
                (combination, span)
                for combination, span in verdicts
                if span is not None
            ]
            if not judged or any(
                _agrees(rule, number, step, span) for _, span in judged
            ):
                continue
            combination, _ = judged[0]
            expected = rule.formula(*(amount for _, amount, _ in combination))
            yield Note(
                NoteCode.ARITHMETIC,
                rule.severity,
                (target.position, *(one.position for one, _, _ in combination)),
                (
                    Fact("rule", text=rule.name),
                    Fact("printed", number=round(number, 4)),
                    Fact("expected", number=round(expected, 4)),
                    Fact("unit", text=rule.target[1]),
                ),
            )


Taken = tuple[Reading, float, float]


def _taken(
    readings: Sequence[Reading], analyte: str, unit: str, specimen: str
) -> list[Taken]:
    found = []
    for reading in readings:
        if reading.analyte == analyte and reading.specimen == specimen:
            amount = reading.within(unit)
            if amount is not None:
                found.append((reading, *amount))
    return found


def _near(found: list[Taken], to: Reading) -> list[Taken]:
    """The rows nearest to another, itself left out."""
    others = [one for one in found if one[0].position != to.position]
    others.sort(key=lambda one: abs(one[0].position - to.position))
    return others[:_MOST_ROWS]


def _expected(rule: Rule, combination: tuple[Taken, ...]) -> tuple[float, float] | None:
    """Least and most the formula gives over all that rounds to what is printed."""
    bounds = rule.holds_below or (None,) * len(combination)
    for (_, number, _), bound in zip(combination, bounds, strict=True):
        if bound is not None and number >= bound:
            return None
    corners = product(
        *((number - step / 2, number + step / 2) for _, number, step in combination)
    )
    reckoned = [rule.formula(*corner) for corner in corners]
    return min(reckoned), max(reckoned)


def _agrees(rule: Rule, number: float, step: float, span: tuple[float, float]) -> bool:
    low, high = span
    room = rule.room + rule.slack * max(abs(low), abs(high)) + step
    return low - room <= number <= high + room


def _by_parts(readings: Sequence[Reading]) -> Iterator[Note]:
    for part, whole in _PARTS:
        for unit in _PART_UNITS:
            wholes = _taken(readings, whole, unit, "blood")
            if not wholes:
                continue
            for reading, number, step in _taken(readings, part, unit, "blood"):
                if all(number - step > most + more for _, most, more in wholes):
                    yield Note(
                        NoteCode.ARITHMETIC,
                        RowState.CONTRADICTION,
                        (reading.position, wholes[0][0].position),
                        (
                            Fact("rule", text="part_exceeds_whole"),
                            Fact("printed", number=reading.number),
                            Fact("whole", number=wholes[0][0].number),
                        ),
                    )


def _by_differential(readings: Sequence[Reading]) -> Iterator[Note]:
    """Percentages of one differential count make 100."""
    shares = [
        r
        for r in readings
        if r.property == "NFr" and r.specimen == "blood" and "%" in (r.units or ("%",))
    ]
    main = _first_of_each(shares, _MAIN_CELLS)
    others = _first_of_each(shares, _OTHER_CELLS)
    if len(main) < _LEAST_CELLS:
        return
    least = sum(r.number for r in main)
    # Bands and immature cells are counted among the neutrophils by some machines.
    sums = {least, least + sum(r.number for r in others)}
    if all(r.number <= 1 for r in main):
        sums = {100 * total for total in sums}  # printed as parts of one
    room = _SUM_ROOM + sum(r.step for r in (*main, *others)) / 2
    if any(abs(total - 100) <= room for total in sums):
        return
    if len(main) < len(_MAIN_CELLS) and all(total < 100 for total in sums):
        return  # what is missing may be in no row
    yield Note(
        NoteCode.ARITHMETIC,
        RowState.CONTRADICTION,
        tuple(r.position for r in (*main, *others)),
        (
            Fact("rule", text="differential_sum"),
            Fact("printed", number=round(least, 2)),
            Fact("expected", number=100.0),
            Fact("unit", text="%"),
        ),
    )


def _by_counts(readings: Sequence[Reading]) -> Iterator[Note]:
    """A cell's count is its share of all white cells."""
    totals = _taken(readings, "wbc", "10*9/L", "blood")
    for cell in (*_MAIN_CELLS, *_OTHER_CELLS):
        shares = [
            r
            for r in readings
            if r.analyte == cell and r.property == "NFr" and "%" in r.units
        ]
        counts = _taken(readings, cell, "10*9/L", "blood")
        if not (totals and shares and len(counts) == 1 and len(shares) == 1):
            continue
        (count, number, step), share = counts[0], shares[0]
        spans = [
            _share_of(total, more, share) for _, total, more in totals[:_MOST_ROWS]
        ]
        if any(
            low - step - _COUNT_SLACK * high
            <= number
            <= high * (1 + _COUNT_SLACK) + step
            for low, high in spans
        ):
            continue
        yield Note(
            NoteCode.ARITHMETIC,
            RowState.CONTRADICTION,
            (count.position, share.position, totals[0][0].position),
            (
                Fact("rule", text="count_of_share"),
                Fact("printed", number=round(number, 4)),
                Fact("expected", number=round(sum(spans[0]) / 2, 4)),
                Fact("unit", text="10*9/L"),
            ),
        )


def _share_of(total: float, step: float, share: Reading) -> tuple[float, float]:
    low = max(share.number - share.step / 2, 0) / 100 * (total - step / 2)
    return low, (share.number + share.step / 2) / 100 * (total + step / 2)


def _first_of_each(
    readings: Sequence[Reading], analytes: Sequence[str]
) -> list[Reading]:
    found: dict[str, Reading] = {}
    for reading in readings:
        if reading.analyte in analytes:
            found.setdefault(reading.analyte, reading)
    return list(found.values())
