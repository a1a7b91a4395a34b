"""Count calls by user, and keep the keys of pushes."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    locks_because = "a row for each limit of an application: a handful"

    dependencies = [
        ('users', '0004_source_days'),
    ]

    operations = [
        migrations.CreateModel(
            name='SourcePushKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=50)),
                ('client_id', models.CharField(max_length=200)),
                ('key', models.TextField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='sourcebudget',
            name='source_budget_once',
        ),
        migrations.AddField(
            model_name='sourcebudget',
            name='account',
            field=models.CharField(blank=True, db_default='', default='', max_length=32),
        ),
        migrations.AddConstraint(
            model_name='sourcebudget',
            constraint=models.UniqueConstraint(fields=('provider', 'client_id', 'account', 'seconds'), name='source_budget_once'),
        ),
        migrations.AddConstraint(
            model_name='sourcepushkey',
            constraint=models.UniqueConstraint(fields=('provider', 'client_id'), name='source_push_key_once'),
        ),
    ]
