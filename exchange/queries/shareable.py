"""What of a user's results can be shared, and the resources that a share is made of."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accounts.states import Area
from exchange.resources.base import Query
from exchange.resources.diagnostic_report import DIAGNOSTIC_REPORT
from exchange.resources.outside_results import OUTSIDE_REPORTS
from exchange.resources.registry import RESOURCE_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from exchange.resources.base import Json

SHARED_AREAS = frozenset({Area.ORDERS, Area.REPORTS})
# Preliminary values are no one's word yet, and may still change.
_FINISHED = frozenset({"final", "amended", "corrected"})
_LISTED = 200
# What a shared report is understood with; a link leads to nothing else of its user.
_FOLLOWED = frozenset(
    {"Patient", "Observation", "Specimen", "Organization", "ServiceRequest"}
)


@dataclass(frozen=True, slots=True)
class ShareableReport:
    """A signed report, or the final results of an order; `id` of its DiagnosticReport.

    `collected_on` is a date as in FHIR, empty where no one knows it; `performer` is the
    lab as written.
    """

    id: str
    title: str
    performer: str
    collected_on: str
    resource: Json


def list_shareable_reports(*, tenant: Tenant, user_uuid: UUID) -> list[ShareableReport]:
    """List final results of a user's orders and signed reports, newest first.

    Reports of other institutions are left out, as nobody on the team reviewed them. The
    caller audits the read.
    """
    query = Query(tenant, patients=[user_uuid])
    found = [
        _describe_report(one.resource)
        for source in DIAGNOSTIC_REPORT.sources
        if source is not OUTSIDE_REPORTS
        for one in source.list_after(query, "", _LISTED)[0]
        if one.resource["status"] in _FINISHED
    ]
    return sorted(found, key=_sort_key, reverse=True)


def build_share_resources(*, tenant: Tenant, reports: Sequence[Json]) -> list[Json]:
    """Return reports with all that they refer to: patient, results, specimens, labs."""
    gathered = {(one["resourceType"], one["id"]): one for one in reports}
    latest = list(reports)
    while latest:
        wanted: dict[str, set[str]] = defaultdict(set)
        for reference in _iterate_references(latest):
            type_, _, id_ = reference.partition("/")
            if type_ in _FOLLOWED and (type_, id_) not in gathered:
                wanted[type_].add(id_)
        latest = [
            resource
            for type_, ids in wanted.items()
            for resource in RESOURCE_TYPES[type_].find(tenant, sorted(ids), set(Area))
        ]
        gathered |= {(one["resourceType"], one["id"]): one for one in latest}
    return list(gathered.values())


def _describe_report(resource: Json) -> ShareableReport:
    performers = [one["display"] for one in resource.get("performer", []) if one]
    return ShareableReport(
        id=resource["id"],
        title=resource["code"]["text"],
        performer=performers[0] if performers else "",
        collected_on=resource.get("effectiveDateTime", "")[:10],
        resource=resource,
    )


def _sort_key(report: ShareableReport) -> str:
    written: str = report.resource.get("effectiveDateTime") or report.resource["issued"]
    return written


def _iterate_references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        reference = value.get("reference")
        if isinstance(reference, str):
            yield reference
        for each in value.values():
            yield from _iterate_references(each)
    elif isinstance(value, list):
        for each in value:
            yield from _iterate_references(each)
