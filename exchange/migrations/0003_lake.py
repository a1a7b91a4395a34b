"""Make the lists of the lake's files and runs."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    locks_because = "its tables are made here and hold nothing"

    dependencies = [
        ('accounts', '0019_fence_audit'),
        ('exchange', '0002_shared_links'),
    ]

    operations = [
        migrations.CreateModel(
            name='LakeRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.DateTimeField(db_index=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('written', models.PositiveIntegerField(default=0)),
                ('removed', models.PositiveIntegerField(default=0)),
                ('unchanged', models.PositiveIntegerField(default=0)),
                ('failed', models.PositiveIntegerField(default=0)),
                ('rows', models.PositiveBigIntegerField(default=0)),
            ],
            options={
                'verbose_name': 'lake run',
                'verbose_name_plural': 'lake runs',
            },
        ),
        migrations.CreateModel(
            name='LakeFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('dataset', models.CharField(max_length=20)),
                ('month', models.DateField()),
                ('part', models.CharField(blank=True, max_length=2)),
                ('mark', models.CharField(blank=True, max_length=40)),
                ('stored_as', models.CharField(max_length=200, unique=True)),
                ('rows', models.PositiveBigIntegerField()),
                ('size', models.PositiveBigIntegerField()),
                ('sha256', models.CharField(max_length=64)),
                ('exported_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('tenant', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.tenant')),
            ],
            options={
                'verbose_name': 'lake file',
                'verbose_name_plural': 'lake files',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'constraints': [models.UniqueConstraint(fields=('tenant', 'dataset', 'month', 'part'), name='lake_file_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
