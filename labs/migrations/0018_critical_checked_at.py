"""Note which reports were searched for critical results.

Those from before critical results of unmatched reports had a clock were not: they are
without a time, and a job searches those that are still unmatched.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("labs", "0017_catalogue_versions")]

    operations = [
        migrations.AddField(
            model_name="inboundreport",
            name="critical_checked_at",
            field=models.DateTimeField(null=True),
        ),
    ]
