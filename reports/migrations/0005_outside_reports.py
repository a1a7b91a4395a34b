"""Add the lab reports that other institutions made of users."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import uuid
from django.db import migrations, models

from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    locks_because = "the table is made here"

    dependencies = [
        ('portal', '0001_initial'),
        ('accounts', '0009_order_approval_notices'),
        ('reports', '0004_index_reports_of_orders'),
        ('users', '0011_import_recognized_as'),
    ]

    operations = [
        migrations.CreateModel(
            name='OutsideReport',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('provider', models.CharField(max_length=50)),
                ('institution', models.TextField(blank=True)),
                ('record_id', models.TextField()),
                ('number', models.PositiveIntegerField(default=1)),
                ('is_current', models.BooleanField(default=True)),
                ('fhir_version', models.TextField(blank=True)),
                ('name', models.TextField(blank=True)),
                ('loinc', models.TextField(blank=True)),
                ('codes', models.JSONField(default=list)),
                ('status', models.TextField(blank=True)),
                ('collected', models.CharField(blank=True, max_length=40)),
                ('issued', models.CharField(blank=True, max_length=40)),
                ('dated_at', models.DateTimeField()),
                ('laboratory', models.TextField(blank=True)),
                ('conclusion', models.TextField(blank=True)),
                ('attachments', models.PositiveIntegerField(default=0)),
                ('missing_results', models.PositiveIntegerField(default=0)),
                ('results', models.JSONField(default=list)),
                ('result_ids', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('digest', models.CharField(max_length=64)),
                ('source_updated_at', models.DateTimeField(null=True)),
                ('received_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='users.user')),
            ],
            options={
                'verbose_name': 'outside report',
                'verbose_name_plural': 'outside reports',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'indexes': [models.Index(condition=models.Q(('is_current', True)), fields=['user', '-dated_at'], name='outside_report_by_time')],
                'constraints': [models.UniqueConstraint(fields=('user', 'provider', 'institution', 'record_id', 'number'), name='outside_report_once_per_number'), models.UniqueConstraint(condition=models.Q(('is_current', True)), fields=('user', 'provider', 'institution', 'record_id'), name='outside_report_one_current')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        *enable_tenant_row_security("reports_outsidereport"),
    ]
