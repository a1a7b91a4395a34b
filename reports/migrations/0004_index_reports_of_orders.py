"""Index the reports of orders, without locking their table."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("reports", "0003_by_document")]

    operations = [
        AddIndexConcurrently(
            model_name="parsingjob",
            index=models.Index(
                condition=models.Q(("order__isnull", False)),
                fields=["order"],
                name="job_by_order",
            ),
        ),
    ]
