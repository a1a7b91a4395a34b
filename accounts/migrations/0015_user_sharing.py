"""Let a team decide whether its users share results."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0014_patient_language'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenant',
            name='user_sharing_enabled',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
