from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_report_checks"),
    ]

    operations = [
        migrations.AddField(
            model_name="apicall",
            name="code",
            field=models.CharField(db_default="", default="", max_length=64),
        ),
        migrations.AddField(
            model_name="apicalltally",
            name="refused",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="apicalltally",
            name="faults",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
