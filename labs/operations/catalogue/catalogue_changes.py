"""Compare an update with the stored catalogue, and find what forbids it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.states import Environment
from labs.models import ExpectedResult, Lab, LabTest, Marker, Order, ServiceCenter
from labs.models.catalogue import sum_known_prices, sum_prices
from labs.operations.catalogue.catalogue_export import (
    build_question_keys,
    describe_lab,
    describe_marker,
    describe_result,
)
from labs.operations.catalogue.catalogue_rows import CellError, Fault
from labs.operations.catalogue.service_centers import describe_service_center
from labs.states.catalogue import ChangeKind, Generation, LabTestStatus
from labs.states.order_queues import is_order_in_progress
from labs.states.orders import ORDER_STATUSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from accounts.models import Tenant
    from labs.operations.catalogue.catalogue_files import ParsedCatalogue

_ENDED = tuple(one for one in ORDER_STATUSES if not is_order_in_progress(one))


@dataclass(frozen=True, slots=True)
class Change:
    """A difference of one row; `fields` are its columns with the old and new text.

    `table` is a file's name or `panels`, `key` the codes that name the row.
    """

    kind: ChangeKind
    table: str
    key: str
    name: str
    fields: tuple[tuple[str, str, str], ...] = ()


@dataclass(slots=True)
class PanelChange:
    """A panel that loses retired markers or has the new sum of its markers' prices.

    `price` is to be stored, `known_price` None where it is unknown.
    """

    panel: LabTest
    markers: list[Marker]
    price: Decimal
    known_price: Decimal | None
    fasting: bool

    @property
    def is_change(self) -> bool:
        """Return whether anything is different."""
        return (self.price, self.fasting, len(self.markers)) != (
            self.panel.price,
            self.panel.fasting,
            len(self.panel.markers.all()),
        )


@dataclass(slots=True)
class CatalogueDifference:
    """What an update changes: rows to store, and the differences for people.

    `changed` are the stored markers whose versions are kept. New rows have no id.
    """

    labs: list[Lab] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    results: list[ExpectedResult] = field(default_factory=list)
    centers: list[ServiceCenter] = field(default_factory=list)
    changed: dict[int, Marker] = field(default_factory=dict)
    panels: list[PanelChange] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def compare_with_stored_catalogue(
    parsed: ParsedCatalogue, *, owner: Tenant | None, is_complete: bool, at: datetime
) -> CatalogueDifference:
    """Return what storing a parsed catalogue would change, and what forbids it.

    A lab is known by its slug, a marker by lab and provider_id, a result by marker and
    provider_id, a center by lab and site_code. What the update lacks stays; in a
    complete one, markers and centers of its labs that it lacks are retired, if it has
    any of them, and results it lacks are not required any more. A LOINC
    code that was confirmed stays where the update has none. A marker in an open order
    is not retired, and no panel loses its last marker. Source: Ours.
    """
    return _Comparison(parsed, owner, is_complete, at).run()


class _Comparison:
    def __init__(
        self,
        parsed: ParsedCatalogue,
        owner: Tenant | None,
        is_complete: bool,
        at: datetime,
    ) -> None:
        self.parsed, self.owner = parsed, owner
        self.is_complete, self.at = is_complete, at
        self.found = CatalogueDifference()
        self.retired = {id(marker) for marker in parsed.retired}
        # Markers that are retired by this update, with where it says so.
        self.gone: list[tuple[Marker, Fault]] = []

    def run(self) -> CatalogueDifference:
        labs = {lab.slug: lab for lab in Lab.objects.in_catalogue_of(self.owner)}
        for lab in self.parsed.labs:
            self._compare_lab(lab, labs.get(lab.slug))
        slugs = {lab.slug for lab in self.parsed.labs}
        slugs |= {marker.lab.slug for marker in self.parsed.markers}
        known = {
            (marker.lab.slug, marker.provider_id): marker
            for marker in Marker.objects.filter(lab__in=list(labs.values()))
            .filter(lab__slug__in=slugs)
            .select_related("lab")
            .prefetch_related("expected_results")
        }
        keys = build_question_keys([*self.parsed.markers, *known.values()])
        results: dict[int, list[ExpectedResult]] = defaultdict(list)
        for result in self.parsed.results:
            results[id(result.marker)].append(result)
        for marker in self.parsed.markers:
            before = known.get((marker.lab.slug, marker.provider_id))
            self._compare_marker(marker, before, results[id(marker)], keys)
        self._compare_centers(list(labs.values()))
        if self.is_complete:
            self._retire_missing(known)
        self._require_no_open_orders()
        self._compare_panels()
        return self.found

    def _compare_lab(self, lab: Lab, before: Lab | None) -> None:
        lab.owner = self.owner
        lab.environment = (
            self.owner.environment if self.owner else Environment.PRODUCTION
        )
        lab.pk = before.pk if before else None
        old = describe_lab(before) if before else {}
        if self._add_change("labs", lab.slug, lab.name, old, describe_lab(lab)):
            self.found.labs.append(lab)

    def _compare_marker(
        self,
        marker: Marker,
        before: Marker | None,
        results: Sequence[ExpectedResult],
        keys: Mapping[str, str],
    ) -> None:
        row = self.parsed.places[marker.pk]
        key = f"{marker.lab.slug} {marker.provider_id}"
        was_retired = before.retired_at if before else None
        if id(marker) in self.retired:
            marker.retired_at = was_retired or self.at
            if before and not was_retired:
                error = CellError("retired", "")
                self.gone.append((before, row.build_fault(error)))
        marker.pk = before.pk if before else None
        old = describe_marker(before, keys) if before else {}
        new = describe_marker(marker, keys)
        if self._add_change("markers", key, marker.name, old, new):
            self.found.markers.append(marker)
            self._keep_version(before)
        self._compare_results(marker, before, results)

    def _compare_results(
        self,
        marker: Marker,
        before: Marker | None,
        results: Sequence[ExpectedResult],
    ) -> None:
        known = {one.provider_id: one for one in _results_of(before)}
        for result in results:
            stored = known.pop(result.provider_id, None)
            if stored and result.loinc_code in {"", stored.loinc_code}:
                result.loinc_code = stored.loinc_code
                result.loinc_name = result.loinc_name or stored.loinc_name
            result.pk = stored.pk if stored else None
            self._compare_result(marker, before, result, stored)
        for missing in known.values() if self.is_complete else ():
            copy = _copy(missing)
            copy.required = False
            self._compare_result(marker, before, copy, missing)

    def _compare_result(
        self,
        marker: Marker,
        before: Marker | None,
        result: ExpectedResult,
        stored: ExpectedResult | None,
    ) -> None:
        result.marker = marker
        key = f"{marker.lab.slug} {marker.provider_id} {result.provider_id}"
        old = describe_result(stored) if stored else {}
        new = describe_result(result)
        if self._add_change("expected_results", key, result.name, old, new):
            self.found.results.append(result)
            self._keep_version(before)

    def _compare_centers(self, labs: Sequence[Lab]) -> None:
        """Compare service centers; visits name theirs, so that none is deleted."""
        slugs = {center.lab.slug for center in self.parsed.centers}
        stored = ServiceCenter.objects.filter(lab__in=labs, lab__slug__in=slugs)
        known = {
            (center.lab.slug, center.site_code): center
            for center in stored.select_related("lab").order_by("lab", "site_code")
        }
        for center in self.parsed.centers:
            before = known.pop((center.lab.slug, center.site_code), None)
            self._compare_center(center, before)
        for missing in known.values() if self.is_complete else ():
            gone = _copy(missing)
            gone.pk, gone.lab, gone.is_active = None, missing.lab, False
            self._compare_center(gone, missing)

    def _compare_center(
        self, center: ServiceCenter, before: ServiceCenter | None
    ) -> None:
        key = f"{center.lab.slug} {center.site_code}"
        old = describe_service_center(before) if before else {}
        new = describe_service_center(center)
        if self._add_change("service_centers", key, center.name, old, new):
            self.found.centers.append(center)

    def _keep_version(self, before: Marker | None) -> None:
        if before is not None:
            self.found.changed[before.pk] = before

    def _add_change(
        self,
        table: str,
        key: str,
        name: str,
        old: Mapping[str, str],
        new: Mapping[str, str],
    ) -> bool:
        """Note the difference of two rows; False if there is none."""
        if old == new:
            return False
        kind = ChangeKind.CHANGED if old else ChangeKind.ADDED
        if old and old.get("retired") != new.get("retired"):
            is_gone = new["retired"] == "true"
            kind = ChangeKind.RETIRED if is_gone else ChangeKind.RESTORED
        fields = tuple(
            (column, old.get(column, ""), value)
            for column, value in new.items()
            if old and old[column] != value
        )
        self.found.changes.append(Change(kind, table, key, name, fields))
        return True

    def _retire_missing(self, known: Mapping[tuple[str, str], Marker]) -> None:
        named = {(one.lab.slug, one.provider_id) for one in self.parsed.markers}
        given = {slug for slug, _code in named}
        for (slug, code), marker in known.items():
            if (slug, code) in named or marker.retired_at is not None:
                continue
            if slug not in given:
                message = _("the list is said to be complete, but has no marker of %s")
                self.found.faults.append(Fault("markers.csv", message % slug))
                return
            gone = _copy(marker)
            gone.retired_at = self.at
            gone.is_orderable = gone.a_la_carte_enabled = False
            self.found.markers.append(gone)
            self._keep_version(marker)
            change = Change(
                ChangeKind.RETIRED, "markers", f"{slug} {code}", marker.name
            )
            self.found.changes.append(change)
            self.gone.append((marker, Fault("markers.csv", "")))

    def _require_no_open_orders(self) -> None:
        """Refuse to retire what an open order needs; orders of versions count too."""
        if not self.gone:
            return
        ids = [marker.pk for marker, _place in self.gone]
        open_orders = Order.unscoped.exclude(status__in=_ENDED)
        pairs: set[tuple[int, object]] = set()
        for path in ("lab_test__markers", "lab_test__versions__markers"):
            named = open_orders.filter(**{f"{path}__in": ids})
            pairs.update(named.values_list(path, "pk").distinct())
        counts = Counter(marker_id for marker_id, _order in pairs)
        for marker, place in self.gone:
            if number := counts[marker.pk]:
                text = ngettext(
                    "%(code)s is in %(number)d open order: set is_orderable to false"
                    " and retire it when the order is done",
                    "%(code)s is in %(number)d open orders: set is_orderable to false"
                    " and retire it when the orders are done",
                    number,
                ) % {"code": marker.provider_id, "number": number}
                self._refuse(place, text)

    def _compare_panels(self) -> None:
        """Find panels that lose markers or whose sum of prices changes."""
        gone = {marker.pk: place for marker, place in self.gone}
        new = {marker.pk: marker for marker in self.found.markers if marker.pk}
        panels = (
            LabTest.unscoped.filter(markers__in=list(new))
            .distinct()
            .select_related("tenant__team", "lab")
            .prefetch_related("markers")
            .order_by("created_at", "pk")
        )
        for panel in panels:
            old = sorted(panel.markers.all(), key=lambda marker: marker.pk)
            # An archived panel, or one made for an order, keeps what it was made of,
            # and can't be ordered as long as a marker of it is retired.
            is_kept = (
                panel.generation == Generation.AUTO
                or panel.status == LabTestStatus.INACTIVE
            )
            kept = [marker for marker in old if is_kept or marker.pk not in gone]
            if not kept:
                text = _("panel %(panel)s of %(team)s would be empty: archive it first")
                names = {"panel": panel.name, "team": panel.tenant.team.name}
                self._refuse(gone[old[0].pk], text % names)
                continue
            now = [new.get(marker.pk, marker) for marker in kept]
            is_sum = panel.price == sum_known_prices(old)
            is_derived = panel.fasting == any(marker.fasting for marker in old)
            change = PanelChange(
                panel,
                kept,
                sum_known_prices(now) if is_sum else panel.price,
                sum_prices(now) if is_sum else panel.price,
                any(one.fasting for one in now) if is_derived else panel.fasting,
            )
            if change.is_change:
                self._add_panel_change(change, old)

    def _add_panel_change(self, change: PanelChange, old: Sequence[Marker]) -> None:
        panel = change.panel
        pairs: tuple[tuple[str, Any, Any], ...] = (
            ("price", panel.known_price, change.known_price),
            ("fasting", panel.fasting, change.fasting),
            ("markers", _list_codes(old), _list_codes(change.markers)),
        )
        self.found.panels.append(change)
        fields = tuple(
            (name, "" if a is None else str(a), "" if b is None else str(b))
            for name, a, b in pairs
            if a != b
        )
        # A price that stays unknown is no difference, though what is known of it is.
        if fields:
            key = f"{panel.tenant.team.slug} {panel.slug}"
            self.found.changes.append(
                Change(ChangeKind.CHANGED, "panels", key, panel.name, fields)
            )

    def _refuse(self, place: Fault, message: str) -> None:
        fault = Fault(place.file, message, place.line, place.column)
        self.found.faults.append(fault)


def _results_of(marker: Marker | None) -> list[ExpectedResult]:
    found = list(marker.expected_results.all()) if marker else []
    return sorted(found, key=lambda result: result.provider_id)


def _list_codes(markers: Sequence[Marker]) -> str:
    return "|".join(marker.provider_id for marker in markers)


def _copy(row: Any) -> Any:
    """Return a row to change, without what was loaded with it."""
    values = {
        each.attname: getattr(row, each.attname) for each in row._meta.concrete_fields
    }
    copy = type(row)(**values)
    if isinstance(row, Marker):
        copy.lab = row.lab
    return copy
