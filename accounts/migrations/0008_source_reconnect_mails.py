"""Let teams have users mailed about broken sources."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0007_api_calls_by_tenant'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenant',
            name='source_reconnect_mails_enabled',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
