"""Store the open gaps of sources."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    locks_because = "the table is made here"

    dependencies = [
        ('accounts', '0005_report_checks'),
        ('portal', '0001_initial'),
        ('users', '0006_source_priority'),
    ]

    operations = [
        migrations.AddField(
            model_name='sourcegrant',
            name='gaps_checked_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.CreateModel(
            name='SourceGap',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('resource', models.CharField(max_length=50)),
                ('day', models.DateField()),
                ('opened_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('connection', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='gaps', to='users.connection')),
                ('tenant', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.tenant')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'constraints': [models.UniqueConstraint(fields=('connection', 'resource', 'day'), name='source_gap_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
