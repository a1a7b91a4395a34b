"""Migrate without making the classes of models again at each step.

Django makes the classes of all related models again after each operation, which are
nearly all there are: nine tenths of the time that an empty database takes.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

from django.db import migrations
from django.db.migrations.state import ProjectState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from django.db.backends.base.schema import BaseDatabaseSchemaEditor
    from django.db.migrations.state import ModelState, StateApps
    from django.db.models import Field


class CreateModels(migrations.SeparateDatabaseAndState):
    """Create the tables of models that may refer to one another, in any order.

    The class of each is made once, when all are known. Source: Ours: four fifths of
    what first migrations took.
    """

    def __init__(self, *models: migrations.CreateModel) -> None:
        super().__init__(database_operations=models, state_operations=models)
        self.models = models

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Add the models, and their classes to those that are made already."""
        classes = state.__dict__.pop("apps", None)
        super().state_forwards(app_label, state)
        if classes is not None:
            classes.render_multiple(
                [state.models[app_label, model.name_lower] for model in self.models]
            )
            state.__dict__["apps"] = classes

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Create the tables, then their foreign keys."""
        for model in self.models:
            model.database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Drop the tables, the newest first."""
        for model in reversed(self.models):
            model.database_backwards(app_label, schema_editor, from_state, to_state)

    def describe(self) -> str:
        """Name the models."""
        names = ", ".join(model.name for model in self.models)
        return f"Create models {names}"

    def deconstruct(self) -> tuple[str, Any, Any]:
        """Return name and arguments, as Django writes operations."""
        return type(self).__name__, self.models, {}


@contextmanager
def classes_change_in_place() -> Iterator[None]:
    """Let what only adds to models, or changes their indexes, change their classes.

    The state before an operation shares them, and so knows of what is being added; no
    operation of Django's asks it. What runs Python gets classes that are made anew,
    and an operation that changes a field has all related ones made again, as ever.
    Source: Ours: two thirds of a first `migrate`.
    """
    django = {name: getattr(ProjectState, name) for name in _IN_PLACE}
    for name, change in _IN_PLACE.items():
        setattr(ProjectState, name, _in_place(django[name], change))
    try:
        yield
    finally:
        for name, method in django.items():
            setattr(ProjectState, name, method)


def _in_place(
    method: Callable[..., None], change: Callable[..., None]
) -> Callable[..., None]:
    """Return the state's method, after which classes change by `change` alone."""

    @wraps(method)
    def changed(state: ProjectState, *args: Any, **kwargs: Any) -> None:
        classes = state.__dict__.pop("apps", None)
        method(state, *args, **kwargs)
        if classes is not None:
            change(state, classes, *args, **kwargs)
            state.__dict__["apps"] = classes
            state.is_delayed = True  # RunPython has them made anew

    return changed


def _make_class(_state: ProjectState, classes: StateApps, model: ModelState) -> None:
    classes.render_multiple([model])


def _add_field(
    state: ProjectState,
    classes: StateApps,
    app_label: str,
    model_name: str,
    name: str,
    *_field: Any,
) -> None:
    field: Field[Any, Any] = state.models[app_label, model_name].fields[name]
    classes.get_model(app_label, model_name).add_to_class(name, field.clone())
    classes.clear_cache()


def _set_option(
    state: ProjectState,
    classes: StateApps,
    app_label: str,
    model_name: str,
    option: str,
    *_one: Any,
) -> None:
    now = state.models[app_label, model_name].options[option]
    setattr(classes.get_model(app_label, model_name)._meta, option, [*now])


_IN_PLACE: dict[str, Callable[..., None]] = {
    "add_model": _make_class,
    "add_field": _add_field,
    "_append_option": _set_option,  # indexes and constraints
    "_remove_option": _set_option,
}
