"""Keep what a refused file was recognized as."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('users', '0010_import_plans'),
    ]

    operations = [
        migrations.AddField(
            model_name='importjob',
            name='recognized_as',
            field=models.CharField(blank=True, db_default='', max_length=200),
        ),
    ]
