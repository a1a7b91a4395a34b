"""Let the list of users be sorted by time zone, however many there are."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("users", "0026_operator_names")]

    operations = [
        AddIndexConcurrently(
            model_name="user",
            index=models.Index(
                condition=models.Q(("deleted_at", None)),
                fields=["tenant", "fallback_time_zone", "created_on", "uuid"],
                include=("id",),
                name="user_live_in_zone_order",
            ),
        ),
    ]
