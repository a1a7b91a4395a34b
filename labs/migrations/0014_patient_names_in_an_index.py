from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)
from django.db import migrations, models


class Migration(migrations.Migration):
    """An index that is read through, in place of one that the fence keeps unused."""

    atomic = False

    dependencies = [("labs", "0013_patient_notices")]

    operations = [
        AddIndexConcurrently(
            model_name="order",
            index=models.Index(
                fields=["tenant", "patient_name", "id"],
                include=("user", "created_at", "lab", "patient_dob", "recipient_name"),
                name="order_by_patient",
            ),
        ),
        RemoveIndexConcurrently(model_name="order", name="order_by_part_of_patient"),
    ]
