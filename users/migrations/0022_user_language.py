"""Let users choose the language they read."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('users', '0021_fence_users'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='language',
            field=models.CharField(blank=True, db_default='', max_length=10),
        ),
    ]
