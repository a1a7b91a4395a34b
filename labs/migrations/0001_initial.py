"""Make the catalogue, orders, results, inbound messages and appointments."""

import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.db.models.manager
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import labs.states.accounts
import labs.states.appointments
import labs.states.catalogue
import labs.states.critical
import labs.states.inbound
import labs.states.orders
import labs.states.patient_notices
import labs.states.patients
import labs.states.results
from portal.lib.database.schema import CreateModels
from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    initial = True
    locks_because = "its tables are made here and hold nothing"
    dependencies = [("users", "0001_initial")]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name="Lab",
                fields=[
                    (
                        "id",
                        models.PositiveIntegerField(primary_key=True, serialize=False),
                    ),
                    ("slug", models.SlugField(unique=True)),
                    ("name", models.CharField(max_length=150)),
                    ("first_line_address", models.CharField(max_length=200)),
                    ("city", models.CharField(max_length=100)),
                    ("zipcode", models.CharField(max_length=10)),
                    (
                        "collection_methods",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=100), size=None
                        ),
                    ),
                    (
                        "sample_types",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=100), size=None
                        ),
                    ),
                ],
                options={
                    "verbose_name": "lab",
                    "verbose_name_plural": "labs",
                },
            ),
            migrations.CreateModel(
                name="Marker",
                fields=[
                    (
                        "id",
                        models.PositiveIntegerField(primary_key=True, serialize=False),
                    ),
                    (
                        "lab",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="markers",
                            to="labs.lab",
                        ),
                    ),
                    ("name", models.CharField(max_length=200)),
                    ("slug", models.SlugField(max_length=200)),
                    ("description", models.TextField(blank=True)),
                    ("provider_id", models.CharField(max_length=50)),
                    (
                        "type",
                        models.CharField(
                            choices=labs.states.catalogue.MarkerType.offered,
                            max_length=100,
                        ),
                    ),
                    ("unit", models.CharField(blank=True, max_length=50)),
                    (
                        "price",
                        models.DecimalField(decimal_places=2, max_digits=9, null=True),
                    ),
                    (
                        "sample_type",
                        models.CharField(
                            choices=labs.states.catalogue.SampleType.offered,
                            max_length=100,
                        ),
                    ),
                    ("fasting", models.BooleanField(default=False)),
                    ("a_la_carte_enabled", models.BooleanField(default=True)),
                    ("is_orderable", models.BooleanField(default=True)),
                    ("common_tat_days", models.PositiveSmallIntegerField(null=True)),
                    (
                        "worst_case_tat_days",
                        models.PositiveSmallIntegerField(null=True),
                    ),
                    ("aoe_questions", models.JSONField(default=list)),
                ],
                options={
                    "verbose_name": "marker",
                    "verbose_name_plural": "markers",
                    "indexes": [
                        django.contrib.postgres.indexes.GinIndex(
                            django.contrib.postgres.indexes.OpClass(
                                django.db.models.functions.text.Upper("name"),
                                "gin_trgm_ops",
                            ),
                            name="marker_by_part_of_name",
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("lab", "provider_id"),
                            name="marker_once_per_lab_code",
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="ExpectedResult",
                fields=[
                    (
                        "id",
                        models.PositiveIntegerField(primary_key=True, serialize=False),
                    ),
                    (
                        "marker",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="expected_results",
                            to="labs.marker",
                        ),
                    ),
                    ("name", models.CharField(max_length=200)),
                    ("slug", models.SlugField(max_length=200)),
                    ("provider_id", models.CharField(max_length=50)),
                    ("required", models.BooleanField(default=True)),
                    ("loinc_code", models.CharField(blank=True, max_length=10)),
                    ("loinc_name", models.CharField(blank=True, max_length=300)),
                    ("unit", models.CharField(blank=True, max_length=50)),
                    (
                        "result_type",
                        models.CharField(
                            choices=labs.states.catalogue.ResultType.offered,
                            max_length=100,
                        ),
                    ),
                    ("low", models.FloatField(null=True)),
                    ("high", models.FloatField(null=True)),
                    (
                        "coded_values",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=100),
                            default=list,
                            size=None,
                        ),
                    ),
                ],
                options={
                    "verbose_name": "expected result",
                    "verbose_name_plural": "expected results",
                },
            ),
            migrations.CreateModel(
                name="LabTest",
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
                        "lab",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="labs.lab",
                        ),
                    ),
                    ("name", models.CharField(max_length=150)),
                    ("slug", models.SlugField(max_length=150)),
                    ("description", models.TextField(blank=True)),
                    (
                        "sample_type",
                        models.CharField(
                            choices=labs.states.catalogue.SampleType.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "method",
                        models.CharField(
                            choices=labs.states.catalogue.CollectionMethod.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "price",
                        models.DecimalField(decimal_places=2, default=0, max_digits=9),
                    ),
                    ("fasting", models.BooleanField(default=False)),
                    (
                        "status",
                        models.CharField(
                            choices=labs.states.catalogue.LabTestStatus.offered,
                            default="pending_approval",
                            max_length=100,
                        ),
                    ),
                    (
                        "status_before_archive",
                        models.CharField(blank=True, max_length=100),
                    ),
                    (
                        "generation",
                        models.CharField(
                            choices=labs.states.catalogue.Generation.offered,
                            default="manual",
                            max_length=100,
                        ),
                    ),
                    ("has_collection_instructions", models.BooleanField(default=False)),
                    ("reference_slug", models.CharField(blank=True, max_length=150)),
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
                        "markers",
                        models.ManyToManyField(related_name="+", to="labs.marker"),
                    ),
                ],
                options={
                    "verbose_name": "lab test",
                    "verbose_name_plural": "lab tests",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["tenant", "price", "id"], name="lab_test_by_price"
                        ),
                        models.Index(
                            fields=["tenant", "created_at", "id"],
                            name="lab_test_by_creation",
                        ),
                        models.Index(
                            fields=["tenant", "updated_at", "id"],
                            name="lab_test_by_update",
                        ),
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            condition=models.Q(("reference_slug", ""), _negated=True),
                            fields=("tenant", "reference_slug"),
                            name="lab_test_once_per_reference",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="LabAccount",
                fields=[
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
                        "organisation",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="accounts.organisation",
                        ),
                    ),
                    (
                        "environment",
                        models.CharField(
                            choices=[
                                ("sandbox", "Sandbox"),
                                ("production", "Production"),
                            ],
                            max_length=10,
                        ),
                    ),
                    (
                        "lab",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="labs.lab",
                        ),
                    ),
                    (
                        "status",
                        models.CharField(
                            choices=labs.states.accounts.LabAccountStatus.offered,
                            default="pending",
                            max_length=100,
                        ),
                    ),
                    (
                        "delegated_flow",
                        models.CharField(
                            choices=labs.states.accounts.DelegatedFlow.offered,
                            default="not_delegated",
                            max_length=100,
                        ),
                    ),
                    ("provider_account_id", models.CharField(max_length=50)),
                    ("account_name", models.CharField(blank=True, max_length=150)),
                    ("default_clinical_notes", models.TextField(blank=True)),
                    (
                        "business_units",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=50),
                            default=list,
                            size=None,
                        ),
                    ),
                    ("allowed_billing", models.JSONField(default=dict)),
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
                ],
                options={
                    "verbose_name": "lab account",
                    "verbose_name_plural": "lab accounts",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=(
                                "organisation",
                                "environment",
                                "lab",
                                "provider_account_id",
                            ),
                            name="lab_account_once_per_number",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="LabAccountTeam",
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
                        "account",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="team_links",
                            to="labs.labaccount",
                        ),
                    ),
                    (
                        "team",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="accounts.team",
                        ),
                    ),
                ],
                options={
                    "verbose_name": "team of a lab account",
                    "verbose_name_plural": "teams of lab accounts",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("account", "team"), name="lab_account_linked_once"
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="OrderTransaction",
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
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="users.user",
                        ),
                    ),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
                options={
                    "verbose_name": "order transaction",
                    "verbose_name_plural": "order transactions",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Order",
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
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="users.user",
                        ),
                    ),
                    (
                        "transaction",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="orders",
                            to="labs.ordertransaction",
                        ),
                    ),
                    (
                        "parent",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="labs.order",
                        ),
                    ),
                    (
                        "origin",
                        models.CharField(
                            choices=labs.states.orders.OrderOrigin.offered,
                            default="initial",
                            max_length=100,
                        ),
                    ),
                    ("update_reason", models.CharField(blank=True, max_length=100)),
                    (
                        "lab",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="labs.lab",
                        ),
                    ),
                    (
                        "lab_test",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="labs.labtest",
                        ),
                    ),
                    (
                        "lab_account",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="labs.labaccount",
                        ),
                    ),
                    (
                        "account_reason",
                        models.CharField(
                            choices=labs.states.accounts.AccountReason.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "method",
                        models.CharField(
                            choices=labs.states.catalogue.CollectionMethod.offered,
                            max_length=100,
                        ),
                    ),
                    ("status", models.CharField(max_length=100)),
                    ("is_registrable", models.BooleanField(default=False)),
                    ("registered_at", models.DateTimeField(null=True)),
                    ("patient_details", models.JSONField(null=True)),
                    ("patient_address", models.JSONField(null=True)),
                    ("shipping_address", models.JSONField(null=True)),
                    ("patient_name", models.CharField(blank=True, max_length=102)),
                    ("patient_dob", models.DateField(null=True)),
                    ("recipient_name", models.CharField(blank=True, max_length=150)),
                    ("physician", models.JSONField(null=True)),
                    ("consents", models.JSONField(default=list)),
                    ("aoe_answers", models.JSONField(default=list)),
                    ("health_insurance", models.JSONField(null=True)),
                    ("health_insurance_id", models.UUIDField(null=True)),
                    ("comments", models.CharField(blank=True, max_length=1000)),
                    ("passthrough", models.TextField(blank=True)),
                    ("priority", models.BooleanField(default=False)),
                    (
                        "billing_type",
                        models.CharField(
                            choices=labs.states.accounts.Billing.offered,
                            default="client_bill",
                            max_length=100,
                        ),
                    ),
                    (
                        "icd_codes",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=20),
                            default=list,
                            size=None,
                        ),
                    ),
                    ("creator_member_id", models.UUIDField(null=True)),
                    ("activate_by", models.DateField(null=True)),
                    ("sms_enabled", models.BooleanField(db_default=True, default=True)),
                    ("sample_id", models.CharField(blank=True, max_length=50)),
                    ("requisition_issued_at", models.DateTimeField(null=True)),
                    (
                        "requisition_comment",
                        models.TextField(blank=True, db_default=""),
                    ),
                    (
                        "interpretation",
                        models.CharField(
                            blank=True,
                            choices=labs.states.orders.Interpretation.offered,
                            max_length=100,
                        ),
                    ),
                    ("has_missing_results", models.BooleanField(null=True)),
                    ("due_by", models.DateField(null=True)),
                    ("worst_case_due_by", models.DateField(null=True)),
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
                ],
                options={
                    "verbose_name": "order",
                    "verbose_name_plural": "orders",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["tenant", "-created_at", "id"],
                            include=(
                                "user",
                                "status",
                                "lab",
                                "lab_account",
                                "method",
                                "interpretation",
                                "sample_id",
                            ),
                            name="order_in_list",
                        ),
                        models.Index(
                            fields=["tenant", "-updated_at"], name="order_by_update"
                        ),
                        models.Index(
                            fields=["tenant", "status", "-created_at"],
                            include=("user", "updated_at"),
                            name="order_in_status",
                        ),
                        models.Index(
                            condition=models.Q(("sample_id", ""), _negated=True),
                            fields=["tenant", "sample_id"],
                            name="order_by_sample",
                        ),
                        models.Index(
                            fields=["user", "-created_at"], name="order_by_user"
                        ),
                        models.Index(
                            condition=models.Q(("interpretation", ""), _negated=True),
                            fields=["tenant", "interpretation", "-created_at"],
                            include=("user", "updated_at"),
                            name="order_in_interpretation",
                        ),
                        models.Index(
                            condition=models.Q(("activate_by__isnull", False)),
                            fields=["activate_by"],
                            name="order_scheduled",
                        ),
                        models.Index(
                            fields=["tenant", "created_at", "id"],
                            include=(
                                "user",
                                "lab",
                                "patient_name",
                                "patient_dob",
                                "recipient_name",
                            ),
                            name="order_with_patient",
                        ),
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            condition=models.Q(("sample_id", ""), _negated=True),
                            fields=("lab", "sample_id"),
                            name="order_sample_once_per_lab",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="OrderEvent",
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
                        "order",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="events",
                            to="labs.order",
                        ),
                    ),
                    ("status", models.CharField(max_length=100)),
                    (
                        "status_detail",
                        models.CharField(
                            blank=True,
                            choices=labs.states.orders.OrderStatusDetail.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("actor_kind", models.CharField(max_length=10)),
                    ("actor_label", models.CharField(max_length=254)),
                    ("why", models.CharField(blank=True, max_length=200)),
                ],
                options={
                    "verbose_name": "order event",
                    "verbose_name_plural": "order events",
                    "ordering": ["id"],
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["order", "id"], name="order_event_in_order"
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Shipment",
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
                        "order",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="shipment",
                            to="labs.order",
                        ),
                    ),
                    (
                        "outbound_tracking_number",
                        models.CharField(blank=True, max_length=100),
                    ),
                    ("outbound_tracking_url", models.URLField(blank=True)),
                    ("outbound_courier", models.CharField(blank=True, max_length=100)),
                    (
                        "inbound_tracking_number",
                        models.CharField(blank=True, max_length=100),
                    ),
                    ("inbound_tracking_url", models.URLField(blank=True)),
                    ("inbound_courier", models.CharField(blank=True, max_length=100)),
                    ("notes", models.CharField(blank=True, max_length=500)),
                ],
                options={
                    "verbose_name": "shipment",
                    "verbose_name_plural": "shipments",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Appointment",
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
                        "order",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="appointments",
                            to="labs.order",
                        ),
                    ),
                    (
                        "type",
                        models.CharField(
                            choices=labs.states.appointments.AppointmentType.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "provider",
                        models.CharField(
                            choices=labs.states.appointments.AppointmentProvider.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "status",
                        models.CharField(
                            choices=labs.states.appointments.AppointmentStatus.offered,
                            max_length=100,
                        ),
                    ),
                    ("site_code", models.CharField(blank=True, max_length=20)),
                    ("site_name", models.CharField(blank=True, max_length=150)),
                    ("address", models.JSONField()),
                    ("latitude", models.FloatField()),
                    ("longitude", models.FloatField()),
                    ("time_zone", models.CharField(blank=True, max_length=64)),
                    ("start_at", models.DateTimeField(null=True)),
                    ("end_at", models.DateTimeField(null=True)),
                    ("reference", models.UUIDField(default=uuid.uuid4)),
                    ("external_id", models.CharField(blank=True, max_length=100)),
                    ("notes", models.CharField(blank=True, max_length=1000)),
                    ("event_data", models.JSONField(null=True)),
                    (
                        "cancellation_reason",
                        models.CharField(blank=True, max_length=100),
                    ),
                    (
                        "cancellation_note",
                        models.CharField(blank=True, max_length=1000),
                    ),
                    ("confirm_by", models.DateTimeField(null=True)),
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
                ],
                options={
                    "verbose_name": "appointment",
                    "verbose_name_plural": "appointments",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["tenant", "start_at"], name="appointment_by_start"
                        ),
                        models.Index(
                            condition=models.Q(("status__in", ["pending", "reserved"])),
                            fields=["status", "confirm_by"],
                            name="appointment_unconfirmed",
                        ),
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            condition=models.Q(
                                (
                                    "status__in",
                                    ["pending", "reserved", "confirmed", "in_progress"],
                                )
                            ),
                            fields=("order",),
                            name="appointment_one_active_per_order",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="AppointmentEvent",
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
                        "appointment",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="events",
                            to="labs.appointment",
                        ),
                    ),
                    (
                        "status",
                        models.CharField(
                            choices=labs.states.appointments.AppointmentEventStatus.offered,
                            max_length=100,
                        ),
                    ),
                    ("data", models.JSONField(null=True)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("actor_kind", models.CharField(max_length=10)),
                    ("actor_label", models.CharField(max_length=254)),
                ],
                options={
                    "verbose_name": "appointment event",
                    "verbose_name_plural": "appointment events",
                    "ordering": ["id"],
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["appointment", "id"],
                            name="appointment_event_in_order",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="SlotPlace",
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
                    ("pool", models.BigIntegerField()),
                    ("provider", models.CharField(max_length=100)),
                    ("site_code", models.CharField(max_length=20)),
                    ("start_at", models.DateTimeField()),
                    ("place", models.PositiveSmallIntegerField()),
                    (
                        "order",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="labs.order",
                        ),
                    ),
                    (
                        "appointment",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="places",
                            to="labs.appointment",
                        ),
                    ),
                    ("reference", models.UUIDField(null=True)),
                    ("expires_at", models.DateTimeField(null=True)),
                ],
                options={
                    "verbose_name": "reserved slot",
                    "verbose_name_plural": "reserved slots",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("expires_at__isnull", False)),
                            fields=["expires_at"],
                            name="slot_place_by_expiry",
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=(
                                "pool",
                                "provider",
                                "site_code",
                                "start_at",
                                "place",
                            ),
                            include=("expires_at", "reference"),
                            name="slot_place_taken_once",
                        ),
                        models.UniqueConstraint(
                            condition=models.Q(
                                ("appointment", None), ("reference", None)
                            ),
                            fields=("order",),
                            name="slot_place_one_hold_per_order",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                models.Q(
                                    ("appointment", None), ("expires_at__isnull", False)
                                ),
                                models.Q(
                                    ("appointment__isnull", False), ("expires_at", None)
                                ),
                                _connector="OR",
                            ),
                            name="slot_place_held_or_booked",
                        ),
                    ],
                },
            ),
            migrations.CreateModel(
                name="SandboxVisit",
                fields=[
                    ("reference", models.UUIDField(primary_key=True, serialize=False)),
                    ("external_id", models.CharField(max_length=100)),
                    ("is_refused", models.BooleanField(default=False)),
                    ("answers_at", models.DateTimeField()),
                    ("cancelled_at", models.DateTimeField(null=True)),
                ],
                options={
                    "verbose_name": "sandbox visit",
                    "verbose_name_plural": "sandbox visits",
                },
            ),
            migrations.CreateModel(
                name="ResultVersion",
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
                        "order",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="result_versions",
                            to="labs.order",
                        ),
                    ),
                    ("number", models.PositiveIntegerField()),
                    ("is_current", models.BooleanField(default=True)),
                    (
                        "status",
                        models.CharField(
                            choices=labs.states.results.ResultStatus.offered,
                            max_length=100,
                        ),
                    ),
                    ("is_correction", models.BooleanField(default=False)),
                    (
                        "interpretation",
                        models.CharField(
                            choices=labs.states.orders.Interpretation.offered,
                            max_length=100,
                        ),
                    ),
                    ("has_new_critical", models.BooleanField(default=False)),
                    ("laboratory", models.CharField(blank=True, max_length=200)),
                    ("clia_number", models.CharField(blank=True, max_length=20)),
                    ("collected_at", models.DateTimeField(null=True)),
                    ("received_at", models.DateTimeField(null=True)),
                    ("reported_at", models.DateTimeField()),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("actor_kind", models.CharField(max_length=10)),
                    ("actor_label", models.CharField(max_length=254)),
                ],
                options={
                    "verbose_name": "result version",
                    "verbose_name_plural": "result versions",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("has_new_critical", True)),
                            fields=["tenant", "-created_at"],
                            name="result_version_critical",
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("order", "number"),
                            name="result_version_once_per_number",
                        ),
                        models.UniqueConstraint(
                            condition=models.Q(("is_current", True)),
                            fields=("order",),
                            name="result_version_one_current",
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Result",
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
                        "version",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="results",
                            to="labs.resultversion",
                        ),
                    ),
                    ("position", models.PositiveSmallIntegerField()),
                    (
                        "expected_result",
                        models.ForeignKey(
                            db_index=False,
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
                            related_name="+",
                            to="labs.expectedresult",
                        ),
                    ),
                    ("name", models.CharField(max_length=200)),
                    ("slug", models.CharField(max_length=200)),
                    (
                        "type",
                        models.CharField(
                            choices=labs.states.catalogue.ResultType.offered,
                            max_length=100,
                        ),
                    ),
                    ("result", models.TextField()),
                    ("value", models.FloatField(null=True)),
                    ("unit", models.CharField(blank=True, max_length=50)),
                    ("observed_at", models.DateTimeField(null=True)),
                    ("reported_at", models.DateTimeField()),
                    ("is_preliminary", models.BooleanField(default=False)),
                    ("notes", models.TextField(blank=True)),
                    ("reference_range", models.TextField(blank=True)),
                    ("min_range_value", models.FloatField(null=True)),
                    ("max_range_value", models.FloatField(null=True)),
                    ("is_above_max_range", models.BooleanField(null=True)),
                    ("is_below_min_range", models.BooleanField(null=True)),
                    (
                        "interpretation",
                        models.CharField(
                            blank=True,
                            choices=labs.states.orders.Interpretation.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "source_interpretation",
                        models.CharField(blank=True, max_length=100),
                    ),
                    ("loinc", models.CharField(blank=True, max_length=10)),
                    ("loinc_slug", models.CharField(blank=True, max_length=300)),
                    ("provider_id", models.CharField(blank=True, max_length=50)),
                    ("sub_id", models.CharField(blank=True, max_length=50)),
                    (
                        "performing_laboratory",
                        models.CharField(blank=True, max_length=200),
                    ),
                    ("source_sample_id", models.CharField(blank=True, max_length=100)),
                    ("source_markers", models.JSONField()),
                ],
                options={
                    "verbose_name": "result",
                    "verbose_name_plural": "results",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(fields=["tenant", "loinc"], name="result_by_loinc")
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("version", "position"),
                            name="result_once_per_position",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="MissingResult",
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
                        "version",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="missing_results",
                            to="labs.resultversion",
                        ),
                    ),
                    ("position", models.PositiveSmallIntegerField()),
                    ("name", models.CharField(max_length=200)),
                    ("slug", models.CharField(max_length=200)),
                    (
                        "failure_type",
                        models.CharField(
                            choices=labs.states.results.FailureType.offered,
                            default="unknown_failure",
                            max_length=100,
                        ),
                    ),
                    ("note", models.TextField(blank=True)),
                    ("loinc", models.CharField(blank=True, max_length=10)),
                    ("loinc_slug", models.CharField(blank=True, max_length=300)),
                    ("provider_id", models.CharField(blank=True, max_length=50)),
                    ("sub_id", models.CharField(blank=True, max_length=50)),
                    ("source_markers", models.JSONField()),
                ],
                options={
                    "verbose_name": "missing result",
                    "verbose_name_plural": "missing results",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("version", "position"),
                            name="missing_result_once_per_position",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="SampleData",
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
                        "version",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="samples",
                            to="labs.resultversion",
                        ),
                    ),
                    ("sample_id", models.CharField(max_length=100)),
                    ("control_number", models.CharField(blank=True, max_length=100)),
                    ("collected_at", models.DateTimeField(null=True)),
                    ("collected_offset", models.IntegerField(null=True)),
                    ("received_at", models.DateTimeField(null=True)),
                    ("received_offset", models.IntegerField(null=True)),
                    ("reported_at", models.DateTimeField(null=True)),
                    ("reported_offset", models.IntegerField(null=True)),
                    ("laboratories", models.JSONField(default=dict)),
                    ("fasting", models.BooleanField(null=True)),
                    ("notes", models.TextField(blank=True)),
                    ("information", models.TextField(blank=True)),
                    ("total_volume", models.CharField(blank=True, max_length=50)),
                ],
                options={
                    "verbose_name": "sample",
                    "verbose_name_plural": "samples",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("version", "sample_id"),
                            name="sample_data_once_per_sample",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="CriticalAlert",
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
                        "order",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="critical_alerts",
                            to="labs.order",
                        ),
                    ),
                    (
                        "version",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="labs.resultversion",
                        ),
                    ),
                    (
                        "opened_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("due_at", models.DateTimeField()),
                    ("escalate_at", models.DateTimeField()),
                    ("escalations", models.PositiveSmallIntegerField(default=0)),
                    ("acknowledged_at", models.DateTimeField(null=True)),
                    ("member_id", models.UUIDField(null=True)),
                    ("member_name", models.CharField(blank=True, max_length=254)),
                    ("action", models.TextField(blank=True, max_length=1000)),
                    ("notified_person", models.CharField(blank=True, max_length=150)),
                    (
                        "notification_method",
                        models.CharField(
                            blank=True,
                            choices=labs.states.critical.NotificationMethod.offered,
                            max_length=100,
                        ),
                    ),
                    ("notified_at", models.DateTimeField(null=True)),
                    ("was_read_back", models.BooleanField(default=False)),
                ],
                options={
                    "verbose_name": "critical alert",
                    "verbose_name_plural": "critical alerts",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("acknowledged_at", None)),
                            fields=["tenant", "due_at"],
                            name="critical_alert_open",
                        ),
                        models.Index(
                            condition=models.Q(("acknowledged_at", None)),
                            fields=["escalate_at"],
                            name="critical_alert_escalates",
                        ),
                        models.Index(
                            condition=models.Q(("acknowledged_at__isnull", False)),
                            fields=["tenant", "-acknowledged_at"],
                            name="critical_alert_done",
                        ),
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            condition=models.Q(("acknowledged_at", None)),
                            fields=("order",),
                            name="critical_alert_one_open",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="InboundMessage",
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
                        "lab",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="labs.lab",
                        ),
                    ),
                    (
                        "lab_account",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="labs.labaccount",
                        ),
                    ),
                    (
                        "order",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="labs.order",
                        ),
                    ),
                    ("digest", models.CharField(max_length=64)),
                    ("content", models.BinaryField(default=bytes)),
                    ("file_name", models.CharField(max_length=255)),
                    ("control_id", models.CharField(blank=True, max_length=200)),
                    ("kind", models.CharField(blank=True, max_length=50)),
                    ("sender", models.CharField(blank=True, max_length=200)),
                    (
                        "status",
                        models.CharField(
                            choices=labs.states.inbound.MessageStatus.offered,
                            max_length=100,
                        ),
                    ),
                    ("answer", models.CharField(blank=True, max_length=2)),
                    ("error_code", models.CharField(blank=True, max_length=20)),
                    ("error_place", models.CharField(blank=True, max_length=20)),
                    ("error_text", models.CharField(blank=True, max_length=200)),
                    (
                        "received_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("resolved_at", models.DateTimeField(null=True)),
                    ("resolved_by", models.CharField(blank=True, max_length=254)),
                    ("why", models.CharField(blank=True, max_length=500)),
                ],
                options={
                    "verbose_name": "inbound message",
                    "verbose_name_plural": "inbound messages",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            condition=models.Q(
                                ("status__in", ["malformed", "refused"])
                            ),
                            fields=["tenant", "-received_at"],
                            name="inbound_message_to_look_at",
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("tenant", "lab", "lab_account", "digest"),
                            name="inbound_message_once",
                            nulls_distinct=False,
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="InboundReport",
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
                        "message",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="reports",
                            to="labs.inboundmessage",
                        ),
                    ),
                    ("position", models.PositiveSmallIntegerField()),
                    (
                        "order",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="inbound_reports",
                            to="labs.order",
                        ),
                    ),
                    (
                        "status",
                        models.CharField(
                            choices=labs.states.inbound.MatchStatus.offered,
                            default="unmatched",
                            max_length=100,
                        ),
                    ),
                    (
                        "reason",
                        models.CharField(
                            blank=True,
                            choices=labs.states.inbound.UnmatchedReason.offered,
                            max_length=100,
                        ),
                    ),
                    ("text", models.TextField()),
                    (
                        "placers",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=200),
                            default=list,
                            size=None,
                        ),
                    ),
                    (
                        "fillers",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=200),
                            default=list,
                            size=None,
                        ),
                    ),
                    (
                        "samples",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=200),
                            default=list,
                            size=None,
                        ),
                    ),
                    (
                        "done_codes",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=200),
                            default=list,
                            size=None,
                        ),
                    ),
                    (
                        "received_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("resolved_at", models.DateTimeField(null=True)),
                    ("resolved_by", models.CharField(blank=True, max_length=254)),
                    ("why", models.CharField(blank=True, max_length=500)),
                ],
                options={
                    "verbose_name": "inbound report",
                    "verbose_name_plural": "inbound reports",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("status", "unmatched")),
                            fields=["tenant", "-received_at"],
                            name="inbound_report_unmatched",
                        ),
                        models.Index(
                            fields=["tenant", "status", "-received_at"],
                            name="inbound_report_in_status",
                        ),
                        django.contrib.postgres.indexes.GinIndex(
                            fields=["fillers"], name="inbound_report_by_filler"
                        ),
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("message", "position"),
                            name="inbound_report_once_per_position",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Payor",
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
                    ("payor_code", models.CharField(max_length=50)),
                    ("name", models.CharField(max_length=200)),
                    (
                        "aliases",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=200),
                            default=list,
                            size=None,
                        ),
                    ),
                    ("address", models.JSONField()),
                    ("provider", models.CharField(blank=True, max_length=50)),
                    ("provider_payor_id", models.CharField(blank=True, max_length=50)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
                options={
                    "verbose_name": "insurer",
                    "verbose_name_plural": "insurers",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("tenant", "payor_code"), name="payor_once_per_code"
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="UserInsurance",
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
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="users.user",
                        ),
                    ),
                    ("is_primary", models.BooleanField(default=True)),
                    ("payor_code", models.CharField(max_length=50)),
                    ("company", models.JSONField()),
                    ("member_id", models.CharField(max_length=50)),
                    ("group_id", models.CharField(blank=True, max_length=50)),
                    (
                        "relationship",
                        models.CharField(
                            choices=labs.states.patients.Relationship.offered,
                            max_length=100,
                        ),
                    ),
                    ("insured", models.JSONField()),
                    ("guarantor", models.JSONField(null=True)),
                    (
                        "updated_at",
                        models.DateTimeField(default=django.utils.timezone.now),
                    ),
                ],
                options={
                    "verbose_name": "insurance of a user",
                    "verbose_name_plural": "insurance of users",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("user", "is_primary"),
                            name="insurance_once_per_rank",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="PatientNotice",
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
                        "order",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="notices",
                            to="labs.order",
                        ),
                    ),
                    (
                        "event",
                        models.ForeignKey(
                            db_index=False,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="labs.orderevent",
                        ),
                    ),
                    (
                        "kind",
                        models.CharField(
                            choices=labs.states.patient_notices.NoticeKind.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "channel",
                        models.CharField(
                            choices=labs.states.patient_notices.NoticeChannel.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "status",
                        models.CharField(
                            choices=labs.states.patient_notices.NoticeStatus.offered,
                            max_length=100,
                        ),
                    ),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("closed_at", models.DateTimeField(null=True)),
                ],
                options={
                    "verbose_name": "patient notice",
                    "verbose_name_plural": "patient notices",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(fields=["order", "id"], name="notice_of_order")
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("event", "channel"),
                            name="notice_once_per_step_and_channel",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="RequisitionWatch",
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
                        "order",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="watches",
                            to="labs.order",
                        ),
                    ),
                    (
                        "member",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
                options={
                    "verbose_name": "requisition watch",
                    "verbose_name_plural": "requisition watches",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("order", "member"),
                            name="requisition_watch_once_per_member",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ServiceCenter",
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
                        "lab",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="+",
                            to="labs.lab",
                        ),
                    ),
                    ("site_code", models.CharField(max_length=20)),
                    ("name", models.CharField(max_length=150)),
                    ("first_line", models.CharField(max_length=200)),
                    ("second_line", models.CharField(blank=True, max_length=200)),
                    ("city", models.CharField(max_length=100)),
                    ("state", models.CharField(max_length=2)),
                    ("zip_code", models.CharField(max_length=10)),
                    ("phone_number", models.CharField(blank=True, max_length=20)),
                    ("fax_number", models.CharField(blank=True, max_length=20)),
                    ("website", models.URLField(blank=True)),
                    (
                        "latitude",
                        models.FloatField(
                            validators=[
                                django.core.validators.MinValueValidator(-90),
                                django.core.validators.MaxValueValidator(90),
                            ]
                        ),
                    ),
                    (
                        "longitude",
                        models.FloatField(
                            validators=[
                                django.core.validators.MinValueValidator(-180),
                                django.core.validators.MaxValueValidator(180),
                            ]
                        ),
                    ),
                    ("time_zone", models.CharField(max_length=64)),
                    ("hours", models.JSONField(default=dict)),
                    (
                        "capabilities",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=100),
                            blank=True,
                            size=None,
                        ),
                    ),
                    (
                        "bill_types",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=100), size=None
                        ),
                    ),
                    ("places", models.PositiveSmallIntegerField(default=1)),
                    ("is_active", models.BooleanField(default=True)),
                ],
                options={
                    "verbose_name": "service center",
                    "verbose_name_plural": "service centers",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("is_active", True)),
                            fields=["lab", "latitude"],
                            name="service_center_by_latitude",
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("lab", "site_code"),
                            name="service_center_once_per_site_code",
                        )
                    ],
                },
            ),
        ),
        *enable_tenant_row_security(
            "labs_userinsurance",
            "labs_ordertransaction",
            "labs_order",
            "labs_orderevent",
            "labs_shipment",
            "labs_appointment",
            "labs_appointmentevent",
            "labs_resultversion",
            "labs_result",
            "labs_missingresult",
            "labs_sampledata",
            "labs_criticalalert",
            "labs_inboundmessage",
            "labs_inboundreport",
            "labs_patientnotice",
        ),
    ]
