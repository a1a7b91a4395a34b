"""Configuration of the labs app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import AppConfig, apps
from django.db import DEFAULT_DB_ALIAS

# No migration can install reference rows: tests flush them, and files change later.
from django.db.models.signals import post_migrate  # noqa: TID251 - see above

if TYPE_CHECKING:
    from django.apps.registry import Apps

_REFERENCE = ("Lab", "Marker", "ExpectedResult", "LabTest")


class LabsConfig(AppConfig):
    """See the package docstring."""

    name = "labs"

    def ready(self) -> None:
        """Install reference data after migrations."""
        post_migrate.connect(_install_reference_data, sender=self)


def _install_reference_data(*, using: str, **given: Any) -> None:
    from labs.operations.catalogue.reference_data import install_reference_data

    if using == DEFAULT_DB_ALIAS and _is_migrated(given.get("apps") or apps):
        install_reference_data()


def _is_migrated(state: Apps) -> bool:
    """Return whether the tables match the code; migrate may have stopped earlier."""
    try:
        return all(
            _column_names(state, name) == _column_names(apps, name)
            for name in _REFERENCE
        )
    except LookupError:
        return False


def _column_names(state: Apps, name: str) -> set[str]:
    fields = state.get_model("labs", name)._meta.local_concrete_fields
    return {field.name for field in fields}
