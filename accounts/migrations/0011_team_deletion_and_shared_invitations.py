from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_member_sessions"),
    ]

    operations = [
        migrations.AddField(
            model_name="invitation",
            name="batch",
            field=models.UUIDField(db_index=True, null=True),
        ),
        migrations.AddField(
            model_name="team",
            name="deleted_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="team",
            name="erased_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="team",
            name="integration_team_id",
            field=models.CharField(blank=True, max_length=256, null=True),
        ),
        migrations.AlterField(
            model_name="invitation",
            name="digest",
            field=models.BinaryField(db_index=True, max_length=32),
        ),
        migrations.AddConstraint(
            model_name="team",
            constraint=models.UniqueConstraint(
                fields=("organisation", "integration_team_id"),
                name="team_integration_id_once",
            ),
        ),
    ]
