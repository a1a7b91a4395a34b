"""Record what members write beside a user's data."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import users.states.annotations
import uuid
from django.conf import settings
from django.db import migrations, models

from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    locks_because = "the table is made here"

    dependencies = [
        ('accounts', '0013_hidden_guides'),
        ('portal', '0001_initial'),
        ('users', '0024_user_by_ids'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Annotation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('kind', models.CharField(choices=users.states.annotations.AnnotationKind.offered, max_length=20)),
                ('first_day', models.DateField()),
                ('last_day', models.DateField()),
                ('text', models.CharField(max_length=300)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('member', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='annotations', to='users.user')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
                'indexes': [models.Index(fields=['user', '-last_day'], name='annotation_by_user')],
                'constraints': [models.CheckConstraint(condition=models.Q(('last_day__gte', models.F('first_day'))), name='annotation_ends_after_start')],
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        *enable_tenant_row_security('users_annotation'),
    ]
