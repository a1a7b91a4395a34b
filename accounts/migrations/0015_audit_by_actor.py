from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("accounts", "0014_audit_seals_and_request_ids")]

    operations = [
        AddIndexConcurrently(
            model_name="auditentry",
            index=models.Index(
                fields=["tenant", "actor_key", "-at"], name="audit_by_actor"
            ),
        )
    ]
