from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    """An index for those asked for that needed more than one attempt: they are few."""

    atomic = False

    dependencies = [("webhooks", "0005_test_events")]

    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("attempts__gt", 1)),
                fields=["endpoint", "-created_at", "-id"],
                name="delivery_retried",
            ),
        ),
    ]
