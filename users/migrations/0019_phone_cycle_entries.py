"""Let a piece of a phone be an entry of a menstrual cycle."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('users', '0018_birth_date_tries'),
    ]

    operations = [
        migrations.AlterField(
            model_name='phonepiece',
            name='word',
            field=models.CharField(blank=True, max_length=60),
        ),
    ]
