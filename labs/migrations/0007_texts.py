"""Add the account that sends a team's texts, and what became of each text."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models

from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    locks_because = "the table is made here"

    dependencies = [
        ('accounts', '0001_initial'),
        ('labs', "0006_go_live"),
        ('portal', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='patientnotice',
            name='error_code',
            field=models.CharField(blank=True, db_default='', max_length=10),
        ),
        migrations.AddField(
            model_name='patientnotice',
            name='provider_id',
            field=models.CharField(blank=True, db_default='', max_length=64),
        ),
        migrations.AddField(
            model_name='patientnotice',
            name='recipient',
            field=models.CharField(blank=True, db_default='', max_length=20),
        ),
        migrations.AddField(
            model_name='patientnotice',
            name='reported_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.CreateModel(
            name='TextProvider',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('account_sid', models.CharField(max_length=34)),
                ('auth_token', models.TextField()),
                ('sender', models.CharField(max_length=34)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('checked_at', models.DateTimeField()),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
            ],
            options={
                'verbose_name': 'text provider',
                'verbose_name_plural': 'text providers',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'constraints': [models.UniqueConstraint(fields=('tenant',), name='text_provider_of_tenant')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        *enable_tenant_row_security("labs_textprovider"),
    ]
