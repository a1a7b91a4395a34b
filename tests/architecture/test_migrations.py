from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ModelState, ProjectState
from django.db.models.functions import Now, Random

from tests.architecture.locks import REASON, locks_of
from tests.architecture.source import PACKAGES

# Landed before there was a rule and before a first release: no other enters.
BEFORE_THE_RULE = {
    "accounts.0002_audit_append_only",
    "accounts.0003_invitations_rotation_and_preferences",
    "accounts.0011_team_deletion_and_shared_invitations",
    "accounts.0013_api_key_scopes_calls_and_limits",
    "accounts.0014_audit_seals_and_request_ids",
    "labs.0006_result_ranges",
    "labs.0009_inbound_done_codes",
    "portal.0002_cache_table",
    "reports.0003_review_desk",
    "reports.0004_second_reads_aliases_and_rereadings",
    "reports.0005_signatures_stay",
    "users.0003_samples",
    "users.0004_streams",
    "users.0005_user_list_filters",
    "users.0008_connections",
    "users.0012_erasure_receipts",
}


def ours():
    return {
        config.label
        for config in apps.get_app_configs()
        if config.name.split(".")[0] in PACKAGES
    }


def lint(*, squashed):
    """Each migration of ours that locks without saying why, and what it does.

    On the way that an empty database takes, or on that of an earlier installation.
    """
    loader = MigrationLoader(None, replace_migrations=squashed)
    if not squashed:
        for key, migration in loader.replacements.items():
            loader.graph.remove_replacement_node(key, migration.replaces)
    state = ProjectState(real_apps=loader.unmigrated_apps)
    found = {}
    seen = set()
    for leaf in sorted(loader.graph.leaf_nodes()):
        for key in loader.graph.forwards_plan(leaf):
            if key in seen:
                continue
            seen.add(key)
            migration = loader.graph.nodes[key]
            faults = locks_of(migration, state)
            if key[0] in ours() and faults and not getattr(migration, REASON, ""):
                found["{}.{}".format(*key)] = faults
    return found


def test_no_migration_locks_a_table_in_use_without_saying_why():
    found = lint(squashed=False)

    new = {
        name: faults for name, faults in found.items() if name not in BEFORE_THE_RULE
    }
    assert new == {}
    assert set(found) == BEFORE_THE_RULE
    assert lint(squashed=True) == {}


def faults_of(*operations, atomic=True):
    """What the rules say of operations on a table that stands: an order's."""
    state = ProjectState()
    fields = [
        ("id", models.BigAutoField(primary_key=True)),
        ("note", models.CharField(max_length=20)),
        ("ended_at", models.DateTimeField(null=True)),
    ]
    state.add_model(ModelState("labs", "Order", fields))
    migration = migrations.Migration("0099_x", "labs")
    migration.operations = list(operations)
    migration.atomic = atomic
    return len(locks_of(migration, state))


def add(field):
    return migrations.AddField("order", "more", field)


def alter(name, field):
    return migrations.AlterField("order", name, field)


INDEX = models.Index(fields=["note"], name="order_by_note")
FOREIGN = ("labs.Order", models.CASCADE)


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddIndex("order", INDEX),
        migrations.RemoveIndex("order", "order_by_note"),
        migrations.AddConstraint(
            "order", models.UniqueConstraint(fields=["note"], name="once")
        ),
        migrations.AddConstraint(
            "order", models.CheckConstraint(condition=~models.Q(note=""), name="said")
        ),
        add(models.CharField(default="", max_length=5)),
        add(models.FloatField(db_default=Random())),
        add(models.UUIDField(null=True, unique=True)),
        add(models.ForeignKey(*FOREIGN, null=True)),
        alter("note", models.TextField()),
        alter("note", models.CharField(max_length=10)),
        alter("note", models.CharField(max_length=20, db_index=True)),
        alter("ended_at", models.DateTimeField()),
        migrations.RemoveField("order", "note"),
        migrations.RenameField("order", "note", "remark"),
        migrations.DeleteModel("order"),
        migrations.RunPython(migrations.RunPython.noop),
        migrations.RunSQL("VACUUM"),
    ],
    ids=lambda operation: operation.describe(),
)
def test_what_locks_or_breaks_is_refused(operation):
    assert faults_of(operation) == 1


def test_what_is_done_at_once_is_let_through():
    free = [
        add(models.CharField(null=True, max_length=5)),
        add(models.BooleanField(db_default=False)),
        add(models.DateTimeField(db_default=Now())),
        add(models.ForeignKey(*FOREIGN, null=True, db_index=False)),
        alter("note", models.CharField(max_length=40, blank=True)),
        alter("note", models.CharField(max_length=40, null=True)),
    ]
    made = [
        migrations.CreateModel("Note", [("id", models.BigAutoField(primary_key=True))]),
        migrations.AddField("note", "of", models.ForeignKey(*FOREIGN)),
        migrations.AddIndex("note", models.Index(fields=["of"], name="note_by_order")),
    ]

    assert [faults_of(operation) for operation in free] == [0] * len(free)
    assert faults_of(*made) == 0
    assert faults_of(AddIndexConcurrently("order", INDEX), atomic=False) == 0
    assert faults_of(migrations.RunPython(migrations.RunPython.noop), atomic=False) == 0
    assert faults_of(AddIndexConcurrently("order", INDEX), free[0]) == 1
