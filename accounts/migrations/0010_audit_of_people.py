from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("accounts", "0009_order_approval_notices"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="auditentry",
            index=models.Index(
                condition=models.Q(("actor_kind", "system"), _negated=True),
                fields=["tenant", "-at", "-id"],
                name="audit_of_people",
            ),
        ),
    ]
