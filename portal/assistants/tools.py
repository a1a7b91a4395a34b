"""The tools of assistants: each reads, by calls of the API, and cites what it read.

A table of data: what a tool is for, what it takes, and how it is answered. What a
record says never chooses a call: a tool asks for the IDs that it was given, and for
those of their own orders.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from labs.queries.orders.approvals import find_approval
from labs.queries.orders.order_list import list_orders_by_id
from labs.web.order_lifecycle import describe_next_order_step
from portal.assistants.terms import find_source_exclusion, name_excluded_sources
from portal.lib.tenancy import acting_for
from users.wearables.summaries import SUMMARIES
from users.wearables.timeseries import TIMESERIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from portal.assistants.calls import ApiCalls

Arguments = dict[str, Any]
# Ours: an answer about trends needs a few results, and each costs a call.
ORDERS_MAX = 5
_UUID = {
    "type": "string",
    "pattern": "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
}
_DAY = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
_USER_ID = _UUID | {"description": "Assay's ID of the user, from find_user."}
_FIRST = _DAY | {"description": "First day, YYYY-MM-DD."}
_LAST = _DAY | {"description": "Last day, YYYY-MM-DD, included."}
_SPAN = {"user_id": _USER_ID, "start_date": _FIRST, "end_date": _LAST}
# Kinds with a list by day; the profile and streams have addresses of their own.
_SUMMARIES = sorted(
    SUMMARIES.keys()
    & {"activity", "sleep", "workouts", "body", "meal", "menstrual_cycle"}
)


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool found; `left_out` are sources whose terms keep them from it."""

    data: Any
    left_out: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its words for the assistant, its arguments by JSON Schema, its answer."""

    name: str
    title: str
    description: str
    properties: dict[str, dict[str, Any]]
    answer: Callable[[ApiCalls, Arguments], Found]

    @property
    def schema(self) -> dict[str, Any]:
        """Return the schema of the arguments, all of which are needed."""
        return {
            "type": "object",
            "properties": self.properties,
            "required": list(self.properties),
            "additionalProperties": False,
        }

    def describe(self, arguments: Arguments) -> str:
        """Return in words what was asked for, without an ID or a text."""
        days = [arguments.get(each) for each in ("start_date", "end_date")]
        parts = [str(arguments[each]) for each in _NAMED if each in arguments]
        if all(days):
            parts.append(f"{days[0]} to {days[1]}")
        return ", ".join(parts)


_NAMED = ("resource", "period")


def find_user(api: ApiCalls, arguments: Arguments) -> Found:
    """Find users by the customer's ID of them, or a part of it."""
    said = api.get("/v2/team/users/search", {"query_id": arguments["query"]})
    rows = said if isinstance(said, list) else said.get("users", [])
    kept = ("user_id", "client_user_id", "created_on")
    return Found(
        [{name: each.get(name) for name in kept} for each in rows], left_out=[]
    )


def read_summaries(api: ApiCalls, arguments: Arguments) -> Found:
    """Read summaries of a kind."""
    resource = arguments["resource"]
    said = api.get(
        "/v2/summary/{resource}/{user_id}",
        _days(arguments),
        resource=resource,
        user_id=arguments["user_id"],
    )
    rows = next((each for each in said.values() if isinstance(each, list)), [])
    return _without_excluded(rows)


def sum_resource(api: ApiCalls, arguments: Arguments) -> Found:
    """Sum measurements by source, of the sources that may be shown."""
    user_id = arguments["user_id"]
    providers = _list_providers(api, user_id)
    sums = {
        provider: api.get(
            "/v2/aggregate/{user_id}/{resource}",
            _days(arguments) | {"period": arguments["period"], "provider": provider},
            user_id=user_id,
            resource=arguments["resource"],
        )
        for provider in providers
        if not find_source_exclusion(provider)
    }
    rows = [{"provider": provider, **said} for provider, said in sums.items()]
    return Found(rows, name_excluded_sources(providers))


def read_lab_results(api: ApiCalls, arguments: Arguments) -> Found:
    """Read the results of the newest orders, with flags, and trends by marker."""
    user_id = arguments["user_id"]
    listed = api.get("/v3/orders", {"user_id": user_id, "size": "50"})
    orders = [
        each
        for each in listed.get("orders", [])
        if _status(each).startswith("completed")
    ]
    results = []
    for order in orders[:ORDERS_MAX]:
        said = api.get("/v3/order/{order_id}/result", order_id=str(order["id"]))
        taken = (said.get("metadata") or {}).get("date_collected")
        results += [
            {
                "order_id": order["id"],
                "date_collected": taken,
                **{name: each.get(name) for name in _RESULT},
            }
            for each in said.get("results") or []
        ]
    return Found({"results": results, "trends": _find_trends(results)}, left_out=[])


def read_order(api: ApiCalls, arguments: Arguments) -> Found:
    """Read an order without its patient's details, and what happens next."""
    order_id = arguments["order_id"]
    said = api.get("/v3/order/{order_id}", order_id=order_id)
    with acting_for(api.grant.tenant):
        (order,) = list_orders_by_id(tenant=api.grant.tenant, ids=[UUID(order_id)])
        next_step = str(describe_next_order_step(order, approval=find_approval(order)))
    return Found(
        {
            **{name: said.get(name) for name in _ORDER},
            "status": _status(said),
            "events": [
                {name: each.get(name) for name in ("status", "created_at")}
                for each in said.get("events") or []
            ],
            "next": next_step,
        },
        left_out=[],
    )


def read_report(api: ApiCalls, arguments: Arguments) -> Found:
    """Read what was extracted from a report, each value with its place on the page."""
    said = api.get(
        "/lab_report/v1/parser/job/{job_id}",
        {"include": "provenance"},
        job_id=arguments["report_id"],
    )
    read = said.get("data") or {}
    return Found(
        {
            **{name: said.get(name) for name in ("id", "status", "is_reviewed")},
            "dates": {
                name: each
                for name, each in (read.get("metadata") or {}).items()
                if name.startswith("date_") and name != "date_of_birth"
            },
            "results": read.get("results") or [],
        },
        left_out=[],
    )


def find_missing_data(api: ApiCalls, arguments: Arguments) -> Found:
    """Find the days of resources that were not read whole, and why."""
    said = api.get(
        "/v2/user/{user_id}/completeness",
        _days(arguments),
        user_id=arguments["user_id"],
    )
    by_provider = said["provider"]
    return Found(
        [
            {"provider": provider, **found}
            for provider, found in by_provider.items()
            if not find_source_exclusion(provider)
        ],
        name_excluded_sources(by_provider),
    )


_RESULT = (
    "name",
    "slug",
    "result",
    "value",
    "type",
    "unit",
    "timestamp",
    "interpretation",
    "min_range_value",
    "max_range_value",
    "reference_range",
    "is_above_max_range",
    "is_below_min_range",
)
_ORDER = ("id", "user_id", "created_at", "updated_at", "interpretation", "priority")


def _slug_of(row: dict[str, Any]) -> str:
    source = row.get("source") or {}
    return str(source.get("provider") or source.get("slug") or "")


def _list_providers(api: ApiCalls, user_id: str) -> list[str]:
    said = api.get("/v2/user/providers/{user_id}", user_id=user_id)
    return [str(each["slug"]) for each in said.get("providers", [])]


def _status(order: dict[str, Any]) -> str:
    last = order.get("last_event")
    return str((last or {}).get("status") or order.get("status") or "")


def _days(arguments: Arguments) -> dict[str, object]:
    return {name: arguments[name] for name in ("start_date", "end_date")}


def _without_excluded(rows: list[dict[str, Any]]) -> Found:
    """Return the rows of sources that may be shown."""
    return Found(
        [each for each in rows if not find_source_exclusion(_slug_of(each))],
        name_excluded_sources(_slug_of(each) for each in rows),
    )


def _find_trends(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return by marker how its last number differs from the one before.

    Only of results in one unit; those without a number or a time are none.
    """
    series: dict[tuple[str, str], list[tuple[str, float, Any]]] = defaultdict(list)
    for each in results:
        value = each["result"] if each["result"] is not None else each["value"]
        try:
            number = float(value)
        except (TypeError, ValueError):
            continue
        at = each["timestamp"] or each["date_collected"]
        if at and each["slug"]:
            key = (str(each["slug"]), str(each["unit"]))
            series[key].append((str(at), number, each["order_id"]))
    return [
        {
            "slug": slug,
            "unit": unit,
            "trend": "same" if last == before else "up" if last > before else "down",
            "from": before,
            "to": last,
            "orders": [order for _at, _value, order in points[-2:]],
        }
        for (slug, unit), found in sorted(series.items())
        if len(points := sorted(found, key=lambda one: one[0])) > 1
        for before, last in [(points[-2][1], points[-1][1])]
    ]


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "find_user",
            "Find a user",
            "Find users by your own ID of them (client_user_id) or Assay's, whole or"
            " the first characters.",
            {"query": {"type": "string", "minLength": 1, "maxLength": 100}},
            find_user,
        ),
        Tool(
            "read_summaries",
            "Read summaries",
            "Read a user's daily summaries of one kind, such as sleep or activity.",
            {**_SPAN, "resource": {"type": "string", "enum": _SUMMARIES}},
            read_summaries,
        ),
        Tool(
            "sum_resource",
            "Sum measurements",
            "Totals, means and extremes of a user's measurements by hour, day or week,"
            " of each source by itself. Sources overlap: do not add them up.",
            {
                **_SPAN,
                "resource": {"type": "string", "enum": sorted(TIMESERIES)},
                "period": {"type": "string", "enum": ["hour", "day", "week"]},
            },
            sum_resource,
        ),
        Tool(
            "read_lab_results",
            "Read lab results",
            f"Read the lab results of a user's newest {ORDERS_MAX} completed orders,"
            " with flags, and how each marker changed.",
            {"user_id": _USER_ID},
            read_lab_results,
        ),
        Tool(
            "read_order",
            "Read an order",
            "Read the state of a lab order, its history and its next step.",
            {"order_id": _UUID},
            read_order,
        ),
        Tool(
            "read_report",
            "Read a lab report",
            "Read the values extracted from an uploaded lab report, each with the page"
            " and place of its ink, and whether a person has reviewed them.",
            {"report_id": _UUID},
            read_report,
        ),
        Tool(
            "find_missing_data",
            "Find missing data",
            "Say for each source and resource of a user which days were read whole,"
            " which are missing, and why.",
            _SPAN,
            find_missing_data,
        ),
    )
}

NO_TOOL = Tool("unknown", "", "", {}, find_user)
