"""A plugin of pytest: the suite's database is one whose samples are distributed.

It is migrated and distributed as docs/guides/citus.md says, and used by one process: no
template is copied, as a copy would claim the shards of the original.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.scale.citus.cluster import Cluster


class CitusPlugin:
    """Of a run of tests.scale.citus, with its servers."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Use the database that was made for this run, in place of a copy."""
        from django.db import connection

        from tests import database

        database.copy_template = self._prepare
        # It goes with its servers, which are a run's own.
        connection.creation.destroy_test_db = _keep  # type: ignore[method-assign]

    def _prepare(self, *_: Any, **__: Any) -> str:
        from django.conf import settings
        from django.core.management import call_command
        from django.db import connection

        name = self.cluster.database
        connection.close()
        settings.DATABASES[connection.alias]["NAME"] = name
        connection.settings_dict["NAME"] = name
        call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
        call_command("distribute_samples", verbosity=0)
        return name


def _keep(*_: Any, **__: Any) -> None:
    from django.db import connection

    connection.close()
