"""Let an order be imported beside its history of another platform."""

from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    locks_because = "both indexes are built and dropped concurrently, one by one"

    dependencies = [
        ("labs", "0031_moved_orders"),
    ]

    operations = [
        migrations.RunSQL(
            "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS order_sample_once_at_lab"
            " ON labs_order (lab_id, sample_id)"
            " WHERE (NOT (sample_id = '') AND moved_from = '')",
            "DROP INDEX CONCURRENTLY IF EXISTS order_sample_once_at_lab",
            state_operations=[
                migrations.AddConstraint(
                    model_name="order",
                    constraint=models.UniqueConstraint(
                        condition=~models.Q(sample_id="") & models.Q(moved_from=""),
                        fields=("lab", "sample_id"),
                        name="order_sample_once_at_lab",
                    ),
                )
            ],
        ),
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS order_sample_once_per_lab",
            "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS order_sample_once_per_lab"
            " ON labs_order (lab_id, sample_id) WHERE (NOT (sample_id = ''))",
            state_operations=[
                migrations.RemoveConstraint(
                    model_name="order", name="order_sample_once_per_lab"
                )
            ],
        ),
    ]
