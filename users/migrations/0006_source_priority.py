"""Rank sources for a team and its users."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    locks_because = "the table is made here"

    dependencies = [
        ('accounts', '0003_failed_source_notices'),
        ('portal', '0001_initial'),
        ('users', '0005_source_accounts'),
    ]

    operations = [
        migrations.CreateModel(
            name='SourcePriority',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sources', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=50), size=None)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('tenant', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.tenant')),
                ('user', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='source_priorities', to='users.user')),
            ],
            options={
                'verbose_name_plural': 'source priorities',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'constraints': [models.UniqueConstraint(fields=('tenant', 'user'), name='source_priority_once', nulls_distinct=False)],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
