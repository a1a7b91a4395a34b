"""Make the tables of every app's use, and the function behind each fence."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models

from portal.lib.database.schema import CreateModels
from portal.lib.tenancy import enable_tenant_row_security

# A null is every tenant. Parallel workers are given the setting.
NAMED_TENANT = """
CREATE OR REPLACE FUNCTION assay_tenant() RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    named text := current_setting('assay.tenant', true);
BEGIN
    IF named = '*' THEN
        RETURN NULL;
    ELSIF named <> '' THEN
        RETURN named::bigint;
    END IF;
    RAISE EXCEPTION 'no tenant is named on this connection'
        USING ERRCODE = 'insufficient_privilege',
            HINT = 'Work inside acting_for or across_tenants; in psql:'
                ' SET assay.tenant = ''*''.';
END $$;
"""


class Migration(migrations.Migration):
    initial = True
    locks_because = "its tables are made here and hold nothing"
    # Packages that alter their tables do so first, while few models are known: after
    # each change Django makes the classes of all related models again.
    dependencies = [
        ("account", "0009_emailaddress_unique_primary_email"),
        ("accounts", "0001_initial"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [
        CreateModels(
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
                    "verbose_name": "demo data",
                    "verbose_name_plural": "demo data",
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
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
                    (
                        "tenant",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    ("endpoint", models.CharField(max_length=100)),
                    ("key", models.CharField(max_length=255)),
                    ("request_hash", models.BinaryField(max_length=32)),
                    ("status", models.PositiveSmallIntegerField(null=True)),
                    ("body", models.BinaryField(null=True)),
                    ("claimed_at", models.DateTimeField()),
                    ("kept_until", models.DateTimeField(db_index=True)),
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
            migrations.CreateModel(
                name="IsolationRun",
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
                        "at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("seconds", models.FloatField()),
                    ("commit", models.CharField(blank=True, max_length=40)),
                    ("team", models.CharField(max_length=100)),
                    ("environment", models.CharField(max_length=20)),
                    ("methods", models.JSONField(default=list)),
                    ("endpoints", models.PositiveIntegerField()),
                    ("callers", models.PositiveIntegerField()),
                    ("refusals", models.JSONField(default=dict)),
                    ("open", models.JSONField(default=list)),
                    ("skipped", models.JSONField(default=list)),
                    ("tables", models.PositiveIntegerField()),
                    ("rows", models.PositiveBigIntegerField()),
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
        migrations.RunSQL(NAMED_TENANT, reverse_sql="DROP FUNCTION assay_tenant()"),
        *enable_tenant_row_security(
            "portal_idempotentanswer",
        ),
    ]
