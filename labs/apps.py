"""Configuration of the labs app: what it registers at start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.apps import AppConfig, apps
from django.db import DEFAULT_DB_ALIAS

# Reference rows can't be laid by a migration: tests flush them, and files change later.
from django.db.models.signals import post_migrate  # noqa: TID251 - see above

from portal.lib.translation import gettext_lazy

if TYPE_CHECKING:
    from django.apps.registry import Apps

_REFERENCE = ("Lab", "Marker", "ExpectedResult", "LabTest")


class LabsConfig(AppConfig):
    """See the package docstring."""

    name = "labs"

    def ready(self) -> None:
        """Register data classes, and install reference data after migrations."""
        self._enter_data_classes()
        post_migrate.connect(_install_reference_data, sender=self)

    def _enter_data_classes(self) -> None:
        from labs.operations.retention import (
            count_old_lab_messages,
            count_old_orders,
            delete_old_lab_messages,
            delete_old_orders,
        )
        from portal.lib.registry import DataClass, data_classes

        data_classes.add(
            "lab_messages",
            DataClass(
                rank=40,
                title=gettext_lazy("Lab messages"),
                says=gettext_lazy(
                    "Original HL7 messages that need no review. Results read from"
                    " them stay."
                ),
                count=count_old_lab_messages,
                remove=delete_old_lab_messages,
                least_days=90,
            ),
        )
        data_classes.add(
            "orders",
            DataClass(
                rank=70,
                title=gettext_lazy("Orders and results"),
                says=gettext_lazy(
                    "Ended orders with their results, visits and documents, counted"
                    " from the last change."
                ),
                count=count_old_orders,
                remove=delete_old_orders,
                is_record=True,
            ),
        )


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
