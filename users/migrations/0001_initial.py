"""Make users, their sources and their data."""

import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models

import users.states.connections
import users.states.imports
import users.states.people
from portal.lib.database.schema import CreateModels
from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    initial = True
    locks_because = "its tables are made here and hold nothing"
    dependencies = [("accounts", "0001_initial"), ("portal", "0001_initial")]

    operations = [
        TrigramExtension(),
        CreateModels(
            migrations.CreateModel(
                name="User",
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
                    (
                        "uuid",
                        models.UUIDField(
                            default=uuid.uuid4, editable=False, unique=True
                        ),
                    ),
                    ("client_user_id", models.CharField(max_length=255)),
                    (
                        "created_on",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("fallback_time_zone", models.CharField(blank=True, max_length=64)),
                    (
                        "fallback_time_zone_source",
                        models.CharField(blank=True, max_length=50),
                    ),
                    ("fallback_time_zone_updated_at", models.DateTimeField(null=True)),
                    ("fallback_birth_date", models.DateField(null=True)),
                    (
                        "fallback_birth_date_source",
                        models.CharField(blank=True, max_length=50),
                    ),
                    ("fallback_birth_date_updated_at", models.DateTimeField(null=True)),
                    ("ingestion_start", models.DateField(null=True)),
                    ("ingestion_end", models.DateField(null=True)),
                    ("deleted_at", models.DateTimeField(null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("deleted_at", None)),
                            fields=["tenant", "created_on", "uuid"],
                            include=("id",),
                            name="user_live_in_order",
                        ),
                        django.contrib.postgres.indexes.GinIndex(
                            django.contrib.postgres.indexes.OpClass(
                                "client_user_id", "gin_trgm_ops"
                            ),
                            condition=models.Q(("deleted_at", None)),
                            name="user_live_by_part_of_id",
                        ),
                        models.Index(
                            models.F("tenant"),
                            django.contrib.postgres.indexes.OpClass(
                                "fallback_time_zone", "text_pattern_ops"
                            ),
                            condition=models.Q(("deleted_at", None)),
                            name="user_live_by_time_zone",
                        ),
                        models.Index(
                            condition=models.Q(
                                ("deleted_at", None), ("ingestion_start__isnull", False)
                            ),
                            fields=["tenant", "ingestion_start"],
                            name="user_live_by_ingestion_start",
                        ),
                        models.Index(
                            condition=models.Q(
                                ("deleted_at", None), ("ingestion_end__isnull", False)
                            ),
                            fields=["tenant", "ingestion_end"],
                            name="user_live_by_ingestion_end",
                        ),
                        models.Index(
                            condition=models.Q(("deleted_at__isnull", False)),
                            fields=["deleted_at"],
                            name="user_deleted",
                        ),
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            condition=models.Q(("deleted_at", None)),
                            fields=("tenant", "client_user_id"),
                            name="user_once_per_client_user_id",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="UserCount",
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
                    ("live", models.PositiveBigIntegerField(default=0)),
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
                name="SampleExtra",
                fields=[
                    (
                        "pk",
                        models.CompositePrimaryKey(
                            "user_id",
                            "series",
                            "feed",
                            "ts",
                            blank=True,
                            editable=False,
                            primary_key=True,
                            serialize=False,
                        ),
                    ),
                    ("user_id", models.BigIntegerField()),
                    ("series", models.SmallIntegerField()),
                    ("feed", models.SmallIntegerField()),
                    ("ts", models.DateTimeField()),
                    ("extra", models.JSONField()),
                ],
            ),
            migrations.CreateModel(
                name="Feed",
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
                    ("number", models.SmallIntegerField()),
                    ("provider", models.CharField(max_length=50)),
                    ("source_type", models.CharField(max_length=50)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("tenant", "number"), name="feed_number"
                        ),
                        models.UniqueConstraint(
                            fields=("tenant", "provider", "source_type"),
                            name="feed_once",
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Series",
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
                    ("number", models.SmallIntegerField()),
                    ("resource", models.CharField(max_length=50)),
                    ("type", models.CharField(max_length=100)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("tenant", "number"), name="series_number"
                        ),
                        models.UniqueConstraint(
                            fields=("tenant", "resource", "type"), name="series_once"
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Origin",
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
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "user",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="origins",
                            to="users.user",
                        ),
                    ),
                    ("number", models.IntegerField()),
                    ("app_id", models.CharField(max_length=255, null=True)),
                    ("device_id", models.UUIDField(null=True)),
                    ("workout_id", models.UUIDField(null=True)),
                    ("sport", models.CharField(max_length=100, null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("user", "number"), name="origin_number"
                        ),
                        models.UniqueConstraint(
                            fields=(
                                "user",
                                "app_id",
                                "device_id",
                                "workout_id",
                                "sport",
                            ),
                            name="origin_once",
                            nulls_distinct=False,
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="WorkoutStream",
                fields=[
                    (
                        "pk",
                        models.CompositePrimaryKey(
                            "user_id",
                            "workout_id",
                            blank=True,
                            editable=False,
                            primary_key=True,
                            serialize=False,
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
                    (
                        "user",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="workout_streams",
                            to="users.user",
                        ),
                    ),
                    ("workout_id", models.UUIDField()),
                    ("points", models.PositiveIntegerField()),
                    ("content", models.BinaryField()),
                    ("digest", models.BinaryField(max_length=32)),
                    ("heart_rate_seconds", models.JSONField(null=True)),
                    ("version", models.PositiveIntegerField(default=1)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "updated_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
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
                name="Summary",
                fields=[
                    (
                        "id",
                        models.UUIDField(
                            editable=False, primary_key=True, serialize=False
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
                    (
                        "user",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="summaries",
                            to="users.user",
                        ),
                    ),
                    ("kind", models.CharField(max_length=50)),
                    ("provider", models.CharField(max_length=50)),
                    ("source_type", models.CharField(max_length=50)),
                    ("app_id", models.CharField(max_length=255, null=True)),
                    ("device_id", models.UUIDField(null=True)),
                    ("calendar_date", models.DateField()),
                    ("last_date", models.DateField()),
                    ("starts_at", models.DateTimeField()),
                    ("ends_at", models.DateTimeField(null=True)),
                    ("body", models.JSONField()),
                    ("raw", models.JSONField()),
                    ("version", models.PositiveIntegerField(default=1)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "updated_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["user", "kind", "calendar_date"],
                            name="summary_by_user",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="DemoUser",
                fields=[
                    (
                        "tenant",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "user",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.CASCADE,
                            primary_key=True,
                            related_name="+",
                            serialize=False,
                            to="users.user",
                        ),
                    ),
                    ("expires_at", models.DateTimeField(db_index=True)),
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
                name="ErasureReceipt",
                fields=[
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
                    (
                        "id",
                        models.UUIDField(
                            default=uuid.uuid4,
                            editable=False,
                            primary_key=True,
                            serialize=False,
                        ),
                    ),
                    ("user_uuid", models.UUIDField()),
                    (
                        "erased_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("document", models.TextField()),
                    ("sha256", models.CharField(max_length=64)),
                    ("public_key", models.CharField(max_length=64)),
                    ("signature", models.CharField(max_length=128)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["tenant", "-erased_at"], name="receipt_by_time"
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ImportJob",
                fields=[
                    (
                        "tenant",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "id",
                        models.UUIDField(
                            default=uuid.uuid4,
                            editable=False,
                            primary_key=True,
                            serialize=False,
                        ),
                    ),
                    (
                        "user",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="imports",
                            to="users.user",
                        ),
                    ),
                    ("file_name", models.CharField(max_length=255)),
                    (
                        "format",
                        models.CharField(
                            choices=users.states.imports.ImportFormat.offered,
                            max_length=30,
                        ),
                    ),
                    ("provider", models.CharField(blank=True, max_length=50)),
                    (
                        "status",
                        models.CharField(
                            choices=users.states.imports.ImportStatus.offered,
                            default="waiting",
                            max_length=30,
                        ),
                    ),
                    (
                        "failure",
                        models.CharField(
                            blank=True,
                            choices=users.states.imports.ImportRefusal.offered,
                            max_length=50,
                        ),
                    ),
                    ("stored_as", models.CharField(blank=True, max_length=100)),
                    ("size", models.BigIntegerField()),
                    ("sha256", models.CharField(max_length=64)),
                    ("bytes_total", models.BigIntegerField(default=0)),
                    ("bytes_read", models.BigIntegerField(default=0)),
                    ("rows_read", models.BigIntegerField(default=0)),
                    ("rows_accepted", models.BigIntegerField(default=0)),
                    ("rows_dropped", models.BigIntegerField(default=0)),
                    ("drops", models.JSONField(default=dict)),
                    ("batches", models.PositiveIntegerField(default=0)),
                    ("batches_done", models.PositiveIntegerField(default=0)),
                    ("counts", models.JSONField(default=dict)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("started_at", models.DateTimeField(null=True)),
                    ("read_at", models.DateTimeField(null=True)),
                    ("finished_at", models.DateTimeField(null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["user", "-created_at"], name="import_by_user"
                        ),
                        models.Index(fields=["stored_as"], name="import_by_file"),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Arrival",
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
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "user",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="arrivals",
                            to="users.user",
                        ),
                    ),
                    ("provider", models.CharField(max_length=50)),
                    ("resource", models.CharField(max_length=50)),
                    (
                        "at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("received", models.PositiveIntegerField()),
                    ("created", models.PositiveIntegerField()),
                    ("updated", models.PositiveIntegerField()),
                    ("dropped", models.PositiveIntegerField()),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(fields=["tenant", "at"], name="arrival_by_tenant"),
                        models.Index(fields=["user", "at"], name="arrival_by_user"),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Cadence",
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
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "user",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="cadences",
                            to="users.user",
                        ),
                    ),
                    ("provider", models.CharField(max_length=50)),
                    ("resource", models.CharField(max_length=50)),
                    ("last_at", models.DateTimeField()),
                    (
                        "recent_gaps",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.PositiveIntegerField(),
                            default=list,
                            size=None,
                        ),
                    ),
                    ("usual_gap", models.DurationField(null=True)),
                    ("due_at", models.DateTimeField(null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("due_at__isnull", False)),
                            fields=["tenant", "due_at"],
                            name="cadence_by_due_at",
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("user", "provider", "resource"), name="cadence_once"
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Device",
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
                    ("uuid", models.UUIDField(default=uuid.uuid4, editable=False)),
                    (
                        "user",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="devices",
                            to="users.user",
                        ),
                    ),
                    ("provider", models.CharField(max_length=50)),
                    ("source_type", models.CharField(max_length=50)),
                    ("app_id", models.CharField(max_length=255, null=True)),
                    (
                        "device_manufacturer",
                        models.CharField(max_length=255, null=True),
                    ),
                    ("device_model", models.CharField(max_length=255, null=True)),
                    ("device_version", models.CharField(max_length=255, null=True)),
                    ("device_id", models.CharField(max_length=255, null=True)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "updated_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("user", "uuid"), name="device_once"
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Connection",
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
                    (
                        "user",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="connections",
                            to="users.user",
                        ),
                    ),
                    ("provider", models.CharField(max_length=50)),
                    (
                        "status",
                        models.CharField(
                            choices=users.states.connections.ConnectionStatus.offered,
                            default="connected",
                            max_length=100,
                        ),
                    ),
                    (
                        "created_on",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("external_user_id", models.CharField(blank=True, max_length=255)),
                    (
                        "error_type",
                        models.CharField(
                            blank=True,
                            choices=users.states.connections.ConnectionFault.offered,
                            max_length=100,
                        ),
                    ),
                    ("error_message", models.CharField(blank=True, max_length=500)),
                    ("errored_at", models.DateTimeField(null=True)),
                    (
                        "pause_cause",
                        models.CharField(
                            blank=True,
                            choices=users.states.connections.PauseCause.offered,
                            max_length=100,
                        ),
                    ),
                    ("is_demo", models.BooleanField(default=False)),
                    ("resource_availability", models.JSONField(default=dict)),
                    ("disconnected_at", models.DateTimeField(null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(fields=["user"], name="connection_by_user"),
                        models.Index(
                            condition=models.Q(("disconnected_at", None)),
                            fields=["tenant", "provider", "status"],
                            name="connection_live_by_provider",
                        ),
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            condition=models.Q(("disconnected_at", None)),
                            fields=("user", "provider"),
                            name="connection_live_once",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ConnectionEntry",
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
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "connection",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="timeline",
                            to="users.connection",
                        ),
                    ),
                    (
                        "at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "kind",
                        models.CharField(
                            choices=users.states.connections.EntryKind.offered,
                            max_length=100,
                        ),
                    ),
                    ("detail", models.CharField(blank=True, max_length=100)),
                    ("actor_kind", models.CharField(max_length=10)),
                    ("actor_label", models.CharField(blank=True, max_length=254)),
                    ("message_id", models.CharField(blank=True, max_length=40)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["connection", "id"], name="entry_by_connection"
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="SourceGrant",
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
                    (
                        "connection",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="grant",
                            to="users.connection",
                        ),
                    ),
                    ("access_token", models.TextField()),
                    ("refresh_token", models.TextField()),
                    ("expires_at", models.DateTimeField(null=True)),
                    ("scopes", models.JSONField(default=list)),
                    ("rotation", models.PositiveIntegerField(default=1)),
                    ("claimed_until", models.DateTimeField(null=True)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "updated_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
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
                name="LinkSession",
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
                    (
                        "uuid",
                        models.UUIDField(
                            default=uuid.uuid4, editable=False, unique=True
                        ),
                    ),
                    (
                        "user",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="link_sessions",
                            to="users.user",
                        ),
                    ),
                    ("provider", models.CharField(blank=True, max_length=50)),
                    (
                        "filter_on_providers",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=50),
                            default=list,
                            size=None,
                        ),
                    ),
                    ("redirect_url", models.CharField(blank=True, max_length=2000)),
                    ("redirects_on_error", models.BooleanField(default=False)),
                    ("redirects_on_close", models.BooleanField(default=False)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("expires_at", models.DateTimeField()),
                    ("opened_at", models.DateTimeField(null=True)),
                    (
                        "mail_count",
                        models.PositiveSmallIntegerField(db_default=0, default=0),
                    ),
                    ("ended_at", models.DateTimeField(null=True)),
                    (
                        "opens_portal",
                        models.BooleanField(db_default=False, default=False),
                    ),
                    ("order_id", models.UUIDField(null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["user", "-created_at"], name="link_session_by_user"
                        ),
                        models.Index(fields=["expires_at"], name="link_session_by_end"),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Pull",
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
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "connection",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="pulls",
                            to="users.connection",
                        ),
                    ),
                    (
                        "user",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="pulls",
                            to="users.user",
                        ),
                    ),
                    ("provider", models.CharField(max_length=50)),
                    ("resource", models.CharField(max_length=50)),
                    ("is_history", models.BooleanField()),
                    (
                        "status",
                        models.CharField(
                            choices=users.states.connections.PullStatus.offered,
                            default="scheduled",
                            max_length=100,
                        ),
                    ),
                    ("range_start", models.DateTimeField(null=True)),
                    ("range_end", models.DateTimeField(null=True)),
                    ("position", models.TextField(blank=True)),
                    ("attempts", models.PositiveSmallIntegerField(default=0)),
                    (
                        "scheduled_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("started_at", models.DateTimeField(null=True)),
                    ("ended_at", models.DateTimeField(null=True)),
                    ("days_with_data", models.PositiveIntegerField(null=True)),
                    ("error_type", models.CharField(blank=True, max_length=100)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["user", "provider", "resource", "-id"],
                            name="pull_by_user",
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            condition=models.Q(("ended_at", None)),
                            fields=("connection", "resource", "is_history"),
                            name="pull_open_once",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Refresh",
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
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "user",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="refreshes",
                            to="users.user",
                        ),
                    ),
                    (
                        "at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(fields=["user", "at"], name="refresh_by_user")
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Supply",
                fields=[
                    (
                        "pk",
                        models.CompositePrimaryKey(
                            "user_id",
                            "provider",
                            "resource",
                            blank=True,
                            editable=False,
                            primary_key=True,
                            serialize=False,
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
                    (
                        "user",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="supplies",
                            to="users.user",
                        ),
                    ),
                    ("provider", models.CharField(max_length=50)),
                    ("resource", models.CharField(max_length=50)),
                    ("oldest_data", models.DateTimeField(null=True)),
                    ("newest_data", models.DateTimeField(null=True)),
                    ("sent_count", models.BigIntegerField(default=0)),
                    ("received_at", models.DateTimeField(null=True)),
                    ("attempted_at", models.DateTimeField()),
                    ("attempt_failed", models.BooleanField(default=False)),
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
                name="UserExport",
                fields=[
                    (
                        "tenant",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "id",
                        models.UUIDField(
                            default=uuid.uuid4,
                            editable=False,
                            primary_key=True,
                            serialize=False,
                        ),
                    ),
                    (
                        "user",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="exports",
                            to="users.user",
                        ),
                    ),
                    ("asked_by", models.CharField(max_length=254)),
                    (
                        "asked_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("finished_at", models.DateTimeField(null=True)),
                    ("failed_at", models.DateTimeField(null=True)),
                    ("stored_as", models.CharField(blank=True, max_length=100)),
                    ("size", models.BigIntegerField(default=0)),
                    ("sha256", models.CharField(blank=True, max_length=64)),
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
                name="UserInfo",
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
                    (
                        "user",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="info",
                            to="users.user",
                        ),
                    ),
                    ("first_name", models.CharField(max_length=50)),
                    ("last_name", models.CharField(max_length=50)),
                    ("email", models.CharField(max_length=254)),
                    ("phone_number", models.CharField(max_length=50)),
                    ("gender", models.CharField(max_length=100)),
                    ("dob", models.DateField()),
                    ("address", models.JSONField()),
                    ("medical_proxy", models.JSONField(null=True)),
                    (
                        "race",
                        models.CharField(
                            blank=True,
                            choices=users.states.people.Race.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "ethnicity",
                        models.CharField(
                            blank=True,
                            choices=users.states.people.Ethnicity.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "sexual_orientation",
                        models.CharField(
                            blank=True,
                            choices=users.states.people.SexualOrientation.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "gender_identity",
                        models.CharField(
                            blank=True,
                            choices=users.states.people.GenderIdentity.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "updated_at",
                        models.DateTimeField(default=django.utils.timezone.now),
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
        ),
        migrations.SeparateDatabaseAndState(
            # Partitions and INCLUDE have no words in Django. The key covers every
            # column, so that a read touches no table page, however the rows arrived
            # (performance 2b). Widest columns come first: not a byte is lost to
            # alignment.
            database_operations=[
                migrations.RunSQL(
                    sql="""
                    CREATE TABLE users_sample (
                        ts timestamptz NOT NULL,
                        user_id bigint NOT NULL,
                        value float8 NOT NULL,
                        origin integer NOT NULL,
                        tz_offset integer NOT NULL,
                        duration integer NOT NULL,
                        series smallint NOT NULL,
                        feed smallint NOT NULL,
                        PRIMARY KEY (user_id, series, feed, ts)
                            INCLUDE (value, tz_offset, origin, duration)
                    ) PARTITION BY RANGE (ts);
                    CREATE TABLE users_sample_before_2025 PARTITION OF users_sample
                        FOR VALUES FROM (MINVALUE) TO ('2025-01-01 00:00:00+00')
                        WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
                    """,
                    reverse_sql="DROP TABLE users_sample",
                ),
            ],
            state_operations=[
                migrations.CreateModel(
                    name="Sample",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "user_id",
                                "series",
                                "feed",
                                "ts",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("ts", models.DateTimeField()),
                        ("user_id", models.BigIntegerField()),
                        ("value", models.FloatField()),
                        ("origin", models.IntegerField()),
                        ("tz_offset", models.IntegerField()),
                        ("duration", models.IntegerField()),
                        ("series", models.SmallIntegerField()),
                        ("feed", models.SmallIntegerField()),
                    ],
                ),
            ],
        ),
        migrations.RunSQL(
            # It is compressed already: PostgreSQL need not try.
            "ALTER TABLE users_workoutstream ALTER COLUMN content SET STORAGE EXTERNAL",
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            sql="""
            CREATE TRIGGER receipt_append_only
            BEFORE UPDATE OR DELETE ON users_erasurereceipt
            FOR EACH ROW EXECUTE FUNCTION accounts_audit_append_only();
            """,
            reverse_sql="DROP TRIGGER receipt_append_only ON users_erasurereceipt;",
        ),
        *enable_tenant_row_security(
            "users_userinfo",
            "users_summary",
        ),
    ]
