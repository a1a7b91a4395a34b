"""The formulas that tie one result of a report to others.

A table; how it is held against a report is in arithmetic.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reports.parser.report import RowState

Formula = Callable[..., float]


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
_MASS_AND_MOLES = ("mg/dL", "mmol/L")


def _difference(
    target: str, whole: str, part: str, rooms: dict[str, float]
) -> list[Rule]:
    """Return what is left of a whole, in each unit with its room."""
    return [
        Rule(
            target,
            (target, unit),
            ((whole, unit), (part, unit)),
            lambda a, b: a - b,
            _SURE,
            room=room,
        )
        for unit, room in rooms.items()
    ]


def _quotient(
    target: str,
    unit: str,
    above: tuple[str, str],
    below: tuple[str, str],
    *,
    times: float = 1,
    slack: float = 0.03,
    room: float = 0.0,
    specimen: str = "blood",
) -> Rule:
    """Return how many times one analyte is another."""
    return Rule(
        target,
        (target, unit),
        (above, below),
        lambda a, b: times * a / b if b else 0.0,
        _SURE,
        slack,
        room,
        specimen=specimen,
    )


_RATIOS = (
    ("chol_hdl_ratio", "cholesterol", "hdl", _MASS_AND_MOLES),
    ("ldl_hdl_ratio", "ldl", "hdl", _MASS_AND_MOLES),
    ("tg_hdl_ratio", "triglycerides", "hdl", _MASS_AND_MOLES),
    ("ag_ratio", "albumin", "globulin", ("g/dL",)),
    ("ast_alt_ratio", "ast", "alt", ("U/L", "[IU]/L")),
    ("bun_creatinine_ratio", "bun", "creatinine", ("mg/dL",)),
)

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
    *_difference("non_hdl", "cholesterol", "hdl", {"mg/dL": 1, "mmol/L": 0.05}),
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
    *(
        _quotient(target, "1", (above, unit), (below, unit))
        for target, above, below, units in _RATIOS
        for unit in units
    ),
    *_difference("globulin", "protein_total", "albumin", {"g/dL": 0.05}),
    *_difference(
        "bilirubin_indirect",
        "bilirubin_total",
        "bilirubin_direct",
        {"mg/dL": 0.05, "mmol/L": 0.001},
    ),
    *(
        _quotient(target, unit, above, below, times=times, slack=0.05)
        for target, unit, above, below, times in (
            ("mcv", "fL", ("hematocrit", "%"), ("rbc", "10*6/uL"), 10),
            ("mch", "pg", ("hemoglobin", "g/dL"), ("rbc", "10*6/uL"), 10),
            ("mchc", "g/dL", ("hemoglobin", "g/dL"), ("hematocrit", "%"), 100),
        )
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
        _quotient(target, "%", (part, unit), (whole, unit), times=100, room=0.6)
        for target, part, whole, unit in (
            ("iron_saturation", "iron", "tibc", "ug/dL"),
            ("iron_saturation", "iron", "tibc", "umol/L"),
            ("psa_free_percent", "psa_free", "psa", "ng/mL"),
        )
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
        "calcium_corrected",
        ("calcium_corrected", "mg/dL"),
        (("calcium", "mg/dL"), ("albumin", "g/dL")),
        lambda calcium, albumin: calcium + 0.8 * (4 - albumin),
        _LIKELY,
        room=0.3,
    ),
    _quotient(
        "acr",
        "mg/g{creat}",
        ("microalbumin", "mg/L"),
        ("creatinine", "g/L"),
        slack=0.04,
        specimen="urine",
    ),
)
