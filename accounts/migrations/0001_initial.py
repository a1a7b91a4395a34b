"""Make teams, members, keys, audit and notices."""

import uuid

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.text
import django.db.models.manager
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from portal.lib.database.schema import CreateModels


class Migration(migrations.Migration):
    initial = True
    locks_because = "its tables are made here and hold nothing"
    dependencies = [("auth", "0012_alter_user_first_name_max_length")]

    operations = [
        CreateModels(
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
                        "api_key",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="+",
                            to="accounts.apikey",
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
                ],
                options={
                    "verbose_name": "API call",
                    "verbose_name_plural": "API calls",
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
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ApiCallTally",
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
                        "api_key",
                        models.ForeignKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=django.db.models.deletion.DO_NOTHING,
                            related_name="+",
                            to="accounts.apikey",
                        ),
                    ),
                    ("hour", models.DateTimeField()),
                    ("calls", models.PositiveIntegerField()),
                ],
                options={
                    "verbose_name": "API call tally",
                    "verbose_name_plural": "API call tallies",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("api_key", "hour"),
                            name="one_tally_per_key_and_hour",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ApiKey",
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
                    ("label", models.CharField(max_length=80)),
                    ("prefix", models.CharField(max_length=20)),
                    ("last_four", models.CharField(max_length=4)),
                    ("digest", models.BinaryField(max_length=32, unique=True)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "scopes",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=40),
                            blank=True,
                            null=True,
                            size=None,
                        ),
                    ),
                    (
                        "networks",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=43),
                            blank=True,
                            default=list,
                            size=None,
                        ),
                    ),
                    (
                        "calls_per_minute",
                        models.PositiveIntegerField(blank=True, null=True),
                    ),
                    ("last_used_at", models.DateTimeField(blank=True, null=True)),
                    (
                        "last_used_address",
                        models.GenericIPAddressField(blank=True, null=True),
                    ),
                    (
                        "created_by",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    (
                        "replaces",
                        models.OneToOneField(
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
                            related_name="replaced_by",
                            to="accounts.apikey",
                        ),
                    ),
                    ("expires_at", models.DateTimeField(blank=True, null=True)),
                    ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    "verbose_name": "API key",
                    "verbose_name_plural": "API keys",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["tenant", "created_at"],
                            name="accounts_ap_tenant__a64bab_idx",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="AuditEntry",
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
                        "at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("verb", models.CharField(max_length=60)),
                    ("subject", models.CharField(max_length=60)),
                    ("subject_id", models.CharField(max_length=80)),
                    ("user_uuid", models.UUIDField(null=True)),
                    ("actor_kind", models.CharField(max_length=10)),
                    ("actor_key", models.CharField(max_length=80)),
                    ("actor_label", models.CharField(max_length=254)),
                    ("address", models.GenericIPAddressField(null=True)),
                    ("changes", models.JSONField(default=dict)),
                    (
                        "request_id",
                        models.CharField(blank=True, db_default="", max_length=32),
                    ),
                ],
                options={
                    "verbose_name": "audit entry",
                    "verbose_name_plural": "audit entries",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(fields=["tenant", "-at"], name="audit_by_time"),
                        models.Index(
                            fields=["tenant", "user_uuid", "-at"], name="audit_by_user"
                        ),
                        models.Index(
                            fields=["tenant", "actor_key", "-at"], name="audit_by_actor"
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="AuditSeal",
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
                    ("number", models.PositiveIntegerField()),
                    (
                        "sealed_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "entry_ids",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.BigIntegerField(), size=None
                        ),
                    ),
                    ("hashes", models.BinaryField()),
                    ("total", models.PositiveBigIntegerField()),
                    ("top_id", models.BigIntegerField()),
                ],
                options={
                    "verbose_name": "audit seal",
                    "verbose_name_plural": "audit seals",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["-sealed_at", "-top_id"], name="audit_seal_by_time"
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("tenant", "number"),
                            name="audit_seal_once_per_number",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="CallWindow",
                fields=[
                    (
                        "subject",
                        models.CharField(
                            max_length=80, primary_key=True, serialize=False
                        ),
                    ),
                    ("started_at", models.DateTimeField()),
                    ("calls", models.PositiveIntegerField()),
                ],
                options={
                    "verbose_name": "rate limit window",
                    "verbose_name_plural": "rate limit windows",
                },
            ),
            migrations.CreateModel(
                name="Organisation",
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
                    ("name", models.CharField(max_length=80)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
                options={
                    "verbose_name": "organization",
                    "verbose_name_plural": "organizations",
                },
            ),
            migrations.CreateModel(
                name="Team",
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
                            related_name="teams",
                            to="accounts.organisation",
                        ),
                    ),
                    ("name", models.CharField(max_length=80)),
                    ("slug", models.SlugField(max_length=80, unique=True)),
                    (
                        "region",
                        models.CharField(
                            choices=[("us", "United States"), ("eu", "Europe")],
                            default="us",
                            max_length=2,
                        ),
                    ),
                    (
                        "integration_team_id",
                        models.CharField(blank=True, max_length=256, null=True),
                    ),
                    (
                        "time_zone",
                        models.CharField(
                            db_default="UTC", default="UTC", max_length=64
                        ),
                    ),
                    (
                        "event_retention_days",
                        models.PositiveSmallIntegerField(db_default=30, default=30),
                    ),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("deleted_at", models.DateTimeField(blank=True, null=True)),
                    ("erased_at", models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    "verbose_name": "team",
                    "verbose_name_plural": "teams",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("organisation", "integration_team_id"),
                            name="team_integration_id_once",
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="Tenant",
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
                        "team",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="tenants",
                            to="accounts.team",
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
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("partial_webhooks_enabled", models.BooleanField(default=False)),
                    ("minor_ordering_enabled", models.BooleanField(default=False)),
                    ("reject_duplicate_connection", models.BooleanField(default=False)),
                    (
                        "sdk_per_device_activity_timeseries",
                        models.BooleanField(default=False),
                    ),
                    (
                        "lab_tests_patient_sms_communication_enabled",
                        models.BooleanField(default=True),
                    ),
                    (
                        "lab_tests_patient_email_communication_enabled",
                        models.BooleanField(default=True),
                    ),
                    (
                        "critical_result_notification_email",
                        models.EmailField(blank=True, max_length=254, null=True),
                    ),
                    (
                        "critical_result_limit_minutes",
                        models.PositiveSmallIntegerField(db_default=60, default=60),
                    ),
                    ("brand_information", models.JSONField(blank=True, null=True)),
                    ("logo_url", models.URLField(blank=True, null=True)),
                    ("lab_report_parsing_enabled", models.BooleanField(default=False)),
                    (
                        "lab_report_human_review_enabled",
                        models.BooleanField(default=False),
                    ),
                    (
                        "lab_report_review_below",
                        models.PositiveSmallIntegerField(blank=True, null=True),
                    ),
                    (
                        "lab_report_second_read_percent",
                        models.PositiveSmallIntegerField(db_default=0, default=0),
                    ),
                    ("early_psc_booking_enabled", models.BooleanField(default=False)),
                ],
                options={
                    "verbose_name": "environment",
                    "verbose_name_plural": "environments",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("team", "environment"),
                            name="tenant_once_per_environment",
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="Membership",
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
                        "member",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="memberships",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    (
                        "team",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="memberships",
                            to="accounts.team",
                        ),
                    ),
                    (
                        "roles",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(
                                choices=[
                                    ("owner", "Owner"),
                                    ("admin", "Admin"),
                                    ("clinician", "Clinician"),
                                    ("lab_staff", "Lab staff"),
                                    ("developer", "Developer"),
                                    ("viewer", "Viewer"),
                                ],
                                max_length=20,
                            ),
                            size=None,
                        ),
                    ),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("last_seen_at", models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    "verbose_name": "membership",
                    "verbose_name_plural": "memberships",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("member", "team"), name="membership_once_per_team"
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                (
                                    "roles__contained_by",
                                    [
                                        "owner",
                                        "admin",
                                        "clinician",
                                        "lab_staff",
                                        "developer",
                                        "viewer",
                                    ],
                                ),
                                ("roles__len__gt", 0),
                            ),
                            name="membership_roles_known",
                        ),
                    ],
                },
            ),
            migrations.CreateModel(
                name="Invitation",
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
                        "team",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.PROTECT,
                            related_name="invitations",
                            to="accounts.team",
                        ),
                    ),
                    ("email", models.EmailField(max_length=254)),
                    (
                        "roles",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(
                                choices=[
                                    ("owner", "Owner"),
                                    ("admin", "Admin"),
                                    ("clinician", "Clinician"),
                                    ("lab_staff", "Lab staff"),
                                    ("developer", "Developer"),
                                    ("viewer", "Viewer"),
                                ],
                                max_length=20,
                            ),
                            size=None,
                        ),
                    ),
                    ("digest", models.BinaryField(db_index=True, max_length=32)),
                    ("batch", models.UUIDField(db_index=True, null=True)),
                    (
                        "invited_by",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
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
                    ("resent_at", models.DateTimeField(blank=True, null=True)),
                    ("expires_at", models.DateTimeField()),
                    ("accepted_at", models.DateTimeField(blank=True, null=True)),
                    ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    "verbose_name": "invitation",
                    "verbose_name_plural": "invitations",
                    "constraints": [
                        models.UniqueConstraint(
                            condition=models.Q(
                                ("accepted_at", None), ("revoked_at", None)
                            ),
                            fields=("team", "email"),
                            name="invitation_open_once_per_address",
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                (
                                    "roles__contained_by",
                                    [
                                        "owner",
                                        "admin",
                                        "clinician",
                                        "lab_staff",
                                        "developer",
                                        "viewer",
                                    ],
                                ),
                                ("roles__len__gt", 0),
                            ),
                            name="invitation_roles_known",
                        ),
                    ],
                },
            ),
            migrations.CreateModel(
                name="ManagementKey",
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
                            related_name="management_keys",
                            to="accounts.organisation",
                        ),
                    ),
                    (
                        "role",
                        models.CharField(
                            choices=[
                                ("org_admin", "All teams of the organization"),
                                ("team_admin", "This team"),
                            ],
                            max_length=20,
                        ),
                    ),
                    ("label", models.CharField(max_length=80)),
                    ("prefix", models.CharField(max_length=20)),
                    ("last_four", models.CharField(max_length=4)),
                    ("digest", models.BinaryField(max_length=32, unique=True)),
                    (
                        "created_by",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
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
                    ("last_used_at", models.DateTimeField(blank=True, null=True)),
                    ("revoked_at", models.DateTimeField(blank=True, null=True)),
                    (
                        "teams",
                        models.ManyToManyField(
                            related_name="management_keys", to="accounts.team"
                        ),
                    ),
                ],
                options={
                    "verbose_name": "management key",
                    "verbose_name_plural": "management keys",
                },
            ),
            migrations.CreateModel(
                name="Member",
                fields=[
                    (
                        "password",
                        models.CharField(max_length=128, verbose_name="password"),
                    ),
                    (
                        "last_login",
                        models.DateTimeField(
                            blank=True, null=True, verbose_name="last login"
                        ),
                    ),
                    (
                        "is_superuser",
                        models.BooleanField(
                            default=False,
                            help_text="Designates that this user has all permissions without explicitly assigning them.",
                            verbose_name="superuser status",
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
                    ("email", models.EmailField(max_length=254, unique=True)),
                    ("name", models.CharField(blank=True, max_length=150)),
                    ("is_active", models.BooleanField(default=True)),
                    ("is_staff", models.BooleanField(default=False)),
                    (
                        "time_zone",
                        models.CharField(
                            blank=True, db_default="", default="", max_length=64
                        ),
                    ),
                    (
                        "theme",
                        models.CharField(
                            blank=True,
                            choices=[("light", "Light"), ("dark", "Dark")],
                            db_default="",
                            default="",
                            max_length=5,
                        ),
                    ),
                    (
                        "shortcuts_enabled",
                        models.BooleanField(db_default=True, default=True),
                    ),
                    (
                        "session_round",
                        models.PositiveIntegerField(db_default=0, default=0),
                    ),
                    ("email_confirmed_at", models.DateTimeField(blank=True, null=True)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "groups",
                        models.ManyToManyField(
                            blank=True,
                            help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                            related_name="user_set",
                            related_query_name="user",
                            to="auth.group",
                            verbose_name="groups",
                        ),
                    ),
                    (
                        "user_permissions",
                        models.ManyToManyField(
                            blank=True,
                            help_text="Specific permissions for this user.",
                            related_name="user_set",
                            related_query_name="user",
                            to="auth.permission",
                            verbose_name="user permissions",
                        ),
                    ),
                ],
                options={
                    "verbose_name": "member",
                    "verbose_name_plural": "members",
                    "constraints": [
                        models.UniqueConstraint(
                            django.db.models.functions.text.Lower("email"),
                            name="member_email_any_case",
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="MemberSession",
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
                        "member",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="sessions",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    ("session_key", models.CharField(max_length=40, unique=True)),
                    ("proof", models.CharField(max_length=64)),
                    ("address", models.GenericIPAddressField(null=True)),
                    ("user_agent", models.CharField(blank=True, max_length=300)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "last_seen_at",
                        models.DateTimeField(default=django.utils.timezone.now),
                    ),
                ],
                options={
                    "verbose_name": "session",
                    "verbose_name_plural": "sessions",
                    "indexes": [
                        models.Index(
                            fields=["member", "-last_seen_at"], name="session_by_member"
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="NoticeChoices",
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
                        "membership",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="accounts.membership",
                        ),
                    ),
                    ("levels", models.JSONField(default=dict)),
                    ("quiet_from", models.TimeField(blank=True, null=True)),
                    ("quiet_until", models.TimeField(blank=True, null=True)),
                    ("digest_hour", models.PositiveSmallIntegerField(default=8)),
                ],
                options={
                    "verbose_name": "notification settings",
                    "verbose_name_plural": "notification settings",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("tenant", "membership"), name="notice_choices_once"
                        ),
                        models.CheckConstraint(
                            condition=models.Q(
                                models.Q(("quiet_from", None), ("quiet_until", None)),
                                models.Q(
                                    ("quiet_from__isnull", False),
                                    ("quiet_until__isnull", False),
                                ),
                                _connector="OR",
                            ),
                            name="notice_choices_quiet_whole",
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Notice",
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
                        "kind",
                        models.CharField(
                            choices=[
                                ("critical_result", "Critical results"),
                                ("failing_endpoint", "Failing endpoints"),
                                ("silent_source", "Silent sources"),
                            ],
                            max_length=30,
                        ),
                    ),
                    ("key", models.CharField(max_length=100)),
                    ("words", models.CharField(max_length=200)),
                    ("path", models.CharField(max_length=300)),
                    ("is_late", models.BooleanField(default=False)),
                    (
                        "at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
                options={
                    "verbose_name": "notice",
                    "verbose_name_plural": "notices",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(fields=["tenant", "at"], name="notice_by_time")
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("tenant", "kind", "key"), name="notice_once"
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="NoticeMail",
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
                        "membership",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="accounts.membership",
                        ),
                    ),
                    ("day", models.DateField(null=True)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("sent_at", models.DateTimeField(null=True)),
                ],
                options={
                    "verbose_name": "notice email",
                    "verbose_name_plural": "notice emails",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            condition=models.Q(("day__isnull", False)),
                            fields=("tenant", "membership", "day"),
                            name="notice_digest_once_a_day",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="NoticeCopy",
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
                        "notice",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="copies",
                            to="accounts.notice",
                        ),
                    ),
                    (
                        "membership",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to="accounts.membership",
                        ),
                    ),
                    ("due_at", models.DateTimeField()),
                    ("by_digest", models.BooleanField()),
                    (
                        "mail",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="copies",
                            to="accounts.noticemail",
                        ),
                    ),
                ],
                options={
                    "verbose_name": "notice recipient",
                    "verbose_name_plural": "notice recipients",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("mail", None)),
                            fields=["due_at"],
                            name="notice_copy_due",
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("notice", "membership"), name="notice_copy_once"
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="RetentionRule",
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
                        "team",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="retention_rules",
                            to="accounts.team",
                        ),
                    ),
                    ("data_class", models.CharField(max_length=50)),
                    ("days", models.PositiveIntegerField()),
                ],
                options={
                    "verbose_name": "retention rule",
                    "verbose_name_plural": "retention rules",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("team", "data_class"), name="retention_rule_once"
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="SavedView",
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
                        "member",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="+",
                            to=settings.AUTH_USER_MODEL,
                        ),
                    ),
                    ("page", models.CharField(max_length=60)),
                    ("name", models.CharField(max_length=60)),
                    ("query", models.CharField(max_length=1000)),
                    ("is_shared", models.BooleanField(default=False)),
                    ("is_default", models.BooleanField(default=False)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                ],
                options={
                    "verbose_name": "saved view",
                    "verbose_name_plural": "saved views",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("is_shared", True)),
                            fields=["tenant", "page"],
                            name="saved_view_shared",
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            models.F("tenant"),
                            models.F("member"),
                            models.F("page"),
                            django.db.models.functions.text.Lower("name"),
                            name="saved_view_name_once",
                        ),
                        models.UniqueConstraint(
                            condition=models.Q(("is_default", True)),
                            fields=("tenant", "member", "page"),
                            name="saved_view_one_default",
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="SignInRules",
                fields=[
                    (
                        "team",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.CASCADE,
                            primary_key=True,
                            related_name="sign_in_rules",
                            serialize=False,
                            to="accounts.team",
                        ),
                    ),
                    ("requires_second_factor", models.BooleanField(default=False)),
                    ("requires_single_sign_on", models.BooleanField(default=False)),
                ],
                options={
                    "verbose_name": "sign-in requirements",
                    "verbose_name_plural": "sign-in requirements",
                },
            ),
            migrations.CreateModel(
                name="SingleSignOn",
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
                        "team",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="single_sign_on",
                            to="accounts.team",
                        ),
                    ),
                    ("issuer", models.CharField(max_length=500)),
                    ("client_id", models.CharField(max_length=255)),
                    ("client_secret", models.TextField()),
                    (
                        "domains",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(max_length=253),
                            default=list,
                            size=None,
                        ),
                    ),
                    (
                        "roles",
                        django.contrib.postgres.fields.ArrayField(
                            base_field=models.CharField(
                                choices=[
                                    ("owner", "Owner"),
                                    ("admin", "Admin"),
                                    ("clinician", "Clinician"),
                                    ("lab_staff", "Lab staff"),
                                    ("developer", "Developer"),
                                    ("viewer", "Viewer"),
                                ],
                                max_length=20,
                            ),
                            default=list,
                            size=None,
                        ),
                    ),
                    ("round", models.PositiveIntegerField(default=0)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    "verbose_name": "single sign-on provider",
                    "verbose_name_plural": "single sign-on providers",
                    "constraints": [
                        models.CheckConstraint(
                            condition=models.Q(
                                (
                                    "roles__contained_by",
                                    ["clinician", "lab_staff", "developer", "viewer"],
                                )
                            ),
                            name="single_sign_on_makes_no_admin",
                        )
                    ],
                },
            ),
            migrations.CreateModel(
                name="SingleSignOnIdentity",
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
                        "single_sign_on",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="identities",
                            to="accounts.singlesignon",
                        ),
                    ),
                    (
                        "membership",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="single_sign_on_identity",
                            to="accounts.membership",
                        ),
                    ),
                    ("subject", models.CharField(max_length=255)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "last_used_at",
                        models.DateTimeField(default=django.utils.timezone.now),
                    ),
                ],
                options={
                    "verbose_name": "single sign-on identity",
                    "verbose_name_plural": "single sign-on identities",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("single_sign_on", "subject"),
                            name="single_sign_on_subject_once",
                        )
                    ],
                },
            ),
        ),
        migrations.RunSQL(
            # A window is worth nothing after a crash, and is written with every call.
            sql="""
            ALTER TABLE accounts_callwindow SET UNLOGGED;
            ALTER TABLE accounts_callwindow SET (fillfactor = 50);
            """,
            reverse_sql=migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            sql="""
            CREATE FUNCTION accounts_audit_append_only() RETURNS trigger
            LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'the audit is append-only'
                    USING ERRCODE = 'insufficient_privilege';
            END $$;
            CREATE TRIGGER audit_append_only
            BEFORE UPDATE OR DELETE ON accounts_auditentry
            FOR EACH ROW EXECUTE FUNCTION accounts_audit_append_only();
            CREATE TRIGGER audit_no_truncate
            BEFORE TRUNCATE ON accounts_auditentry
            FOR EACH STATEMENT EXECUTE FUNCTION accounts_audit_append_only();
            CREATE TRIGGER audit_seal_append_only
            BEFORE UPDATE OR DELETE ON accounts_auditseal
            FOR EACH ROW EXECUTE FUNCTION accounts_audit_append_only();
            CREATE TRIGGER audit_seal_no_truncate
            BEFORE TRUNCATE ON accounts_auditseal
            FOR EACH STATEMENT EXECUTE FUNCTION accounts_audit_append_only();
            """,
            reverse_sql="""
            DROP TRIGGER audit_seal_no_truncate ON accounts_auditseal;
            DROP TRIGGER audit_seal_append_only ON accounts_auditseal;
            DROP TRIGGER audit_no_truncate ON accounts_auditentry;
            DROP TRIGGER audit_append_only ON accounts_auditentry;
            DROP FUNCTION accounts_audit_append_only();
            """,
        ),
    ]
