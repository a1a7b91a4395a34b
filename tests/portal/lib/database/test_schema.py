from __future__ import annotations

from django.db import connection, migrations, models
from django.db.migrations.state import ModelState, ProjectState

from portal.lib.database.schema import CreateModels

KEY = ("id", models.BigAutoField(primary_key=True))


def other(name):
    return ("other", models.ForeignKey(f"labs.{name}", models.CASCADE, null=True))


def test_models_that_refer_to_one_another_are_made_and_dropped_together(db):
    operation = CreateModels(
        migrations.CreateModel("Left", [KEY, other("Right")]),
        migrations.CreateModel("Right", [KEY, other("Left")]),
    )
    before, after = ProjectState(), ProjectState()
    before.apps  # noqa: B018 - as it is when a migration begins
    after.apps  # noqa: B018
    both = ["labs_left", "labs_right"]

    operation.state_forwards("labs", after)
    with connection.schema_editor() as editor:
        operation.database_forwards("labs", editor, before, after)
    with connection.cursor() as cursor:
        refers = [connection.introspection.get_relations(cursor, name) for name in both]
    with connection.schema_editor() as editor:
        operation.database_backwards("labs", editor, after, before)

    assert operation.describe() == "Create models Left, Right"
    assert operation.deconstruct() == ("CreateModels", operation.models, {})
    assert refers == [{"other_id": ("id", name)} for name in reversed(both)]
    assert not {*both}.intersection(connection.introspection.table_names())


def test_classes_that_are_made_already_are_not_made_again():
    state = ProjectState()
    state.add_model(ModelState("labs", "Old", [KEY]))
    old = state.apps.get_model("labs", "Old")

    CreateModels(
        migrations.CreateModel("Left", [KEY, other("Right")]),
        migrations.CreateModel("Right", [KEY, other("Old")]),
    ).state_forwards("labs", state)

    left, right = (state.apps.get_model("labs", name) for name in ("Left", "Right"))
    assert state.apps.get_model("labs", "Old") is old
    assert left._meta.get_field("other").related_model is right
    assert right._meta.get_field("other").related_model is old
