"""Let teams choose the language of what users are sent."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0013_hidden_guides'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenant',
            name='patient_language',
            field=models.CharField(db_default='en', default='en', max_length=10),
        ),
    ]
