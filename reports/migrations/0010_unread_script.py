"""Name the script of a report that could not be read."""

import reports.states
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reports", "0009_older_record_numbers")]

    operations = [
        migrations.AddField(
            model_name="parsingjob",
            name="unread_script",
            field=models.CharField(
                blank=True,
                choices=reports.states.UnreadScript.offered,
                db_default="",
                max_length=100,
            ),
        ),
    ]
