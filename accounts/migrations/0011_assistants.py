"""Let assistants read, and keep what they asked."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0010_audit_of_people'),
    ]

    operations = [
        migrations.AddField(
            model_name='tenant',
            name='assistants_enabled',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.CreateModel(
            name='AssistantCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False)),
                ('tool', models.CharField(max_length=40)),
                ('detail', models.CharField(max_length=120)),
                ('client', models.CharField(max_length=60)),
                ('user_uuid', models.UUIDField(null=True)),
                ('calls', models.PositiveSmallIntegerField()),
                ('ms', models.PositiveIntegerField()),
                ('refusal', models.CharField(db_default='', default='', max_length=64)),
                ('api_key', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.apikey')),
                ('tenant', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.tenant')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'indexes': [models.Index(fields=['tenant', '-at', '-id'], name='assistant_call_by_tenant'), models.Index(condition=models.Q(('user_uuid__isnull', False)), fields=['tenant', 'user_uuid'], name='assistant_call_by_user')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
    ]
