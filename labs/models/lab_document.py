"""Documents that labs send with results. All health data."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone

from labs.models.order import Order
from labs.states.lab_documents import DocumentFault, LabDocumentStatus
from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from portal.lib.translation import gettext_lazy

POINTER_MAX_LENGTH = 1000


class LabDocument(TenantOwned):
    """One document of an order as its lab sent it; all versions are kept.

    `number` counts the order's documents from 1. Those of one `series`, a digest of the
    lab's codes, are versions of one another. `results_version` is the number of the
    results that it came with, None where there were none. `content` is the file until
    it is checked; then an available one is `stored_as` in the default storage. `sha256`
    is of the file, of its text where that can't be decoded. `pointer` says where a
    document is that the lab only refers to; it is never followed. `holds_results`: its
    lab reports by document, and sent nothing else with it.
    """

    rules = TableRules(
        data_classes=("orders",), route_parameters={"lab_document_id": "pk"}
    )

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    order = models.ForeignKey(
        Order, on_delete=models.CASCADE, db_index=False, related_name="lab_documents"
    )
    number = models.PositiveIntegerField()
    series = models.CharField(max_length=64)
    results_version = models.PositiveIntegerField(null=True)
    status = models.CharField(max_length=100, choices=LabDocumentStatus.offered)
    fault = models.CharField(max_length=100, choices=DocumentFault.offered, blank=True)
    name = models.CharField(max_length=200)
    pointer = models.CharField(max_length=POINTER_MAX_LENGTH, blank=True)
    content = models.BinaryField(default=bytes)
    stored_as = models.CharField(max_length=100, blank=True)
    holds_results = models.BooleanField(default=False, db_default=False)
    size = models.PositiveIntegerField(default=0)  # bytes
    sha256 = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    checked_at = models.DateTimeField(null=True)

    class Meta(TenantOwned.Meta):
        verbose_name = gettext_lazy("lab document")
        verbose_name_plural = gettext_lazy("lab documents")
        constraints = [
            models.UniqueConstraint(
                fields=["order", "number"], name="lab_document_once_per_number"
            ),
            models.UniqueConstraint(
                fields=["stored_as"],
                condition=~models.Q(stored_as=""),
                name="lab_document_once_per_file",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.order_id} document {self.number}"
