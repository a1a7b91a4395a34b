"""Keep public keys of backend services, and the assertions that were used."""

import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models


class Migration(migrations.Migration):
    locks_because = "a column with a constant default, and a table that is made here"

    dependencies = [
        ('accounts', '0011_assistants'),
    ]

    operations = [
        migrations.AddField(
            model_name='apikey',
            name='public_keys',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
        migrations.CreateModel(
            name='UsedAssertion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.BinaryField(max_length=32)),
                ('ends_at', models.DateTimeField()),
                ('api_key', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.apikey')),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'indexes': [models.Index(fields=['ends_at'], name='used_assertion_by_end')],
                'constraints': [models.UniqueConstraint(fields=('api_key', 'digest'), name='used_assertion_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
