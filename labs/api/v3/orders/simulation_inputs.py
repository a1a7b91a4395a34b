"""Query and body of the sandbox simulation (contract 6.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from labs.gateways.sandbox_results import SimulationFlags
from labs.operations.simulation.orders import LONGEST_DELAY
from labs.states.catalogue import ResultType
from labs.states.orders import Interpretation
from portal.lib.api.fields import Bool, Inputs, OpenEnum, QueryInt, QueryText

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST_SECONDS = int(LONGEST_DELAY.total_seconds())


class SimulationQuery(Inputs):
    """The final status and delay of a simulation."""

    final_status = QueryText(required=False)
    delay = QueryInt(default=0, min_value=0, max_value=_LONGEST_SECONDS)


class SimulationInputs(Inputs):
    """Flags of a simulation; the body may be empty."""

    interpretation = OpenEnum(Interpretation, default=Interpretation.NORMAL)
    result_types = serializers.ListField(child=OpenEnum(ResultType), required=False)
    has_missing_results = Bool(default=False)


def parse_simulation_flags(body: Mapping[str, Any]) -> SimulationFlags:
    """Return the simulation flags of a validated body."""
    return SimulationFlags(
        interpretation=body["interpretation"],
        result_types=tuple(dict.fromkeys(body.get("result_types", ()))),
        has_missing_results=body["has_missing_results"],
    )
