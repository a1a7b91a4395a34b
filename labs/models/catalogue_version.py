"""What the catalogue said before an update: orders keep what they were placed with."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import models
from django.utils import timezone

from labs.models.catalogue import ExpectedResult, LabTest, Marker
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

_UNVERSIONED = frozenset({"id", "lab", "marker", "retired_at"})


class CatalogueUpdate(models.Model):
    """An update of production's catalogue, or of a tenant's own: checked, then applied.

    `owner` is the tenant whose own labs it updates, None for the shared ones. `content`
    is what it reads, compressed; `is_complete`: markers it lacks are retired.
    `base` is the number of the update it was checked against, 0 for none; `number`
    counts those of its catalogue that were applied. `changes` are the differences it
    made or will make.
    """

    rules = TableRules(
        without_tenant="as labs.Lab",
        without_user="reference data, of the installation or of a team",
        retention="the catalogue's history; one not applied goes with the next check",
        owner_lookup="owner",
        route_parameters={"update_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        "accounts.Tenant", on_delete=models.PROTECT, null=True, related_name="+"
    )
    content = models.BinaryField()
    is_complete = models.BooleanField(default=False)
    base = models.PositiveIntegerField()
    number = models.PositiveIntegerField(null=True)
    changes = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.CharField(max_length=254)
    applied_at = models.DateTimeField(null=True)
    applied_by = models.CharField(max_length=254, blank=True)

    class Meta:
        verbose_name = gettext_lazy("catalog update")
        verbose_name_plural = gettext_lazy("catalog updates")
        constraints = [
            models.UniqueConstraint(
                fields=["number"],
                condition=models.Q(owner=None),
                name="catalogue_update_number",
            ),
            models.UniqueConstraint(
                fields=["owner", "number"],
                condition=models.Q(owner__isnull=False),
                name="catalogue_update_number_of_owner",
            ),
        ]

    def __str__(self) -> str:
        return f"catalogue {self.number}" if self.number else "catalogue draft"


class MarkerVersion(models.Model):
    """A marker as it was until `replaced_at`.

    `values` are its columns by name, `results` those of its expected results with their
    ids; decimals are texts.
    """

    rules = TableRules(
        without_tenant="as labs.Lab",
        without_user="reference data, shared by all teams",
        retention="kept while an order may name the marker",
    )

    marker = models.ForeignKey(
        Marker, on_delete=models.CASCADE, related_name="versions"
    )
    replaced_at = models.DateTimeField()
    values = models.JSONField()
    results = models.JSONField()

    class Meta:
        verbose_name = gettext_lazy("marker version")
        verbose_name_plural = gettext_lazy("marker versions")

    def __str__(self) -> str:
        return f"marker {self.marker_id} until {self.replaced_at:%Y-%m-%d}"


class LabTestVersion(TenantOwned):
    """The markers, price and fasting of a panel until `replaced_at`."""

    rules = TableRules(
        without_fence="as labs.LabTest",
        without_user="belongs to a team's catalog",
        retention="with the panel",
    )

    lab_test = models.ForeignKey(
        LabTest, on_delete=models.CASCADE, related_name="versions"
    )
    replaced_at = models.DateTimeField()
    price = models.DecimalField(max_digits=9, decimal_places=2)
    fasting = models.BooleanField()
    markers = models.ManyToManyField(Marker, related_name="+")

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("lab test version")
        verbose_name_plural = gettext_lazy("lab test versions")

    def __str__(self) -> str:
        return f"lab test {self.lab_test_id} until {self.replaced_at:%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class PlacedTest:
    """A panel as an order was placed with it; `markers` by id, not to be saved."""

    markers: tuple[Marker, ...]
    price: Decimal
    fasting: bool

    @property
    def needs_fasting(self) -> bool:
        """Return whether the panel or any of its markers requires fasting."""
        return self.fasting or any(marker.fasting for marker in self.markers)


def build_placed_test(*, panel: LabTest, at: datetime) -> PlacedTest:
    """Return a panel with its markers as they were at `at`.

    Asks nothing where `markers__versions` and `versions__markers__versions` are loaded.
    Source: Ours: an update of the catalogue changes no order.
    """
    version: Any = _find_version(panel.versions.all(), at)
    held: Any = version or panel
    markers = sorted(held.markers.all(), key=lambda marker: marker.pk)
    return PlacedTest(
        markers=tuple(get_marker_as_of(marker, at) for marker in markers),
        price=held.price,
        fasting=held.fasting,
    )


def get_marker_as_of(marker: Marker, at: datetime) -> Marker:
    """Return a marker with its expected results as they were at `at`."""
    version: Any = _find_version(marker.versions.all(), at)
    if version is None:
        return marker
    values = dict(version.values)
    if values["price"] is not None:
        values["price"] = Decimal(values["price"])
    # Columns that are younger than the version have their defaults.
    past = Marker(pk=marker.pk, lab_id=marker.lab_id, **values)
    past._state.adding, past._state.db = False, marker._state.db
    if "lab" in marker._state.fields_cache:
        past.lab = marker.lab
    results = ExpectedResult.objects.filter(marker=marker)
    cache: Any = results
    cache._result_cache = [
        ExpectedResult(marker_id=marker.pk, **each) for each in version.results
    ]
    cache._prefetch_done = True
    past._prefetched_objects_cache = {"expected_results": cache}  # type: ignore[attr-defined]
    return past


def build_marker_version(marker: Marker, *, replaced_at: datetime) -> MarkerVersion:
    """Build the version of a marker whose expected results are loaded."""
    return MarkerVersion(
        marker=marker,
        replaced_at=replaced_at,
        values=_read_columns(marker),
        results=[
            {"id": each.pk, **_read_columns(each)}
            for each in sorted(marker.expected_results.all(), key=lambda one: one.pk)
        ],
    )


def _read_columns(row: models.Model) -> dict[str, Any]:
    values = {
        field.name: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if field.name not in _UNVERSIONED
    }
    return {
        name: value if value is None or not isinstance(value, Decimal) else str(value)
        for name, value in values.items()
    }


def _find_version(versions: Iterable[Any], at: datetime) -> Any:
    """Return the version that held at `at`; None where the present one did."""
    later = [version for version in versions if version.replaced_at > at]
    return min(later, key=lambda one: (one.replaced_at, one.pk), default=None)
