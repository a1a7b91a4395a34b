from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)
from django.db import migrations, models


class Migration(migrations.Migration):
    """Indexes that hold what the lists of orders narrow by, in place of those without."""

    atomic = False

    dependencies = [("labs", "0001_initial")]

    operations = [
        AddIndexConcurrently(
            model_name="order",
            index=models.Index(
                fields=["tenant", "-created_at", "id"],
                include=(
                    "user",
                    "status",
                    "lab",
                    "lab_account",
                    "method",
                    "interpretation",
                    "sample_id",
                ),
                name="order_in_list",
            ),
        ),
        AddIndexConcurrently(
            model_name="order",
            index=models.Index(
                fields=["tenant", "status", "-created_at"],
                include=("user", "updated_at"),
                name="order_in_status",
            ),
        ),
        AddIndexConcurrently(
            model_name="order",
            index=models.Index(
                condition=models.Q(("sample_id", ""), _negated=True),
                fields=["tenant", "sample_id"],
                name="order_by_sample",
            ),
        ),
        AddIndexConcurrently(
            model_name="order",
            index=models.Index(
                condition=models.Q(("interpretation", ""), _negated=True),
                fields=["tenant", "interpretation", "-created_at"],
                include=("user", "updated_at"),
                name="order_in_interpretation",
            ),
        ),
        RemoveIndexConcurrently(model_name="order", name="order_by_time"),
        RemoveIndexConcurrently(model_name="order", name="order_by_status"),
        RemoveIndexConcurrently(model_name="order", name="order_by_interpretation"),
    ]
