from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0011_team_deletion_and_shared_invitations")]

    operations = [
        migrations.AddField(
            model_name="tenant",
            name="lab_report_second_read_percent",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
    ]
