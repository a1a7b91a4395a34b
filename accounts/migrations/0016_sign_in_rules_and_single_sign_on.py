import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

ROLES = [
    ("owner", "Owner"),
    ("admin", "Admin"),
    ("clinician", "Clinician"),
    ("lab_staff", "Lab staff"),
    ("developer", "Developer"),
    ("viewer", "Viewer"),
]


class Migration(migrations.Migration):
    dependencies = [("accounts", "0015_audit_by_actor")]

    operations = [
        # Who could sign in so far counts as confirmed.
        migrations.AddField(
            model_name="member",
            name="email_confirmed_at",
            field=models.DateTimeField(
                blank=True, default=django.utils.timezone.now, null=True
            ),
            preserve_default=False,
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
                        base_field=models.CharField(choices=ROLES, max_length=20),
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
                (
                    "team",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="single_sign_on",
                        to="accounts.team",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            roles__contained_by=[
                                "clinician",
                                "lab_staff",
                                "developer",
                                "viewer",
                            ]
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
                (
                    "membership",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="single_sign_on_identity",
                        to="accounts.membership",
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
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("single_sign_on", "subject"),
                        name="single_sign_on_subject_once",
                    )
                ],
            },
        ),
    ]
