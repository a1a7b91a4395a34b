"""Make parsing jobs, their results, reviews and signatures."""

import uuid

import django.db.models.deletion
import django.db.models.fields.json
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models

import reports.states
from portal.lib.database.schema import CreateModels
from portal.lib.tenancy import enable_tenant_row_security


class Migration(migrations.Migration):
    initial = True
    locks_because = "its tables are made here and hold nothing"
    dependencies = [("users", "0001_initial")]

    operations = [
        CreateModels(
            migrations.CreateModel(
                name="LoincAlias",
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
                    ("lab", models.CharField(max_length=200)),
                    ("lab_key", models.CharField(max_length=200)),
                    ("name", models.CharField(max_length=200)),
                    ("name_key", models.CharField(max_length=200)),
                    ("units", models.CharField(blank=True, max_length=100)),
                    ("loinc_code", models.CharField(max_length=20)),
                    ("match", models.JSONField()),
                    (
                        "status",
                        models.CharField(
                            choices=reports.states.AliasStatus.offered,
                            default="proposed",
                            max_length=100,
                        ),
                    ),
                    ("proposed_by_key", models.CharField(max_length=80)),
                    ("proposed_by_label", models.CharField(max_length=254)),
                    (
                        "proposed_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    (
                        "confirmed_by_label",
                        models.CharField(blank=True, max_length=254),
                    ),
                    ("confirmed_at", models.DateTimeField(null=True)),
                    ("ended_by_label", models.CharField(blank=True, max_length=254)),
                    ("ended_at", models.DateTimeField(null=True)),
                ],
                options={
                    "verbose_name": "LOINC mapping",
                    "verbose_name_plural": "LOINC mappings",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            condition=models.Q(("status", "ended"), _negated=True),
                            fields=("tenant", "lab_key", "name_key", "units"),
                            name="loinc_alias_once_per_name",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ParsingJob",
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
                        "status",
                        models.CharField(
                            choices=reports.states.ParsingJobStatus.offered,
                            default="upload_pending",
                            max_length=100,
                        ),
                    ),
                    (
                        "failure_reason",
                        models.CharField(
                            blank=True,
                            choices=reports.states.ParsingJobFailureReason.offered,
                            max_length=100,
                        ),
                    ),
                    ("needs_human_review", models.BooleanField(default=False)),
                    ("is_reviewed", models.BooleanField(default=False)),
                    (
                        "version",
                        models.PositiveSmallIntegerField(db_default=0, default=0),
                    ),
                    ("metadata", models.JSONField(null=True)),
                    ("notes", models.JSONField(null=True)),
                    ("unread", models.JSONField(null=True)),
                    ("page_sizes", models.JSONField(null=True)),
                    ("pages", models.PositiveIntegerField(null=True)),
                    ("sha256", models.CharField(max_length=64)),
                    (
                        "replaced_by",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
                            related_name="+",
                            to="reports.parsingjob",
                        ),
                    ),
                    (
                        "source_key",
                        models.CharField(blank=True, db_default="", max_length=100),
                    ),
                    (
                        "source_label",
                        models.CharField(blank=True, db_default="", max_length=254),
                    ),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("finished_at", models.DateTimeField(null=True)),
                ],
                options={
                    "verbose_name": "parsing job",
                    "verbose_name_plural": "parsing jobs",
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            fields=["tenant", "-created_at"], name="job_by_time"
                        ),
                        models.Index(fields=["tenant", "status"], name="job_by_status"),
                        models.Index(fields=["tenant", "sha256"], name="job_by_digest"),
                        models.Index(
                            models.F("tenant"),
                            django.db.models.fields.json.KeyTextTransform(
                                "specimen_number", "metadata"
                            ),
                            name="job_by_specimen",
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ReportFile",
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
                        "job",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="files",
                            to="reports.parsingjob",
                        ),
                    ),
                    ("position", models.PositiveSmallIntegerField()),
                    ("stored_as", models.CharField(max_length=100, unique=True)),
                    ("content_type", models.CharField(max_length=100)),
                    ("size", models.PositiveIntegerField()),
                    ("sha256", models.CharField(max_length=64)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("job", "position"),
                            name="report_file_once_per_position",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ReportResult",
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
                        "job",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="results",
                            to="reports.parsingjob",
                        ),
                    ),
                    (
                        "version",
                        models.PositiveSmallIntegerField(db_default=0, default=0),
                    ),
                    ("position", models.PositiveIntegerField()),
                    ("test_name", models.TextField()),
                    ("value", models.TextField()),
                    ("type", models.CharField(max_length=100, null=True)),
                    ("units", models.TextField(null=True)),
                    ("min_reference_range", models.FloatField(null=True)),
                    ("max_reference_range", models.FloatField(null=True)),
                    ("reference_range", models.TextField(null=True)),
                    ("source_panel_name", models.TextField(null=True)),
                    ("sample_type", models.CharField(max_length=100, null=True)),
                    ("measurement_kind", models.CharField(max_length=100, null=True)),
                    ("sensitivity", models.CharField(max_length=100, null=True)),
                    ("loinc_matches", models.JSONField(default=list)),
                    ("loinc_match_status", models.CharField(max_length=100)),
                    ("interpretation", models.CharField(max_length=100)),
                    ("is_above_max_range", models.BooleanField(null=True)),
                    ("is_below_min_range", models.BooleanField(null=True)),
                    ("provenance", models.JSONField(default=dict)),
                    ("confidence", models.JSONField(default=dict)),
                    ("ucum", models.TextField(null=True)),
                    ("flag", models.TextField(null=True)),
                    (
                        "state",
                        models.CharField(
                            db_default="auto", default="auto", max_length=20
                        ),
                    ),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("job", "version", "position"),
                            name="report_result_once_per_version",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ParsingJobTransition",
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
                        "job",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="transitions",
                            to="reports.parsingjob",
                        ),
                    ),
                    ("old", models.CharField(max_length=100)),
                    ("new", models.CharField(max_length=100)),
                    ("actor_kind", models.CharField(max_length=10)),
                    ("actor_key", models.CharField(max_length=80)),
                    ("actor_label", models.CharField(max_length=254)),
                    ("why", models.CharField(blank=True, max_length=200)),
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
                        models.Index(fields=["job", "id"], name="transition_by_job")
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Review",
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
                        "job",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="reviews",
                            to="reports.parsingjob",
                        ),
                    ),
                    ("number", models.PositiveSmallIntegerField()),
                    (
                        "kind",
                        models.CharField(
                            choices=reports.states.ReviewKind.offered,
                            db_default="first",
                            default="first",
                            max_length=20,
                        ),
                    ),
                    (
                        "status",
                        models.CharField(
                            choices=reports.states.ReviewStatus.offered,
                            default="open",
                            max_length=100,
                        ),
                    ),
                    ("why", models.TextField(blank=True)),
                    (
                        "rejection",
                        models.CharField(
                            blank=True,
                            choices=reports.states.RejectionReason.offered,
                            max_length=100,
                        ),
                    ),
                    ("notes", models.JSONField(default=list)),
                    ("first_notes", models.JSONField(default=list)),
                    ("pages_shown", models.JSONField(default=list)),
                    ("flagged", models.PositiveIntegerField(default=0)),
                    ("is_critical", models.BooleanField(default=False)),
                    ("lowest_confidence", models.FloatField(null=True)),
                    ("identity_decided", models.TextField(blank=True)),
                    ("duplicate_decided", models.TextField(blank=True)),
                    (
                        "wants_second_read",
                        models.BooleanField(db_default=False, default=False),
                    ),
                    (
                        "replaces",
                        models.ForeignKey(
                            null=True,
                            on_delete=django.db.models.deletion.SET_NULL,
                            related_name="+",
                            to="reports.parsingjob",
                        ),
                    ),
                    ("claimed_by_key", models.CharField(blank=True, max_length=80)),
                    ("claimed_by_label", models.CharField(blank=True, max_length=254)),
                    ("claimed_at", models.DateTimeField(null=True)),
                    ("claimed_until", models.DateTimeField(null=True)),
                    (
                        "created_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("ended_at", models.DateTimeField(null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(
                            condition=models.Q(("status", "open")),
                            fields=["tenant", "-is_critical", "created_at"],
                            name="review_queue",
                        )
                    ],
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("job", "number"), name="review_once_per_number"
                        ),
                        models.UniqueConstraint(
                            condition=models.Q(("status", "open")),
                            fields=("job",),
                            name="review_open_once_per_job",
                        ),
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ReviewRow",
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
                        "review",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="rows",
                            to="reports.review",
                        ),
                    ),
                    ("position", models.PositiveIntegerField()),
                    ("version", models.PositiveIntegerField(default=1)),
                    ("values", models.JSONField()),
                    ("state", models.CharField(default="auto", max_length=20)),
                    (
                        "decision",
                        models.CharField(
                            choices=reports.states.RowDecision.offered,
                            default="undecided",
                            max_length=20,
                        ),
                    ),
                    ("reason", models.TextField(blank=True)),
                    ("acknowledged", models.JSONField(null=True)),
                    ("after", models.PositiveIntegerField(null=True)),
                    ("disputed", models.JSONField(null=True)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("review", "position"),
                            name="review_row_once_per_position",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="ReviewRowVersion",
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
                        "row",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="versions",
                            to="reports.reviewrow",
                        ),
                    ),
                    ("version", models.PositiveIntegerField()),
                    ("values", models.JSONField()),
                    (
                        "decision",
                        models.CharField(
                            choices=reports.states.RowDecision.offered, max_length=20
                        ),
                    ),
                    ("reason", models.TextField(blank=True)),
                    ("act", models.CharField(blank=True, db_default="", max_length=40)),
                    (
                        "together",
                        models.JSONField(
                            db_default=models.Value([], models.JSONField()),
                            default=list,
                        ),
                    ),
                    ("restores", models.PositiveIntegerField(null=True)),
                    ("actor_kind", models.CharField(max_length=10)),
                    ("actor_key", models.CharField(max_length=80)),
                    ("actor_label", models.CharField(max_length=254)),
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
                    "constraints": [
                        models.UniqueConstraint(
                            fields=("row", "version"),
                            name="review_row_once_per_version",
                        )
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Signature",
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
                        "review",
                        models.OneToOneField(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="signature",
                            to="reports.review",
                        ),
                    ),
                    ("member_key", models.CharField(max_length=80)),
                    ("member_label", models.CharField(max_length=254)),
                    (
                        "meaning",
                        models.CharField(
                            choices=reports.states.SignatureMeaning.offered,
                            max_length=100,
                        ),
                    ),
                    ("signed_at", models.DateTimeField()),
                    ("document", models.TextField()),
                    ("sha256", models.CharField(max_length=64)),
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
                name="ReviewComment",
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
                        "review",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="comments",
                            to="reports.review",
                        ),
                    ),
                    ("position", models.PositiveIntegerField(null=True)),
                    ("text", models.TextField()),
                    ("actor_key", models.CharField(max_length=80)),
                    ("actor_label", models.CharField(max_length=254)),
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
                        models.Index(fields=["review", "id"], name="comment_by_review")
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
            migrations.CreateModel(
                name="Rereading",
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
                        "job",
                        models.ForeignKey(
                            on_delete=django.db.models.deletion.CASCADE,
                            related_name="rereadings",
                            to="reports.parsingjob",
                        ),
                    ),
                    ("asked_by_key", models.CharField(max_length=80)),
                    ("asked_by_label", models.CharField(max_length=254)),
                    (
                        "asked_at",
                        models.DateTimeField(
                            default=django.utils.timezone.now, editable=False
                        ),
                    ),
                    ("finished_at", models.DateTimeField(null=True)),
                    ("rows", models.JSONField(null=True)),
                    ("notes", models.JSONField(null=True)),
                    ("failure", models.CharField(blank=True, max_length=100)),
                ],
                options={
                    "base_manager_name": "unscoped",
                    "default_manager_name": "unscoped",
                    "indexes": [
                        models.Index(fields=["job", "-id"], name="rereading_by_job")
                    ],
                },
                managers=[
                    ("unscoped", django.db.models.manager.Manager()),
                ],
            ),
        ),
        migrations.RunSQL(
            # A row goes with its user alone: erasing says so for its own transaction.
            sql="""
            CREATE FUNCTION reports_signature_stays() RETURNS trigger
            LANGUAGE plpgsql AS $$
            BEGIN
                IF TG_OP = 'DELETE'
                    AND current_setting('assay.erasing', true) = 'on' THEN
                    RETURN OLD;
                END IF;
                RAISE EXCEPTION 'a signature is neither changed nor deleted'
                    USING ERRCODE = 'insufficient_privilege';
            END $$;
            CREATE TRIGGER signature_stays
            BEFORE UPDATE OR DELETE ON reports_signature
            FOR EACH ROW EXECUTE FUNCTION reports_signature_stays();
            """,
            reverse_sql="""
            DROP TRIGGER signature_stays ON reports_signature;
            DROP FUNCTION reports_signature_stays();
            """,
        ),
        *enable_tenant_row_security(
            "reports_parsingjob",
            "reports_reportfile",
            "reports_reportresult",
            "reports_parsingjobtransition",
            "reports_review",
            "reports_reviewrow",
            "reports_reviewrowversion",
            "reports_signature",
            "reports_reviewcomment",
            "reports_rereading",
        ),
    ]
