"""Keep what files and live sources gave of one summary apart."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('users', '0007_source_gaps'),
    ]

    operations = [
        migrations.AddField(
            model_name='summary',
            name='layers',
            field=models.JSONField(null=True),
        ),
    ]
