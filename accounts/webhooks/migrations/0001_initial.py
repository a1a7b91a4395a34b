"""Make endpoints, events, deliveries and replays."""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models

import accounts.webhooks.models.event
import accounts.webhooks.states
from portal.lib.database.schema import CreateModels
from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    initial = True
    locks_because = "its tables are made here and hold nothing"
    dependencies = [("accounts", "0001_initial"), ("portal", "0001_initial")]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name="Endpoint",
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
                    ("url", models.CharField(max_length=2000)),
                    ("description", models.CharField(blank=True, max_length=500)),
                    ("rate_limit", models.PositiveIntegerField(null=True)),
                    (
                        "filter_types",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=100),
                            null=True,
                            size=None,
                        ),
                    ),
                    ("secret", models.TextField()),
                    ("previous_secret", models.TextField(blank=True)),
                    ("previous_secret_ends_at", models.DateTimeField(null=True)),
                    ("headers", models.TextField(blank=True)),
                    ("disabled_at", models.DateTimeField(null=True)),
                    (
                        "disabled_by",
                        models.CharField(
                            blank=True,
                            choices=accounts.webhooks.states.DisabledBy.offered,
                            max_length=100,
                        ),
                    ),
                    ("deleted_at", models.DateTimeField(null=True)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "updated_at",
                        models.DateTimeField(default=django.utils.timezone.now),
                    ),
                    (
                        "secret_made_at",
                        models.DateTimeField(default=django.utils.timezone.now),
                    ),
                    ("last_success_at", models.DateTimeField(null=True)),
                    ("first_failed_at", models.DateTimeField(null=True)),
                    ("failing_since", models.DateTimeField(null=True)),
                    ("warned_percent", models.PositiveSmallIntegerField(default=0)),
                    ("paced_until", models.DateTimeField(null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("deleted_at", None)),
                            fields=["tenant", "id"],
                            name="endpoint_live",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Event",
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
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="+",
                            to="accounts.tenant",
                        ),
                    ),
                    (
                        "message_id",
                        models.CharField(
                            default=accounts.webhooks.models.event.new_message_id,
                            editable=False,
                            max_length=40,
                            unique=True,
                        ),
                    ),
                    ("event_type", models.CharField(max_length=100)),
                    ("user_uuid", models.UUIDField()),
                    ("client_user_id", models.CharField(max_length=255)),
                    ("body", models.TextField()),
                    ("is_test", models.BooleanField(db_default=False, default=False)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(fields=["tenant", "id"], name="event_by_tenant"),
                        models.Index(
                            fields=["tenant", "user_uuid", "id"], name="event_by_user"
                        ),
                        models.Index(
                            fields=["tenant", "client_user_id"],
                            name="event_by_client_user",
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Delivery",
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
                        "endpoint",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="deliveries",
                            to="webhooks.endpoint",
                        ),
                    ),
                    (
                        "event",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="deliveries",
                            to="webhooks.event",
                        ),
                    ),
                    ("event_type", models.CharField(max_length=100)),
                    ("user_uuid", models.UUIDField()),
                    (
                        "status",
                        models.CharField(
                            choices=accounts.webhooks.states.DeliveryStatus.offered,
                            default="pending",
                            max_length=20,
                        ),
                    ),
                    (
                        "lane",
                        models.PositiveSmallIntegerField(
                            choices=[(0, "Live"), (1, "Replay")], default=0
                        ),
                    ),
                    ("attempts", models.PositiveIntegerField(default=0)),
                    ("step", models.PositiveSmallIntegerField(default=0)),
                    ("due_at", models.DateTimeField(default=django.utils.timezone.now)),
                    ("lease", models.BigIntegerField(null=True)),
                    ("leased_until", models.DateTimeField(null=True)),
                    ("last_code", models.PositiveSmallIntegerField(null=True)),
                    ("last_fault", models.CharField(blank=True, max_length=20)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("finished_at", models.DateTimeField(null=True)),
                ],
                options={
                    "verbose_name": "delivery",
                    "verbose_name_plural": "deliveries",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["endpoint", "-created_at", "-id"],
                            include=("status", "attempts"),
                            name="delivery_in_log",
                        ),
                        models.Index(
                            fields=["endpoint", "status", "-created_at", "-id"],
                            name="delivery_in_status",
                        ),
                        models.Index(
                            fields=["endpoint", "event_type", "-created_at", "-id"],
                            name="delivery_of_type",
                        ),
                        models.Index(
                            condition=models.Q(("attempts__gt", 1)),
                            fields=["endpoint", "-created_at", "-id"],
                            name="delivery_retried",
                        ),
                        models.Index(
                            condition=models.Q(("status", "pending")),
                            fields=["endpoint", "lane", "due_at"],
                            name="delivery_waiting",
                        ),
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("event", "endpoint"),
                            name="delivery_once_per_endpoint",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Attempt",
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
                        "delivery",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="tries",
                            to="webhooks.delivery",
                        ),
                    ),
                    (
                        "endpoint",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="webhooks.endpoint",
                        ),
                    ),
                    ("number", models.PositiveIntegerField()),
                    ("is_manual", models.BooleanField(default=False)),
                    ("succeeded", models.BooleanField()),
                    ("started_at", models.DateTimeField()),
                    ("url", models.CharField(db_default="", max_length=2000)),
                    ("sent_timestamp", models.BigIntegerField()),
                    ("signature", models.CharField(max_length=200)),
                    ("code", models.PositiveSmallIntegerField(null=True)),
                    (
                        "fault",
                        models.CharField(
                            blank=True,
                            choices=accounts.webhooks.states.DeliveryFault.offered,
                            max_length=20,
                        ),
                    ),
                    ("address", models.CharField(blank=True, max_length=45)),
                    ("headers", models.JSONField(default=list)),
                    ("body", models.BinaryField(default=bytes)),
                    ("body_is_cut", models.BooleanField(default=False)),
                    ("dns_ms", models.FloatField(null=True)),
                    ("connect_ms", models.FloatField(null=True)),
                    ("first_byte_ms", models.FloatField(null=True)),
                    ("total_ms", models.FloatField()),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["delivery", "number"], name="attempt_by_delivery"
                        ),
                        models.Index(
                            fields=["endpoint", "started_at"],
                            include=("succeeded", "total_ms"),
                            name="attempt_in_time",
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Replay",
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
                        "endpoint",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="replays",
                            to="webhooks.endpoint",
                        ),
                    ),
                    ("started_by", models.CharField(max_length=255)),
                    ("scope", models.JSONField()),
                    ("until", models.DateTimeField()),
                    (
                        "status",
                        models.CharField(
                            choices=accounts.webhooks.states.ReplayStatus.offered,
                            max_length=20,
                        ),
                    ),
                    ("total", models.PositiveIntegerField()),
                    ("rate", models.PositiveIntegerField()),
                    ("stop_after", models.PositiveIntegerField(default=0)),
                    ("last_at", models.DateTimeField(null=True)),
                    ("last_pk", models.BigIntegerField(default=0)),
                    ("queued_until", models.DateTimeField(null=True)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("finished_at", models.DateTimeField(null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["endpoint", "-created_at"],
                            name="replay_by_endpoint",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ReplayItem",
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
                        "replay",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="items",
                            to="webhooks.replay",
                        ),
                    ),
                    (
                        "delivery",
                        models.ForeignKey(
                            db_constraint=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="webhooks.delivery",
                        ),
                    ),
                    (
                        "former_status",
                        models.CharField(
                            choices=accounts.webhooks.states.DeliveryStatus.offered,
                            max_length=20,
                        ),
                    ),
                    ("former_step", models.PositiveSmallIntegerField()),
                    ("former_due_at", models.DateTimeField()),
                    ("former_finished_at", models.DateTimeField(null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("replay", "delivery"), name="replay_item_once"
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
        ),
        migrations.RunSQL(
            # Room on each page for the leases of its deliveries, which touch no index.
            "ALTER TABLE webhooks_delivery SET (fillfactor = 50)",
            migrations.RunSQL.noop,
        ),
        *enable_tenant_row_security(
            "webhooks_event",
        ),
    ]
