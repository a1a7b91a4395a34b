"""Observation: laboratory results and vital signs.

Source: US Core Laboratory Result Observation and Vital Signs.
"""

from __future__ import annotations

from exchange.resources.base import ResourceType
from exchange.resources.matching import Kind, Param
from exchange.resources.order_results import (
    LAB_RESULT_PROFILE,
    MISSING_RESULTS,
    ORDER_RESULTS,
)
from exchange.resources.outside_results import OUTSIDE_RESULTS
from exchange.resources.report_results import REPORT_RESULTS
from exchange.resources.vital_signs import SAMPLES, SUMMARY_VITALS

OBSERVATION = ResourceType(
    name="Observation",
    sources=(
        ORDER_RESULTS,
        MISSING_RESULTS,
        REPORT_RESULTS,
        OUTSIDE_RESULTS,
        SUMMARY_VITALS,
        SAMPLES,
    ),
    params=(
        Param("patient", Kind.REFERENCE, ("subject",)),
        Param("category", Kind.TOKEN, ("category",)),
        Param("code", Kind.TOKEN, ("code",)),
        Param("date", Kind.DATE, ("effectiveDateTime", "effectivePeriod")),
        Param("status", Kind.TOKEN, ("status",)),
    ),
    references={
        "patient": "subject",
        "specimen": "specimen",
        "device": "device",
        "based-on": "basedOn",
        "performer": "performer",
    },
    needs_patient=True,
    profiles=(
        LAB_RESULT_PROFILE,
        "http://hl7.org/fhir/StructureDefinition/vitalsigns",
    ),
)
