"""Count wrong birth dates of a portal link."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('users', '0017_sample_month_functions'),
    ]

    operations = [
        migrations.AddField(
            model_name='linksession',
            name='wrong_birth_dates',
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
    ]
