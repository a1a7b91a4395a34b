from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("accounts", "0006_api_call_codes"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="apicall",
            index=models.Index(
                fields=["tenant", "-at", "-id"], name="api_call_by_tenant"
            ),
        ),
    ]
