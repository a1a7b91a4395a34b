"""Data of labs whose retention a team chooses."""

from __future__ import annotations

from accounts.declarations.data_classes import DataClass
from labs.operations.retention import (
    count_old_lab_messages,
    count_old_orders,
    delete_old_lab_messages,
    delete_old_orders,
)
from portal.lib.translation import gettext_lazy

DATA_CLASSES = {
    "lab_messages": DataClass(
        rank=40,
        title=gettext_lazy("Lab messages"),
        says=gettext_lazy(
            "Original HL7 messages that need no review. Results read from them stay."
        ),
        count=count_old_lab_messages,
        remove=delete_old_lab_messages,
        least_days=90,
    ),
    "orders": DataClass(
        rank=70,
        title=gettext_lazy("Orders and results"),
        says=gettext_lazy(
            "Ended orders with their results, visits and documents, counted"
            " from the last change."
        ),
        count=count_old_orders,
        remove=delete_old_orders,
        is_record=True,
    ),
}
