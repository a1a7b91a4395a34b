"""Data of users whose retention a team chooses."""

from __future__ import annotations

from accounts.declarations.data_classes import DataClass
from portal.lib.translation import gettext_lazy
from users.operations.retention import (
    count_expired_annotations,
    count_expired_samples,
    count_expired_summaries,
    delete_expired_annotations,
    delete_expired_samples,
    delete_expired_summaries,
)

DATA_CLASSES = {
    "samples": DataClass(
        rank=20,
        title=gettext_lazy("Timeseries"),
        says=gettext_lazy(
            "Samples from wearables. Deleted by whole months, once the entire"
            " month is old enough."
        ),
        count=count_expired_samples,
        remove=delete_expired_samples,
        least_days=31,
    ),
    "summaries": DataClass(
        rank=30,
        title=gettext_lazy("Summaries"),
        says=gettext_lazy(
            "Days, nights, workouts and cycles, including workout streams."
        ),
        count=count_expired_summaries,
        remove=delete_expired_summaries,
        least_days=31,
    ),
    "annotations": DataClass(
        rank=35,
        title=gettext_lazy("Annotations"),
        says=gettext_lazy(
            "Travel, doses, illness and notes that members wrote beside a user's data,"
            " by their last day."
        ),
        count=count_expired_annotations,
        remove=delete_expired_annotations,
        least_days=31,
    ),
}
