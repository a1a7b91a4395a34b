"""Configuration of the users app."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS, connection

# Months of samples can't all be made by a migration: time goes on.
from django.db.models.signals import post_migrate  # noqa: TID251 - see above


class UsersConfig(AppConfig):
    """Users, their sources and wearable data."""

    name = "users"

    def ready(self) -> None:
        """Create the partitions of the next months after migrations."""
        post_migrate.connect(_create_month_partitions, sender=self)


def _create_month_partitions(*, using: str, **given: Any) -> None:
    from users.store.partitions import ensure_upcoming_sample_partitions

    if using == DEFAULT_DB_ALIAS and _has_samples(given):
        ensure_upcoming_sample_partitions()


def _has_samples(fields: dict[str, Any]) -> bool:
    """Return whether the sample table exists; migrate may stop before it.

    Or before the function that adds its months (users 0017).
    """
    state = fields.get("apps")
    if state is not None and ("users", "sample") not in {
        (model._meta.app_label, model._meta.model_name) for model in state.get_models()
    }:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regprocedure('users_add_sample_month(date)')")
        (function,) = cursor.fetchone()
        return function is not None
