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
