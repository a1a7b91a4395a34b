"""Keep what a file would store until a member confirms it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('users', '0009_reconnect_mails'),
    ]

    operations = [
        migrations.AddField(
            model_name='importjob',
            name='needs_confirmation',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='importjob',
            name='plan',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='importjob',
            name='time_zone',
            field=models.CharField(blank=True, db_default='', max_length=64),
        ),
    ]
