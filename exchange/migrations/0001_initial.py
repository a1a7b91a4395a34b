"""Make bulk exports and their files."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    locks_because = "its tables are made here and hold nothing"

    dependencies = [
        ('accounts', '0010_audit_of_people'),
    ]

    operations = [
        migrations.CreateModel(
            name='BulkExport',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('types', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ('areas', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ('since', models.DateTimeField(null=True)),
                ('request_url', models.CharField(max_length=2000)),
                ('actor_key', models.CharField(max_length=100)),
                ('actor_label', models.CharField(max_length=254)),
                ('requested_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('transaction_time', models.DateTimeField(null=True)),
                ('written', models.PositiveBigIntegerField(default=0)),
                ('finished_at', models.DateTimeField(null=True)),
                ('failed_at', models.DateTimeField(null=True)),
                ('cancelled_at', models.DateTimeField(null=True)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
            ],
            options={
                'verbose_name': 'bulk export',
                'verbose_name_plural': 'bulk exports',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='BulkExportFile',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('type', models.CharField(max_length=40)),
                ('number', models.PositiveIntegerField()),
                ('stored_as', models.CharField(max_length=100, unique=True)),
                ('count', models.PositiveIntegerField()),
                ('size', models.BigIntegerField()),
                ('export', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='exchange.bulkexport')),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
            ],
            options={
                'verbose_name': 'bulk export file',
                'verbose_name_plural': 'bulk export files',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name='bulkexport',
            index=models.Index(fields=['requested_at'], name='bulk_export_by_age'),
        ),
        migrations.AddConstraint(
            model_name='bulkexportfile',
            constraint=models.UniqueConstraint(fields=('export', 'type', 'number'), name='bulk_export_file_once'),
        ),
    ]
