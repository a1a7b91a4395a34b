import uuid

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0015_audit_by_actor"),
        ("users", "0011_source_grants"),
    ]

    operations = [
        migrations.CreateModel(
            name="ErasureReceipt",
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
                        fields=["tenant", "-erased_at"], name="receipt_by_time"
                    )
                ],
            },
            managers=[("unscoped", django.db.models.manager.Manager())],
        ),
        migrations.RunSQL(
            sql="""
            CREATE TRIGGER receipt_append_only
            BEFORE UPDATE OR DELETE ON users_erasurereceipt
            FOR EACH ROW EXECUTE FUNCTION accounts_audit_append_only();
            """,
            reverse_sql="DROP TRIGGER receipt_append_only ON users_erasurereceipt;",
        ),
    ]
