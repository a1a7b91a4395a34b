from __future__ import annotations

from django.db import connection, migrations, models
from django.db.migrations.state import ModelState, ProjectState

from portal.lib.database.schema import CreateModels, classes_change_in_place

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


def test_what_is_added_changes_classes_that_are_there():
    index = models.Index(fields=["note"], name="left_note")
    positive = models.CheckConstraint(
        condition=models.Q(id__gt=0), name="left_id_positive"
    )
    operations = [
        migrations.CreateModel("Left", [KEY, other("Old")]),
        migrations.AddField("Left", "note", models.TextField(default="")),
        migrations.AddIndex("Left", index),
        migrations.AddConstraint("Left", positive),
        migrations.AddField("Old", "newest", other("Left")[1]),
    ]
    state = ProjectState()
    state.add_model(ModelState("labs", "Old", [KEY]))
    old = state.apps.get_model("labs", "Old")

    with classes_change_in_place():
        for operation in operations:
            operation.state_forwards("labs", state)
        left = state.apps.get_model("labs", "Left")
        added = [*left._meta.indexes], [*left._meta.constraints]
        migrations.RemoveIndex("Left", "left_note").state_forwards("labs", state)
        migrations.RemoveConstraint("Left", "left_id_positive").state_forwards(
            "labs", state
        )

    assert state.apps.get_model("labs", "Old") is old
    assert state.apps.get_model("labs", "Left") is left
    assert [field.name for field in left._meta.fields] == ["id", "other", "note"]
    assert left._meta.get_field("other").related_model is old
    assert old._meta.get_field("newest").related_model is left
    assert {one.related_model for one in old._meta.related_objects} == {left}
    assert added == ([index], [positive])
    assert (left._meta.indexes, left._meta.constraints) == ([], [])


def test_django_makes_classes_anew_outside_and_for_python():
    state = ProjectState()
    state.add_model(ModelState("labs", "Old", [KEY]))
    old = state.apps.get_model("labs", "Old")
    note = migrations.AddField("Old", "note", models.TextField(default=""))
    more = migrations.AddField("Old", "more", models.TextField(default=""))

    with classes_change_in_place():
        note.state_forwards("labs", state)
    assert state.apps.get_model("labs", "Old") is old
    state.clear_delayed_apps_cache()  # as RunPython does before its code
    made = state.apps.get_model("labs", "Old")
    more.state_forwards("labs", state)

    assert made is not old
    assert state.apps.get_model("labs", "Old") is not made
    names = [one.name for one in state.apps.get_model("labs", "Old")._meta.fields]
    assert names == ["id", "note", "more"]
