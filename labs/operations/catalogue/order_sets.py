"""Order sets: find panels and added markers, and combine them into one panel."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import Prefetch
from django.utils.translation import gettext as _

from labs.models import LabTest, Marker
from labs.models.catalogue import PANEL_NAME_MAX_LENGTH, sum_known_prices, sum_prices
from labs.operations.catalogue.locks import lock_catalogue_for_order
from labs.states.catalogue import Generation, LabTestStatus
from portal.lib.errors import DomainError, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from accounts.models import Tenant
    from labs.models import Lab
    from labs.states.catalogue import CollectionMethod


_ORDERABLE = frozenset({LabTestStatus.ACTIVE})
# An archived panel takes no new order; an order of it may be recreated.
_ORDERED_BEFORE = frozenset({LabTestStatus.ACTIVE, LabTestStatus.INACTIVE})


@dataclass(frozen=True, slots=True)
class OrderSet:
    """Panels by id, and markers by id or lab code, not both."""

    lab_test_ids: tuple[UUID, ...] = ()
    marker_ids: tuple[int, ...] = ()
    provider_ids: tuple[str, ...] = ()
    has_add_on: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedSet:
    """The panels, markers, lab and method of an order set.

    `markers` are all that are ordered, those of the panels first, each once.
    """

    lab: Lab
    method: CollectionMethod | str
    panels: tuple[LabTest, ...]
    added: tuple[Marker, ...]
    markers: tuple[Marker, ...]

    @property
    def price(self) -> Decimal | None:
        """Return what the lab charges for the set in US dollars; None if unknown.

        A single panel may have a price of its own. Any other is the sum of its markers,
        each once, and is unknown while one of them has no price.
        """
        if len(self.panels) == 1 and not self.added:
            return self.panels[0].known_price
        return sum_prices(self.markers)


def resolve_order_set(
    *,
    tenant: Tenant,
    order_set: OrderSet,
    method: CollectionMethod | str | None = None,
    lab: Lab | None = None,
) -> ResolvedSet:
    """Find an order set's panels and markers and check they fit one order.

    `lab` is that of a chosen lab account, which limits what may be ordered. Raises:
    lab_test_not_found, marker_not_found (404); order_set_empty, add_on_invalid,
    collection_method_missing, collection_method_mismatch, several_labs,
    lab_test_not_active, marker_not_orderable. Source: Contract 6.4, 6.6.
    """
    lock_catalogue_for_order(tenant)
    return check_order_set(tenant=tenant, order_set=order_set, method=method, lab=lab)


def check_order_set(
    *,
    tenant: Tenant,
    order_set: OrderSet,
    method: CollectionMethod | str | None = None,
    lab: Lab | None = None,
) -> ResolvedSet:
    """Resolve an order set that is not ordered now: no catalogue update waits for it.

    Raises: as resolve_order_set. Source: Contract 6.4, 6.6.
    """
    _validate_add_on(order_set)
    _require_method_of_add_on(order_set, method)
    panels = _find_panels(tenant, order_set.lab_test_ids)
    _require_status_of_panels(panels, _ORDERABLE)
    _require_no_retired_marker(panels)
    return _combine(tenant, order_set, panels, method, lab)


def resolve_recreated_order_set(
    *,
    tenant: Tenant,
    order_set: OrderSet,
    method: CollectionMethod | str | None = None,
    lab: Lab | None = None,
) -> ResolvedSet:
    """Find the order set of a recreated order, including archived panels.

    Raises: as resolve_order_set. Source: Contract 6.6, 6.14.
    """
    _validate_add_on(order_set)
    _require_method_of_add_on(order_set, method)
    lock_catalogue_for_order(tenant)
    panels = _find_panels(tenant, order_set.lab_test_ids)
    _require_status_of_panels(panels, _ORDERED_BEFORE)
    _require_no_retired_marker(panels)
    return _combine(tenant, order_set, panels, method, lab)


def list_markers_of_order_set(
    *, tenant: Tenant, order_set: OrderSet, lab: Lab | None = None
) -> tuple[int, ...]:
    """List the marker ids of an order set, including archived panels.

    Raises: lab_test_not_found, marker_not_found (404); add_on_invalid,
    lab_account_missing, lab_test_not_active, marker_not_orderable. Source: Contract
    6.2.
    """
    _validate_add_on(order_set)
    panels = _find_panels(tenant, order_set.lab_test_ids)
    _require_status_of_panels(panels, _ORDERED_BEFORE)
    of_lab = lab or (panels[0].lab if panels else None)
    added = _find_markers(tenant, order_set, of_lab)
    held = [marker for panel in panels for marker in panel.markers.all()]
    return tuple(sorted({marker.pk for marker in (*held, *added)}))


def find_or_create_panel_of_order_set(
    *, tenant: Tenant, resolved: ResolvedSet
) -> LabTest:
    """Return a resolved set's panel; create one for several or for added markers.

    A made panel is found again for the same markers. Source: Contract 6.3 (auto).
    """
    if len(resolved.panels) == 1 and not resolved.added:
        return resolved.panels[0]
    names = [panel.name for panel in resolved.panels]
    names += [marker.name for marker in resolved.added]
    numbers = sorted(marker.pk for marker in resolved.markers)
    text = f"{resolved.method} {' '.join(map(str, numbers))}"
    slug = f"auto-{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    rows = LabTest.objects.for_tenant(tenant).select_related("lab")
    known: LabTest | None = rows.filter(reference_slug=slug).first()
    if known is not None:
        return known
    panel = LabTest(
        tenant=tenant,
        lab=resolved.lab,
        name=_join_panel_names(names),
        slug=slug,
        reference_slug=slug,
        sample_type=resolved.markers[0].sample_type,
        method=str(resolved.method),
        price=sum_known_prices(resolved.markers),
        fasting=any(marker.fasting for marker in resolved.markers),
        status=LabTestStatus.ACTIVE,
        generation=Generation.AUTO,
    )
    try:
        with transaction.atomic():
            panel.save(force_insert=True)
            panel.markers.set(resolved.markers)
    except IntegrityError:
        # A racing order made it first.
        made: LabTest = rows.get(reference_slug=slug)
        return made
    return panel


def _validate_add_on(order_set: OrderSet) -> None:
    is_one = bool(order_set.marker_ids) != bool(order_set.provider_ids)
    if order_set.has_add_on and not is_one:
        raise DomainError(
            "add_on_invalid",
            _("Send either marker_ids or provider_ids."),
            "add_on",
        )


def _require_method_of_add_on(
    order_set: OrderSet, method: CollectionMethod | str | None
) -> None:
    if order_set.has_add_on and method is None:
        raise DomainError(
            "collection_method_missing",
            _("Send collection_method: an order without a panel requires it."),
            "collection_method",
        )


def _find_panels(tenant: Tenant, ids: Sequence[UUID]) -> tuple[LabTest, ...]:
    panel_ids = dict.fromkeys(ids)
    rows = LabTest.objects.for_tenant(tenant).filter(pk__in=panel_ids)
    found = {
        panel.pk: panel
        for panel in rows.select_related("lab").prefetch_related(
            Prefetch("markers", Marker.objects.order_by("pk"))
        )
    }
    if panel_ids.keys() - found.keys():
        raise NotFound("lab_test_not_found", _("Lab test not found."), "lab_test_ids")
    return tuple(found[pk] for pk in panel_ids)


def _require_status_of_panels(
    panels: Sequence[LabTest], allowed: frozenset[LabTestStatus]
) -> None:
    for panel in panels:
        if panel.status not in allowed:
            raise DomainError(
                "lab_test_not_active",
                _("%(panel)s can't be ordered: its status is %(status)s.")
                % {"panel": panel.name, "status": panel.status},
                "lab_test_ids",
            )


def _require_no_retired_marker(panels: Sequence[LabTest]) -> None:
    """Refuse a panel that still has a marker which its lab retired."""
    for panel in panels:
        for marker in panel.markers.all():
            if marker.retired_at is not None:
                raise DomainError(
                    "marker_not_orderable",
                    _("%(panel)s can't be ordered: the lab retired %(marker)s.")
                    % {"panel": panel.name, "marker": marker.name},
                    "lab_test_ids",
                )


def _combine(
    tenant: Tenant,
    order_set: OrderSet,
    panels: tuple[LabTest, ...],
    method: CollectionMethod | str | None,
    lab: Lab | None,
) -> ResolvedSet:
    """Combine panels with the markers added to them; refuse what is not one order."""
    if not panels and not order_set.has_add_on:
        raise DomainError(
            "order_set_empty", _("Choose at least one test."), "order_set"
        )
    method = _choose_collection_method(panels, method)
    of_lab = lab or (panels[0].lab if panels else None)
    added = _find_markers(tenant, order_set, of_lab)
    labs = {panel.lab_id for panel in panels} | {marker.lab_id for marker in added}
    if len(labs | ({lab.pk} if lab else set())) > 1:
        raise DomainError(
            "several_labs",
            _("Choose tests of one lab: the lab of the account."),
            "order_set",
        )
    markers: dict[int, Marker] = {}
    for panel in panels:
        markers.update({marker.pk: marker for marker in panel.markers.all()})
    markers.update({marker.pk: marker for marker in added})
    found_lab = of_lab or added[0].lab
    return ResolvedSet(found_lab, method, panels, added, tuple(markers.values()))


def _choose_collection_method(
    panels: Sequence[LabTest], method: CollectionMethod | str | None
) -> CollectionMethod | str:
    methods = {panel.method for panel in panels}
    if method is None and len(methods) == 1:
        return methods.pop()
    if method is None:
        raise DomainError(
            "collection_method_missing",
            _("Choose a collection method: these tests have several."),
            "collection_method",
        )
    if methods - {str(method)}:
        raise DomainError(
            "collection_method_mismatch",
            _("Some of these tests can't be collected by %(method)s.")
            % {"method": method},
            "collection_method",
        )
    return method


def _find_markers(
    tenant: Tenant, order_set: OrderSet, lab: Lab | None
) -> tuple[Marker, ...]:
    rows = Marker.objects.visible_to(tenant).select_related("lab")
    if order_set.marker_ids:
        requested: set[object] = set(order_set.marker_ids)
        found: dict[object, Marker] = {
            m.pk: m for m in rows.filter(pk__in=order_set.marker_ids).order_by("pk")
        }
    elif order_set.provider_ids:
        # A lab's code means nothing without its lab.
        if lab is None:
            raise DomainError(
                "lab_account_missing",
                _("Send a panel or lab_account_id together with provider_ids."),
                "add_on",
            )
        requested = set(order_set.provider_ids)
        of_lab = rows.filter(lab=lab, provider_id__in=order_set.provider_ids)
        found = {m.provider_id: m for m in of_lab.order_by("pk")}
    else:
        return ()
    if requested - set(found):
        raise NotFound("marker_not_found", _("Marker not found."), "add_on")
    for marker in found.values():
        if not (marker.a_la_carte_enabled and marker.is_orderable):
            raise DomainError(
                "marker_not_orderable",
                _("%(marker)s can't be ordered on its own.") % {"marker": marker.name},
                "add_on",
            )
    return tuple(found.values())


def _join_panel_names(names: Sequence[str]) -> str:
    name = " + ".join(names)
    if len(name) <= PANEL_NAME_MAX_LENGTH:
        return name
    return f"{names[0][:100]} + {len(names) - 1} more"
