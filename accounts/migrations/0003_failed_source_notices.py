"""Notify of sources that failed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_go_live"),
    ]

    operations = [
        migrations.AlterField(
            model_name="notice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("critical_result", "Critical results"),
                    ("failing_endpoint", "Failing endpoints"),
                    ("silent_source", "Silent sources"),
                    ("failed_source", "Failed sources"),
                ],
                max_length=30,
            ),
        ),
    ]
