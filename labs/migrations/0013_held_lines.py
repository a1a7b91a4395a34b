"""Add the doubts of reports, and how a lab is answered of them."""

from django.db import migrations, models

import labs.states.accounts


class Migration(migrations.Migration):
    dependencies = [("labs", "0012_lab_documents")]

    operations = [
        migrations.AddField(
            model_name="inboundreport",
            name="doubts",
            field=models.JSONField(
                db_default=models.Value([], models.JSONField()), default=list
            ),
        ),
        migrations.AddField(
            model_name="labaccount",
            name="held_lines_answer",
            field=models.CharField(
                choices=labs.states.accounts.HeldLinesAnswer.offered,
                db_default="AA",
                default="AA",
                max_length=2,
            ),
        ),
    ]
