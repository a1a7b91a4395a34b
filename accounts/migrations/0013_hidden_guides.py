"""Keep which guides a member has hidden."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0012_public_keys'),
    ]

    operations = [
        migrations.AddField(
            model_name='member',
            name='hidden_guides',
            field=models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list),
        ),
    ]
