from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("labs", "0014_hl7_connections"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="inboundmessage",
            index=models.Index(
                fields=["lab_account", "control_id"],
                name="inbound_message_by_control",
            ),
        ),
    ]
