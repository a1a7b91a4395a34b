import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0012_lab_report_second_read")]

    operations = [
        migrations.CreateModel(
            name="CallWindow",
            fields=[
                (
                    "subject",
                    models.CharField(max_length=80, primary_key=True, serialize=False),
                ),
                ("started_at", models.DateTimeField()),
                ("calls", models.PositiveIntegerField()),
            ],
        ),
        migrations.RunSQL(
            sql="""
            ALTER TABLE accounts_callwindow SET UNLOGGED;
            ALTER TABLE accounts_callwindow SET (fillfactor = 50);
            """,
            reverse_sql=migrations.RunSQL.noop,
        ),
        migrations.AddField(
            model_name="apikey",
            name="calls_per_minute",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="apikey",
            name="last_used_address",
            field=models.GenericIPAddressField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="apikey",
            name="networks",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=43),
                blank=True,
                default=list,
                size=None,
            ),
        ),
        # For code of before that still inserts.
        migrations.RunSQL(
            sql="ALTER TABLE accounts_apikey ALTER networks SET DEFAULT '{}'",
            reverse_sql=migrations.RunSQL.noop,
        ),
        migrations.AddField(
            model_name="apikey",
            name="scopes",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=40),
                blank=True,
                null=True,
                size=None,
            ),
        ),
        migrations.CreateModel(
            name="ApiCall",
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
                ("at", models.DateTimeField()),
                ("method", models.CharField(max_length=7)),
                ("path", models.CharField(max_length=200)),
                ("status", models.PositiveSmallIntegerField()),
                ("ms", models.PositiveIntegerField()),
                ("request_id", models.CharField(max_length=32)),
                ("address", models.GenericIPAddressField(null=True)),
                ("user_uuid", models.UUIDField(null=True)),
                (
                    "api_key",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="accounts.apikey",
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="accounts.tenant",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "default_manager_name": "unscoped",
                "indexes": [
                    models.Index(
                        fields=["api_key", "-at", "-id"], name="api_call_by_key"
                    ),
                    models.Index(
                        condition=models.Q(("user_uuid__isnull", False)),
                        fields=["tenant", "user_uuid"],
                        name="api_call_by_user",
                    ),
                    django.contrib.postgres.indexes.BrinIndex(
                        fields=["at"], name="api_call_by_time"
                    ),
                ],
            },
            managers=[("unscoped", django.db.models.manager.Manager())],
        ),
    ]
