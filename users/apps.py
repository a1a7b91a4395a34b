"""Configuration of the users app."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS

# Months of samples can't all be made by a migration: time goes on.
from django.db.models.signals import post_migrate  # noqa: TID251 - see above

from portal.lib.translation import gettext_lazy


class UsersConfig(AppConfig):
    """Users, their sources and wearable data."""

    name = "users"

    def ready(self) -> None:
        """Register gateways and data classes; create partitions after migrations."""
        from users.gateways.base import source_gateways
        from users.gateways.oura.gateway import OuraGateway

        source_gateways.add("oura", OuraGateway())
        self._register_data_classes()
        post_migrate.connect(_create_month_partitions, sender=self)

    def _register_data_classes(self) -> None:
        from portal.lib.registry import DataClass, data_classes
        from users.operations.retention import (
            count_expired_samples,
            count_expired_summaries,
            delete_expired_samples,
            delete_expired_summaries,
        )

        data_classes.add(
            "samples",
            DataClass(
                rank=20,
                title=gettext_lazy("Timeseries"),
                says=gettext_lazy(
                    "Samples from wearables. Deleted by whole months, once the entire"
                    " month is old enough."
                ),
                count=count_expired_samples,
                remove=delete_expired_samples,
                least_days=31,
            ),
        )
        data_classes.add(
            "summaries",
            DataClass(
                rank=30,
                title=gettext_lazy("Summaries"),
                says=gettext_lazy(
                    "Days, nights, workouts and cycles, including workout streams."
                ),
                count=count_expired_summaries,
                remove=delete_expired_summaries,
                least_days=31,
            ),
        )


def _create_month_partitions(*, using: str, **given: Any) -> None:
    from users.store.partitions import ensure_upcoming_sample_partitions

    if using == DEFAULT_DB_ALIAS and _has_samples(given):
        ensure_upcoming_sample_partitions()


def _has_samples(fields: dict[str, Any]) -> bool:
    """Return whether the sample table exists; migrate may stop before it."""
    state = fields.get("apps")
    return state is None or ("users", "sample") in {
        (model._meta.app_label, model._meta.model_name) for model in state.get_models()
    }
