"""Keep what sources ask of an application beside its client ID and secret."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('users', '0013_pushed_content'),
    ]

    operations = [
        migrations.AddField(
            model_name='sourcecredentials',
            name='more',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
    ]
