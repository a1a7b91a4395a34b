"""Reference data (Lab, Marker, ExpectedResult) and LabTest, a tenant's panel.

Labs and markers are shared by all tenants of an environment: those that ship are the
sandbox's, those of production are imported by the operator. A tenant may have labs of
its own, which no other tenant sees. Panels belong to a tenant; a sandbox gets those of
the reference data, so that archiving or renaming one affects no other tenant.
"""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Upper
from django.utils import timezone

from accounts.states import Environment
from labs.states.catalogue import (
    CollectionMethod,
    Container,
    Generation,
    LabTestStatus,
    MarkerType,
    ResultType,
    SampleType,
)
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantManager, TenantOwned, TenantQuerySet
from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from portal.lib.tenancy import HasPrimaryKey, TenantRow

PANEL_NAME_MAX_LENGTH = 150


class LabQuerySet(models.QuerySet["Lab"]):
    """Filters of labs."""

    def visible_to(self, tenant: TenantRow) -> LabQuerySet:
        """Return the shared labs of a tenant's environment and its own."""
        return self.filter(
            models.Q(owner=None) | models.Q(owner=tenant.pk),
            environment=tenant.environment,
        )

    def in_catalogue_of(self, owner: HasPrimaryKey | None) -> LabQuerySet:
        """Return a tenant's own labs, or production's shared ones for None."""
        if owner is not None:
            return self.filter(owner=owner.pk)
        return self.filter(owner=None, environment=Environment.PRODUCTION)


class Lab(models.Model):
    """A laboratory (contract 6.1); `id` is the wire's integer and never changes.

    Its markers, their results and its service centers are of its environment. `owner`
    is the tenant whose own lab it is, of the same environment; None for a lab that all
    share. A slug names one lab for each tenant. Source: Contract D23; Ours: own labs.
    """

    rules = TableRules(
        without_tenant="most are shared; read with visible_to or in_catalogue_of",
        without_user="reference data, of the installation or of a team",
        owner_lookup="owner",
    )

    id = models.PositiveIntegerField(primary_key=True)
    environment = models.CharField(
        max_length=10,
        choices=Environment.choices,
        default=Environment.SANDBOX,
        db_default=Environment.SANDBOX,
    )
    slug = models.SlugField(max_length=50)
    name = models.CharField(max_length=150)
    first_line_address = models.CharField(max_length=200)
    city = models.CharField(max_length=100)
    zipcode = models.CharField(max_length=10)
    collection_methods = ArrayField(models.CharField(max_length=100))
    sample_types = ArrayField(models.CharField(max_length=100))
    owner = models.ForeignKey(
        "accounts.Tenant", on_delete=models.PROTECT, null=True, related_name="+"
    )

    objects = models.Manager.from_queryset(LabQuerySet)()

    class Meta:
        verbose_name = gettext_lazy("lab")
        verbose_name_plural = gettext_lazy("labs")
        constraints = [
            models.UniqueConstraint(
                fields=["environment", "slug"],
                condition=models.Q(owner=None),
                name="lab_once_per_environment",
            ),
            models.UniqueConstraint(
                fields=["owner", "slug"],
                condition=models.Q(owner__isnull=False),
                name="lab_once_per_owner",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class MarkerQuerySet(models.QuerySet["Marker"]):
    """Filters of markers."""

    def visible_to(self, tenant: TenantRow) -> MarkerQuerySet:
        """Return the markers of the labs that a tenant sees."""
        return self.filter(
            models.Q(lab__owner=None) | models.Q(lab__owner=tenant.pk),
            lab__environment=tenant.environment,
        )


class Marker(models.Model):
    """An orderable item of a lab (contract 6.2); `id` is the wire's integer.

    `provider_id` is the lab's own code of the test. `price` in US dollars, None where
    the contract with the lab says it. `aoe_questions` are those of contract 6.2, asked
    at order entry. Turnaround is in days. `container` is the tube of venous blood, none
    for other samples. `stability` is how long the sample keeps, in hours by storage.
    `retired_at` is since when the lab offers it no more; it is in no panel then, and
    orders of it keep it.
    """

    rules = TableRules(
        without_tenant="as labs.Lab",
        without_user="reference data, shared by all teams",
        retention="with the lab",
        owner_lookup="lab__owner",
    )

    id = models.PositiveIntegerField(primary_key=True)
    lab = models.ForeignKey(Lab, on_delete=models.PROTECT, related_name="markers")
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=200)
    description = models.TextField(blank=True)
    provider_id = models.CharField(max_length=50)
    type = models.CharField(max_length=100, choices=MarkerType.offered)
    unit = models.CharField(max_length=50, blank=True)
    price = models.DecimalField(max_digits=9, decimal_places=2, null=True)
    sample_type = models.CharField(max_length=100, choices=SampleType.offered)
    container = models.CharField(
        max_length=100, choices=Container.offered, blank=True, default="", db_default=""
    )
    fasting = models.BooleanField(default=False)
    a_la_carte_enabled = models.BooleanField(default=True)
    is_orderable = models.BooleanField(default=True)
    common_tat_days = models.PositiveSmallIntegerField(null=True)
    worst_case_tat_days = models.PositiveSmallIntegerField(null=True)
    aoe_questions = models.JSONField(default=list)
    stability = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField())
    )
    retired_at = models.DateTimeField(null=True)

    objects = models.Manager.from_queryset(MarkerQuerySet)()

    class Meta:
        verbose_name = gettext_lazy("marker")
        verbose_name_plural = gettext_lazy("markers")
        constraints = [
            models.UniqueConstraint(
                fields=["lab", "provider_id"], name="marker_once_per_lab_code"
            )
        ]
        indexes = [
            GinIndex(
                OpClass(Upper("name"), "gin_trgm_ops"), name="marker_by_part_of_name"
            ),
        ]

    def __str__(self) -> str:
        return self.name


def sum_prices(markers: Collection[Marker]) -> Decimal | None:
    """Return what markers cost together in US dollars; None if one has no price."""
    prices = [marker.price for marker in markers]
    return None if None in prices else sum_known_prices(markers)


def sum_known_prices(markers: Iterable[Marker]) -> Decimal:
    """Return what the markers that have a price cost together in US dollars.

    It is what a panel without a price of its own is stored with, and no price to show:
    see `LabTest.known_price`.
    """
    return sum((marker.price or Decimal() for marker in markers), Decimal())


class ExpectedResult(models.Model):
    """A result a marker reports (contract 6.2), with bounds for simulation.

    `low` and `high` are the reference bounds in `unit`; `coded_values` the constants of
    a coded result, the normal one first. `loinc_name` is the official long common name.
    """

    rules = TableRules(
        without_tenant="as labs.Lab", without_user="reference data, shared by all teams"
    )

    id = models.PositiveIntegerField(primary_key=True)
    marker = models.ForeignKey(
        Marker, on_delete=models.CASCADE, related_name="expected_results"
    )
    name = models.CharField(max_length=200)
    slug = models.SlugField(max_length=200)
    provider_id = models.CharField(max_length=50)
    required = models.BooleanField(default=True)
    loinc_code = models.CharField(max_length=10, blank=True)
    loinc_name = models.CharField(max_length=300, blank=True)
    unit = models.CharField(max_length=50, blank=True)
    result_type = models.CharField(max_length=100, choices=ResultType.offered)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    coded_values = ArrayField(models.CharField(max_length=100), default=list)

    class Meta:
        verbose_name = gettext_lazy("expected result")
        verbose_name_plural = gettext_lazy("expected results")

    def __str__(self) -> str:
        return self.name


class LabTestQuerySet(TenantQuerySet["LabTest"]):
    """Filters of panels."""

    def orderable(self) -> LabTestQuerySet:
        """Return the panels that can be ordered."""
        return self.filter(status=LabTestStatus.ACTIVE)


class LabTest(TenantOwned):
    """A panel of a tenant (contract 6.3); `id` is the wire's.

    `price` in US dollars, that of its own or the sum of what its markers cost as far as
    it is known. `status_before_archive` is what unarchiving returns to.
    `reference_slug` names the entry of the reference set it was laid from, empty for a
    panel of the team's own.
    """

    rules = TableRules(
        without_fence="panels, of the catalogue",
        without_user="belongs to a team's catalog",
        retention="with the team",
        route_parameters={"lab_test_id": "pk"},
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lab = models.ForeignKey(Lab, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=PANEL_NAME_MAX_LENGTH)
    slug = models.SlugField(max_length=PANEL_NAME_MAX_LENGTH)
    description = models.TextField(blank=True)
    sample_type = models.CharField(max_length=100, choices=SampleType.offered)
    method = models.CharField(max_length=100, choices=CollectionMethod.offered)
    price = models.DecimalField(max_digits=9, decimal_places=2, default=0)
    fasting = models.BooleanField(default=False)
    status = models.CharField(
        max_length=100,
        choices=LabTestStatus.offered,
        default=LabTestStatus.PENDING_APPROVAL,
    )
    status_before_archive = models.CharField(max_length=100, blank=True)
    generation = models.CharField(
        max_length=100, choices=Generation.offered, default=Generation.MANUAL
    )
    has_collection_instructions = models.BooleanField(default=False)
    reference_slug = models.CharField(max_length=PANEL_NAME_MAX_LENGTH, blank=True)
    markers = models.ManyToManyField(Marker, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = TenantManager(LabTestQuerySet)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("lab test")
        verbose_name_plural = gettext_lazy("lab tests")
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "reference_slug"],
                condition=~models.Q(reference_slug=""),
                name="lab_test_once_per_reference",
            )
        ]
        indexes = [
            models.Index(fields=["tenant", "price", "id"], name="lab_test_by_price"),
            models.Index(
                fields=["tenant", "created_at", "id"], name="lab_test_by_creation"
            ),
            models.Index(
                fields=["tenant", "updated_at", "id"], name="lab_test_by_update"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def known_price(self) -> Decimal | None:
        """Return its price in US dollars; None if it is unknown. Load its markers.

        The wire requires a number as `price`, so what is stored counts markers without
        a price as 0. A price that is no such sum is one of the panel's own.
        """
        markers = self.markers.all()
        is_sum = self.price == sum_known_prices(markers)
        return sum_prices(markers) if is_sum else self.price
