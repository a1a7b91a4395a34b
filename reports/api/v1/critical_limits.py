"""API views of a team's critical limits: list, add, change, revert."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict

from rest_framework import serializers
from rest_framework.response import Response

from accounts.api.views import TenantAPIView
from accounts.states import Area
from portal.lib.api.fields import Inputs, Int, Str, validate_post_body
from portal.lib.api.schema import describe_api_operation
from reports.operations.critical_limits import (
    CriticalLimitInputs,
    CriticalLimitInUse,
    add_critical_limit,
    change_critical_limit,
    list_critical_limits,
    revert_critical_limit,
)
from reports.parser.checks.critical import SOURCES

if TYPE_CHECKING:
    from rest_framework.request import Request


class LimitBounds(TypedDict):
    """Values at or beyond these are critical; null on a side without a limit."""

    low: float | None
    high: float | None


class CriticalLimitAnswer(LimitBounds):
    """A critical limit of values in blood, as it applies now.

    `unit` is UCUM, "1" for none. Ages are in days, both included, null for no bound;
    `sex` is male, female or null for both. `default` is what ships, null for a limit
    that the team added; `sources` are the published lists behind it.
    """

    id: str
    marker: str
    name: str
    unit: str
    sex: str | None
    from_age_days: int | None
    to_age_days: int | None
    is_changed: bool
    default: LimitBounds | None
    sources: list[str]
    changed_at: datetime | None


class CriticalLimitsAnswer(TypedDict):
    """All limits that apply, by the name of the marker."""

    limits: list[CriticalLimitAnswer]


class Number(serializers.FloatField):
    """A JSON number; text is no number."""

    default_error_messages = {"invalid": "Enter a number."}

    def to_internal_value(self, data: Any) -> float:
        if type(data) not in {int, float}:
            self.fail("invalid")
        return float(super().to_internal_value(data))


class BoundsInputs(Inputs):
    """The bounds of a limit; without both it is off."""

    low = Number(required=False, help_text="Critical at this value or below it.")
    high = Number(required=False, help_text="Critical at this value or above it.")


class NewLimitInputs(BoundsInputs):
    """A limit of the team's own."""

    marker = Str(max_length=64, help_text="As in the list of limits: `potassium`.")
    unit = Str(max_length=40, help_text='UCUM or as printed; "1" for none.')
    sex = Str(
        max_length=10, required=False, help_text="male or female; both if absent."
    )
    from_age_days = Int(min_value=0, max_value=47_580, required=False)
    to_age_days = Int(min_value=0, max_value=47_580, required=False)


class CriticalLimitsView(TenantAPIView):
    """Serve GET and POST /lab_report/v1/critical_limits."""

    area = Area.REPORTS

    @describe_api_operation(
        "list_critical_limits",
        "List critical limits",
        answer=CriticalLimitsAnswer,
    )
    def get(self, request: Request) -> Response:
        return Response(_list_limits(self))

    @describe_api_operation(
        "create_critical_limit",
        "Add a critical limit",
        answer=CriticalLimitAnswer,
        body=NewLimitInputs,
        refuses=(400,),
    )
    def post(self, request: Request) -> Response:
        given = validate_post_body(request, NewLimitInputs)
        added = add_critical_limit(
            tenant=self.tenant,
            actor=self.actor,
            inputs=CriticalLimitInputs(
                analyte=given["marker"],
                unit=given["unit"],
                low=given.get("low"),
                high=given.get("high"),
                from_days=given.get("from_age_days"),
                to_days=given.get("to_age_days"),
                sex=given.get("sex") or "",
            ),
        )
        return Response(build_critical_limit_answer(added))


class CriticalLimitView(TenantAPIView):
    """Serve PUT and DELETE /lab_report/v1/critical_limits/{limit_id}."""

    area = Area.REPORTS

    @describe_api_operation(
        "update_critical_limit",
        "Change a critical limit",
        answer=CriticalLimitAnswer,
        body=BoundsInputs,
        refuses=(400, 404),
    )
    def put(self, request: Request, limit_id: str) -> Response:
        given = validate_post_body(request, BoundsInputs)
        changed = change_critical_limit(
            tenant=self.tenant,
            actor=self.actor,
            key=limit_id,
            low=given.get("low"),
            high=given.get("high"),
        )
        return Response(build_critical_limit_answer(changed))

    @describe_api_operation(
        "revert_critical_limit",
        "Revert or remove a critical limit",
        answer=CriticalLimitsAnswer,
        refuses=(404,),
    )
    def delete(self, request: Request, limit_id: str) -> Response:
        revert_critical_limit(tenant=self.tenant, actor=self.actor, key=limit_id)
        return Response(_list_limits(self))


def build_critical_limit_answer(one: CriticalLimitInUse) -> CriticalLimitAnswer:
    """Return a limit as the API answers it."""
    limit, shipped = one.limit, one.shipped
    return {
        "id": limit.key,
        "marker": limit.analyte,
        "name": one.name,
        "unit": limit.unit,
        "low": limit.low,
        "high": limit.high,
        "sex": limit.sex or None,
        "from_age_days": limit.from_days,
        "to_age_days": limit.to_days,
        "is_changed": one.is_changed,
        "default": {"low": shipped.low, "high": shipped.high} if shipped else None,
        "sources": [SOURCES[source] for source in limit.sources],
        "changed_at": one.changed_at,
    }


def _list_limits(view: TenantAPIView) -> CriticalLimitsAnswer:
    found = list_critical_limits(tenant=view.tenant)
    return {"limits": [build_critical_limit_answer(one) for one in found]}
