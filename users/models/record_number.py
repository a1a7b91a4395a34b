"""RecordNumber: a number by which people find a record of a user."""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models

from portal.lib.table_rules import TableRules
from portal.lib.tenancy import TenantOwned
from users.models.user import User
from users.states.people import NumberedKind

# As long as the longest number of a lab (labs.models.inbound).
NUMBER_MAX_LENGTH = 200


class RecordNumber(TenantOwned):
    """A number of an order or report: its ID, or one of its sample, lab or visit.

    `record` is the ID of the order or report. `number` is in capitals, letters and
    digits alone, as people leave out hyphens and spaces. Triggers of the tables where
    numbers stand keep it, as PostgreSQL keeps an index: no writer can forget it.
    Source: Ours: LIKE is not leakproof, so that a policy keeps an index of letters from
    use; a function of the owner, whom the policy lets pass, uses it (0028).
    """

    rules = TableRules(
        without_fence="its policy lets the owner pass, for an index of letters",
    )

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=20, choices=NumberedKind.offered)
    record = models.UUIDField()
    number = models.CharField(max_length=NUMBER_MAX_LENGTH)

    class Meta(TenantOwned.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["record", "number"], name="record_number_once"
            )
        ]
        indexes = [
            GinIndex(OpClass("number", "gin_trgm_ops"), name="record_number_by_part")
        ]

    def __str__(self) -> str:
        return f"number of {self.kind} {self.record}"
