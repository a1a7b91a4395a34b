"""The cluster of a run of tests.scale.citus; without one these tests are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scale.citus.plugin import CitusPlugin

WHY = "needs the source of Citus: python -m tests.scale.citus --source PATH"


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    if _find_plugin(config) is None:
        for item in items:
            if item.path.is_relative_to(Path(__file__).parent):
                item.add_marker(pytest.mark.skip(WHY))


@pytest.fixture
def cluster(request, transactional_db):
    """The servers, all up before the test and after it."""
    found = _find_plugin(request.config).cluster
    yield found
    for server in found.servers():
        if not server._answers():
            server.start()


def _find_plugin(config: pytest.Config) -> CitusPlugin | None:
    for each in config.pluginmanager.get_plugins():
        if isinstance(each, CitusPlugin):
            return each
    return None
