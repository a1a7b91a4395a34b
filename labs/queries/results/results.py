"""Reads of results and of changes between their versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from labs.models import Result, ResultVersion
from labs.states.order_queues import is_order_in_progress
from labs.states.orders import Interpretation
from labs.states.results import ResultStatus, get_worst_interpretation
from portal.lib.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from uuid import UUID

    from django.db.models import Model, QuerySet

    from accounts.models import Tenant
    from labs.gateways.results import ReportedGap, ReportedResult
    from labs.models import MissingResult, Order, SampleData

# The fields whose change makes a result differ: not its position or report time.
RESULT_CONTENT = (
    "name",
    "type",
    "result",
    "unit",
    "reference_range",
    "interpretation",
    "source_interpretation",
    "notes",
    "observed_at",
    "is_preliminary",
    "loinc",
    "performing_laboratory",
    "source_sample_id",
    "source_markers",
)


@dataclass(frozen=True, slots=True)
class ResultChange:
    """A result that differs between two versions: None where one lacks it.

    `fields` are the columns that differ, empty where it came or went.
    """

    name: str
    before: Result | None
    after: Result | None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultSet:
    """Current results of an order, or of all orders of a transaction.

    `order` and `version` are those of the latest delivery; the rest is of all of them.
    """

    order: Order
    version: ResultVersion
    status: str
    interpretation: str
    rows: tuple[Result, ...]
    gaps: tuple[MissingResult, ...]
    samples: tuple[SampleData, ...]


def get_result_identity_key(
    row: Result | MissingResult | ReportedResult | ReportedGap,
) -> tuple[str, str]:
    """Return the key that identifies a result across an order's result versions."""
    return row.provider_id or row.loinc or row.name, row.sub_id


def list_result_versions(*, order: Order) -> list[ResultVersion]:
    """List all versions of an order's results with their rows, newest first.

    Four queries for any number of them.
    """
    return list(
        _versions_with_rows(order.tenant).filter(order=order).order_by("-number")
    )


def find_current_result_version(*, order: Order) -> ResultVersion | None:
    """Return an order's current results with their rows; None before any."""
    versions = _versions_with_rows(order.tenant).filter(order=order, is_current=True)
    return versions.first()


def get_results_of_order(*, order: Order) -> ResultSet:
    """Return an order's current results.

    Raises: results_not_found (404), before there are any. Source: Contract 6.15.
    """
    version = find_current_result_version(order=order)
    if version is None:
        raise NotFound("results_not_found", _("This order has no results yet."))
    return _join_results([order], {order.pk: version}, version.status)


def get_results_of_transaction(*, tenant: Tenant, orders: Sequence[Order]) -> ResultSet:
    """Return the combined results of a transaction's orders, first to last.

    Where two orders have the same result, that of the later order stands, and what one
    lacks may have come with the other. Partial while any of the orders goes on. Raises:
    results_not_found (404), where none has any. Source: Contract 6.15.
    """
    versions = find_current_result_versions(tenant=tenant, orders=orders)
    if not versions:
        raise NotFound("results_not_found", _("These orders have no results yet."))
    is_open = any(is_order_in_progress(order.status) for order in orders)
    status = ResultStatus.PARTIAL if is_open else ResultStatus.FINAL
    return _join_results(orders, versions, status)


def find_current_result_versions(
    *, tenant: Tenant, orders: Iterable[Order]
) -> dict[UUID, ResultVersion]:
    """Return the current results of each order that has any, by order id."""
    ids = [order.pk for order in orders]
    found = _versions_with_rows(tenant).filter(order_id__in=ids, is_current=True)
    return {version.order_id: version for version in found}


def compare_result_versions(
    *, before: ResultVersion, after: ResultVersion
) -> list[ResultChange]:
    """List what changed between two versions, in the later one's order.

    Both read with their rows; no query.
    """
    old = {get_result_identity_key(row): row for row in list_results_of_version(before)}
    changes: list[ResultChange] = []
    for row in list_results_of_version(after):
        was = old.pop(get_result_identity_key(row), None)
        if was is None:
            changes.append(ResultChange(row.name, None, row))
        elif fields := list_changed_fields(was, row, RESULT_CONTENT):
            changes.append(ResultChange(row.name, was, row, fields))
    gone = [ResultChange(row.name, row, None) for row in old.values()]
    return changes + gone


def list_results_of_version(version: ResultVersion) -> list[Result]:
    """List a version's results in order, using loaded ones."""
    return sorted(version.results.all(), key=lambda row: row.position)


def list_missing_results_of_version(version: ResultVersion) -> list[MissingResult]:
    """List a version's missing results in order, using loaded ones."""
    return sorted(version.missing_results.all(), key=lambda row: row.position)


def list_changed_fields(
    before: Model, after: Model, names: Iterable[str]
) -> tuple[str, ...]:
    """List the columns among `names` in which two rows differ."""
    return tuple(
        name for name in names if getattr(before, name) != getattr(after, name)
    )


def _join_results(
    orders: Sequence[Order], versions: Mapping[UUID, ResultVersion], status: str
) -> ResultSet:
    rows: dict[tuple[str, str], Result] = {}
    gaps: dict[tuple[str, str], MissingResult] = {}
    samples: dict[str, SampleData] = {}
    found = [(order, versions[order.pk]) for order in orders if order.pk in versions]
    for _order, version in found:
        rows |= {
            get_result_identity_key(row): row
            for row in list_results_of_version(version)
        }
        gaps |= {
            get_result_identity_key(gap): gap
            for gap in list_missing_results_of_version(version)
        }
        samples |= {one.sample_id: one for one in version.samples.all()}
    order, version = max(found, key=lambda one: (one[1].reported_at, one[1].pk))
    overall = get_worst_interpretation(row.interpretation for row in rows.values())
    return ResultSet(
        order=order,
        version=version,
        status=status,
        interpretation=overall or Interpretation.UNKNOWN,
        rows=tuple(rows.values()),
        gaps=tuple(gap for key, gap in gaps.items() if key not in rows),
        samples=tuple(samples[name] for name in sorted(samples)),
    )


def _versions_with_rows(tenant: Tenant) -> QuerySet[ResultVersion]:
    rows: QuerySet[ResultVersion] = ResultVersion.objects.for_tenant(tenant)
    return rows.prefetch_related("results", "missing_results", "samples")
