"""IsolationRun: the findings of one run of the isolation report."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from portal.lib.table_rules import TableRules


class IsolationRun(models.Model):
    """A run of the isolation report; holds routes and numbers, no ids of rows.

    `refusals` are calls that were refused as they must be, by sweep; `open` those that
    were not, as [who, method, route, status]; `skipped` routes that the tenant has no
    row for.
    """

    rules = TableRules(
        without_tenant="an operators' report: addresses and numbers",
        without_user="addresses of the server and numbers, no ids",
        retention="the last 100 are kept",
    )

    at = models.DateTimeField(default=timezone.now, editable=False)
    seconds = models.FloatField()
    commit = models.CharField(max_length=40, blank=True)
    team = models.CharField(max_length=100)
    environment = models.CharField(max_length=20)
    methods = models.JSONField(default=list)
    endpoints = models.PositiveIntegerField()
    callers = models.PositiveIntegerField()
    refusals = models.JSONField(default=dict)
    open = models.JSONField(default=list)
    skipped = models.JSONField(default=list)
    tables = models.PositiveIntegerField()
    rows = models.PositiveBigIntegerField()

    class Meta:
        app_label = "portal"

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} on {self.team}"

    @property
    def refused(self) -> int:
        """Calls that were refused, in all sweeps."""
        return sum(self.refusals.values())
