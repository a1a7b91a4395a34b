"""Pair phones, and keep what they send until it is stored."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import users.states.phones
import uuid
from django.db import migrations, models

from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    locks_because = "the tables are made here"

    dependencies = [
        ('accounts', '0009_order_approval_notices'),
        ('portal', '0001_initial'),
        ('users', '0015_bulk_operations'),
    ]

    operations = [
        migrations.CreateModel(
            name='PairingCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('prefix', models.CharField(db_index=True, max_length=3)),
                ('code_hash', models.CharField(max_length=64)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('expires_at', models.DateTimeField(db_index=True)),
                ('used_at', models.DateTimeField(null=True)),
                ('phone_id', models.UUIDField(null=True)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairing_codes', to='users.user')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='Phone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('app', models.CharField(choices=users.states.phones.PhoneApp.offered, max_length=30)),
                ('name', models.CharField(blank=True, max_length=100)),
                ('app_version', models.CharField(blank=True, max_length=50)),
                ('provider', models.CharField(blank=True, max_length=50)),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('token_expires_at', models.DateTimeField(null=True)),
                ('refresh_hash', models.CharField(max_length=64, null=True, unique=True)),
                ('former_hash', models.CharField(blank=True, db_index=True, max_length=64)),
                ('renewed_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('paired_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('seen_at', models.DateTimeField(null=True)),
                ('uploaded_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('reported', models.JSONField(default=dict)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='phones', to='users.user')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='PhonePiece',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('provider', models.CharField(max_length=50)),
                ('kind', models.CharField(choices=users.states.phones.PieceKind.offered, max_length=20)),
                ('source_type', models.CharField(max_length=50)),
                ('app_id', models.CharField(blank=True, max_length=255)),
                ('device_id', models.UUIDField(null=True)),
                ('starts_at', models.DateTimeField()),
                ('ends_at', models.DateTimeField()),
                ('word', models.CharField(blank=True, max_length=20)),
                ('value', models.FloatField(null=True)),
                ('zone', models.CharField(blank=True, max_length=100)),
                ('at', models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='phone_pieces', to='users.user')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='PhoneUpload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('form', models.CharField(max_length=60)),
                ('digest', models.CharField(max_length=64)),
                ('size', models.PositiveIntegerField()),
                ('content', models.TextField(blank=True)),
                ('outcome', models.CharField(choices=users.states.phones.UploadOutcome.offered, default='waiting', max_length=20)),
                ('received_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False)),
                ('stored_at', models.DateTimeField(null=True)),
                ('records', models.PositiveIntegerField(default=0)),
                ('refused', models.PositiveIntegerField(default=0)),
                ('counts', models.JSONField(default=dict)),
                ('unknown', models.JSONField(default=dict)),
                ('refusals', models.JSONField(default=list)),
                ('phone', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='uploads', to='users.phone')),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='phone_uploads', to='users.user')),
            ],
            options={
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name='phone',
            index=models.Index(fields=['user', '-paired_at'], name='phone_by_user'),
        ),
        migrations.AddConstraint(
            model_name='phonepiece',
            constraint=models.UniqueConstraint(fields=('user', 'provider', 'kind', 'starts_at', 'ends_at', 'word', 'source_type', 'app_id', 'device_id'), name='phone_piece_once', nulls_distinct=False),
        ),
        migrations.AddIndex(
            model_name='phoneupload',
            index=models.Index(condition=models.Q(('outcome', 'waiting')), fields=['user', 'id'], name='phone_upload_waiting'),
        ),
        migrations.AddConstraint(
            model_name='phoneupload',
            constraint=models.UniqueConstraint(fields=('user', 'digest'), name='phone_upload_once'),
        ),
        *enable_tenant_row_security('users_phoneupload', 'users_phonepiece'),
    ]
