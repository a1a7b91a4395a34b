"""Keep which columns of lists a member sees."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0015_user_sharing'),
    ]

    operations = [
        migrations.AddField(
            model_name='member',
            name='changed_columns',
            field=models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]
