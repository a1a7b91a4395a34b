"""Let deliveries of a type, and those tried again, be counted by their index alone.

The fence compares the tenant, which the indexes did not have, as in the migration
before. Behind the endpoint: nothing asks for all of a tenant.
"""

from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("webhooks", "0004_count_by_index_alone")]

    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                fields=["endpoint", "event_type", "-created_at", "-id"],
                include=("tenant",),
                name="delivery_with_type",
            ),
        ),
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                fields=["endpoint", "-created_at", "-id"],
                include=("tenant", "attempts"),
                condition=models.Q(attempts__gt=1),
                name="delivery_tried_again",
            ),
        ),
        RemoveIndexConcurrently(model_name="delivery", name="delivery_of_type"),
        RemoveIndexConcurrently(model_name="delivery", name="delivery_retried"),
    ]
