"""Keep what each source had of a day."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    locks_because = "the table is made here"

    dependencies = [
        ('accounts', '0001_initial'),
        ('portal', '0001_initial'),
        ('users', '0003_source_pushes'),
    ]

    operations = [
        migrations.CreateModel(
            name='SourceDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('resource', models.CharField(max_length=50)),
                ('day', models.DateField()),
                ('keys', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('number', models.PositiveIntegerField()),
                ('read_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='days', to='users.connection')),
                ('tenant', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.tenant')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'constraints': [models.UniqueConstraint(fields=('connection', 'resource', 'day'), name='source_day_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
