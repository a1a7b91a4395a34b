"""Keep what sources announce, and whether they push."""

import django.db.models.deletion
import django.db.models.manager
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    locks_because = "its indexes are of open pulls and live connections, which are few"
    dependencies = [
        ("accounts", "0001_initial"),
        ("portal", "0001_initial"),
        ("users", "0002_source_credentials"),
    ]

    operations = [
        migrations.CreateModel(
            name="Announcement",
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
                ("resource", models.CharField(max_length=50)),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                (
                    "at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False
                    ),
                ),
                ("times", models.PositiveIntegerField(default=1)),
            ],
            options={
                "abstract": False,
                "base_manager_name": "unscoped",
                "default_manager_name": "unscoped",
            },
            managers=[
                ("unscoped", django.db.models.manager.Manager()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="pull",
            name="pull_open_once",
        ),
        migrations.AddField(
            model_name="pull",
            name="is_announced",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="sourcegrant",
            name="pushes_checked_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="sourcegrant",
            name="pushes_error",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=100
            ),
        ),
        migrations.AddIndex(
            model_name="connection",
            index=models.Index(
                condition=models.Q(("disconnected_at", None)),
                fields=["provider", "external_user_id"],
                name="connection_by_account",
            ),
        ),
        migrations.AddConstraint(
            model_name="pull",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None)),
                fields=("connection", "resource", "is_history", "is_announced"),
                name="pull_open_once",
            ),
        ),
        migrations.AddField(
            model_name="announcement",
            name="connection",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="announcements",
                to="users.connection",
            ),
        ),
        migrations.AddField(
            model_name="announcement",
            name="pull",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="announcements",
                to="users.pull",
            ),
        ),
        migrations.AddField(
            model_name="announcement",
            name="tenant",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="accounts.tenant",
            ),
        ),
        migrations.AddIndex(
            model_name="announcement",
            index=models.Index(
                fields=["connection", "resource", "at"], name="announcement_by_source"
            ),
        ),
        migrations.AddConstraint(
            model_name="announcement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("pull", None)),
                fields=("connection", "resource"),
                name="announcement_pending_once",
            ),
        ),
    ]
