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


def ours():
    return {
        config.label
        for config in apps.get_app_configs()
        if config.name.split(".")[0] in PACKAGES
    }


def lint():
    """Each migration of ours that locks without saying why, and what it does."""
    loader = MigrationLoader(None)
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
    assert lint() == {}


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
