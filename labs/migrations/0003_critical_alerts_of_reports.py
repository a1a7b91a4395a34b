"""Let critical alerts be of lab reports that no order was found for."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labs", "0002_shipment_events")]

    operations = [
        migrations.AddField(
            model_name="inboundreport",
            name="critical_results",
            field=models.JSONField(
                default=list, db_default=models.Value([], models.JSONField())
            ),
        ),
        migrations.AddField(
            model_name="inboundreport",
            name="alert",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="reports",
                to="labs.criticalalert",
            ),
        ),
        migrations.AlterField(
            model_name="criticalalert",
            name="order",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="critical_alerts",
                to="labs.order",
            ),
        ),
        migrations.AlterField(
            model_name="criticalalert",
            name="version",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="labs.resultversion",
            ),
        ),
    ]
