"""Make shared links and their encrypted files."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    locks_because = "its tables are made here and hold nothing"

    dependencies = [
        ('accounts', '0012_public_keys'),
        ('exchange', '0001_initial'),
        ('users', '0018_birth_date_tries'),
    ]

    operations = [
        migrations.CreateModel(
            name='SharedLink',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('passcode_hash', models.CharField(blank=True, max_length=200)),
                ('wrong_passcodes', models.PositiveSmallIntegerField(default=0)),
                ('label', models.CharField(max_length=80)),
                ('made_by', models.CharField(max_length=254)),
                ('is_users_own', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('openings', models.PositiveIntegerField(default=0)),
                ('last_opened_at', models.DateTimeField(null=True)),
                ('last_recipient', models.CharField(blank=True, max_length=200)),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('user', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='users.user')),
            ],
            options={
                'verbose_name': 'shared link',
                'verbose_name_plural': 'shared links',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name='SharedFile',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('number', models.PositiveSmallIntegerField()),
                ('content_type', models.CharField(max_length=100)),
                ('jwe', models.TextField()),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='accounts.tenant')),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='exchange.sharedlink')),
            ],
            options={
                'verbose_name': 'shared file',
                'verbose_name_plural': 'shared files',
                'abstract': False,
                'base_manager_name': 'unscoped',
                'default_manager_name': 'unscoped',
            },
            managers=[
                ('unscoped', django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name='sharedlink',
            index=models.Index(fields=['user', '-created_at'], name='shared_link_by_user'),
        ),
        migrations.AddIndex(
            model_name='sharedlink',
            index=models.Index(fields=['expires_at'], name='shared_link_by_end'),
        ),
        migrations.AddConstraint(
            model_name='sharedfile',
            constraint=models.UniqueConstraint(fields=('link', 'number'), name='shared_file_once_per_number'),
        ),
    ]
