"""Let deliveries and attempts be counted by their index alone, past the fence.

It compares the tenant, which the indexes did not have: each count read every row.
"""

from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("webhooks", "0003_fence_deliveries")]

    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                fields=["endpoint", "-created_at", "-id"],
                include=("tenant", "status", "attempts"),
                name="delivery_logged",
            ),
        ),
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                fields=["endpoint", "status", "-created_at", "-id"],
                include=("tenant",),
                name="delivery_with_status",
            ),
        ),
        AddIndexConcurrently(
            model_name="attempt",
            index=models.Index(
                fields=["endpoint", "started_at"],
                include=("tenant", "succeeded", "total_ms"),
                name="attempt_timed",
            ),
        ),
        RemoveIndexConcurrently(model_name="delivery", name="delivery_in_log"),
        RemoveIndexConcurrently(model_name="delivery", name="delivery_in_status"),
        RemoveIndexConcurrently(model_name="attempt", name="attempt_in_time"),
    ]
