"""Record mails about broken sources, and who stopped them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('users', '0008_summary_layers'),
    ]

    operations = [
        migrations.AddField(
            model_name='connection',
            name='reconnect_mailed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='user',
            name='reconnect_mails_stopped_at',
            field=models.DateTimeField(null=True),
        ),
    ]
