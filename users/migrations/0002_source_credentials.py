"""Keep a team's credentials at sources, and count the calls of each application."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import users.states.credentials
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("portal", "0001_initial"),
        ('users', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='sourcegrant',
            name='client_id',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.CreateModel(
            name='SourceBudget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=50)),
                ('client_id', models.CharField(max_length=200)),
                ('seconds', models.PositiveIntegerField()),
                ('next_at', models.DateTimeField()),
                ('blocked_until', models.DateTimeField(null=True)),
                ('day', models.DateField()),
                ('used', models.PositiveIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('provider', 'client_id', 'seconds'), name='source_budget_once')],
            },
        ),
        migrations.CreateModel(
            name='SourceCredentials',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=50)),
                ('client_id', models.CharField(max_length=200)),
                ('client_secret', models.TextField()),
                ('state', models.CharField(choices=users.states.credentials.CredentialsState.offered, max_length=100)),
                ('tried_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
            ],
            options={
                'verbose_name_plural': 'source credentials',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'constraints': [models.UniqueConstraint(fields=('tenant', 'provider'), name='source_credentials_once')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
