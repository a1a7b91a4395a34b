"""Versions of an order's results as reported by its lab. All health data."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from labs.models.catalogue import ExpectedResult
from labs.models.order import Order
from labs.states.catalogue import ResultType
from labs.states.orders import Interpretation
from labs.states.results import FailureType, ResultStatus
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy


class ResultVersion(TenantOwned):
    """All results of an order known after one delivery.

    Each version is whole: it repeats what earlier deliveries gave. `number` counts from
    1; `is_current` marks the last. `is_correction`: results that were final were
    changed. `interpretation` is the worst of its results, `unknown` where none is told.
    `has_new_critical`: a critical result that the version before did not have so.
    Times are those of the lab, `created_at` is when we stored it.
    """

    rules = TableRules(data_classes=("orders",))

    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, db_index=False, related_name="result_versions"
    )
    number = models.PositiveIntegerField()
    is_current = models.BooleanField(default=True)
    status = models.CharField(max_length=100, choices=ResultStatus.offered)
    is_correction = models.BooleanField(default=False)
    interpretation = models.CharField(max_length=100, choices=Interpretation.offered)
    has_new_critical = models.BooleanField(default=False)
    laboratory = models.CharField(max_length=200, blank=True)
    clia_number = models.CharField(max_length=20, blank=True)
    collected_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField(null=True)
    reported_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    actor_kind = models.CharField(max_length=10)
    actor_label = models.CharField(max_length=254)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("result version")
        verbose_name_plural = gettext_lazy("result versions")
        constraints = [
            models.UniqueConstraint(
                fields=["order", "number"], name="result_version_once_per_number"
            ),
            models.UniqueConstraint(
                fields=["order"],
                condition=models.Q(is_current=True),
                name="result_version_one_current",
            ),
        ]
        indexes = [
            models.Index(
                fields=["tenant", "-created_at"],
                condition=models.Q(has_new_critical=True),
                name="result_version_critical",
            )
        ]

    def __str__(self) -> str:
        return f"{self.order_id} version {self.number}"


class Result(TenantOwned):
    """One result of a version (contract 6.15), in the order the lab gave them.

    `result` is its text and `type` how to read it; `value` the number of a numeric one,
    in `unit`. `reference_range` is as the lab wrote it, its bounds None where open or
    not told. `interpretation` is empty where nothing tells one; `source_interpretation`
    is the lab's own flag. `provider_id` is the lab's code; with `sub_id`, which tells
    repeated ones apart, it is the same result in every version. `source_markers` are
    the orderable markers it came from, never none: marker_id, name, slug, provider_id.
    `is_preliminary`: the lab may still change it. `parsed_report_id` is the parsing job
    of a value that was read from a report, at row `parsed_position` of it.
    """

    rules = TableRules(data_classes=("orders",))

    version = models.ForeignKey(
        ResultVersion,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="results",
    )
    position = models.PositiveSmallIntegerField()
    expected_result = models.ForeignKey(
        ExpectedResult,
        on_delete=models.SET_NULL,
        null=True,
        db_index=False,
        related_name="+",
    )
    name = models.CharField(max_length=200)
    slug = models.CharField(max_length=200)
    type = models.CharField(max_length=100, choices=ResultType.offered)
    result = models.TextField()
    value = models.FloatField(null=True)
    unit = models.CharField(max_length=50, blank=True)
    observed_at = models.DateTimeField(null=True)
    reported_at = models.DateTimeField()
    is_preliminary = models.BooleanField(default=False)
    notes = models.TextField(blank=True)
    reference_range = models.TextField(blank=True)
    min_range_value = models.FloatField(null=True)
    max_range_value = models.FloatField(null=True)
    is_above_max_range = models.BooleanField(null=True)
    is_below_min_range = models.BooleanField(null=True)
    interpretation = models.CharField(
        max_length=100, choices=Interpretation.offered, blank=True
    )
    source_interpretation = models.CharField(max_length=100, blank=True)
    loinc = models.CharField(max_length=10, blank=True)
    loinc_slug = models.CharField(max_length=300, blank=True)
    provider_id = models.CharField(max_length=50, blank=True)
    sub_id = models.CharField(max_length=50, blank=True)
    performing_laboratory = models.CharField(max_length=200, blank=True)
    source_sample_id = models.CharField(max_length=100, blank=True)
    source_markers = models.JSONField()
    parsed_report_id = models.UUIDField(null=True)
    parsed_position = models.PositiveIntegerField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("result")
        verbose_name_plural = gettext_lazy("results")
        constraints = [
            models.UniqueConstraint(
                fields=["version", "position"], name="result_once_per_position"
            )
        ]
        indexes = [models.Index(fields=["tenant", "loinc"], name="result_by_loinc")]

    def __str__(self) -> str:
        return f"result {self.pk}"


class MissingResult(TenantOwned):
    """A result that a version lacks, with the reason where known."""

    rules = TableRules(data_classes=("orders",))

    version = models.ForeignKey(
        ResultVersion,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="missing_results",
    )
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=200)
    slug = models.CharField(max_length=200)
    failure_type = models.CharField(
        max_length=100, choices=FailureType.offered, default=FailureType.UNKNOWN
    )
    note = models.TextField(blank=True)
    loinc = models.CharField(max_length=10, blank=True)
    loinc_slug = models.CharField(max_length=300, blank=True)
    provider_id = models.CharField(max_length=50, blank=True)
    sub_id = models.CharField(max_length=50, blank=True)
    source_markers = models.JSONField()

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("missing result")
        verbose_name_plural = gettext_lazy("missing results")
        constraints = [
            models.UniqueConstraint(
                fields=["version", "position"], name="missing_result_once_per_position"
            )
        ]

    def __str__(self) -> str:
        return f"missing result {self.pk}"


class SampleData(TenantOwned):
    """A sample that results of a version come from (contract 6.15).

    Offsets are seconds east of UTC where the lab told them. `laboratories` maps a
    laboratory's code to name, phone_number, medical_director, address.
    """

    rules = TableRules(data_classes=("orders",))

    version = models.ForeignKey(
        ResultVersion,
        on_delete=models.CASCADE,
        db_index=False,
        related_name="samples",
    )
    sample_id = models.CharField(max_length=100)
    control_number = models.CharField(max_length=100, blank=True)
    collected_at = models.DateTimeField(null=True)
    collected_offset = models.IntegerField(null=True)
    received_at = models.DateTimeField(null=True)
    received_offset = models.IntegerField(null=True)
    reported_at = models.DateTimeField(null=True)
    reported_offset = models.IntegerField(null=True)
    laboratories = models.JSONField(default=dict)
    fasting = models.BooleanField(null=True)
    notes = models.TextField(blank=True)
    information = models.TextField(blank=True)
    total_volume = models.CharField(max_length=50, blank=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("sample")
        verbose_name_plural = gettext_lazy("samples")
        constraints = [
            models.UniqueConstraint(
                fields=["version", "sample_id"], name="sample_data_once_per_sample"
            )
        ]

    def __str__(self) -> str:
        return f"sample data {self.pk}"
