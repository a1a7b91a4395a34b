import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0013_api_key_scopes_calls_and_limits")]

    operations = [
        migrations.AddField(
            model_name="auditentry",
            name="request_id",
            field=models.CharField(blank=True, db_default="", max_length=32),
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
            managers=[("unscoped", django.db.models.manager.Manager())],
        ),
        migrations.RunSQL(
            sql="""
            CREATE TRIGGER audit_seal_append_only
            BEFORE UPDATE OR DELETE ON accounts_auditseal
            FOR EACH ROW EXECUTE FUNCTION accounts_audit_append_only();
            """,
            reverse_sql="DROP TRIGGER audit_seal_append_only ON accounts_auditseal;",
        ),
    ]
