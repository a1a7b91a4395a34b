"""The schema as of 0004_backup_notes, made at once.

What an earlier installation still lacks of it comes by the migrations replaced here.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models

from portal.lib.database.schema import CreateModels


class Migration(migrations.Migration):
    initial = True
    locks_because = "its tables are made here and hold nothing"
    replaces = [
        ("portal", "0001_initial"),
        ("portal", "0002_cache_table"),
        ("portal", "0003_demo_data"),
        ("portal", "0004_backup_notes"),
    ]
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name="IdempotentAnswer",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True,
                            primary_key=True,
                            serialize=False,
                            verbose_name="ID",
                        ),
                    ),
                    ("endpoint", models.CharField(max_length=100)),
                    ("key", models.CharField(max_length=255)),
                    ("request_hash", models.BinaryField(max_length=32)),
                    ("status", models.PositiveSmallIntegerField(null=True)),
                    ("body", models.BinaryField(null=True)),
                    ("claimed_at", models.DateTimeField()),
                    ("kept_until", models.DateTimeField(db_index=True)),
                    (
                        "tenant",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("tenant", "endpoint", "key"),
                            name="idempotent_once_per_key",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="DemoData",
                fields=[
                    (
                        "tenant",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.CASCADE,
                            primary_key=True,
                            related_name="+",
                            serialize=False,
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "asked_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("loaded_at", models.DateTimeField(null=True)),
                    ("removal_asked_at", models.DateTimeField(null=True)),
                    (
                        "user_uuids",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.UUIDField(), default=list, size=None
                        ),
                    ),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="BackupNote",
                fields=[
                    (
                        "id",
                        models.BigAutoField(
                            auto_created=True,
                            primary_key=True,
                            serialize=False,
                            verbose_name="ID",
                        ),
                    ),
                    (
                        "made_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
            ),
        ),
        migrations.RunSQL(
            # The table of the database cache; `createcachetable` finds it made.
            sql="""
            CREATE TABLE portal_cache (
                cache_key varchar(255) NOT NULL PRIMARY KEY,
                value text NOT NULL,
                expires timestamp with time zone NOT NULL
            );
            CREATE INDEX portal_cache_expires ON portal_cache (expires);
            """,
            reverse_sql="DROP TABLE portal_cache;",
        ),
    ]
