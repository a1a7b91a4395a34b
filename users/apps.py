"""Configuration of the users app."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db import DEFAULT_DB_ALIAS

# Months of samples can't all be made by a migration: time goes on.
from django.db.models.signals import post_migrate  # noqa: TID251 - see above

from portal.lib.translation import gettext_lazy


class UsersConfig(AppConfig):
    """Register the pages, events, rules and jobs of the users app."""

    name = "users"

    def ready(self) -> None:
        """Register what other apps and pages read of the users app."""
        from portal.lib.registry import (
            demo_loaders,
            tenant_erasers,
            user_books,
            user_erasers,
        )
        from users.demo.sandbox import load_demo_sources
        from users.gateways.base import source_gateways
        from users.gateways.oura.gateway import OuraGateway
        from users.operations.erasure import erase_user_samples
        from users.operations.imports.files import erase_user_imports
        from users.operations.users.export import erase_user_exports
        from users.operations.users.tenant_erasure import erase_all_users
        from users.queries.users.names import BOOK

        source_gateways.add("oura", OuraGateway())
        self._register_data_classes()
        demo_loaders.add("users", load_demo_sources)
        user_erasers.add("users", erase_user_samples)
        user_erasers.add("users:imports", erase_user_imports)
        user_erasers.add("users:exports", erase_user_exports)
        tenant_erasers.add("users", erase_all_users)
        user_books.add("users", BOOK)
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
