"""Choices of results: delivery status, failure types and interpretation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.states.orders import Interpretation
from portal.lib.choices import OpenChoices
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable


class ResultStatus(OpenChoices):
    """Whether a lab has sent all of an order's results (contract 6.15)."""

    PARTIAL = "partial", gettext_lazy("Partial")
    FINAL = "final", gettext_lazy("Final")


class FailureType(OpenChoices):
    """Why a result is missing, as far as known (contract 6.15)."""

    QUANTITY_NOT_SUFFICIENT = (
        "quantity_not_sufficient_failure",
        gettext_lazy("Insufficient sample quantity"),
    )
    COLLECTION_PROCESS = (
        "collection_process_failure",
        gettext_lazy("Sample collected incorrectly"),
    )
    DROP_OFF = "drop_off_failure", gettext_lazy("Sample dropped off too late")
    INTERNAL_LAB = "internal_lab_failure", gettext_lazy("Lab failure")
    ORDER_ENTRY = "order_entry_failure", gettext_lazy("Order entry error")
    NON_FAILURE = "non_failure", gettext_lazy("Not needed")
    UNKNOWN = "unknown_failure", gettext_lazy("Unknown")
    PATIENT_CONDITION = "patient_condition_failure", gettext_lazy("Patient condition")
    MISSING_RESULT_CALC = (
        "missing_result_calc_failure",
        gettext_lazy("Not calculable: result missing"),
    )
    MISSING_DEMO_AOE_CALC = (
        "missing_demo_aoe_calc_failure",
        gettext_lazy("Not calculable: answer missing"),
    )
    INSUFFICIENT_VOLUME = "insufficient_volume", gettext_lazy("Insufficient volume")


# HL7 table 0078 and what labs write in words. What is not here says nothing to us.
# `<` and `>` are beyond what the instrument measures, which no lab calls panic.
_FLAGS: dict[str, Interpretation] = {
    flag: interpretation
    for interpretation, flags in (
        (Interpretation.NORMAL, "N NORMAL NEG ND NR"),
        (
            Interpretation.ABNORMAL,
            "A H L ABNORMAL HIGH LOW < > * HU LU POS DET RR WR",
        ),
        (Interpretation.CRITICAL, "AA HH LL CRITICAL PANIC"),
    )
    for flag in flags.split()
} | {
    "CRITICAL HIGH": Interpretation.CRITICAL,
    "CRITICAL LOW": Interpretation.CRITICAL,
}
_SEVERITY = (Interpretation.NORMAL, Interpretation.ABNORMAL, Interpretation.CRITICAL)


def interpret_lab_flag(flag: str) -> Interpretation | None:
    """Return the interpretation of a lab's flag; of several (`~`) the worst."""
    parts = (part.strip().upper() for part in flag.split("~"))
    return get_worst_interpretation(_FLAGS[part] for part in parts if part in _FLAGS)


def get_worst_interpretation(
    interpretations: Iterable[str | None],
) -> Interpretation | None:
    """Return the worst of several interpretations; None without any.

    Source: Contract 6.15 (an order's interpretation is the worst of its results).
    """
    found = set(interpretations)
    return next((one for one in reversed(_SEVERITY) if one in found), None)
