"""Index the lab reports of critical alerts, without locking their table."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("labs", "0003_critical_alerts_of_reports")]

    operations = [
        AddIndexConcurrently(
            model_name="inboundreport",
            index=models.Index(
                condition=models.Q(("alert__isnull", False)),
                fields=["alert"],
                name="inbound_report_of_alert",
            ),
        ),
    ]
